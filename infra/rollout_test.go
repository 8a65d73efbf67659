package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/jsii-runtime-go"
)

// deployed is a stack as CloudFormation gets it: what SAM makes of what CDK has made of template.yaml.
type deployed struct {
	Resources map[string]deployedResource
}

type deployedResource struct {
	Type                string
	DeletionPolicy      string
	UpdateReplacePolicy string
	UpdatePolicy        struct{ CodeDeployLambdaAliasUpdate any }
	Properties          map[string]any
}

// transformed are the stacks that deployedAs has made.
var transformed = map[string]deployed{}

// deployedAs returns the stack of a stage, transformed by SAM once.
func deployedAs(t *testing.T, s Stage) deployed {
	t.Helper()
	if out, ok := transformed[s.Name]; ok {
		return out
	}
	if exec.Command("python3", "-c", "import samtranslator").Run() != nil {
		t.Skip("SKIPPED: aws-sam-translator is not installed: what SAM makes of the stack was not looked at")
	}
	file := filepath.Join(t.TempDir(), "template.json")
	write(t, file, synthesized(t, s).whole)
	cmd := exec.Command("python3", ".ci/sam-transform.py", file)
	cmd.Dir, cmd.Env = "..", append(os.Environ(), "AWS_DEFAULT_REGION=eu-west-1")
	expanded, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, expanded)
	}
	var out deployed
	if err = json.Unmarshal(expanded, &out); err != nil {
		t.Fatal(err)
	}
	transformed[s.Name] = out
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
	for kind, field := range map[string]string{"AWS::Lambda::Permission": "FunctionName",
		"AWS::Lambda::EventSourceMapping": "FunctionName", "AWS::Scheduler::Schedule": "Target"} {
		for id, r := range d.of(kind) {
			if !strings.Contains(text(t, r.Properties[field]), "FunctionAliaslive") {
				t.Errorf("%s calls %s", id, text(t, r.Properties[field]))
			}
		}
	}
	if n := strings.Count(callers, "FunctionAliaslive"); n == 0 || n != strings.Count(callers, "/invocations") {
		t.Errorf("of %d functions that the API calls %d are live", strings.Count(callers, "/invocations"), n)
	}
}

// A stack has room for 500 resources: the schedules share the role that SAM would make for each.
func TestRollout_SchedulesShareARole(t *testing.T) {
	needNode(t)
	defer jsii.Close()
	d := deployedAs(t, stages[2])
	for id, r := range d.of("AWS::Scheduler::Schedule") {
		if role := text(t, r.Properties["Target"].(map[string]any)["RoleArn"]); !strings.Contains(role,
			"SchedulerRole") {
			t.Errorf("%s runs as %s", id, role)
		}
	}
	if may := text(t, d.of("AWS::IAM::Role")["SchedulerRole"].Properties["Policies"]); !strings.Contains(may,
		"function:lamplighter-prod-*:live") || strings.Contains(may, `"*"`) {
		t.Errorf("it may do %s", may)
	}
}

// A running execution ends on the version that it began on: it keeps its definition, the definition names a version of the worker,
// and a deployment leaves versions where they are.
func TestRollout_ExecutionsEndOnTheVersionThatTheyBeganOn(t *testing.T) {
	needNode(t)
	defer jsii.Close()
	d := deployedAs(t, stages[2])
	machines := d.of("AWS::StepFunctions::StateMachine")
	if len(machines) != 9 {
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
	if n := len(d.Resources); n > 495 {
		t.Errorf("the stack has %d resources, and CloudFormation takes 500", n)
	}
	dev := deployedAs(t, stages[0])
	if n := len(dev.of("AWS::CodeDeploy::DeploymentGroup")); n != 0 {
		t.Errorf("dev has %d deployment groups: it changes at once", n)
	}
}
