package cloud

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/testkit/packedfiletest"
)

var update = flag.Bool("update", false, "pack the tables anew")

// The program has the packed tables; people and reviews read the others.
func TestTables_ArePacked(t *testing.T) {
	for _, name := range []string{"metrics.csv", "usemetrics.csv", "resourcetypes.csv"} {
		packedfiletest.Check(t, name, *update)
	}
}

func TestMetrics_AreThoseOfTheRules(t *testing.T) {
	rules := map[string]map[string]string{}
	for _, row := range ruleData(t, "metrics.csv") {
		rules[row["resource_type"]+"."+row["name"]] = row
	}
	for kind, all := range readMetrics() {
		for _, m := range all {
			row := rules[kind+"."+m.Name]
			if row == nil && slices.Contains(ownMetrics, kind) {
				continue
			}
			if row == nil || row["unit"] != m.Unit || row["namespace"] != m.Of[0].Namespace {
				t.Errorf("%+v: metrics.csv says %v", m, row)
			}
		}
	}
}

// ownMetrics are the types whose metrics no rule reads, because the provider reports them without a look into the
// cluster. They are for people alone.
var ownMetrics = []string{"azure-aks", "gcp-gke-nodepool"}

// Every metric that the rules of section 7 read is collected, or has a reason why not.
func TestMetrics_OfTheRulesAreCollectedOrHaveAReason(t *testing.T) {
	raw, err := os.ReadFile("testdata/unmeasured.csv")
	if err != nil {
		t.Fatal(err)
	}
	reasons, types := map[string]string{}, map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		f := strings.Split(strings.TrimSpace(line), ";")
		reasons[f[0]+"."+f[1]], types[f[0]] = f[2], true
	}
	for kind := range readMetrics() {
		types[kind] = true
	}
	asked := map[string]bool{}
	for _, row := range ruleData(t, "metrics.csv") {
		name := row["resource_type"] + "." + row["name"]
		asked[name] = true
		collected := slices.ContainsFunc(MetricsOf(row["resource_type"]), func(m Metric) bool {
			return m.Name == row["name"]
		})
		if types[row["resource_type"]] && collected == (reasons[name] != "") {
			t.Errorf("%s is collected: %v, and the reason against it is %q", name, collected, reasons[name])
		}
	}
	for name := range reasons {
		if !asked[name] && name != "type.metric" {
			t.Errorf("%s is no metric of the rules", name)
		}
	}
}

func TestMetrics_AreWellFormedAndFew(t *testing.T) {
	for kind, all := range readMetrics() {
		if _, ok := KindOf(kind); !ok {
			t.Errorf("the catalogue has no type %s", kind)
		}
		most := 6
		if strings.HasPrefix(kind, "kubernetes-") { // of which a query has a measure of all resources
			most = 10
		}
		if n := len(MeasuresOf(kind)); n == 0 || n > most {
			t.Errorf("%s has %d measures; with more than 6, of 10,000 resources take more than 120 calls of 500", kind,
				n)
		}
		for _, m := range all {
			rolls := []string{"avg", "min", "max", "sum", "ratio", "p95", "p99", "p99.5", "last"}
			if m.Days < 1 || m.Days > 30 || m.Factor <= 0 || !slices.Contains(rolls, m.RollUp) {
				t.Errorf("%+v: days, factor or roll-up are not ones that are collected", m)
			}
		}
	}
}

// Measures beyond six are collected of candidates alone, which a fact of the index names.
func TestMetrics_OfCandidatesAreCollectedUnderTheirCondition(t *testing.T) {
	for _, tt := range []struct {
		kind, inputs, want string
		more               int
	}{
		{"aws-rds", "engine=postgres;multi_az=1;storage_type=io1", "storage_type=io1|io2", 4},
		{"aws-rds", "engine=postgres;storage_type=io2;iops=3000", "storage_type=io1|io2", 4},
		{"aws-rds", "engine=postgres;storage_type=gp3", "", 0},
		{"aws-rds", "", "", 0},
		{"aws-elasticache", "engine=valkey", "engine=redis|valkey", 2},
		{"aws-elasticache", "engine=memcached", "", 0},
		{"aws-sqs", "engine=redis", "", 0},
	} {
		met := ConditionMet(tt.kind, tt.inputs)
		if more := len(MeasuresWhen(tt.kind, met)) - len(MeasuresOf(tt.kind)); met != tt.want || more != tt.more {
			t.Errorf("%s with %q meets %q and has %d more measures; want %q and %d", tt.kind, tt.inputs, met, more,
				tt.want, tt.more)
		}
	}
	conditions := map[string]string{}
	for kind, all := range readMetrics() {
		for _, m := range all {
			if had := conditions[kind]; m.When != "" && had != "" && had != m.When {
				t.Errorf("%s has the conditions %s and %s: a resource may meet both", kind, had, m.When)
			} else if m.When != "" {
				conditions[kind] = m.When
			}
		}
	}
}

func TestMetrics_AreMadeOfMeasures(t *testing.T) {
	all := MetricsOf("aws-ec2")
	i := slices.IndexFunc(all, func(m Metric) bool { return m.Name == "net_bytes_day_max_14d" })
	if m := all[i]; !slices.Equal(m.Of, []Measure{{"AWS/EC2", "NetworkIn", "Sum"}, {"AWS/EC2", "NetworkOut", "Sum"}}) ||
		!m.Daily || m.RollUp != "max" || m.Days != 14 {
		t.Errorf("%+v", m)
	}
	if k, _ := KindOf("aws-ec2"); !k.Measured {
		t.Error("aws-ec2 is not marked as measured")
	}
	if k, _ := KindOf("aws-vpc"); k.Measured {
		t.Error("aws-vpc is marked as measured")
	}
}

// Azure tells of 50 resources in a call: of 10,000, half have their turn each night, and two days with it.
func TestMetrics_OfAzureAreAskedEverySecondNightForTwoDays(t *testing.T) {
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for night := range 4 {
		due := 0
		for n := range 10_000 {
			switch days := MeasuredDays("azure-vm", fmt.Sprint("vm-", n), day.AddDate(0, 0, night), 1); days {
			case 2:
				due++
			case 0:
			default:
				t.Fatalf("%d days", days)
			}
			if a, b := MeasuredDays("azure-vm", fmt.Sprint("vm-", n), day.AddDate(0, 0, night), 1),
				MeasuredDays("azure-vm", fmt.Sprint("vm-", n), day.AddDate(0, 0, night+1), 1); a+b != 2 {
				t.Fatalf("%d and %d days in two nights; want two, once", a, b)
			}
		}
		if calls := (due + 49) / 50; calls > 120 {
			t.Errorf("night %d: %d calls for %d machines; want 120 at most", night, calls, due)
		}
	}
	if n := MeasuredDays("aws-ec2", "i-1", day, 1); n != 1 {
		t.Errorf("%d days of AWS; want 1", n)
	}
	if n := MeasuredDays("azure-vm", "vm-1", day, 3); n != 4 {
		t.Errorf("%d days of Azure after two missed nights; want 4, the last of which may have been another's turn", n)
	}
}
