package remediation

import (
	"fmt"
	"strings"
	"testing"

	"lamplighter.dev/shared/domain/rule"
)

// The figures of the design: 30 rules attach a schedule; of the stops and scales, those of the resource itself.
func TestMeansOf_CountsTheRulesThatAreCarriedOut(t *testing.T) {
	got, all := map[rule.Verb]int{}, rule.All()
	for i := range all {
		r := &all[i]
		m := MeansOf(r, r.Provider, r.Type)
		if m.Executable != (m.Why == "") || m.Executable != (m.Undo != "") {
			t.Errorf("%s: %+v", r.ID, m)
		}
		if m.Executable {
			got[m.Verb]++
		}
	}
	const want = "map[change-storage:31 delete:41 guard:55 release:3 resize:91 scale:9 schedule:30 set-lifecycle:14 " +
		"setting:6 stop:40]"
	if text := fmt.Sprint(got); text != want {
		t.Error(text)
	}
}

func TestMeansOf_SaysWhyNot(t *testing.T) {
	for id, want := range map[string]string{
		"": "done by people", "aws-cloudfront-price-class": "resize", "aws-asg-no-scaling-policy": "policy_count",
	} {
		r := rule.ByID(id)
		if id != "" && r == nil {
			continue
		}
		kind := ""
		if r != nil {
			kind = r.Type
		}
		if m := MeansOf(r, "aws", kind); m.Executable || !strings.Contains(m.Why, want) {
			t.Errorf("%s: %+v", id, m)
		}
	}
}

func TestSizesOf_TakesTheRulesNumbersAndTheRequests(t *testing.T) {
	r := &rule.Rule{ID: "x", Verb: rule.VerbScale}
	var err error
	if r.Target, err = rule.ParseTarget(rule.VerbScale, "min_size=@needed desired=2"); err != nil {
		t.Fatal(err)
	}
	m := MeansOf(r, "aws", "aws-asg")
	if fmt.Sprint(m.Executable, m.Needs) != "true [min_size]" {
		t.Errorf("%+v", m)
	}
	got, err := SizesOf(r, "aws-asg", map[string]string{"min_size": "1"})
	if err != nil || got[MinBound] != 1 || got[DesiredBound] != 2 {
		t.Error(got, err)
	}
	for _, bad := range []string{"", "-1", "1.5", "many"} {
		if _, err = SizesOf(r, "aws-asg", map[string]string{"min_size": bad}); err == nil ||
			!strings.Contains(err.Error(), "parameters.min_size") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err = CheckParameters(m, map[string]string{"min_size": "1", "max": "2"}); err == nil {
		t.Error("an unknown parameter is taken")
	}
	if err = CheckParameters(m, nil); err == nil || !strings.Contains(err.Error(), "min_size") {
		t.Error(err)
	}
}

func TestDigest_DiffersWithAnythingThatIsApproved(t *testing.T) {
	a := target(1)
	for name, change := range map[string]func(*Target){
		"call":      func(t *Target) { t.Plan.Calls = []string{"start"} },
		"before":    func(t *Target) { t.Plan.Before = map[string]string{"status": "stopped"} },
		"parameter": func(t *Target) { t.Parameters = map[string]string{"scheduleID": "sch_1"} },
		"rule":      func(t *Target) { t.RuleVersion++ },
		"resource":  func(t *Target) { t.ResourceUID = "i-9" },
		"limits":    func(t *Target) { t.Plan.Limits = []string{"the address changes"} },
	} {
		b := target(1)
		change(&b)
		b.SetPlan(b.Plan)
		if b.Plan.Digest == a.Plan.Digest {
			t.Errorf("%s: the digest is the same", name)
		}
	}
	b := target(1)
	b.SavingUSD = b.SavingUSD.MulInt(2)
	if b.SetPlan(b.Plan); b.Plan.Digest != a.Plan.Digest {
		t.Error("the saving changes the digest")
	}
}
