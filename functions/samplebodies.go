package functions

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"lamplighter.dev/shared/api/rest"
)

//go:embed samplebodies.json
var sampleBodies []byte

// SampleBodies returns the sample body of each operation that takes one, by operation id. A value such as <groupID>
// stands for an id of the reader's own, and one such as <in 2 hours> for a time. TestSampleBodies_AreAccepted sends all
// of them.
func SampleBodies() map[string]rest.Sample {
	out := map[string]rest.Sample{}
	if err := json.Unmarshal(sampleBodies, &out); err != nil {
		panic(fmt.Sprintf("read samplebodies.json: %v", err)) // it is a part of the program, and tests read it
	}
	return out
}
