package checks

import (
	"encoding/json"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"lamplighter.dev/functions"
	"lamplighter.dev/shared/engine/table"
)

// templateDoc is what these tests read of template.yaml, by themselves.
type templateDoc struct {
	Resources map[string]templateResource `yaml:"Resources"`
}

type templateResource struct {
	Type       string `yaml:"Type"`
	Properties struct {
		CodeURI           string         `yaml:"CodeUri"`
		Policies          []any          `yaml:"Policies"`
		EventInvokeConfig any            `yaml:"EventInvokeConfig"`
		PolicyDocument    any            `yaml:"PolicyDocument"`
		Substitutions     map[string]any `yaml:"DefinitionSubstitutions"`
		Name              string         `yaml:"Name"`
		Events            map[string]struct {
			Type       string         `yaml:"Type"`
			Properties map[string]any `yaml:"Properties"`
		} `yaml:"Events"`
	} `yaml:"Properties"`
}

// parseTemplate reads the template. Each intrinsic function is its text: "Table.Arn" of !GetAtt Table.Arn.
func parseTemplate(t *testing.T) templateDoc {
	t.Helper()
	var d templateDoc
	if err := yaml.Unmarshal([]byte(readTemplate(t)), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// functions returns the functions of the template, by their folders.
func (d templateDoc) functions() map[string]templateResource {
	out := map[string]templateResource{}
	for _, r := range d.Resources {
		if folder, ok := strings.CutPrefix(r.Properties.CodeURI, "build/"); ok {
			out[folder] = r
		}
	}
	return out
}

func TestTemplate_HasEveryFunctionAsDeclared(t *testing.T) {
	deployed := parseTemplate(t).functions()
	for _, f := range functions.All() {
		r, ok := deployed[f.Name]
		if !ok {
			t.Errorf("template.yaml has no function with CodeUri build/%s", f.Name)
			continue
		}
		delete(deployed, f.Name)
		var schedules, streams []string
		for _, e := range r.Properties.Events {
			switch e.Type {
			case "ScheduleV2":
				schedules = append(schedules, e.Properties["ScheduleExpression"].(string))
			case "DynamoDB":
				filter, _ := json.Marshal(e.Properties["FilterCriteria"])
				for _, m := range regexp.MustCompile(`pk[^\]]*\[[^A-Z]*([A-Z#]+)`).FindAllStringSubmatch(string(filter),
					-1) {
					streams = append(streams, m[1])
				}
			}
		}
		if got := strings.Join(schedules, " "); got != f.Schedule {
			t.Errorf("%s declares the schedule %q, and template.yaml has %q", f.Name, f.Schedule, got)
		}
		if got, want := strings.Join(streams, " "), prefixesOf(f.Stream); got != want {
			t.Errorf("%s declares the stream of %q, and template.yaml filters %q", f.Name, want, got)
		}
	}
	for folder := range deployed {
		t.Errorf("template.yaml has build/%s, and functions.All has not", folder)
	}
}

// prefixesOf returns what the keys of the partitions begin with.
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
		t.Errorf("template.yaml lacks the machines of %v", want)
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

// statements returns those of the policies of one function, as they are written.
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

// Whatever a policy allows on the table it allows on partitions that it names, and Scan, PartiQL and whole transactions by
// wildcard it allows to nobody. What writes to audit logs may only add to them in a transaction, but for the eraser.
func TestTemplate_EveryRightOnTheTableNamesPartitions(t *testing.T) {
	if n := strings.Count(readTemplate(t), "dynamodb:Scan") + strings.Count(readTemplate(t), "dynamodb:*") +
		strings.Count(readTemplate(t), "dynamodb:PartiQL"); n > 0 {
		t.Errorf("%d policies allow to read everything", n)
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
	if !strings.Contains(string(b), `"dynamodb:`) {
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
		return slices.Contains([]string{"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem",
			"dynamodb:BatchWriteItem"}, a)
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

// isTable reports whether the resource of a statement is the table: the stack's own, or the one that the operator names.
func isTable(resource any) bool {
	const named = "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${TableName}"
	return reflect.DeepEqual(resource, []any{"OwnTable", "Table.Arn", named})
}

// IAM takes 10,240 characters of policies in a role, white space left out.
func TestTemplate_PoliciesFitIntoTheirRoles(t *testing.T) {
	const most, warn = 10_240, 8_000
	longest := strings.NewReplacer("${AWS::Partition}", "aws-us-gov", "${AWS::Region}", "ap-southeast-1",
		"${AWS::AccountId}", "123456789012",
		"${Stage}", "staging", `"OwnTable","Table.Arn",`, "", "${TableName}", strings.Repeat("t", 60),
		"SecretsKey.Arn", "arn:aws-us-gov:kms:ap-southeast-1:123456789012:key/"+strings.Repeat("k", 36))
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

// planned is how many functions there is room for: more of them want a nested stack first.
const planned = 52

// TestTemplate_StaysBelowItsLimitsAtThePlannedSize counts what SAM makes of the template, and what it will be with all
// functions that are planned, each as large as the mean of today's.
func TestTemplate_StaysBelowItsLimitsAtThePlannedSize(t *testing.T) {
	const mostResources, mostPaths = 500, 300
	d := parseTemplate(t)
	fixed, own, api := 0, 0, 0
	paths := map[string]bool{}
	for _, r := range d.Resources {
		n := expanded(r)
		if r.Type == "AWS::Serverless::Function" || r.Type == "AWS::Serverless::StateMachine" {
			own += n
		} else {
			fixed += n
		}
		before := len(paths)
		for _, e := range r.Properties.Events {
			if p, ok := e.Properties["Path"].(string); ok {
				addPath(paths, p)
			}
		}
		if len(paths) > before {
			api++
		}
	}
	n := len(functions.All())
	resources := fixed + own*planned/n
	atMost := len(paths) * (api + planned - n) / api // as if all to come were operation groups
	// what infra/ adds: a deployment group for each function with an application and a role, alarms and the rest
	resources += planned + 2 + 24
	t.Logf("%d resources and %d paths with %d functions; %d and %d with %d", fixed+own, len(paths), n, resources,
		atMost, planned)
	if resources >= mostResources {
		t.Errorf("%d functions will make %d resources, where %d are wanted: CloudFormation takes 500 in a stack, so "+
			"the next step is a nested stack of the workers", planned, resources, mostResources)
	}
	if atMost >= mostPaths {
		t.Errorf("%d functions will make %d paths, where %d are wanted: API Gateway takes 300 resources in a REST "+
			"API, so the next step is one {proxy+} for a whole group, or a second API under a base path", planned,
			atMost, mostPaths)
	}
	if got, ok := bySAM(t); ok && got != fixed+own {
		t.Errorf("SAM makes %d resources of the template, we count %d", got, fixed+own)
	}
}

// expanded returns how many CloudFormation resources SAM makes of one of the template: a function and a machine have a role, a
// version and an alias, each path of the API the right to call its function, a schedule that names none a role of its own.
func expanded(r templateResource) int {
	n := 1
	switch r.Type {
	case "AWS::Serverless::Api": // with its deployment, its stage, and the right to call the authorizer
		n = 4
	case "AWS::Serverless::Function", "AWS::Serverless::StateMachine":
		n = 4
	}
	if r.Properties.EventInvokeConfig != nil {
		n++
	}
	for _, e := range r.Properties.Events {
		n += map[string]int{"Api": 1, "DynamoDB": 1, "ScheduleV2": 2}[e.Type]
		if e.Properties["RoleArn"] != nil {
			n--
		}
	}
	return n
}

// addPath adds a path and those above it: each is a resource of API Gateway's.
func addPath(paths map[string]bool, path string) {
	for i, r := range path {
		if r == '/' && i > 0 {
			paths[path[:i]] = true
		}
	}
	paths[path] = true
}

// bySAM returns how many resources SAM itself makes, where it is installed.
func bySAM(t *testing.T) (int, bool) {
	t.Helper()
	if exec.Command("python3", "-c", "import samtranslator").Run() != nil {
		t.Log("aws-sam-translator is not installed: our count of what SAM makes is not compared with SAM's")
		return 0, false
	}
	cmd := exec.Command("python3", ".ci/sam-transform.py", "template.yaml")
	cmd.Dir = "../../.."
	cmd.Env = append(cmd.Environ(), "AWS_DEFAULT_REGION=eu-west-1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var got struct{ Resources map[string]any }
	if err = json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	return len(got.Resources), true
}
