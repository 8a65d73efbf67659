package aws

import (
	"slices"
	"testing"

	"lamplighter.dev/shared/cloud"
)

// GET /resources/types shows the catalogue. A kind in only one of the two would be shown and not work, or work and not
// be shown.
func TestEveryKindOfTheCatalogueIsRegistered(t *testing.T) {
	if got, want := New(Options{}).Kinds(), cloud.KindsOf(Name); !slices.Equal(got, want) {
		t.Errorf("registered: %+v\nin the catalogue: %+v", got, want)
	}
}
