package kubernetes_test

import (
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/foundation/clock"
)

func cut(at string) (ns, name string, ok bool) { return strings.Cut(at, "/") }

// GET /resources/types shows the catalogue; a kind that is only in one of the two would be shown and not work, or work
// and not be shown.
func TestEveryKindOfTheCatalogueIsRegistered(t *testing.T) {
	got, want := kubernetes.New(kubernetes.Options{Clock: clock.System{}}).Kinds(), cloud.KindsOf(kubernetes.Name)
	if !slices.Equal(got, want) {
		t.Errorf("registered: %+v\nin the catalogue: %+v", got, want)
	}
}
