package stacks_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/functions"
	"lamplighter.dev/infra/stacks"
	"lamplighter.dev/shared/engine/table"
)

// templateDoc is the part of the templates that these tests read, without help of other packages.
type templateDoc struct {
	Resources map[string]templateResource
}

type templateResource struct {
	Type                string `yaml:"Type"`
	Condition           string `yaml:"Condition"`
	UpdateReplacePolicy string `yaml:"UpdateReplacePolicy"`
	Properties          struct {
		RoleName       string         `yaml:"RoleName"`
		CodeURI        string         `yaml:"CodeUri"`
		Policies       []any          `yaml:"Policies"`
		PolicyDocument any            `yaml:"PolicyDocument"`
		Substitutions  map[string]any `yaml:"DefinitionSubstitutions"`
		Name           string         `yaml:"Name"`
		Events         map[string]any `yaml:"Events"`
		Expression     string         `yaml:"ScheduleExpression"` // of a schedule
		Target         struct {
			ARN string `yaml:"Arn"`
		} `yaml:"Target"`
		FunctionName      string `yaml:"FunctionName"` // of a stream mapping
		EventSourceARN    string `yaml:"EventSourceArn"`
		FilterCriteria    any    `yaml:"FilterCriteria"`
		EventInvokeConfig any    `yaml:"EventInvokeConfig"`
		Role              any    `yaml:"Role"`
		Alias             string `yaml:"AutoPublishAlias"`
	} `yaml:"Properties"`
}

// parseTemplate reads the templates. Each intrinsic function is its text: "Table.Arn" of !GetAtt Table.Arn.
func parseTemplate(t *testing.T) templateDoc {
	t.Helper()
	out, err := stacks.ReadResources[templateResource](root)
	if err != nil {
		t.Fatal(err)
	}
	return templateDoc{out}
}

// functions returns the ids of the functions of the templates, by their folders.
func (d templateDoc) functions() map[string]string {
	out := map[string]string{}
	for id, r := range d.Resources {
		if folder, ok := stacks.ParseFolder(r.Properties.CodeURI); ok {
			out[folder] = id
		}
	}
	return out
}

// prefixes matches the prefixes of partition keys in a filter of the table's stream.
var prefixes = regexp.MustCompile(`pk[^\]]*\[[^A-Z]*([A-Z#]+)`)

// callers returns the schedules and the streamed partitions that call the function with the id.
func (d templateDoc) callers(id string) (schedules, streams []string) {
	live := "${" + id + ".Alias}"
	for _, r := range d.Resources {
		if r.Type == "AWS::Scheduler::Schedule" && r.Properties.Target.ARN == live {
			schedules = append(schedules, r.Properties.Expression)
		}
		if r.Type == "AWS::Lambda::EventSourceMapping" && r.Properties.FunctionName == live {
			filter, _ := json.Marshal(r.Properties.FilterCriteria)
			for _, m := range prefixes.FindAllStringSubmatch(string(filter), -1) {
				streams = append(streams, m[1])
			}
		}
	}
	return schedules, streams
}

func TestTemplate_HasEveryFunctionAsDeclared(t *testing.T) {
	d := parseTemplate(t)
	deployed := d.functions()
	for _, f := range functions.All() {
		id, ok := deployed[f.Name]
		if !ok {
			t.Errorf("no template has a function with CodeUri ../../build/%s", f.Name)
			continue
		}
		delete(deployed, f.Name)
		schedules, streams := d.callers(id)
		if got := strings.Join(schedules, " "); got != f.Schedule {
			t.Errorf("%s declares the schedule %q, and its template has %q", f.Name, f.Schedule, got)
		}
		if got, want := strings.Join(streams, " "), prefixesOf(f.Stream); got != want {
			t.Errorf("%s declares the stream of %q, and its template filters %q", f.Name, want, got)
		}
		if n := len(d.Resources[id].Properties.Events); n > 0 {
			t.Errorf("%s has %d Events: SAM would retain what it makes of them; write the resources "+
				"beside the function", id, n)
		}
	}
	for folder := range deployed {
		t.Errorf("a template has build/%s, and functions.All has not", folder)
	}
}

// prefixesOf returns the fixed prefixes of the partitions' keys.
func prefixesOf(ps []table.Partition) string {
	out := make([]string, len(ps))
	for i, p := range ps {
		out[i], _, _ = strings.Cut(string(p), "*")
	}
	return strings.Join(out, " ")
}

// A machine calls the functions that declare its tasks, and no others.
func TestTemplate_MachinesCallWhoDeclaresTheirTasks(t *testing.T) {
	want := map[string][]string{}
	for _, f := range functions.All() {
		for _, m := range f.Tasks {
			want[m] = append(want[m], strings.ToUpper(f.Name[:1])+f.Name[1:]+"FunctionArn")
		}
	}
	for _, r := range parseTemplate(t).Resources {
		if r.Type != "AWS::Serverless::StateMachine" {
			continue
		}
		var got []string
		for name := range r.Properties.Substitutions {
			got = append(got, name)
		}
		machine := strings.TrimPrefix(r.Properties.Name, "lamplighter-${Stage}-")
		if slices.Sort(got); !slices.Equal(got, want[machine]) {
			t.Errorf("the machine %s calls %v, declared are %v", machine, got, want[machine])
		}
		delete(want, machine)
	}
	if len(want) > 0 {
		t.Errorf("the templates lack the machines of %v", want)
	}
}

// A stream of DynamoDB serves two readers of a shard and throttles a third.
func TestTemplate_TheStreamHasAtMostTwoReaders(t *testing.T) {
	var readers []string
	for _, f := range functions.All() {
		if len(f.Stream) > 0 {
			readers = append(readers, f.Name)
		}
	}
	if len(readers) > 2 {
		t.Errorf("%v read the table's stream, which takes two: one function has to take the events of the others and "+
			"hand them on", readers)
	}
}

// statements returns the statements of one function's policies.
func (r templateResource) statements() []map[string]any {
	var out []map[string]any
	for _, p := range r.Properties.Policies {
		doc, _ := p.(map[string]any)
		list, _ := doc["Statement"].([]any)
		for _, s := range list {
			out = append(out, s.(map[string]any))
		}
	}
	return out
}

// Every right of a policy on the table is limited to named partitions. No policy allows Scan, PartiQL, or whole
// transactions by a wildcard. Writers of audit logs may only add to them in a transaction, except the eraser.
func TestTemplate_EveryRightOnTheTableNamesPartitions(t *testing.T) {
	for path, text := range readAll(t) {
		for _, everything := range []string{"dynamodb:Scan", "dynamodb:*", "dynamodb:PartiQL"} {
			if strings.Contains(string(text), everything) {
				t.Errorf("%s allows to read everything by %s", path, everything)
			}
		}
	}
	for name, r := range parseTemplate(t).Resources {
		b, err := json.Marshal(r.Properties.PolicyDocument)
		if err != nil || strings.Contains(string(b), "dynamodb:") {
			t.Errorf("%s is a policy that functions share and speaks of the table: rights on it belong to one "+
				"function; %v", name, err)
		}
		for _, s := range r.statements() {
			checkStatement(t, name, s)
		}
	}
}

func checkStatement(t *testing.T, name string, s map[string]any) {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), `"dynamodb:`) || readsStream(s) {
		return
	}
	var got struct {
		Action    []string
		Resource  any
		Condition struct {
			Null  map[string]string
			Like  map[string][]string `json:"ForAllValues:StringLike"`
			Where map[string]string   `json:"ForAnyValue:StringEquals"`
		}
	}
	if err = json.Unmarshal(b, &got); err != nil {
		t.Fatalf("%s: %s: %v", name, b, err)
	}
	const leading = "dynamodb:LeadingKeys"
	if !isTable(got.Resource) || got.Condition.Null[leading] != "false" || len(got.Condition.Like[leading]) == 0 {
		t.Errorf("%s may %v without a partition that it names: %s", name, got.Action, b)
	}
	writes := slices.ContainsFunc(got.Action, func(a string) bool {
		return slices.Contains([]string{
			"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem",
			"dynamodb:BatchWriteItem",
		}, a)
	})
	appends := slices.Equal(got.Action, []string{"dynamodb:PutItem"}) &&
		got.Condition.Where["dynamodb:EnclosingOperation"] == "TransactWriteItems"
	audit := slices.ContainsFunc(got.Condition.Like[leading], func(p string) bool {
		return strings.HasSuffix(p, "#AUDIT") || strings.HasPrefix(p, "AUDIT#") || p == "ORG#*"
	})
	if writes && audit && !appends && name != "EraserFunction" {
		t.Errorf("%s may %v rows of audit logs: %s", name, got.Action, b)
	}
}

// readsStream reports whether a statement allows only to read the stream. Streams have no keys.
func readsStream(s map[string]any) bool {
	return s["Resource"] == "${TableArn}/stream/*" && len(s) == 3 && reflect.DeepEqual(s["Action"], []any{
		"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams",
	})
}

// isTable reports whether the resource of a statement is the table of template.yaml.
func isTable(resource any) bool { return reflect.DeepEqual(resource, "TableArn") }

// IAM takes 10,240 characters of policies in a role, not counting white space.
func TestTemplate_PoliciesFitIntoTheirRoles(t *testing.T) {
	const most, warn = 10_240, 8_000
	longest := strings.NewReplacer("${AWS::Partition}", "aws-us-gov", "${AWS::Region}", "ap-southeast-1",
		"${AWS::AccountId}", "123456789012",
		"${Stage}", "staging", "TableArn",
		"arn:aws-us-gov:dynamodb:ap-southeast-1:123456789012:table/"+strings.Repeat("t", 60),
		"SecretsKeyArn", "arn:aws-us-gov:kms:ap-southeast-1:123456789012:key/"+strings.Repeat("k", 36))
	for name, r := range parseTemplate(t).Resources {
		b, err := json.Marshal(r.statements())
		if err != nil {
			t.Fatal(err)
		}
		n := len(longest.Replace(string(b)))
		if n > 2_000 {
			t.Logf("%s: %d", name, n)
		}
		if n > warn {
			t.Errorf("the policy of %s has %d characters; IAM takes %d in a role: split the function, or name "+
				"partitions by a common beginning", name, n, most)
		}
	}
}

// SES calls the operation SendEmail, but also requires the right to SendRawEmail for a mail that is given as a whole,
// as shared/engine/mail/ses gives it. No emulator requires it.
func TestTheMailerMaySendAMailAsAWhole(t *testing.T) {
	_, mailer, _ := strings.Cut(string(readAll(t)["infra/stacks/people.yaml"]), "  MailerFunction:")
	mailer, _, _ = strings.Cut(mailer, "# declared in")
	if !strings.Contains(mailer, "Action: [ses:SendEmail, ses:SendRawEmail]") {
		t.Errorf("the mailer may not send:%s", mailer)
	}
}
