package onboarding

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"lamplighter.dev/shared/foundation/packedfile"
)

// These are the permission levels. Each contains the one before.
const (
	readOnlyLevel  = "read_only"
	startStopLevel = "start_stop"
	scaleLevel     = "scale"
	remediateLevel = "remediate"
)

// The permissions that the code calls for, by provider. They are written by this package's tests, with -update, from
// the lists beside the kinds, which only workers can link; a test fails while the two differ. It is compressed, because
// the function may be 12 MB.
//
//go:embed permissions.json.gz
var permissionsFile []byte

// required are the permissions of one provider. Each level contains the one before. Organisation lists the additional
// permissions for listing the accounts of an organization, Billing those for reading bills, Metrics those for asking
// the Prometheus in a cluster.
type required struct {
	Discover     []string `json:"discover"`
	StartStop    []string `json:"startStop"`
	Scale        []string `json:"scale"`
	Remediate    []string `json:"remediate"` // with the changes that recommendations ask for
	Organisation []string `json:"organisation,omitempty"`
	Services     []string `json:"services,omitempty"` // of Google: the APIs that a project has to switch on
	Billing      []string `json:"billing,omitempty"`
	BillingData  []string `json:"billingData,omitempty"` // of Azure: in the storage account
	Metrics      []string `json:"metrics,omitempty"`     // of Kubernetes: optional
}

// permissions reads the file when it is first needed: few requests show the onboarding.
var permissions = sync.OnceValue(func() map[string]required {
	var all map[string]required
	if err := json.Unmarshal(packedfile.Read(permissionsFile), &all); err != nil {
		panic("onboarding: permissions.json.gz: " + err.Error())
	}
	return all
})

func requiredBy(provider string) required { return permissions()[provider] }

// level is one level of a provider: all its permissions, and those that it adds to the level before.
type level struct {
	name       string
	all, added []string
}

func levelsOf(provider string) []level {
	r := requiredBy(provider)
	return []level{
		{readOnlyLevel, r.Discover, r.Discover},
		{startStopLevel, r.StartStop, withoutActions(r.StartStop, r.Discover)},
		{scaleLevel, r.Scale, withoutActions(r.Scale, r.StartStop)},
		{remediateLevel, r.Remediate, withoutActions(r.Remediate, r.Scale)},
	}
}

func withoutActions(all, those []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(a string) bool { return slices.Contains(those, a) })
}

// policyOf returns the policy of a level.
func policyOf(policies []CloudPolicy, level string) CloudPolicy {
	i := slices.IndexFunc(policies, func(p CloudPolicy) bool { return p.Level == level })
	return policies[i] // buildPolicies returns one of each level
}

// buildPolicies builds the policy of each level. document returns the policy in the cloud's format, and its
// permissions that no call needs.
func buildPolicies(provider string, document func(level) (any, []string)) ([]CloudPolicy, error) {
	var out []CloudPolicy
	var besides []string
	for _, l := range levelsOf(provider) {
		doc, more := document(l)
		text, err := encodeIndented(doc)
		if err != nil {
			return nil, fmt.Errorf("write policy %s: %w", l.name, err)
		}
		besides = append(besides, more...)
		actions := slices.Concat(l.all, besides)
		slices.Sort(actions)
		out = append(out, CloudPolicy{Level: l.name, Actions: slices.Compact(actions), Document: text})
	}
	return out, nil
}
