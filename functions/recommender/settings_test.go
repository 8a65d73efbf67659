package recommender

import (
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// taggedVolume returns a volume that is in use, with tags.
func (f *fixture) taggedVolume(uid string, tags map[string]string) cloud.Resource {
	v := f.volume(uid, 0)
	v.Tags = tags
	return v
}

// openOf returns the native ids of the resources with an open row of a rule, in order.
func (f *fixture) openOf(ruleID string) string {
	f.Helper()
	var out []string
	for _, r := range apitest.Rows[recommendation.Row](f.Fixture, recommendation.RowPKs(org)...) {
		if r.RuleID == ruleID && r.Status == recommendation.Open {
			out = append(out, r.ResourceUID)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestSettings_DecideTheRulesThatReadThem(t *testing.T) {
	for name, tt := range map[string]struct {
		chosen               *identity.ChosenPreferences
		untagged, outOfPlace string
	}{
		"tags and regions": {
			&identity.ChosenPreferences{RequiredTags: &[]string{"team"}, AllowedRegions: &[]string{"eu-north-1"}},
			"vol-untagged", "vol-tagged vol-untagged",
		},
		"an allowed region": {
			&identity.ChosenPreferences{AllowedRegions: &[]string{"eu-west-1"}}, "", "",
		},
		"nothing is required":        {&identity.ChosenPreferences{}, "", ""},
		"the settings are not known": {nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			key := identity.OrganisationKey(org)
			apitest.Value(f.Table.Write(f.In(org), table.Delete(key)))(f)
			if tt.chosen != nil {
				f.Put(key, identity.OrganisationRecord{ChosenPreferences: *tt.chosen})
			}
			f.discover("aws-ebs", f.taggedVolume("vol-tagged", map[string]string{"Team": "shop"}),
				f.taggedVolume("vol-untagged", map[string]string{"owner": "ada"}))
			f.evaluate()
			f.Equal("resources without a required tag", f.openOf("aws-any-missing-tags"), tt.untagged)
			f.Equal("resources out of place", f.openOf("aws-any-region-not-allowed"), tt.outOfPlace)
			counts := apitest.Value(recommendation.New(f.Platform).ReadCounts(f.In(org), org))(f)
			for _, c := range counts {
				if c.RuleID == "aws-any-missing-tags" && (c.Unknown > 0) != (tt.chosen == nil) {
					t.Errorf("%d of %d are unknown", c.Unknown, c.Evaluated)
				}
			}
		})
	}
}
