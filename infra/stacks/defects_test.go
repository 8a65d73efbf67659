package stacks_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/functions"
	"lamplighter.dev/infra/stacks"
)

// A schedule without a name gets its id from SAM. Two stages of one account and region would share that id
// (aws/serverless-application-model, issue 3109).
func TestSchedules_AreNamedByStage(t *testing.T) {
	d, n := parseTemplate(t), 0
	for folder, id := range d.functions() {
		for name, r := range d.Resources {
			if r.Type != "AWS::Scheduler::Schedule" || r.Properties.Target.ARN != "${"+id+".Alias}" {
				continue
			}
			if n++; r.Properties.Name != "lamplighter-${Stage}-"+folder {
				t.Errorf("%s is called %q: Name is !Sub lamplighter-${Stage}-%s, as its function's", name,
					r.Properties.Name, folder)
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

// retained lists the resource types that a deployment leaves behind when it replaces them: data and functions. SAM
// copies a function's UpdateReplacePolicy to its version, as intended, and to its role and alias. Those two are never
// replaced, because neither has a name or a place that a deployment changes. If schedules, stream mappings,
// permissions and configurations of calls were Events and properties of the function, SAM would copy the policy to
// them as well, and the retained ones would go on calling the function.
var retained = map[string]bool{
	"AWS::Serverless::Function": true, "AWS::DynamoDB::Table": true, "AWS::S3::Bucket": true, "AWS::KMS::Key": true,
	"AWS::SecretsManager::Secret": true, "AWS::Logs::LogGroup": true, "AWS::ApiGateway::Account": true,
}

// sharedRole is the role by which API Gateway writes the logs of all APIs of the account and region.
const sharedRole = "GatewayLogsRole"

func TestReplaced_OnlyDataAndVersionsStay(t *testing.T) {
	for id, r := range parseTemplate(t).Resources {
		want := ""
		if retained[r.Type] || id == sharedRole {
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

// checkSpreadsToVersions fails if SAM would make more of a function than its version, role and alias, or could
// replace one of them.
func checkSpreadsToVersions(t *testing.T, id string, r templateResource) {
	t.Helper()
	if len(r.Properties.Events) > 0 || r.Properties.EventInvokeConfig != nil {
		t.Errorf("%s has Events or an EventInvokeConfig, of which SAM would make what stays when it is replaced: "+
			"write them as resources of their own", id)
	}
	if r.Properties.Role != nil || r.Properties.Alias != "" {
		t.Errorf("%s has a role or an alias of its own, which may be replaced and would stay", id)
	}
	if !strings.HasPrefix(r.Properties.FunctionName, "lamplighter-${Stage}-") {
		t.Errorf("%s has no fixed name: %q", id, r.Properties.FunctionName)
	}
}

// rights returns the policies of a role or a function as text.
func (d templateDoc) rights(t *testing.T, id string) string {
	t.Helper()
	b, err := json.Marshal(d.Resources[id].Properties.Policies)
	if err != nil || string(b) == "null" {
		t.Fatalf("%s has no policies; %v", id, err)
	}
	return string(b)
}

// Azure and Google take the ARN of the caller's role as the subject of a token, and an administrator there names one.
// Therefore the functions that open accounts of customers share a role with a fixed name, and no function assumes
// roles of customers as itself.
func TestClouds_AreOpenedByOneRole(t *testing.T) {
	d := parseTemplate(t)
	role := d.Resources["CloudsRole"]
	if role.Properties.RoleName != "lamplighter-${Stage}-clouds" {
		t.Errorf("CloudsRole is called %q: administrators of other clouds have written lamplighter-<stage>-clouds "+
			"into their trust",
			role.Properties.RoleName)
	}
	for _, right := range []string{`"sts:AssumeRole"`, `"sts:GetWebIdentityToken"`} {
		if !strings.Contains(d.rights(t, "CloudsRole"), right) {
			t.Errorf("CloudsRole may not %s", right)
		}
	}
	var opens []string
	deployed := d.functions()
	for _, f := range functions.All() {
		id := deployed[f.Name]
		if f.Clouds {
			opens = append(opens, f.Name)
		}
		for _, s := range d.Resources[id].statements() {
			text := fmt.Sprint(s)
			if !strings.Contains(text, "sts:") {
				continue
			}
			if !f.Clouds || s["Resource"] != "CloudsRoleArn" || fmt.Sprint(s["Action"]) != "[sts:AssumeRole]" {
				t.Errorf("%s may %s: it may assume CloudsRole at most, and that only if it declares Clouds", f.Name,
					text)
			}
		}
		if f.Clouds && !strings.Contains(fmt.Sprint(d.Resources[id].Properties.Policies), "CloudsRoleArn") {
			t.Errorf("%s declares Clouds and may not assume CloudsRole", f.Name)
		}
	}
	want := []string{"connector", "discovery", "executor", "organisationsync", "billingsync"}
	if !slices.Equal(opens, want) {
		t.Errorf("%v open accounts of customers, want %v", opens, want)
	}
	shared := string(readAll(t)[stacks.Shared])
	if !strings.Contains(shared, "LAMPLIGHTER_CLOUDS_ROLE: !Ref CloudsRoleArn") ||
		!strings.Contains(shared, "LAMPLIGHTER_TOKEN_ISSUER: !Ref TokenIssuer") {
		t.Error("functions are not told of CloudsRole, or onboarding not of the issuer of its tokens")
	}
}

// Each of these rights was missing once, or more functions than needed had it.
func TestPolicies_AllowWhatIsUsedAndNoMore(t *testing.T) {
	d := parseTemplate(t)
	ids := d.functions()
	if got := d.rights(t, ids["organisationsync"]); strings.Count(got, `"APIRATE#*"`) != 2 {
		t.Errorf("organisationsync may not read and write APIRATE#*, where the calls to clouds are counted: %s", got)
	}
	if got := d.rights(t, ids["queryrunner"]); !strings.Contains(got, "${AWS::AccountId}:database/default") {
		t.Errorf("queryrunner may not read the database default, for which Athena asks in each question: %s", got)
	}
	for folder, id := range ids {
		text := fmt.Sprint(d.Resources[id].Properties.Policies)
		if looks := strings.Contains(text, "states:DescribeExecution"); looks != (folder == "sweeper") {
			t.Errorf("%s may describe executions: %v; the sweeper alone does", folder, looks)
		}
	}
	if got := d.rights(t, ids["pricesync"]); strings.Contains(got, "sts:") {
		t.Errorf("pricesync opens no account, and may %s", got)
	}
}
