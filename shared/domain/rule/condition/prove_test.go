package condition

import (
	"fmt"
	"strings"
	"testing"

	"lamplighter.dev/shared/domain/rule"
)

// Each built-in rule is true again on the evidence of its fixture: the facts and metrics that its condition reads.
func TestProve_EachRuleIsTrueOnItsEvidence(t *testing.T) {
	c, fixtures := NewCatalogue(), readFixtures(t)
	for i := range rule.All() {
		r := &rule.All()[i]
		f, ok := fixtures[r.ID]
		if !ok || len(f.True.Org) > 0 { // evidence has no settings of the organization
			continue
		}
		of, err := c.Compile(r)
		if err != nil {
			t.Fatal(err)
		}
		e := Evidence{Values: map[string]any{}, Thresholds: map[string]any{}, At: at}
		for _, name := range of.Facts {
			if v, known := f.True.Res[name]; known {
				e.Values[name] = v
			}
		}
		for _, name := range of.Metrics {
			if v, known := f.True.M[name]; known {
				e.Values[name] = v
			}
		}
		for _, p := range r.Params {
			e.Thresholds[p.Name] = p.Value()
		}
		got, err := c.Prove(r, e)
		if err != nil || got.Truth != True {
			t.Errorf("%s: %+v, %v", r.ID, got, err)
		}
	}
}

// Evaluations add the environment, and the values that formulas find, to the evidence.
func TestProve_LeavesOutWhatAnEvaluationAdds(t *testing.T) {
	for id, values := range map[string]map[string]any{
		"aws-cloudtrail-no-validation": {"logging": true, "log_validation": false, "env": "prod"},
		"aws-ebs-magnetic": {
			"volume_type": "standard", "target_volume_type": "gp3", "need_iops": 100.0, "limit_iops": 3000.0,
		},
	} {
		got, err := NewCatalogue().Prove(rule.ByID(id), Evidence{values, map[string]any{}, at})
		if err != nil || got.Truth != True {
			t.Errorf("%s: %+v, %v", id, got, err)
		}
	}
}

func TestProve_RefusesEvidenceOfAnotherVersion(t *testing.T) {
	r := rule.ByID("aws-ec2-idle")
	values := map[string]any{"state": "running", "cpu_max_14d": 2.0}
	thresholds := map[string]any{"cpu_pct": 5.0, "min_age": "336h", "net_bytes_day": 5e6}
	for name, c := range map[string]struct {
		change func()
		want   string
	}{
		"another fact":      {func() { values["vcpu"] = 2.0 }, "does not read vcpu"},
		"no threshold":      {func() { delete(thresholds, "cpu_pct") }, "no parameter cpu_pct"},
		"a text":            {func() { values["cpu_max_14d"] = "2" }, "does not read cpu_max_14d"},
		"another parameter": {func() { thresholds["cpu_pct"] = "1h" }, "parameter cpu_pct"},
	} {
		values = map[string]any{"state": "running", "cpu_max_14d": 2.0}
		thresholds = map[string]any{"cpu_pct": 5.0, "min_age": "336h", "net_bytes_day": 5e6}
		c.change()
		if _, err := NewCatalogue().Prove(r, Evidence{values, thresholds, at}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
	got, err := NewCatalogue().Prove(r, Evidence{map[string]any{"state": "running"}, thresholds, at})
	if err == nil && (got.Truth != Unknown || fmt.Sprint(got.Missing) == "[]") {
		t.Errorf("%+v", got)
	}
}
