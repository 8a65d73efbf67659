package probe

import (
	"regexp"
	"slices"
	"strings"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

// DeclaredOperations returns all operations of the service, in the order of their ids.
func DeclaredOperations() []rest.Op {
	var out []rest.Op
	for _, ops := range local.Operations(&platform.Platform{}) {
		out = append(out, ops...)
	}
	slices.SortFunc(out, func(a, b rest.Op) int { return strings.Compare(a.ID, b.ID) })
	return out
}

var inPath = regexp.MustCompile(`\{(\w+)\}`)

// ExamplePath returns a path of op with names of records that do not exist.
func ExamplePath(op rest.Op) string {
	return inPath.ReplaceAllStringFunc(op.Path, func(name string) string {
		if name == "{email}" {
			return "nobody@example.com"
		}
		return "nothing"
	})
}
