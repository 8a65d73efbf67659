package stacks_test

import (
	"strings"

	"lamplighter.dev/functions"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
)

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
	const store, secretsKey = "!Ref TableArn", "!Ref SecretsKeyArn"
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
	if len(d.Stream) > 0 { // for Lambda, which reads it and calls the function
		allow(`!Sub "${TableArn}/stream/*"`, nil, "dynamodb:DescribeStream", "dynamodb:GetRecords",
			"dynamodb:GetShardIterator", "dynamodb:ListStreams")
	}
	if len(d.Seals) > 0 {
		allow(secretsKey, kinds(d.Seals), "kms:GenerateDataKey")
	}
	if len(d.Opens) > 0 {
		allow(secretsKey, kinds(d.Opens), "kms:Decrypt")
	}
	if len(d.Starts) > 0 {
		allow(arns("states", "stateMachine", d.Starts, ""), nil, "states:StartExecution")
	}
	if len(d.Looks) > 0 {
		allow(arns("states", "execution", d.Looks, ":*"), nil, "states:DescribeExecution")
	}
	if len(d.Stops) > 0 {
		allow(arns("states", "execution", d.Stops, ":*"), nil, "states:StopExecution")
	}
	if len(d.Calls) > 0 {
		allow(arns("lambda", "function", d.Calls, ":live"), nil, "lambda:InvokeFunction")
	}
	if len(d.Secrets) > 0 {
		allow(secretARNs(d.Secrets), nil, "secretsmanager:GetSecretValue")
	}
	if d.Clouds { // which may assume the roles that customers made for us
		allow("!Ref CloudsRoleArn", nil, "sts:AssumeRole")
	}
	return out
}

// secretParameters are the parameters of the templates that name secrets.
var secretParameters = map[platform.Secret]string{
	platform.PepperSecret: "Pepper", platform.MailServerSecret: "SmtpSecret",
	platform.GoogleSecret: "GoogleClientSecret", platform.GitHubSecret: "GitHubClientSecret",
	platform.GoogleCloudSecret: "GCPClientSecret", platform.GooglePricesSecret: "GooglePricesKey",
}

// secretARNs returns the ARNs of secrets, in YAML. The stack knows the ARN of the pepper, which it makes. A secret that
// an operator names by its name has six more characters in its ARN.
func secretARNs(secrets []platform.Secret) string {
	var out []string
	for _, s := range secrets {
		if s == platform.PepperSecret {
			out = append(out, "!Ref Pepper")
			continue
		}
		parameter := secretParameters[s] + "Arn"
		out = append(out, "!Ref "+parameter, `!Sub "${`+parameter+`}-??????"`)
	}
	if len(out) == 1 {
		return out[0]
	}
	return "\n                - " + strings.Join(out, "\n                - ")
}

// leading returns the condition that a call names partition keys, and only keys that match ps. The first line is
// needed because ForAllValues is true for no values at all.
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

// kinds returns the condition that the kind of a secret is one of ks.
func kinds(ks []string) []string {
	return []string{"                StringEquals: {\"kms:EncryptionContext:kind\": [" + strings.Join(ks, ", ") +
		"]}\n"}
}

// arns returns the ARNs of the stage's resources with these names, in YAML.
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
