package recommender

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
)

var update = flag.Bool("update", false, "write docs/rule-coverage.md")

// describedBeside are facts that listings report of types which the table of package cloudtest does not have. The
// tests of others.go in shared/cloud/aws and shared/cloud/azure, and of docfacts.go in shared/cloud/gcp, hold them
// against the providers' answers.
var describedBeside = map[string][]string{
	"aws-ecr":          {"size_gb", "untagged_gb", "last_pull_at", "lifecycle", "scan_on_push"},
	"aws-sqs":          {"dead_letter", "is_dead_letter", "wait_seconds"},
	"azure-nic":        {"attached"},
	"azure-natgateway": {"subnet_count"},
	"gcp-snapshot":     {"auto_created", "storage_gb", "snapshot_type"},
	"gcp-firewall":     {"enabled", "direction", "world_open", "ports", "logging"},
}

// designed are the figures of the design: rules that are decidable today, and with derivations from stored data.
var designed = map[string][2]int{
	"aws": {105, 195}, "azure": {67, 127}, "gcp": {34, 82}, "kubernetes": {14, 23}, "all": {220, 427},
}

// coverage is what the rules of a provider can be decided with.
type coverage struct {
	rules, today, derived int
	missing               []string // a line for each rule that is not decidable
}

// recordFacts are the facts of every record.
var recordFacts = []string{"name", "region", "status", "created_at", "first_seen_at", "tags"}

// missingOfRule returns the names that a rule reads and that neither listings nor measures give, and those of them
// that derivations give.
func missingOfRule(r *rule.Rule) (missing, derived []string) {
	refs := rule.ReferencesOf(r.Condition)
	if k, known := cloud.KindOf(r.Type); !strings.HasSuffix(r.Type, "*") && (!known || !listed(k)) {
		missing = append(missing, "a listing of "+r.Type)
		if isAccountType(r.Type) {
			derived = append(derived, "a listing of "+r.Type)
		}
	}
	for _, name := range refs.Facts {
		if slices.Contains(recordFacts, name) || cloudtest.Reports(r.Type, name) ||
			slices.Contains(describedBeside[r.Type], name) {
			continue
		}
		if missing = append(missing, "res."+name); derivationOf(r.Type, name) != nil {
			derived = append(derived, "res."+name)
		}
	}
	for _, name := range refs.Metrics {
		if slices.ContainsFunc(cloud.MetricsOf(r.Type), func(m cloud.Metric) bool { return m.Name == name }) {
			continue
		}
		if missing = append(missing, "m."+name); metricDerivationOf(r.Type, name) != nil {
			derived = append(derived, "m."+name)
		}
	}
	for _, name := range refs.Settings {
		missing = append(missing, "org."+name)
		if _, stored := settingsOf(identity.Preferences{})[name]; stored {
			derived = append(derived, "org."+name)
		}
	}
	return missing, derived
}

// listed reports whether a discovery finds resources of a kind.
func listed(k cloud.Kind) bool { return k.Discoverable || k.Collected }

func countCoverage() map[string]*coverage {
	out := map[string]*coverage{"all": {}}
	for _, r := range rule.All() {
		if out[r.Provider] == nil {
			out[r.Provider] = &coverage{}
		}
		missing, derived := missingOfRule(&r)
		for _, c := range []*coverage{out[r.Provider], out["all"]} {
			c.rules++
			if len(missing) == 0 {
				c.today++
			}
			if len(missing) == len(derived) {
				c.derived++
			}
		}
		if len(missing) > len(derived) {
			left := slices.DeleteFunc(missing, func(name string) bool { return slices.Contains(derived, name) })
			out["all"].missing = append(out["all"].missing,
				fmt.Sprintf("| `%s` | %s |", r.ID, strings.Join(left, ", ")))
		}
	}
	return out
}

func TestCoverage_IsThatOfTheDocumentation(t *testing.T) {
	got := countCoverage()
	var b strings.Builder
	b.WriteString("# Which rules can be decided\n\nA rule is decidable if a listing, a measure or a derivation gives " +
		"every name that its condition reads. An\nundecidable rule answers unknown for every resource. " +
		"`go test ./functions/recommender -run Coverage -update`\nwrites this page from the rules, the facts of the " +
		"listings, the measures and the derivations.\n\n" +
		"| provider | rules | by listings and measures | with derivations | the design expects |\n" +
		"|---|---|---|---|---|\n")
	for _, provider := range []string{"aws", "azure", "gcp", "kubernetes", "all"} {
		c, want := got[provider], designed[provider]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d, then %d |\n", provider, c.rules, c.today, c.derived, want[0],
			want[1])
	}
	slices.Sort(got["all"].missing)
	b.WriteString("\n## Undecidable rules, and what they lack\n\n| rule | missing |\n|---|---|\n" +
		strings.Join(got["all"].missing, "\n") + "\n")
	path := filepath.Join("..", "..", "docs", "rule-coverage.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil { //nolint:gosec // a page for everybody
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != b.String() {
		t.Errorf("docs/rule-coverage.md differs from the rules (%v): run the test with -update", err)
	}
	t.Logf("%d of %d rules are decidable by listings and measures, %d with derivations", got["all"].today,
		got["all"].rules, got["all"].derived)
}

func TestDerivations_AreOfDeclaredNames(t *testing.T) {
	for _, d := range factDerivations {
		for _, kind := range d.types {
			if _, ok := rule.FactOf(kind, d.fact); !ok {
				t.Errorf("%s.%s is derived, and no fact of the rules", kind, d.fact)
			}
		}
	}
	for _, d := range metricDerivations {
		for _, kind := range d.types {
			if _, ok := rule.MetricOf(kind, d.metric); !ok {
				t.Errorf("%s.%s is derived, and no metric of the rules", kind, d.metric)
			}
		}
	}
}
