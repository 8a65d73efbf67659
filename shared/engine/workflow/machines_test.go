package workflow_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"lamplighter.dev/shared/engine/workflow"
)

const definitions = "../../../statemachines"

func TestEveryStateMachineStaysWithinTheSubset(t *testing.T) {
	files, err := filepath.Glob(definitions + "/*.asl.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("SKIPPED: there are no state machines in statemachines/ yet")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			names := map[string]string{}
			for _, m := range regexp.MustCompile(`\$\{([^}]*)\}`).FindAllStringSubmatch(string(b), -1) {
				names[m[1]] = "arn:aws:lambda:local:000000000000:function:" + strings.ToLower(m[1])
			}
			if _, err := workflow.LoadMachines(fstest.MapFS{"m.asl.json": {Data: b}}, names); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestMachinesNamesWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ definition, want string }{
		"a placeholder without a value": {strings.ReplaceAll(oneTask, "Fn", "Nobody"), "${Nobody}"},
		"a field outside the subset": {
			strings.Replace(oneTask, `"End"`, `"HeartbeatSeconds":3,"End"`, 1),
			`state "T": a Task state: field "HeartbeatSeconds"`,
		},
		"text that is not JSON": {"{", "m.asl.json"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := workflow.LoadMachines(fstest.MapFS{"m.asl.json": {Data: []byte(c.definition)}}, map[string]string{
				"Fn": "arn:aws:lambda:local:000000000000:function:fn",
			})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}
