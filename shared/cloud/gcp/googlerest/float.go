package googlerest

import (
	"encoding/json"
	"fmt"
	"math"
)

// Float is a number with a fraction. Google writes the three values that JSON has no number for as the texts "NaN",
// "Infinity" and "-Infinity".
type Float float64

var floatWords = map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}

// UnmarshalJSON takes a number or one of the three texts.
func (f *Float) UnmarshalJSON(data []byte) error {
	var number float64
	if json.Unmarshal(data, &number) == nil {
		*f = Float(number)
		return nil
	}
	var word string
	if err := json.Unmarshal(data, &word); err != nil {
		return fmt.Errorf("%.100s is neither a number nor a text", data)
	}
	number, known := floatWords[word]
	if !known {
		return fmt.Errorf("%.100q is not a number; want digits, NaN, Infinity or -Infinity", word)
	}
	*f = Float(number)
	return nil
}
