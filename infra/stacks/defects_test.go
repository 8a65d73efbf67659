package stacks_test

import (
	"strings"
	"testing"
)

// A schedule without a name of its own gets its id from SAM, which two stages of one account and region share
// (aws/serverless-application-model, issue 3109).
func TestSchedules_AreNamedByStage(t *testing.T) {
	d, n := parseTemplate(t), 0
	for folder, id := range d.functions() {
		for name, r := range d.Resources {
			if r.Type != "AWS::Scheduler::Schedule" || r.Properties.Target.ARN != "${"+id+".Alias}" {
				continue
			}
			if n++; r.Properties.Name != "lamplighter-${Stage}-"+folder {
				t.Errorf("%s is called %q: Name is !Sub lamplighter-${Stage}-%s, as its function's", name, r.Properties.Name, folder)
			}
		}
	}
	all := 0
	for _, r := range d.Resources {
		if r.Type == "AWS::Scheduler::Schedule" {
			all++
		}
	}
	if n != all || n < 13 {
		t.Errorf("of %d schedules %d call a function", all, n)
	}
}

// retained are the types of resources that a deployment leaves behind when it replaces them: those of data, and functions. SAM gives
// what a function says to its version, which is meant, and to its role and alias: these are never replaced, because neither the role
// nor the alias has a name or a place that a deployment changes. It would give it to schedules, stream mappings, permissions and
// configurations of calls as well, if they were Events and properties of the function: those that were left would go on calling it.
var retained = map[string]bool{
	"AWS::Serverless::Function": true, "AWS::DynamoDB::Table": true, "AWS::S3::Bucket": true, "AWS::KMS::Key": true,
	"AWS::SecretsManager::Secret": true, "AWS::Logs::LogGroup": true,
}

func TestReplaced_OnlyDataAndVersionsStay(t *testing.T) {
	for id, r := range parseTemplate(t).Resources {
		want := ""
		if retained[r.Type] {
			want = "Retain"
		}
		if r.UpdateReplacePolicy != want {
			t.Errorf("the UpdateReplacePolicy of %s, a %s, is %q, want %q", id, r.Type, r.UpdateReplacePolicy, want)
		}
		if r.Type == "AWS::Serverless::Function" {
			checkSpreadsToVersions(t, id, r)
		}
	}
}

// checkSpreadsToVersions fails where SAM would make more of a function than its version, role and alias, or could replace one of them.
func checkSpreadsToVersions(t *testing.T, id string, r templateResource) {
	t.Helper()
	if len(r.Properties.Events) > 0 || r.Properties.EventInvokeConfig != nil {
		t.Errorf("%s has Events or an EventInvokeConfig, of which SAM would make what stays when it is replaced: write them as "+
			"resources of their own", id)
	}
	if r.Properties.Role != nil || r.Properties.Alias != "" {
		t.Errorf("%s has a role or an alias of its own, which may be replaced and would stay", id)
	}
	if !strings.HasPrefix(r.Properties.FunctionName, "lamplighter-${Stage}-") {
		t.Errorf("%s has no fixed name: %q", id, r.Properties.FunctionName)
	}
}
