package rule

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"lamplighter.dev/shared/testkit/packedfiletest"
)

var update = flag.Bool("update", false, "pack the tables anew")

// The binary has the packed tables; people and reviews read the others.
func TestTables_ArePacked(t *testing.T) {
	for _, name := range []string{"rules.csv", "facts.csv", "metrics.csv"} {
		packedfiletest.Check(t, name, *update)
	}
}

func TestTable_HasTheColumnsThatAreRead(t *testing.T) {
	plain, err := os.ReadFile("rules.csv")
	if err != nil {
		t.Fatal(err)
	}
	if header, _, _ := bytes.Cut(plain, []byte("\n")); string(header) != columns {
		t.Errorf("rules.csv has the columns %s; want %s", header, columns)
	}
}

func TestAll_HoldsEveryRuleWithoutAFault(t *testing.T) {
	if n := len(All()); n != 960 {
		t.Errorf("%d rules; want 960", n)
	}
	for i := range All() {
		if err := Check(&All()[i]); err != nil {
			t.Error(err)
		}
	}
	if err := CheckAll(All()); err != nil {
		t.Error(err)
	}
}

// Design of recommendations, section 3.4: a rule loses "autonomous" if the change adds cost, moves data, changes
// clients or cannot be undone at once.
func TestAll_HasFiftyThreeAutonomousRules(t *testing.T) {
	n := 0
	for _, r := range All() {
		if r.Autonomous {
			n++
		}
	}
	if n != 53 {
		t.Errorf("%d rules are autonomous; want 53", n)
	}
}

func TestByID_FindsARule(t *testing.T) {
	r := ByID("aws-ebs-gp2")
	if r == nil || r.Type != "aws-ebs" || r.Verb != VerbChangeStorage || r.Savings.String() != "to:volume_type" ||
		r.Version != 2 || !r.Autonomous || len(r.Params) != 1 || r.Params[0].Value() != int64(80000) {
		t.Errorf("%+v", r)
	}
	if got := ByID("custom-x"); got != nil {
		t.Errorf("%+v; want no rule", got)
	}
}

func TestForType_AddsTheRulesOfEveryType(t *testing.T) {
	ids := map[string]bool{}
	for _, r := range ForType("aws-eip") {
		ids[r.ID] = true
		if !r.AppliesTo("aws-eip") || r.AppliesTo("gcp-address") {
			t.Errorf("%s: of %s", r.ID, r.Type)
		}
	}
	if !ids["aws-eip-unassociated"] || !ids["aws-any-missing-tags"] || ids["azure-any-missing-tags"] || len(ids) != 6 {
		t.Errorf("%v", ids)
	}
	if got := ForType("kubernetes-unknown"); len(got) != 0 {
		t.Errorf("%d rules of an unknown type", len(got))
	}
}

// A caller that appends to a list of one type must not write into the list of another.
func TestForType_ReturnsAListOfItsOwn(t *testing.T) {
	first := ForType("aws-ec2")
	before := first[len(first)-1].ID
	_ = append(ForType("aws-ec2"), &Rule{ID: "custom-other"})
	if after := ForType("aws-ec2"); after[len(after)-1].ID != before {
		t.Errorf("the last rule is %s; want %s", after[len(after)-1].ID, before)
	}
}

func BenchmarkReadTable(b *testing.B) {
	for b.Loop() {
		rows := unpack(ruleTable)
		for _, cells := range rows {
			if _, err := parseRow(cells); err != nil {
				b.Fatal(err)
			}
		}
	}
}
