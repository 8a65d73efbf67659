package stacks_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"lamplighter.dev/functions"
	"lamplighter.dev/infra/stacks"
	"lamplighter.dev/shared/testkit/iampolicy"
)

// values are the parameters of the stacks that policies name, in a deployment. Other references are their names.
var values = map[string]string{
	"AWS::Partition": "aws", "AWS::Region": "eu-west-1", "AWS::AccountId": "123456789012", "Stage": "prod",
	"TableArn":              "arn:aws:dynamodb:eu-west-1:123456789012:table/lamplighter",
	"SecretsKeyArn":         "arn:aws:kms:eu-west-1:123456789012:key/secrets",
	"CloudsRoleArn":         "arn:aws:iam::123456789012:role/lamplighter-prod-clouds",
	"Pepper":                "arn:aws:secretsmanager:eu-west-1:123456789012:secret:Pepper-AbC123",
	"GoogleClientSecretArn": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:google",
	"GitHubClientSecretArn": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:github",
	"GCPClientSecretArn":    "arn:aws:secretsmanager:eu-west-1:123456789012:secret:gcp",
	"GooglePricesKeyArn":    "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prices",
	"SmtpSecretArn":         "arn:aws:secretsmanager:eu-west-1:123456789012:secret:smtp",
}

// valueOf returns the value of a reference.
func valueOf(name string) string {
	if v, ok := values[name]; ok {
		return v
	}
	return name
}

// reference matches a reference in the text of Fn::Sub.
var reference = regexp.MustCompile(`\$\{([^}]+)\}`)

// resolve returns a part of a template with its references replaced by their values.
func resolve(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = resolve(v[i])
		}
		return out
	case map[string]any:
		if name, ok := v["Ref"].(string); ok && len(v) == 1 {
			return valueOf(name)
		}
		if text, ok := v["Fn::Sub"].(string); ok && len(v) == 1 {
			return reference.ReplaceAllStringFunc(text, func(r string) string { return valueOf(r[2 : len(r)-1]) })
		}
		if path, ok := v["Fn::GetAtt"].([]any); ok && len(v) == 1 {
			return fmt.Sprint(path...)
		}
		out := map[string]any{}
		for name, member := range v {
			out[name] = resolve(member)
		}
		return out
	}
	return v
}

// document is a template in JSON's form, with functions as {"Ref": …} and {"Fn::Sub": …}.
type document map[string]struct{ Properties map[string]any }

// readDocument reads a template.
func readDocument(t *testing.T, path string) document {
	t.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal(readAll(t)[path], &root); err != nil {
		t.Fatal(err)
	}
	whole, _ := plain(root.Content[0]).(map[string]any)
	return toDocument(t, whole["Resources"])
}

func toDocument(t *testing.T, resources any) document {
	t.Helper()
	b, err := json.Marshal(resources)
	if err != nil {
		t.Fatal(err)
	}
	var out document
	if err = json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// plain returns a node of YAML as JSON's values. A tag such as !Sub becomes {"Fn::Sub": …}.
func plain(n *yaml.Node) any {
	var out any
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			m[n.Content[i].Value] = plain(n.Content[i+1])
		}
		out = m
	case yaml.SequenceNode:
		list := []any{}
		for _, c := range n.Content {
			list = append(list, plain(c))
		}
		out = list
	default:
		out = n.Value
	}
	name, tagged := strings.CutPrefix(n.Tag, "!")
	switch {
	case !tagged || strings.HasPrefix(name, "!"):
		return out
	case name == "Ref":
		return map[string]any{"Ref": out}
	}
	return map[string]any{"Fn::" + name: out}
}

// documentsOf returns the statements of the policies of a resource: of a function, a role, or a managed policy.
func documentsOf(t *testing.T, d document, id string) []iampolicy.Statement {
	t.Helper()
	properties := d[id].Properties
	policies, _ := properties["Policies"].([]any)
	if doc := properties["PolicyDocument"]; doc != nil {
		policies = append(slices.Clip(policies), doc)
	}
	var out []iampolicy.Statement
	for _, p := range policies {
		m, _ := p.(map[string]any)
		if inner, ok := m["PolicyDocument"]; ok { // of a role
			m, _ = inner.(map[string]any)
		}
		if m["Statement"] == nil {
			continue // a managed policy, by its name
		}
		b, err := json.Marshal(resolve(m))
		if err != nil {
			t.Fatal(err)
		}
		statements, err := iampolicy.Parse(b)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		out = append(out, statements...)
	}
	return out
}

// namedPolicies returns the statements of the root's managed policies that a function or a role names.
func namedPolicies(t *testing.T, root document, list any) []iampolicy.Statement {
	t.Helper()
	var out []iampolicy.Statement
	names, _ := list.([]any)
	for _, n := range names {
		m, _ := n.(map[string]any)
		if name, ok := m["Ref"].(string); ok {
			out = append(out, documentsOf(t, root, name)...)
		}
	}
	return out
}

// policiesOfTemplates returns the statements of each function as the templates have them.
func policiesOfTemplates(t *testing.T) map[string][]iampolicy.Statement {
	t.Helper()
	root, out := readDocument(t, stacks.Root), map[string][]iampolicy.Statement{}
	ids := parseTemplate(t).functions()
	for path := range readAll(t) {
		if path == stacks.Shared || path == stacks.Root {
			continue
		}
		d := readDocument(t, path)
		for folder, id := range ids {
			if _, here := d[id]; here {
				out[folder] = append(documentsOf(t, d, id), namedPolicies(t, root, d[id].Properties["Policies"])...)
			}
		}
	}
	return out
}

// managedByAWS are the policies of AWS that SAM gives a function. They allow to write logs and traces.
var managedByAWS = []string{
	"service-role/AWSLambdaBasicExecutionRole", "AWSXrayWriteOnlyAccess", "AWSXRayDaemonWriteAccess",
}

// policiesOfSAM returns the statements of each function's role as SAM makes it, or nil if SAM is not installed.
func policiesOfSAM(t *testing.T) map[string][]iampolicy.Statement {
	t.Helper()
	if exec.Command("python3", "-c", "import samtranslator").Run() != nil {
		t.Log("SKIPPED: aws-sam-translator is not installed: the policies that SAM makes were not evaluated")
		return nil
	}
	root, out, ids := readDocument(t, stacks.Root), map[string][]iampolicy.Statement{}, parseTemplate(t).functions()
	for path, d := range expandAll(t) {
		for folder, id := range ids {
			role, here := d[id+"Role"]
			if !here {
				continue
			}
			checkManaged(t, path+" "+id, role.Properties["ManagedPolicyArns"])
			out[folder] = append(documentsOf(t, d, id+"Role"),
				namedPolicies(t, root, role.Properties["ManagedPolicyArns"])...)
		}
	}
	if len(out) != len(functions.All()) {
		t.Fatalf("SAM makes roles of %d functions, declared are %d", len(out), len(functions.All()))
	}
	return out
}

// checkManaged fails if a role has a policy of AWS that is not known here.
func checkManaged(t *testing.T, role string, list any) {
	t.Helper()
	names, _ := list.([]any)
	for _, n := range names {
		if m, ok := n.(map[string]any); ok && m["Ref"] != nil {
			continue // one of ours
		}
		arn := fmt.Sprint(n)
		if !slices.ContainsFunc(managedByAWS, func(p string) bool { return strings.HasSuffix(arn, ":policy/"+p) }) {
			t.Errorf("%s has the policy %s, which this test does not evaluate", role, arn)
		}
	}
}

// expandedBySAM caches the templates as SAM expands them.
var expandedBySAM map[string]document

// expandAll returns the children as SAM expands them, by their paths.
func expandAll(t *testing.T) map[string]document {
	t.Helper()
	if expandedBySAM != nil {
		return expandedBySAM
	}
	var paths []string
	for path := range readAll(t) {
		if path != stacks.Shared && path != stacks.Root {
			paths = append(paths, path)
		}
	}
	cmd := exec.Command("python3", append([]string{filepath.Join(".ci", "sam-transform.py")}, paths...)...)
	cmd.Dir, cmd.Env = root, append(cmd.Environ(), "AWS_DEFAULT_REGION=eu-west-1")
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	out := map[string]document{}
	decoder := json.NewDecoder(strings.NewReader(string(printed)))
	for _, path := range paths {
		var doc struct{ Resources document }
		if err = decoder.Decode(&doc); err != nil {
			t.Fatal(err)
		}
		out[path] = doc.Resources
	}
	expandedBySAM = out
	return out
}
