package pricing

import (
	"strings"

	"lamplighter.dev/shared/cloud"
)

// Resource holds the fields of a resource that its price depends on.
type Resource struct {
	Type     string // "aws-ec2", also of a resource of the simulated cloud
	Region   string
	Class    string // instance type or its equivalent
	Status   cloud.Status
	Capacity map[string]int64
	Inputs   string // inventory.IndexedFacts
}

// input returns an input as it was written, or false if it is unknown.
func (r *Resource) input(name string) (string, bool) {
	for part := range strings.SplitSeq(r.Inputs, ";") {
		if n, v, ok := strings.Cut(part, "="); ok && n == name {
			return v, true
		}
	}
	return "", false
}

// word returns an input that is a word, or "" if it is unknown.
func (r *Resource) word(name string) string {
	v, _ := r.input(name)
	return v
}

// is reports whether a switch is known to be on.
func (r *Resource) is(name string) bool { return r.word(name) == "1" }
