package checks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// realWaits lists the test files that wait on real time, with the number of waits and the reason why no clock and no
// channel can replace them.
var realWaits = map[string]struct {
	most int
	why  string
}{
	"cmd/lamplighter/hostilebill_test.go": {
		1,
		"the service under test is a process of its own, on the machine's time",
	},
	"cmd/lamplighter/console_provider_test.go": {
		1,
		"a browser goes from page to page, and a script that waits in a page ends with it",
	},
	"cmd/lamplighter/sizes_test.go": {
		2,
		"a benchmark that watches the memory of its process while the service works",
	},
	"functions/recommender/dividebench_test.go": {
		1,
		"a benchmark that watches the memory of its process while it evaluates",
	},
	"shared/engine/workflow/deaths_test.go": {
		2,
		"a process of its own that dies while other executions are under way",
	},
	"cmd/lamplighter/local/turns_test.go": {4, "in a bubble of synctest, where no real time passes"},
	"cmd/lamplighter/takeover/takeover_test.go": {
		1,
		"the service under test is a process of its own, which is asked whether it has done its work",
	},
	"cmd/lamplighter/earlier_test.go": {
		1,
		"the earlier version is a process of its own, which is asked whether it has done its work",
	},
	"cmd/lamplighter/cost/measure_test.go":         {4, "in a bubble of synctest, where no real time passes"},
	"cmd/lamplighter/cost/measurecosts_test.go":    {4, "in a bubble of synctest, where no real time passes"},
	"cmd/lamplighter/cost/measurerequests_test.go": {1, "in a bubble of synctest, where no real time passes"},
	"cmd/lamplighter/e2e/remediation_test.go":      {1, "its clock hurries; the engine waits on it"},
	"cmd/lamplighter/testenv/ahead.go":             {1, "what is done each minute keeps to the machine's clock"},
	"cmd/lamplighter/testenv/people.go": {
		1,
		"the loops of the service and mails go by the machine's clock",
	},
	"functions/auditlogs/load_test.go": {1, "in a bubble of synctest, where no real time passes"},
	"functions/discovery/bench_test.go": {
		1,
		"a benchmark looks at the memory of its process now and then",
	},
	"functions/discovery/down_test.go": {6, "in a bubble of synctest, where no real time passes"},
	"functions/executor/kill_test.go":  {1, "a process is killed at a random moment"},
	"shared/cloud/kubernetes/controlplane_test.go": {
		1,
		"a control plane is processes of its own, which are asked whether they are ready",
	},
	"shared/cloud/kubernetes/changepeers_test.go": {1, "an API server learns of a new role in its own time"},
	"shared/cloud/kubernetes/peers_test.go":       {1, "a controller manager acts in its own time"},
	"shared/api/audit/append_test.go":             {1, "in a bubble of synctest, where no real time passes"},
	"shared/api/rest/limit_test.go":               {1, "in a bubble of synctest, where no real time passes"},
	"shared/api/rest/audit_store_test.go":         {2, "in a bubble of synctest, where no real time passes"},
	"shared/cloud/aws/peers_test.go":              {1, "moto_server starts"},
	"shared/testkit/clocktest/clocktest.go": {
		3,
		"the clocks of an engine whose waits are short and whose time limits are not",
	},
	"shared/testkit/clouds/awstwin/faults.go":  {1, "a request that stalls until its client gives up"},
	"shared/testkit/clouds/cloudtest/group.go": {1, "a real cloud, or one of another maker, moves on"},
	"shared/domain/cost/bench_test.go": {
		1,
		"a benchmark looks at the memory of its process now and then",
	},
	"shared/engine/table/crash_test.go":         {1, "a process is killed at a random moment"},
	"shared/testkit/tabletest/feed.go":          {1, "streams of tables of other makers lag"},
	"functions/executor/aws_test.go":            {3, "in a bubble of synctest, where no real time passes"},
	"functions/executor/awstraps_test.go":       {1, "in a bubble of synctest, where no real time passes"},
	"functions/executor/capacity_test.go":       {1, "in a bubble of synctest, where no real time passes"},
	"functions/executor/fair_test.go":           {3, "in a bubble of synctest, where no real time passes"},
	"functions/executor/outage_test.go":         {2, "in a bubble of synctest, where no real time passes"},
	"functions/executor/paced_test.go":          {4, "in a bubble of synctest, where no real time passes"},
	"functions/executor/floor_test.go":          {2, "in a bubble of synctest, where no real time passes"},
	"shared/cloud/throttle/throttle_test.go":    {2, "in a bubble of synctest, where no real time passes"},
	"functions/executor/limited_test.go":        {1, "in a bubble of synctest, where no real time passes"},
	"shared/engine/workflow/asl/limits_test.go": {1, "in a bubble of synctest, where no real time passes"},
	"shared/engine/workflow/asl/world_test.go":  {1, "in a bubble of synctest, where no real time passes"},
	"shared/engine/workflow/contract_test.go":   {1, "moto_server starts"},
	"shared/engine/workflow/restart_test.go": {
		2,
		"a process that takes time over its tasks is killed at a random moment",
	},
	"shared/testkit/workflowtest/workflowtest.go": {
		2,
		"engines of other makers run executions in processes of their own",
	},
	"shared/foundation/ssrfguard/client_test.go":     {1, "a server dribbles until a client loses its patience"},
	"shared/testkit/lambdaemulator/function_test.go": {1, "a function in a process of its own answers too late"},
	"shared/testkit/npmpeer/npmpeer.go":              {1, "a server of another maker starts"},
}

// waits are the functions of package time that wait in real time.
var waits = []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Sleep", "Tick"}

// A wait of a fixed time is too long on a quick machine and too short on a busy one.
func TestWaits_OnRealTimeAreListedWithTheirReason(t *testing.T) {
	eachTestFile(t, func(path string, f *ast.File) {
		n := len(calls(f, "time", waits...)) + len(calls(f, "System", "Sleep"))
		if most := realWaits[path].most; n > most {
			t.Errorf("%s waits on real time in %d places, %d are allowed: wait on a channel, on clock.Manual, on the "+
				"engine (Wait, Idle), "+
				"or in a bubble of testing/synctest; what can do without none of them belongs into realWaits with "+
				"its reason", path, n, most)
		}
	})
}

// Tests take random numbers from shared/testkit/seed, so that a failure can be repeated.
func TestRandomNumbers_OfTestsHaveASeed(t *testing.T) {
	eachTestFile(t, func(path string, f *ast.File) {
		if filepath.Dir(path) == "shared/testkit/seed" || !slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool {
			return strings.HasPrefix(i.Path.Value, `"math/rand`)
		}) {
			return
		}
		for _, name := range calls(f, "rand") {
			t.Errorf("%s calls rand.%s: shared/testkit/seed has random numbers that a failure can be repeated with",
				path, name)
		}
	})
}

// eachTestFile parses every file that only tests use.
func eachTestFile(t *testing.T, look func(path string, f *ast.File)) {
	t.Helper()
	const root = "../../.."
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		path = strings.TrimPrefix(filepath.ToSlash(path), root+"/")
		if err != nil || d.IsDir() || !onlyTests(path) {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.SkipObjectResolution)
		if files++; err == nil {
			look(path, f)
		}
		return err
	})
	if err != nil || files < 100 {
		t.Fatalf("%d files of tests, %v", files, err)
	}
}

// onlyTests reports whether a file is a test file, or belongs to a package that only tests import.
func onlyTests(path string) bool {
	dir := filepath.ToSlash(filepath.Dir(path))
	return strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".go") && servesTests(dir)
}

// calls returns the names of the functions or methods that f calls on the package or composite literal of. With names
// it returns only those.
func calls(f *ast.File, of string, names ...string) []string {
	var found []string
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		s, ok := call.Fun.(*ast.SelectorExpr)
		if ok && nameOf(s.X) == of && (len(names) == 0 || slices.Contains(names, s.Sel.Name)) {
			found = append(found, s.Sel.Name)
		}
		return true
	})
	return found
}

// nameOf returns the name of a package, of a literal's type, or of a field.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.CompositeLit:
		return nameOf(e.Type)
	case *ast.ParenExpr:
		return nameOf(e.X)
	}
	return ""
}
