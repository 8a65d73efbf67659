package onboarding

import (
	"bytes"
	"encoding/json"
	"testing"
)

// IAM's quotas, in characters without white space: 6,144 of a managed policy, which users get, and 10,240 of all
// policies inside of a role (IAM User Guide, "IAM and AWS STS quotas").
func TestAWS_PoliciesKeepIAMsQuotas(t *testing.T) {
	policies, err := awsPolicies()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range policies {
		var b bytes.Buffer
		if err = json.Compact(&b, p.Document); err != nil {
			t.Fatal(err)
		}
		if n := b.Len(); n > 10_240 || n > 6_144 && p.Level == scaleLevel {
			t.Errorf("the policy of level %s has %d characters", p.Level, n)
		}
	}
}
