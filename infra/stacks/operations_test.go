package stacks_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/functions"
)

// fakeAWS is a fake command aws. It answers the queries of infra/prune-versions and records the versions to delete.
const fakeAWS = `#!/usr/bin/env bash
case "$1 $2" in
  'lambda list-functions') [[ $4 == *"'lamplighter-prod-'"* ]] && echo FUNCTIONS ;;
  'lambda get-alias') echo "7 8" ;;
  'lambda list-versions-by-function') printf '5\t6\t7\t8\n'; echo "$4 $6" >> "$ASKED" ;;
  'stepfunctions list-state-machines') [[ $4 == *"'lamplighter-prod-'"* ]] && echo MACHINES ;;
  'stepfunctions describe-state-machine-alias') echo "${4%:live}:7" ;;
  'stepfunctions list-state-machine-versions') printf "$4:6\t$4:7\n" ;;
  *delete*) echo "$@" >> "$DELETED" ;;
  *) echo "unexpected: $*" >&2; exit 1 ;;
esac
`

// namesInProd returns the names of the functions and the machines of the templates in the stage prod.
func namesInProd(t *testing.T) (functions, machines []string) {
	t.Helper()
	for _, r := range parseTemplate(t).Resources {
		switch r.Type {
		case "AWS::Serverless::Function":
			functions = append(functions, strings.ReplaceAll(r.Properties.FunctionName, "${Stage}", "prod"))
		case "AWS::Serverless::StateMachine":
			machines = append(machines, strings.ReplaceAll(r.Properties.Name, "${Stage}", "prod"))
		}
	}
	return functions, machines
}

// Each deployment keeps versions, and a state machine has 1,000 at most. Versions that are live, or take a part of
// the calls, stay.
func TestPruneVersions_DeletesWhatIsOldOfEachFunctionAndMachine(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("SKIPPED: no bash on this machine: infra/prune-versions was not run")
	}
	dir := t.TempDir()
	functions, machines := namesInProd(t)
	names := strings.NewReplacer("FUNCTIONS", strings.Join(functions, " "), "MACHINES", strings.Join(machines, " "))
	fake := names.Replace(fakeAWS)
	program := filepath.Join(dir, "aws")
	if err := os.WriteFile(program, []byte(fake), 0o700); err != nil { //nolint:gosec // it is to be run
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "infra/prune-versions", "prod")
	cmd.Dir = root
	cmd.Env = append(cmd.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "DELETED="+dir+"/deleted", "ASKED="+dir+"/asked")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var want []string
	for _, f := range functions {
		want = append(want, "lambda delete-function --function-name "+f+" --qualifier 5",
			"lambda delete-function --function-name "+f+" --qualifier 6")
	}
	for _, m := range machines {
		want = append(want, "stepfunctions delete-state-machine-version --state-machine-version-arn "+m+":6")
	}
	got := lines(t, filepath.Join(dir, "deleted"))
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("it deletes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	checkAges(t, lines(t, filepath.Join(dir, "asked")))
}

// checkAges checks that the executor's versions are kept for more than a year: a plan waits in an execution for up to
// 330 days.
func checkAges(t *testing.T, asked []string) {
	t.Helper()
	since := map[bool]string{}
	for _, line := range asked {
		name, _, _ := strings.Cut(line, " ")
		day := regexp.MustCompile(`\d{4}-\d{2}-\d{2}`).FindString(line)
		executor := strings.HasSuffix(name, "-executor")
		if since[executor] == "" {
			since[executor] = day
		}
		if since[executor] != day {
			t.Errorf("versions of %s are kept since %s, of its like since %s", name, day, since[executor])
		}
	}
	if since[true] == "" || since[true] >= since[false] {
		t.Errorf("versions of the executor are kept since %q, of others since %q", since[true], since[false])
	}
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// Work without a request continues to write to the old table, and a waiting execution keeps the version of its
// worker, whose environment names that table.
func TestRestore_StopsWhateverWritesAndWaits(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root, "docs", "operations", "restore.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	listed := strings.Fields(regexp.MustCompile(`(?m)^ *workers="([^"]*)"`).FindString(page))
	for i := range listed {
		listed[i] = strings.Trim(strings.TrimPrefix(listed[i], "workers="), `"`)
	}
	var want []string
	for _, f := range functions.All() {
		if f.Schedule != "" || len(f.Tasks) > 0 || len(f.Stream) > 0 {
			want = append(want, f.Name)
		}
	}
	slices.Sort(listed)
	if slices.Sort(want); !slices.Equal(listed, want) {
		t.Errorf("restore.md stops %v; functions that work by a schedule, a stream or an execution are %v", listed,
			want)
	}
	stop := strings.Index(page, "aws stepfunctions stop-execution")
	if deploy := strings.Index(page, "**Deploy with them**"); stop < 0 || stop < deploy {
		t.Errorf("restore.md stops waiting executions at %d, want that after the deployment at %d: "+
			"the sweeper begins them anew", stop,
			deploy)
	}
}
