package cloudtest

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
)

// factTable is the facts that the rules read of the types which this service acts on or measures, a line each: those
// that the provider's listing tells, and, with a reason, those that it does not.
//
//go:embed facts.csv
var factTable string

// fact is a line of the table.
type fact struct{ Type, Name, Kind, Unit, Missing string }

func readFacts() []fact {
	var out []fact
	_, lines, _ := strings.Cut(factTable, "\n") // behind the header
	for line := range strings.Lines(lines) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), ";")
		out = append(out, fact{f[0], f[1], f[2], f[3], f[4]})
	}
	return out
}

// CheckFacts compares the facts of found resources with the facts that the rules read. found must contain one resource
// of each type with all its facts. Each fact must be there under its name, in the rules' type, unless the table has a
// reason why not.
func CheckFacts(t *testing.T, provider string, found []cloud.Resource) {
	t.Helper()
	told := map[string]any{}
	for _, r := range found {
		for name, v := range r.Facts {
			told[r.Type+"."+name] = v
		}
	}
	known := map[string]bool{}
	for _, f := range readFacts() {
		known[f.Type] = true
		if !strings.HasPrefix(f.Type, provider+"-") {
			continue
		}
		v, is := told[f.Type+"."+f.Name]
		delete(told, f.Type+"."+f.Name)
		f.checkFact(t, v, is)
	}
	for name, v := range told {
		kind, fact, _ := strings.Cut(name, ".")
		if known[kind] && !slices.Contains([]string{cloud.NativeType, cloud.Unread}, fact) {
			t.Errorf("%s is told as %v, which no rule reads", name, v)
		}
	}
}

// CheckFactsOf compares the facts of one resource of a type with those that the rules read of the type, as CheckFacts
// does.
func CheckFactsOf(t *testing.T, kind string, facts cloud.Facts) {
	t.Helper()
	left := maps.Clone(facts)
	for _, f := range readFacts() {
		if f.Type == kind {
			v, is := left[f.Name]
			delete(left, f.Name)
			f.checkFact(t, v, is)
		}
	}
	for name, v := range left {
		t.Errorf("%s.%s is told as %v, which no rule reads", kind, name, v)
	}
}

func (f fact) checkFact(t *testing.T, v any, is bool) {
	t.Helper()
	switch {
	case !is && f.Missing == "":
		t.Errorf("%s.%s is not told, and the table has no reason for it", f.Type, f.Name)
	case is && f.Missing != "":
		t.Errorf("%s.%s is told as %v, and the table says that it is not: %s", f.Type, f.Name, v, f.Missing)
	case is && kindOfFact(v) != f.Kind:
		t.Errorf("%s.%s is %v, a %s; the rules want a %s", f.Type, f.Name, v, kindOfFact(v), f.Kind)
	}
}

func kindOfFact(v any) string {
	switch v.(type) {
	case bool:
		return "bool"
	case float64:
		return "number"
	case string:
		return "string"
	case []string:
		return "list(string)"
	case time.Time, cloud.Since:
		return "timestamp"
	}
	return fmt.Sprintf("%T", v)
}

// ListAll lists all resources of some kinds in a region.
func ListAll(t *testing.T, c cloud.Conn, region string, kinds ...string) []cloud.Resource {
	t.Helper()
	var out []cloud.Resource
	for _, k := range kinds {
		for page, n := "", 0; n == 0 || page != ""; n++ {
			got, err := c.List(t.Context(), k, region, page)
			if err != nil || n > 1000 {
				t.Fatalf("page %d of %s: %v", n, k, err)
			}
			out, page = append(out, got.Resources...), got.Next
		}
	}
	return out
}

// KindsOf lists the types of a provider's kinds that a discovery lists, the collective one included.
func KindsOf(provider string) []string {
	var out []string
	for _, k := range cloud.KindsOf(provider) {
		if !k.Collected { // it is in the collective one's listing
			out = append(out, k.Type)
		}
	}
	return out
}

// reportedFacts are the facts that listings return, by type and name.
var reportedFacts = sync.OnceValue(func() map[[2]string]bool {
	out := map[[2]string]bool{}
	for _, f := range readFacts() {
		out[[2]string{f.Type, f.Name}] = f.Missing == ""
	}
	return out
})

// Reports reports whether the listings of a type return a fact, by the table that CheckFacts holds them against.
func Reports(kind, name string) bool { return reportedFacts()[[2]string{kind, name}] }
