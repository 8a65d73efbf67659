package stacks_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"testing"

	"gopkg.in/yaml.v3"

	"lamplighter.dev/functions"
	"lamplighter.dev/infra/stacks"
)

// CloudFormation takes 500 resources in a stack. Each stack of ours is to have at most 300, so that there is room to
// split it without haste. API Gateway takes 300 resources, which are paths and parts of paths, in a REST API.
const (
	mostResources = 300
	mostPaths     = 300
	planned       = 80 // functions
)

// In prod CodeDeploy has a group for each function, and an application and a role for each stack with functions. The
// root has the alarms, their topic, the dashboard and the domain instead (infra/).
const (
	codeDeploy = 2
	ofCDK      = 24
)

// parseFile reads one template.
func parseFile(t *testing.T, f stacks.File) map[string]templateResource {
	t.Helper()
	var doc struct {
		Resources map[string]templateResource `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(f.Text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Resources
}

// count returns how many resources SAM makes of a template, and how many there are in prod with those of CDK.
func count(resources map[string]templateResource) (bySAM, inProd int) {
	functions := 0
	for _, r := range resources {
		bySAM += expanded(r)
		if r.Type == "AWS::Serverless::Function" {
			functions++
		}
	}
	if functions == 0 {
		return bySAM, bySAM + ofCDK
	}
	return bySAM, bySAM + functions + codeDeploy
}

// withMore returns the resources of a stack with n more functions of today's average: one function of three is a
// worker with a schedule, and every five functions have a state machine.
func withMore(resources map[string]templateResource, n int) map[string]templateResource {
	out := maps.Clone(resources)
	for i := range n {
		f := templateResource{Type: "AWS::Serverless::Function"}
		if i%3 == 2 {
			out[fmt.Sprintf("Added%dRetries", i)] = templateResource{Type: "AWS::Lambda::EventInvokeConfig"}
			out[fmt.Sprintf("Added%dSchedule", i)] = templateResource{Type: "AWS::Scheduler::Schedule"}
		}
		out[fmt.Sprintf("Added%dFunction", i)] = f
		if i%5 == 4 {
			out[fmt.Sprintf("Added%dMachine", i)] = templateResource{Type: "AWS::Serverless::StateMachine"}
		}
	}
	return out
}

// TestStacks_StayWithinTheirBudget counts the resources that SAM and CDK make of each template: now, and with all
// planned functions. The stacks of those functions are not decided, so each stack in turn gets all of them.
func TestStacks_StayWithinTheirBudget(t *testing.T) {
	files, err := stacks.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for i, f := range files {
		resources, more := parseFile(t, f), planned-len(functions.All())
		if i == 0 {
			more = 0 // the root has no functions
		}
		bySAM, now := count(resources)
		_, then := count(withMore(resources, more))
		all += now
		t.Logf("%s: %d resources, %d in prod, and %d with %d functions more", f.Path, bySAM, now, then, more)
		if now > mostResources || then > mostResources {
			t.Errorf("%s has %d resources in prod and would have %d with %d functions more, where %d are wanted: "+
				"move functions into a new file in infra/stacks", f.Path, now, then, more, mostResources)
		}
		if got, ok := countBySAM(t, f.Path); ok && got != bySAM {
			t.Errorf("SAM makes %d resources of %s, we count %d", got, f.Path, bySAM)
		}
	}
	t.Logf("%d resources in all", all)
}

// TestStacks_TheNextLimitIsThePathsOfTheAPI checks the limits that all stacks share, at the planned size, and names
// the most used one.
func TestStacks_TheNextLimitIsThePathsOfTheAPI(t *testing.T) {
	groups, paths := map[string]bool{}, map[string]bool{}
	for _, r := range routesOf(t) {
		groups[r.folder] = true
		addPath(paths, r.path)
	}
	files, err := stacks.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	more := planned - len(functions.All())
	limits := []limit{
		{
			"paths of the API", len(paths) * (len(groups) + more) / len(groups), mostPaths,
			"route one {proxy+} for a whole group, or make a second API under a base path",
		},
		{
			"kB of " + stacks.Root, len(files[0].Text) * (len(groups) + more) / len(groups) / 1000, 1000,
			"move the API into a stack of its own",
		},
		{"children of the root", len(files) - 1, mostResources, "nest once more"},
	}
	for _, l := range limits {
		t.Logf("%d functions: %d of %d %s", planned, l.is, l.most, l.what)
		if l.is > l.most {
			t.Errorf("%d functions will make %d %s, of which there may be %d: %s", planned, l.is, l.what, l.most,
				l.wayOut)
		}
		if l.used() > limits[0].used() {
			t.Errorf("the next limit is %q: name it in docs/decisions/055-nested-stacks.md and in this test", l.what)
		}
	}
}

// limit is a limit of AWS with its use at the planned size.
type limit struct {
	what     string
	is, most int
	wayOut   string
}

// used returns the used part of the limit; 1 is all of it.
func (l limit) used() float64 { return float64(l.is) / float64(l.most) }

// expanded returns the number of CloudFormation resources that SAM makes of a template's resource: a function and a
// machine have a role, a version and an alias, an API has a deployment and a stage.
func expanded(r templateResource) int {
	n := 1
	switch r.Type {
	case "AWS::Serverless::Api":
		n = 3
	case "AWS::Serverless::Function", "AWS::Serverless::StateMachine":
		n = 4
	}
	return n
}

// addPath adds a path and its parent paths. Each is a resource of API Gateway.
func addPath(paths map[string]bool, path string) {
	for i, r := range path {
		if r == '/' && i > 0 {
			paths[path[:i]] = true
		}
	}
	paths[path] = true
}

// countBySAM returns how many resources SAM itself makes of a template, and false if SAM is not installed.
func countBySAM(t *testing.T, path string) (int, bool) {
	t.Helper()
	if exec.Command("python3", "-c", "import samtranslator").Run() != nil {
		t.Logf("SKIPPED: aws-sam-translator is not installed: our count of %s is not compared with SAM's", path)
		return 0, false
	}
	cmd := exec.Command("python3", filepath.Join(".ci", "sam-transform.py"), path)
	cmd.Dir = root
	cmd.Env = append(cmd.Environ(), "AWS_DEFAULT_REGION=eu-west-1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var got struct{ Resources map[string]any }
	if err = json.NewDecoder(bytes.NewReader(out)).Decode(&got); err != nil {
		t.Fatal(err)
	}
	return len(got.Resources), true
}
