package checks

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"lamplighter.dev/functions"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
)

const templateFile = "../../../template.yaml"

// readTemplate is template.yaml as it is committed.
func readTemplate(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(templateFile)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestTemplate_SaysWhatFunctionsDeclare holds the parts of template.yaml that come from declarations to them, and writes
// them with -update, which is `make registry`.
func TestTemplate_SaysWhatFunctionsDeclare(t *testing.T) {
	have := readTemplate(t)
	want, missing := declaredIn(have, functions.All())
	if len(missing) > 0 {
		t.Fatalf("template.yaml has no place for %s: give the function a list Policies with the two comment lines "+
			"that its neighbours have", strings.Join(missing, ", "))
	}
	if *update && want != have {
		if err := os.WriteFile(templateFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != have {
		t.Errorf("template.yaml does not say what functions declare: run `make registry` and read the difference; it "+
			"begins with\n%s", firstDifference(have, want))
	}
}

// firstDifference returns the first line of want that have has not in its place.
func firstDifference(have, want string) string {
	lines := strings.Split(have, "\n")
	for i, line := range strings.Split(want, "\n") {
		if i >= len(lines) || lines[i] != line {
			return fmt.Sprintf("line %d: %s", i+1, line)
		}
	}
	return "its end"
}

// declaredIn returns the template with what fs declare in its places, and the places that it has not.
func declaredIn(template string, fs []functions.Function) (out string, missing []string) {
	put := func(place, pattern, text string) {
		re := regexp.MustCompile(pattern)
		if len(re.FindAllString(template, -1)) != 1 {
			missing = append(missing, place)
			return
		}
		template = re.ReplaceAllLiteralString(template, text)
	}
	put("LAMPLIGHTER_MACHINES", `(?m)LAMPLIGHTER_MACHINES: .*$`,
		"LAMPLIGHTER_MACHINES: "+strings.Join(functions.Machines(fs), ","))
	put("LAMPLIGHTER_PARTITIONS", `(?m)LAMPLIGHTER_PARTITIONS: .*$`,
		`LAMPLIGHTER_PARTITIONS: "`+strings.Join(orgPartitions(fs), ",")+`"`)
	for _, f := range fs {
		policy := policyOf(&f.Declaration)
		if len(policy) == 0 {
			continue
		}
		begin := "        # declared in functions/" + f.Name + "/declaration.go\n"
		end := "        # so far\n"
		put("functions/"+f.Name, `(?m)^`+regexp.QuoteMeta(begin)+`(?:        [- ] .*\n)*?`+regexp.QuoteMeta(end),
			begin+"        - Version: \"2012-10-17\"\n          Statement:\n"+strings.Join(policy, "")+end)
	}
	return template, missing
}

// orgPartitions returns the names of the partitions of an organization that fs declare.
func orgPartitions(fs []functions.Function) []string {
	var out []string
	for _, p := range functions.Partitions(fs) {
		if p.OfOrg() {
			out = append(out, p.Name())
		}
	}
	return out
}

// policyOf returns the statements of a function's IAM policy, in YAML.
func policyOf(d *platform.Declaration) []string {
	var out []string
	allow := func(resource string, condition []string, actions ...string) {
		s := "            - Effect: Allow\n              Action: [" + strings.Join(actions, ", ") +
			"]\n              Resource: " + resource + "\n"
		if len(condition) > 0 {
			s += "              Condition:\n" + strings.Join(condition, "")
		}
		out = append(out, s)
	}
	const store = `!If [OwnTable, !GetAtt Table.Arn, !Sub "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${TableName}"]`
	const secretsKey = "!If [OwnsSecretsKey, !GetAtt SecretsKey.Arn, !Ref SecretsKeyArn]"
	if ps := d.Access.All(); len(ps) > 0 {
		allow(store, leading(ps), "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query",
			"dynamodb:ConditionCheckItem")
	}
	if ps := d.Access.Writes; len(ps) > 0 {
		allow(store, leading(ps), "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem",
			"dynamodb:BatchWriteItem")
	}
	if ps := d.Access.Appends; len(ps) > 0 {
		once := "                ForAnyValue:StringEquals: {\"dynamodb:EnclosingOperation\": TransactWriteItems}\n"
		allow(store, append(leading(ps), once), "dynamodb:PutItem")
	}
	if len(d.Seals) > 0 {
		allow(secretsKey, kinds(d.Seals), "kms:GenerateDataKey")
	}
	if len(d.Opens) > 0 {
		allow(secretsKey, kinds(d.Opens), "kms:Decrypt")
	}
	if len(d.Starts) > 0 {
		allow(arns("states", "stateMachine", d.Starts, ""), nil, "states:StartExecution")
		allow(arns("states", "execution", d.Starts, ":*"), nil, "states:DescribeExecution")
	}
	if len(d.Stops) > 0 {
		allow(arns("states", "execution", d.Stops, ":*"), nil, "states:StopExecution")
	}
	if len(d.Calls) > 0 {
		allow(arns("lambda", "function", d.Calls, ":live"), nil, "lambda:InvokeFunction")
	}
	if d.Clouds { // the roles that customers made for us; each trusts our account with its own external id
		allow("!Sub arn:${AWS::Partition}:iam::*:role/*", nil, "sts:AssumeRole")
		allow(`"*"`, nil, "sts:GetWebIdentityToken") // which other clouds trust; it is of no resource
	}
	return out
}

// leading returns the condition that a call names partition keys, and only such as match ps. The first line is needed because
// ForAllValues holds of no values at all.
func leading(ps []table.Partition) []string {
	out := []string{
		"                \"Null\": {\"dynamodb:LeadingKeys\": \"false\"}\n",
		"                ForAllValues:StringLike:\n",
		"                  \"dynamodb:LeadingKeys\":\n",
	}
	line := ""
	for i, p := range ps {
		item := `"` + string(p) + `"`
		if i < len(ps)-1 {
			item += ", "
		}
		if len(line)+len(item) > 104 {
			out = append(out, "                     "+strings.TrimRight(line, " ")+"\n")
			line = ""
		}
		line += item
	}
	out = append(out, "                     "+line+"]\n")
	out[3] = strings.Replace(out[3], "                     ", "                    [", 1)
	return out
}

// kinds returns the condition that a secret is of one of ks.
func kinds(ks []string) []string {
	return []string{"                StringEquals: {\"kms:EncryptionContext:kind\": [" + strings.Join(ks, ", ") +
		"]}\n"}
}

// arns returns those of things of ours by their names.
func arns(service, kind string, names []string, suffix string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = `!Sub "arn:${AWS::Partition}:` + service + ":${AWS::Region}:${AWS::AccountId}:" + kind +
			":lamplighter-${Stage}-" + n + suffix + `"`
	}
	if len(out) == 1 {
		return out[0]
	}
	return "\n                - " + strings.Join(out, "\n                - ")
}
