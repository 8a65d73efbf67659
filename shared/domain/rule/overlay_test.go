package rule

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/seed"
)

// idle is a rule with parameters of all kinds.
func idle() *Rule {
	return &Rule{ID: "aws-ec2-idle", Severity: HighSeverity, Category: Idle, Params: []Param{
		{"cpu_pct", IntParam, "5"}, {"min_age", DurationParam, "336h"}, {"share", DoubleParam, "0.5"},
	}}
}

func TestResolve_NarrowerScopesOverrideWiderOnes(t *testing.T) {
	off, on, low := false, true, LowSeverity
	org := Overlay{Rule: "aws-ec2-idle", Scope: ForOrganization, Enabled: &off, Severity: &low,
		Params: map[string]string{"cpu_pct": "10", "share": "0.9"}, Excludes: []string{"res.env == 'prod'"}}
	account := Overlay{Rule: "aws-ec2-idle", Scope: ForAccount, ScopeID: "a1", Enabled: &on,
		Params: map[string]string{"cpu_pct": "20"}, Excludes: []string{"res.env == 'prod'", "res.name == 'x'"}}
	group := Overlay{Rule: "aws-ec2-idle", Scope: ForGroup, ScopeID: "g1", Params: map[string]string{"cpu_pct": "30"}}
	other := Overlay{Rule: "aws-ec2-low-use", Scope: ForGroup, ScopeID: "g9", Enabled: &off}
	got := Resolve(idle(), []Overlay{group, other, account, org})
	texts := []string{got.Params[0].Text, got.Params[1].Text, got.Params[2].Text}
	if !got.Enabled || got.Severity != LowSeverity || !slices.Equal(texts, []string{"30", "336h", "0.9"}) ||
		!slices.Equal(got.Excludes, []string{"res.env == 'prod'", "res.name == 'x'"}) {
		t.Errorf("%+v", got)
	}
}

func TestResolve_OfSeveralGroupsTheGreatestIDOverrides(t *testing.T) {
	overlay := func(id, pct string) Overlay {
		return Overlay{Rule: "aws-ec2-idle", Scope: ForGroup, ScopeID: id, Params: map[string]string{"cpu_pct": pct}}
	}
	if got := Resolve(idle(), []Overlay{overlay("g2", "2"), overlay("g1", "1")}); got.Params[0].Text != "2" {
		t.Errorf("cpu_pct is %s; want 2", got.Params[0].Text)
	}
}

func TestResolve_WithoutOverlaysIsTheRule(t *testing.T) {
	got := Resolve(idle(), nil)
	if !got.Enabled || got.Severity != HighSeverity || !slices.Equal(got.Params, idle().Params) || got.Excludes != nil {
		t.Errorf("%+v", got)
	}
}

// A rule may change after its overlay was stored: a value of the wrong kind, or of a parameter that is gone, must not
// make the rule unusable.
func TestResolve_LeavesOutWhatNoLongerFits(t *testing.T) {
	got := Resolve(idle(), []Overlay{{Rule: "aws-ec2-idle", Scope: ForOrganization,
		Params: map[string]string{"cpu_pct": "336h", "gone": "1", "share": "7"}}})
	if got.Params[0].Text != "5" || got.Params[2].Text != "7" || len(got.Params) != 3 {
		t.Errorf("%+v", got.Params)
	}
}

// The order in which overlays are read from the store decides nothing, and the rule stays as it is.
func TestResolve_DependsOnNoOrder(t *testing.T) {
	random := seed.Random(t)
	rule := idle()
	for range 500 {
		overlays := randomOverlays(random)
		want := Resolve(rule, overlays)
		random.Shuffle(len(overlays), func(i, j int) { overlays[i], overlays[j] = overlays[j], overlays[i] })
		if got := Resolve(rule, overlays); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v in another order: %+v", want, got)
		}
	}
	if !reflect.DeepEqual(rule, idle()) {
		t.Errorf("the rule is now %+v", rule)
	}
}

// randomOverlays returns overlays of distinct places: the store has one for each.
func randomOverlays(random *rand.Rand) []Overlay {
	var out []Overlay
	for i, id := range []string{"", "a1", "a2", "g1", "g2", "g3"} {
		if random.IntN(2) == 0 {
			continue
		}
		scope := scopes[min((i+1)/2, 2)]
		enabled, severity := random.IntN(2) == 0, Severity(random.IntN(5)) //nolint:gosec // below 5
		out = append(out, Overlay{Rule: "aws-ec2-idle", Scope: scope, ScopeID: id, Enabled: &enabled,
			Severity: &severity, Params: map[string]string{"cpu_pct": string(rune('1' + random.IntN(9)))},
			Excludes: []string{"res.name == '" + id + "'"}})
	}
	return out
}

func TestOverlay_IsChecked(t *testing.T) {
	tooUrgent := Critical + 1
	good := func(change func(*Overlay)) Overlay {
		o := Overlay{Rule: "aws-ec2-idle", Scope: ForAccount, ScopeID: "a1", Params: map[string]string{
			"cpu_pct": "7", "min_age": "24h", "share": "1",
		}, Excludes: []string{"res.env == 'prod'"}}
		change(&o)
		return o
	}
	for name, c := range map[string]struct {
		overlay Overlay
		says    string
	}{
		"good":                        {good(func(*Overlay) {}), ""},
		"of another rule":             {good(func(o *Overlay) { o.Rule = "aws-ec2-low-use" }), "not of aws-ec2-idle"},
		"an account without an id":    {good(func(o *Overlay) { o.ScopeID = "" }), "scope"},
		"an organization with an id":  {good(func(o *Overlay) { o.Scope = ForOrganization }), "scope"},
		"an unknown scope":            {good(func(o *Overlay) { o.Scope = "team" }), `"team"`},
		"an unknown parameter":        {good(func(o *Overlay) { o.Params["cpu_pc"] = "1" }), "nearest name is cpu_pct"},
		"a duration for a number":     {good(func(o *Overlay) { o.Params["cpu_pct"] = "24h" }), "whole number"},
		"a fraction for an int":       {good(func(o *Overlay) { o.Params["cpu_pct"] = "0.5" }), "whole number"},
		"a number for a duration":     {good(func(o *Overlay) { o.Params["min_age"] = "24" }), "duration"},
		"a negative duration":         {good(func(o *Overlay) { o.Params["min_age"] = "-24h" }), "duration"},
		"not a number":                {good(func(o *Overlay) { o.Params["share"] = "NaN" }), "0.5"},
		"no severity":                 {good(func(o *Overlay) { o.Severity = &tooUrgent }), "severity"},
		"an empty exclude":            {good(func(o *Overlay) { o.Excludes = []string{""} }), "excludes[0]"},
		"an exclude of 2,001 bytes":   {good(func(o *Overlay) { o.Excludes[0] = strings.Repeat("x", 2001) }), "2001"},
		"twenty-one excludes":         {good(func(o *Overlay) { o.Excludes = make([]string, 21) }), "21"},
		"a name with control letters": {good(func(o *Overlay) { o.Params["a\x00\nb"] = "1" }), "no parameter"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.overlay.Check(idle())
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v; want one that says %q", err, c.says)
			}
			if err != nil && (!fault.Is(err, fault.Invalid) || strings.ContainsAny(err.Error(), "\x00\n")) {
				t.Errorf("%q: of kind %v", err, fault.KindOf(err))
			}
		})
	}
}
