package aws

import (
	"slices"
	"testing"

	"lamplighter.dev/functions/cloudaccounts/onboarding"
	"lamplighter.dev/shared/cloud"
)

// What customers are told to allow is what the kinds need, level by level.
func TestThePoliciesForCustomersAllowWhatTheKindsNeed(t *testing.T) {
	s, err := onboarding.For("aws", "ext_1", "111122223333")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range clusterNeeds {
		if !slices.Contains(s.Policies[0].Actions, a) {
			t.Errorf("clusters need %s, which policy %s does not allow", a, s.Policies[0].Level)
		}
	}
	for _, o := range registry {
		n := o.open(sdkConfig()).Needs()
		for level, need := range [][]string{n.discover, slices.Concat(n.discover, n.startStop), slices.Concat(n.discover, n.startStop, n.scale)} {
			for _, a := range need {
				if !slices.Contains(s.Policies[level].Actions, a) {
					t.Errorf("%s needs %s, which policy %s does not allow", o.describe().Type, a, s.Policies[level].Level)
				}
			}
		}
	}
}

// GET /resources/types shows the catalogue; a kind that is only in one of the two would be shown and not work, or work
// and not be shown.
func TestEveryKindOfTheCatalogueIsRegistered(t *testing.T) {
	if got, want := New(Options{}).Kinds(), cloud.KindsOf(Name); !slices.Equal(got, want) {
		t.Errorf("registered: %+v\nin the catalogue: %+v", got, want)
	}
}
