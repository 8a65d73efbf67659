package cloudtest

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"lamplighter.dev/shared/cloud"
)

// factsBeside are facts that prices, or the project's corrections of the rules, need.
var factsBeside = []string{
	"aws-ecs.task_vcpu", "aws-ecs.task_gib", "aws-ecs.task_storage_gib", "aws-ecs.os_family", "aws-elb.first_of_group",
	"aws-nat.first_of_group", "aws-elasticache.engine_version", "aws-opensearch.engine_version",
	"azure-postgresql-flexible.engine_version", "kubernetes-service.first_of_group",
	"kubernetes-persistentvolume.disk", "kubernetes-persistentvolumeclaim.disk",
	"kubernetes-node.cpu_cores", "kubernetes-node.mem_gib", "kubernetes-node.gpu_count", // the cost of a node is
	"kubernetes-node.machine", "kubernetes-node.workloads", // split by them
	// by what pods may request of a node, the saving of lower requests is computed
	"kubernetes-node.allocatable_cores", "kubernetes-node.allocatable_gib", "kubernetes-node.allocatable_pods",
}

// The table is the project's own copy. Beside a checkout with the rules it is held against them.
func TestFacts_AreThoseOfTheRules(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "..", "..", "..", "shared", "data", "rules", "facts.csv"))
	if os.IsNotExist(err) {
		t.Skip("SKIPPED: there are no rules beside the checkout to hold the facts against")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it is read
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	ours, types := map[string]fact{}, map[string]bool{}
	for _, one := range readFacts() {
		ours[one.Type+"."+one.Name], types[one.Type] = one, true
	}
	for _, r := range rows[1:] {
		one, is := ours[r[0]+"."+r[1]]
		delete(ours, r[0]+"."+r[1])
		if types[r[0]] && (!is || one.Kind != r[2] || one.Unit != r[4]) {
			t.Errorf("%s.%s is %q in %q; the rules have %q in %q", r[0], r[1], one.Kind, one.Unit, r[2], r[4])
		}
	}
	for name := range ours {
		if !slices.Contains(factsBeside, name) {
			t.Errorf("%s is no fact of the rules", name)
		}
	}
}

// Every fact of the table is told by somebody or has a reason, of types that there are.
func TestFacts_HaveAKindAndAType(t *testing.T) {
	told := 0
	for _, one := range readFacts() {
		if _, ok := cloud.KindOf(one.Type); !ok ||
			!slices.Contains([]string{"bool", "number", "string", "timestamp", "list(string)"}, one.Kind) {
			t.Errorf("%+v: of no type, or kind", one)
		}
		if one.Missing == "" {
			told++
		}
	}
	t.Logf("%d facts, %d of them told", len(readFacts()), told)
}
