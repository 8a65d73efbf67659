package checks

import (
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/functions"
)

// evaluator is the package that links cel-go.
const evaluator = "lamplighter.dev/shared/domain/rule/condition"

// TestOnlyWorkersLinkCEL keeps the 11 MB of cel-go out of API functions. They read conditions as text, by
// shared/domain/rule.
func TestOnlyWorkersLinkCEL(t *testing.T) {
	workers := map[string]bool{}
	for _, f := range functions.All() {
		workers[f.Name] = f.Clouds || f.SDKs || f.Heavy
	}
	for _, p := range list(t, "./functions/...") {
		isMain := strings.HasSuffix(p.path(), "/lambda")
		if isMain && slices.Contains(p.Deps, evaluator) && !workers[functionOf(p.path())] {
			t.Errorf("%s links %s: declare the function as Heavy if it is a worker, else remove the import", p.path(),
				evaluator)
		}
	}
}
