package onboarding_test

import (
	"slices"
	"testing"

	"lamplighter.dev/shared/cloud/aws"
)

// What customers are told to allow is what the kinds need, level by level.
func TestFor_ThePoliciesForAWSAllowWhatTheKindsNeed(t *testing.T) {
	policies, need := steps(t).Policies, aws.ListRequiredActions()
	for level, actions := range [][]string{need.Discover, need.StartStop, need.Scale} {
		if len(actions) == 0 {
			t.Errorf("nothing is needed for policy %s", policies[level].Level)
		}
		for _, a := range actions {
			if !slices.Contains(policies[level].Actions, a) {
				t.Errorf("%s is needed, which policy %s does not allow", a, policies[level].Level)
			}
		}
	}
}
