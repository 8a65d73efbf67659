package kubernetes

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// quantityText is a quantity of the API: digits with a fraction, then an exponent or a suffix. The bounds keep hostile
// text cheap.
var quantityText = regexp.MustCompile(
	`^([+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40}))([eE][+-]?\d{1,3}|[numkMGTPE]|[KMGTPE]i)?$`)

var decimalSuffixes = map[string]int64{"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}

// quantity reads "500m" or "1Gi"; 0 for text that is no quantity, and for nil.
func quantity(v any) float64 {
	m := quantityText.FindStringSubmatch(fmt.Sprint(v))
	if v == nil || m == nil {
		return 0
	}
	number, suffix := m[1], m[2]
	exponent := strings.TrimLeft(suffix, "eE")
	if power, decimal := decimalSuffixes[suffix]; decimal {
		exponent = strconv.FormatInt(power, 10)
	}
	factor := big.NewRat(1, 1)
	if strings.HasSuffix(suffix, "i") {
		factor.SetInt(new(big.Int).Lsh(big.NewInt(1), 10*uint(strings.Index("KMGTPE", suffix[:1])+1)))
		exponent = ""
	}
	if exponent != "" {
		number += "e" + exponent
	}
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		return 0
	}
	f, _ := r.Mul(r, factor).Float64()
	return f
}
