package remediation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/rule"
)

func TestValuesOf_TakesTheRulesTheEvidencesAndTheRequestsValues(t *testing.T) {
	r := &rule.Rule{ID: "x", Verb: rule.VerbChangeStorage, Condition: "m.iops_max_14d > 3000"}
	var err error
	r.Target, err = rule.ParseTarget(rule.VerbChangeStorage,
		"volume_type=gp3 iops=m.iops_max_14d*1.2 throughput_mibps=@carried days=p.days class=@sized larger=@larger "+
			"newer=res.newer_type")
	if err != nil {
		t.Fatal(err)
	}
	seen := Observed{
		Values:     map[string]any{"iops_max_14d": 1000.5, "newer_type": "m7i.large", "target_class": "m5.large"},
		Thresholds: map[string]any{"days": 7},
	}
	got, err := ValuesOf(r, seen, map[string]string{"larger": "m5.2xlarge"})
	want := "map[class:m5.large days:7 iops:1201 larger:m5.2xlarge newer:m7i.large throughput_mibps:@carried " +
		"volume_type:gp3]"
	if fmt.Sprint(got) != want || err != nil {
		t.Error(got, err)
	}
	if asked := fmt.Sprint(askedValues(r)); asked != "[larger]" {
		t.Error(asked)
	}
	for says, lacks := range map[string]func(){
		"parameters.larger":     func() { _, err = ValuesOf(r, seen, nil) },
		"evidence.iops_max_14d": func() { _, err = ValuesOf(r, Observed{}, map[string]string{"larger": "a"}) },
		"evidence.target_class": func() {
			bare := Observed{Values: map[string]any{"iops_max_14d": 1.0}, Thresholds: map[string]any{"days": 7}}
			_, err = ValuesOf(r, bare, map[string]string{"larger": "a"})
		},
		"100 characters": func() {
			_, err = ValuesOf(r, seen, map[string]string{"larger": strings.Repeat("a", 101)})
		},
	} {
		if lacks(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

func TestMeansOf_LeavesRemovalsThatNoReadProvesToPeople(t *testing.T) {
	for id, says := range map[string]string{
		"aws-ebs-idle": "metrics", "azure-loadbalancer-idle": "metrics", "aws-rds-public": "unused_access",
		"azure-disk-on-stopped-vm": "later", "aws-eip-on-stopped-instance": "detach",
		"aws-eip-on-detached-interface": "attached", "gcp-firewall-open-all": "unused_access",
	} {
		r := rule.ByID(id)
		if m := MeansOf(r, r.Provider, r.Type); m.Executable || !strings.Contains(m.Why, says) {
			t.Errorf("%s: %+v, want %q", id, m, says)
		}
	}
}

// A rule may add to a list that its kind can add to; other values are set.
func TestValuesOf_AddsToAList(t *testing.T) {
	r := rule.ByID("aws-eks-no-audit-log")
	got, err := ValuesOf(r, Observed{}, nil)
	if m := MeansOf(r, r.Provider, r.Type); err != nil || !m.Executable || got["log_types"] != "+audit" {
		t.Errorf("%v, %v, %+v", got, err, m)
	}
}

func TestTarget_WaitsLongerInProductionAndForSnapshots(t *testing.T) {
	const day = 24 * time.Hour
	for want, target := range map[time.Duration]Target{
		7 * day: {ResourceType: "aws-ebs", NonProduction: true}, 14 * day: {ResourceType: "aws-ebs"},
		30 * day: {ResourceType: "aws-ebs-snapshot", NonProduction: true},
	} {
		if got := target.WaitBeforeDelete(); got != want {
			t.Errorf("%s waits %s, want %s", target.ResourceType, got, want)
		}
	}
}
