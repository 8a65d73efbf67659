package checks

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"lamplighter.dev/functions"
	"lamplighter.dev/shared/api/platform"
)

func TestTheCommittedInterfaceDescriptionIsWhatTheOperationsSay(t *testing.T) {
	got, err := os.ReadFile("../../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if want := functions.Describe(&platform.Platform{}).YAML(); !bytes.Equal(got, want) {
		t.Error("openapi.yaml is not what the operations say: run `make openapi` and read the difference")
	}
}

// firstDifference returns the first line of want that have has not in its place.
func firstDifference(have, want string) string {
	lines := strings.Split(have, "\n")
	for i, line := range strings.Split(want, "\n") {
		if i >= len(lines) || lines[i] != line {
			return fmt.Sprintf("line %d: %s", i+1, line)
		}
	}
	return "its end"
}
