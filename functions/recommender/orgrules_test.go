package recommender

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// govern replaces all own rules and overrides by those of a document.
func (f *fixture) govern(d rule.Document) {
	f.Helper()
	s := recommendation.New(f.Platform)
	base := apitest.Value(s.ReadRules(f.In(org), org))(f)
	apitest.Value(s.ChangeRules(f.In(org), org, recommendation.RuleEdit{
		Base: base, Change: base.ChangeTo(&d, true), By: "ada@example.com", At: f.Clock.Now(),
	}))(f)
}

// bigVolume is an own rule that is true for volumes above p.gb.
func bigVolume() rule.OwnRule {
	return rule.OwnRule{
		ID: "custom-big-volume", Title: "Volume is big", ResourceType: "aws-ebs", Category: "governance",
		Severity: "medium", Condition: "res.size_gb > p.gb", Params: map[string]any{"gb": 50.0},
		Remediation: "Make it smaller",
		Fixtures: rule.Fixtures{
			True:    rule.Example{Res: map[string]any{"size_gb": 51.0}},
			False:   rule.Example{Res: map[string]any{"size_gb": 50.0}},
			Unknown: []string{"res.size_gb"},
		},
	}
}

// nextDay evaluates on the next day.
func (f *fixture) nextDay() {
	f.Helper()
	f.Clock.Advance(24 * time.Hour)
	f.evaluate()
}

// bigVolumes returns the statuses of the rows of bigVolume, by resource.
func (f *fixture) bigVolumes() string {
	f.Helper()
	var out []string
	for line := range strings.SplitSeq(f.rows(), "; ") {
		if rest, is := strings.CutPrefix(line, "custom-big-volume "); is {
			out = append(out, strings.TrimSuffix(rest, " 0.00"))
		}
	}
	return strings.Join(out, ", ")
}

func TestOwnRules_OpenRowsAndEndThemWhenTheyAreDeleted(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ebs", f.volume("vol-1", 0), f.volume("vol-2", 0))
	f.govern(rule.Document{Rules: []rule.OwnRule{bigVolume()}})
	f.evaluate()
	f.Equal("rows", f.bigVolumes(), "vol-1 open, vol-2 open")
	higher := bigVolume()
	higher.Params["gb"] = 100.0
	f.govern(rule.Document{Rules: []rule.OwnRule{higher}})
	for range 3 {
		f.nextDay()
	}
	f.Equal("with another parameter", f.bigVolumes(), "vol-1 optimised, vol-2 optimised")
	f.govern(rule.Document{Rules: []rule.OwnRule{bigVolume()}})
	f.nextDay()
	f.Equal("again", f.bigVolumes(), "vol-1 open, vol-2 open")
	f.govern(rule.Document{})
	f.nextDay()
	f.Equal("deleted", f.bigVolumes(), "vol-1 optimised, vol-2 optimised")
	for _, r := range apitest.Rows[recommendation.Row](f.Fixture, recommendation.RowPKs(org)...) {
		if r.RuleID == "custom-big-volume" {
			f.Equal("why", r.Ended, recommendation.EndedOff)
		}
	}
}

// The evidence of an own rule names the version of the rule, so that it can be proved later.
func TestOwnRules_EvidenceNamesTheVersion(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ebs", f.volume("vol-1", 0))
	f.govern(rule.Document{})
	f.govern(rule.Document{Rules: []rule.OwnRule{bigVolume()}})
	set := apitest.Value(recommendation.New(f.Platform).ReadRules(f.In(org), org))(f)
	f.evaluate()
	for _, r := range apitest.Rows[recommendation.Row](f.Fixture, recommendation.RowPKs(org)...) {
		if r.RuleID == "custom-big-volume" {
			f.Equal("version", r.Evidence.RuleVersion, set.Version)
			f.Equal("values", fmt.Sprint(r.Evidence.Values, r.Evidence.Thresholds), "map[size_gb:100] map[gb:50]")
		}
	}
}

func TestOverrides_HoldForOrganizationAccountAndGroup(t *testing.T) {
	off, on := false, true
	const group = "<group>"
	for name, c := range map[string]struct {
		overrides []rule.BuiltInOverride
		want      string
	}{
		"none":     {nil, "both"},
		"disabled": {[]rule.BuiltInOverride{{Scope: "org", Enabled: &off}}, ""},
		"disabled for an account": {
			[]rule.BuiltInOverride{{Scope: "account", ScopeID: inventorytest.Account, Enabled: &off}}, "",
		},
		"disabled for another one": {
			[]rule.BuiltInOverride{{Scope: "account", ScopeID: "ca_other", Enabled: &off}}, "both",
		},
		"disabled for a group": {[]rule.BuiltInOverride{{Scope: "group", ScopeID: group, Enabled: &off}}, "vol-2"},
		"enabled for a group alone": {
			[]rule.BuiltInOverride{
				{Scope: "org", Enabled: &off}, {Scope: "group", ScopeID: group, Enabled: &on},
			}, "vol-1",
		},
		"another parameter": {
			[]rule.BuiltInOverride{{Scope: "org", Params: map[string]any{"min_age": "480h"}}}, "vol-2",
		},
		"another parameter for a group": {
			[]rule.BuiltInOverride{
				{Scope: "group", ScopeID: group, Params: map[string]any{"min_age": "480h"}},
			}, "vol-2",
		},
		"an exclude": {
			[]rule.BuiltInOverride{{Scope: "org", Excludes: []string{"res.name == 'vol-1'"}}}, "vol-2",
		},
		"an exclude that is unknown": {
			[]rule.BuiltInOverride{{Scope: "org", Excludes: []string{"res.env == 'prod'"}}}, "",
		},
		"an exclude of a group": {
			[]rule.BuiltInOverride{{Scope: "group", ScopeID: group, Excludes: []string{"res.size_gb > 0"}}}, "vol-2",
		},
		"a group that is gone": {
			[]rule.BuiltInOverride{{Scope: "group", ScopeID: "grp_gone", Enabled: &off}}, "both",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.discover("aws-ebs", f.volume("vol-1", 15), f.volume("vol-2", 40))
			f.bill(map[string]string{"vol-1": "0.28", "vol-2": "0.28"})
			made := f.group("vol-1")
			for i := range c.overrides {
				o := &c.overrides[i]
				o.Rule, o.ScopeID = unattachedRule, strings.ReplaceAll(o.ScopeID, group, made)
			}
			f.govern(rule.Document{Overrides: c.overrides})
			f.evaluate()
			var got []string
			for _, r := range apitest.Rows[recommendation.Row](f.Fixture, recommendation.RowPKs(org)...) {
				if r.RuleID == unattachedRule {
					got = append(got, r.ResourceUID)
				}
			}
			slices.Sort(got)
			f.Equal("open", strings.Join(got, ", "), strings.ReplaceAll(c.want, "both", "vol-1, vol-2"))
		})
	}
}

// unattachedRule is the built-in rule of the tests of overrides.
const unattachedRule = "aws-ebs-unattached"

// group makes a group of one resource, and returns its id.
func (f *fixture) group(uid string) string {
	f.Helper()
	r := apitest.Read[inventory.Resource](f.Fixture, inventory.ResourceKey(org, uid))
	g := inventory.Group{ID: id.New("grp", f.Clock.Now()), Name: "Some", CreatedAt: f.Clock.Now()}
	return apitest.Value(inventory.New(f.Platform).CreateGroup(f.In(org), org, g,
		[]inventory.GroupPlacement{{ResourceID: r.ID, Tier: 1, Order: 1}}))(f).ID
}

func TestOverrides_ADisabledRuleEndsItsRowsAndKeepsDismissals(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ebs", f.volume("vol-1", 0), f.volume("vol-2", 0))
	f.govern(rule.Document{Rules: []rule.OwnRule{bigVolume()}})
	f.evaluate()
	rows := apitest.Rows[recommendation.Row](f.Fixture, recommendation.RowPKs(org)...)
	for _, r := range rows {
		if r.RuleID == "custom-big-volume" && r.ResourceUID == "vol-1" {
			_, _, err := recommendation.New(f.Platform).Decide(f.In(org), org, r.ID, recommendation.Decision{
				Status: recommendation.Dismissed, Reason: recommendation.Intended, By: "a", At: f.Clock.Now(),
			})
			f.Must(err)
		}
	}
	off, disabled := false, bigVolume()
	disabled.Enabled = &off
	f.govern(rule.Document{Rules: []rule.OwnRule{disabled}})
	f.nextDay()
	f.Equal("disabled", f.bigVolumes(), "vol-1 dismissed, vol-2 optimised")
}

// A rule that no longer compiles after an update of the service is unknown. It ends no row and stops no pass.
func TestOwnRules_ThatNoLongerCompileAreUnknown(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ebs", f.volume("vol-1", 0))
	f.govern(rule.Document{Rules: []rule.OwnRule{bigVolume()}})
	f.evaluate()
	broken := bigVolume()
	broken.Condition = "res.size_tb > p.gb"
	f.govern(rule.Document{Rules: []rule.OwnRule{broken}})
	for range 4 {
		f.nextDay()
	}
	f.Equal("row", f.bigVolumes(), "vol-1 open")
	counts := apitest.Value(recommendation.New(f.Platform).ReadCounts(f.In(org), org))(f)
	for i := range counts {
		if counts[i].RuleID == "custom-big-volume" {
			f.Equal("reason", counts[i].Missing[0].Reason, invalidRule)
			return
		}
	}
	t.Error("the rule has no counts")
}
