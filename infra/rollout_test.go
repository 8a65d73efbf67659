package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/jsii-runtime-go"
)

// deployed is the stacks as CloudFormation receives them, after CDK and SAM have transformed the templates.
type deployed struct {
	Resources map[string]deployedResource            // of all stacks
	stacks    map[string]map[string]deployedResource // of the root under "", of the nested stacks under their ids
}

type deployedResource struct {
	Type                string
	DeletionPolicy      string
	UpdateReplacePolicy string
	UpdatePolicy        struct{ CodeDeployLambdaAliasUpdate any }
	Properties          map[string]any
}

// transformed caches the stacks of deployedAs.
var transformed = map[string]deployed{}

// deployedAs returns the stacks of a stage, transformed by SAM once.
func deployedAs(t *testing.T, s Stage) deployed {
	t.Helper()
	if out, ok := transformed[s.Name]; ok {
		return out
	}
	if exec.Command("python3", "-c", "import samtranslator").Run() != nil {
		t.Skip("SKIPPED: aws-sam-translator is not installed: what SAM makes of the stacks was not looked at")
	}
	out := deployed{map[string]deployedResource{}, map[string]map[string]deployedResource{}}
	templates, files := synthesized(t, s).templates, []string{}
	ids := slices.Sorted(maps.Keys(templates))
	for _, id := range ids {
		files = append(files, filepath.Join(t.TempDir(), "template.json"))
		write(t, files[len(files)-1], templates[id])
	}
	for i, expanded := range expand(t, files) {
		out.stacks[ids[i]] = expanded
		maps.Copy(out.Resources, expanded)
	}
	transformed[s.Name] = out
	return out
}

// expand returns SAM's transformation of templates.
func expand(t *testing.T, files []string) []map[string]deployedResource {
	t.Helper()
	cmd := exec.Command("python3", append([]string{".ci/sam-transform.py"}, files...)...)
	cmd.Dir, cmd.Env = "..", append(os.Environ(), "AWS_DEFAULT_REGION=eu-west-1")
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	var out []map[string]deployedResource
	for d := json.NewDecoder(bytes.NewReader(printed)); d.More(); {
		var doc deployed
		if err = d.Decode(&doc); err != nil {
			t.Fatal(err)
		}
		out = append(out, doc.Resources)
	}
	return out
}

// of returns the resources of a type.
func (d deployed) of(kind string) map[string]deployedResource {
	out := map[string]deployedResource{}
	for id, r := range d.Resources {
		if r.Type == kind {
			out[id] = r
		}
	}
	return out
}

// text returns a value of the template as JSON.
func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRollout_EverythingThatCallsAFunctionCallsWhatIsLive(t *testing.T) {
	needNode(t)
	defer jsii.Close()
	d := deployedAs(t, stages[2])
	callers := text(t, d.of("AWS::ApiGateway::RestApi"))
	for kind, field := range map[string]string{
		"AWS::Lambda::Permission":         "FunctionName",
		"AWS::Lambda::EventSourceMapping": "FunctionName", "AWS::Scheduler::Schedule": "Target",
	} {
		for id, r := range d.of(kind) {
			if !strings.Contains(text(t, r.Properties[field]), "FunctionAliaslive") {
				t.Errorf("%s calls %s", id, text(t, r.Properties[field]))
			}
		}
	}
	// the API calls functions by their names, and the last one is the authorizer
	if n := strings.Count(callers, ":live"); n == 0 || n != strings.Count(callers, "/invocations") {
		t.Errorf("of %d functions that the API calls %d are live", strings.Count(callers, "/invocations"), n)
	}
	names := text(t, d.of("AWS::Lambda::Function"))
	called := regexp.MustCompile(`function:lamplighter-(?:\$\{Stage\}|dev)-(\w+):live`)
	for _, m := range called.FindAllStringSubmatch(callers, -1) {
		if !strings.Contains(names, `"lamplighter-${Stage}-`+m[1]+`"`) {
			t.Errorf("the API calls %s, and no function has this name", m[0])
		}
	}
}

// The API calls functions by a role: neither needs the other's template.
func TestRollout_TheAPICallsFunctionsByARole(t *testing.T) {
	needNode(t)
	defer jsii.Close()
	d := deployedAs(t, stages[2])
	if n := len(d.of("AWS::Lambda::Permission")); n != 0 {
		t.Errorf("%d permissions: the role GatewayRole takes their place", n)
	}
	body := text(t, d.of("AWS::ApiGateway::RestApi"))
	as := strings.Count(body, `{"Fn::Sub":"${GatewayRole.Arn}"}`)
	if calls := strings.Count(body, "/invocations"); as != calls {
		t.Errorf("of %d calls %d are made as GatewayRole", calls, as)
	}
	may := text(t, d.Resources["GatewayRole"].Properties["Policies"])
	if !strings.Contains(may, "function:lamplighter-prod-*:live") || strings.Contains(may, `"*"`) {
		t.Errorf("GatewayRole may do %s", may)
	}
}

// The schedules share the role that SAM would otherwise make for each.
func TestRollout_SchedulesShareARole(t *testing.T) {
	needNode(t)
	defer jsii.Close()
	d := deployedAs(t, stages[2])
	for id, r := range d.of("AWS::Scheduler::Schedule") {
		if role := text(t, r.Properties["Target"].(map[string]any)["RoleArn"]); !strings.Contains(role,
			"SchedulerRoleArn") {
			t.Errorf("%s runs as %s", id, role)
		}
	}
	if may := text(t, d.of("AWS::IAM::Role")["SchedulerRole"].Properties["Policies"]); !strings.Contains(may,
		"function:lamplighter-prod-*:live") || strings.Contains(may, `"*"`) {
		t.Errorf("it may do %s", may)
	}
}

// A running execution ends on the version that it began on: it keeps its definition, the definition names a version
// of the worker, and a deployment does not delete versions.
func TestRollout_ExecutionsEndOnTheVersionThatTheyBeganOn(t *testing.T) {
	needNode(t)
	defer jsii.Close()
	d := deployedAs(t, stages[2])
	machines := d.of("AWS::StepFunctions::StateMachine")
	if len(machines) != 12 {
		t.Errorf("%d machines", len(machines))
	}
	for id, m := range machines {
		for name, v := range m.Properties["DefinitionSubstitutions"].(map[string]any) {
			ref := strings.Trim(fmt.Sprint(v.(map[string]any)["Fn::Sub"]), "${}")
			if worker := d.Resources[ref]; worker.Type != "AWS::Lambda::Version" {
				t.Errorf("%s: %s is %s, which is no version but %q", id, name, text(t, v), worker.Type)
			}
		}
		if a := d.Resources[id+"Aliaslive"]; a.Type != "AWS::StepFunctions::StateMachineAlias" {
			t.Errorf("%s has no alias live", id)
		}
	}
	functions := d.of("AWS::Lambda::Function")
	versions := d.of("AWS::Lambda::Version")
	if len(versions) != len(functions) {
		t.Errorf("%d functions have %d versions", len(functions), len(versions))
	}
	for id, v := range versions {
		if v.DeletionPolicy != "Retain" || v.UpdateReplacePolicy != "Retain" {
			t.Errorf("%s does not outlive the next deployment: DeletionPolicy %q, UpdateReplacePolicy %q", id,
				v.DeletionPolicy, v.UpdateReplacePolicy)
		}
		if got := text(t, v.Properties["Description"]); got != `{"Ref":"Version"}` {
			t.Errorf("%s stays as it is when only a parameter changes: its description is %s, want !Ref Version", id,
				got)
		}
	}
	for id, v := range d.of("AWS::StepFunctions::StateMachineVersion") {
		if v.DeletionPolicy != "Retain" || v.UpdateReplacePolicy != "Retain" {
			t.Errorf("%s does not outlive the next deployment", id)
		}
	}
}

func TestRollout_GoesSlowlyInProdAndTurnsBackOnAlarms(t *testing.T) {
	needNode(t)
	defer jsii.Close()
	d := deployedAs(t, stages[2])
	groups := d.of("AWS::CodeDeploy::DeploymentGroup")
	for id, a := range d.of("AWS::Lambda::Alias") {
		if a.UpdatePolicy.CodeDeployLambdaAliasUpdate == nil {
			t.Errorf("%s goes to its new version at once", id)
		}
	}
	if want := len(d.of("AWS::Lambda::Function")); len(groups) != want {
		t.Errorf("%d deployment groups of %d functions", len(groups), want)
	}
	for id, g := range groups {
		how, alarms, back := text(t, g.Properties["DeploymentConfigName"]), text(t, g.Properties["AlarmConfiguration"]),
			text(t, g.Properties["AutoRollbackConfiguration"])
		if !strings.Contains(how, "Canary10Percent5Minutes") || !strings.Contains(alarms, "ErrorsAlarm") ||
			!strings.Contains(alarms, "RefusedAlarm") ||
			!strings.Contains(back, "DEPLOYMENT_STOP_ON_ALARM") {
			t.Errorf("%s: %s %s %s", id, how, alarms, back)
		}
	}
	for id, a := range d.of("AWS::StepFunctions::StateMachineAlias") {
		if how := text(t, a.Properties["DeploymentPreference"]); !strings.Contains(how, `"CANARY"`) ||
			!strings.Contains(how, "ErrorsAlarm") {
			t.Errorf("%s: %s", id, how)
		}
	}
	for name, resources := range d.stacks {
		if n := len(resources); n > 300 {
			t.Errorf("the stack %q has %d resources, where 300 are wanted and CloudFormation takes 500", name, n)
		}
	}
	dev := deployedAs(t, stages[0])
	if n := len(dev.of("AWS::CodeDeploy::DeploymentGroup")); n != 0 {
		t.Errorf("dev has %d deployment groups: it changes at once", n)
	}
}
