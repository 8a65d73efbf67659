package onboarding

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/connection"
)

// document is an IAM policy.
type document struct {
	Version   string      `json:"Version"`
	Statement []statement `json:"Statement"`
}

type statement struct {
	Sid       string         `json:"Sid"`
	Effect    string         `json:"Effect"`
	Principal map[string]any `json:"Principal,omitempty"`
	Action    []string       `json:"Action"`
	Resource  string         `json:"Resource,omitempty"`
	Condition map[string]any `json:"Condition,omitempty"`
}

func allowStatement(sid string, actions ...string) statement {
	return statement{Sid: sid, Effect: "Allow", Action: actions, Resource: "*"}
}

// awsConditional holds, by level, the permissions that AWS itself uses in the customer's name, limited by conditions.
// EC2 needs kms:CreateGrant to start an instance with encrypted volumes: without it the start is accepted and falls
// back. Application Auto Scaling needs the service-linked role once in an account.
var awsConditional = map[string]statement{
	startStopLevel: {
		Sid: "LamplighterStartEncryptedInstances", Effect: "Allow", Action: []string{"kms:CreateGrant"}, Resource: "*",
		Condition: map[string]any{"Bool": map[string]string{"kms:GrantIsForAWSResource": "true"}},
	},
	scaleLevel: {
		Sid: "LamplighterScalingRole", Effect: "Allow", Action: []string{"iam:CreateServiceLinkedRole"}, Resource: "*",
		Condition: map[string]any{"StringEquals": map[string]string{
			"iam:AWSServiceName": "ecs.application-autoscaling.amazonaws.com",
		}},
	},
}

// awsPolicies returns the policies of the levels. Each contains its own statements and those of the levels below.
func awsPolicies() ([]CloudPolicy, error) {
	sids := map[string]string{
		readOnlyLevel: "LamplighterDiscover", startStopLevel: "LamplighterStartStop",
		scaleLevel: "LamplighterScale", remediateLevel: "LamplighterRemediate",
	}
	var statements []statement
	return buildPolicies("aws", func(l level) (any, []string) {
		if len(l.added) > 0 {
			statements = append(statements, allowStatement(sids[l.name], l.added...))
		}
		var besides []string
		if s, ok := awsConditional[l.name]; ok {
			statements, besides = append(statements, s), s.Action
		}
		return document{Version: "2012-10-17", Statement: slices.Clone(statements)}, besides
	})
}

// RoleName is the name of the role that the templates create.
const RoleName = connection.MemberRole

const policyName = "lamplighter"

func awsMethods(o Organisation, policies []CloudPolicy) ([]Method, error) {
	trust, err := encodeIndented(trustPolicy(o.ExternalID, o.Principal))
	if err != nil {
		return nil, fmt.Errorf("write trust policy: %w", err)
	}
	template, err := cloudFormation(o, policies)
	if err != nil {
		return nil, err
	}
	full := string(policyOf(policies, scaleLevel).Document)
	return []Method{
		{
			AuthMethod: "assume_role", Title: "A role that this service assumes; no secret changes hands",
			Recommended: true,
			Template:    &template, QuickCreateURL: quickCreate(o), Credentials: []string{"roleArn", "externalID"},
			Commands: []string{
				"aws iam create-role --role-name " + RoleName + " --assume-role-policy-document " +
					quote(string(trust)),
				"aws iam put-role-policy --role-name " + RoleName + " --policy-name " + policyName +
					" --policy-document " + quote(full),
				"aws iam get-role --role-name " + RoleName + " --query Role.Arn --output text",
			},
		},
		{
			AuthMethod: "static_keys", Title: "A user with an access key",
			Credentials: []string{"accessKeyID", "secretAccessKey"},
			Commands: []string{
				"aws iam create-user --user-name " + RoleName,
				// a policy of its own: those inside of a user may have 2,048 characters
				"aws iam attach-user-policy --user-name " + RoleName + " --policy-arn \"$(aws iam create-policy" +
					" --policy-name " + policyName + " --policy-document " + quote(full) +
					" --query Policy.Arn --output text)\"",
				"aws iam create-access-key --user-name " + RoleName,
			},
		},
		{
			AuthMethod: "temporary_credentials", Title: "A session, for a trial: it ends by itself",
			Credentials: []string{"accessKeyID", "secretAccessKey", "sessionToken"},
			Commands:    []string{"aws sts get-session-token --duration-seconds 43200"},
		},
	}, nil
}

// quickCreate returns the address of the console page that creates the role from the operator's published template,
// or nil if none is published.
func quickCreate(o Organisation) *string {
	if o.TemplateURL == "" {
		return nil
	}
	link := "https://console.aws.amazon.com/cloudformation/home?region=us-east-1#/stacks/quickcreate?" + url.Values{
		"templateURL": {o.TemplateURL}, "stackName": {RoleName}, "param_ExternalID": {o.ExternalID},
		"param_Principal": {principalARN(o.Principal)},
		"param_Level":     {startStopLevel},
	}.Encode()
	return &link
}

// wholeOrganisation returns the steps that connect all accounts of an organization at once. They create a role that
// may list the accounts, in the management account or a delegated administrator's account, and deploy the template
// above as a StackSet, which creates the role in each present and future member.
func wholeOrganisation(o Organisation) (*WholeOrganisation, error) {
	list, err := encodeIndented(document{
		Version:   "2012-10-17",
		Statement: []statement{allowStatement("LamplighterListMembers", requiredBy("aws").Organisation...)},
	})
	if err != nil {
		return nil, fmt.Errorf("write policy of organizations: %w", err)
	}
	return &WholeOrganisation{
		Actions: requiredBy("aws").Organisation, Document: list, MemberRole: RoleName,
		Commands: []string{
			"aws iam put-role-policy --role-name " + RoleName +
				" --policy-name lamplighter-organisation --policy-document " + quote(string(list)),
			"aws organizations enable-aws-service-access --service-principal " +
				"member.org.stacksets.cloudformation.amazonaws.com",
			"aws cloudformation activate-organizations-access",
			"aws cloudformation create-stack-set --stack-set-name " + RoleName + " --permission-model " +
				"SERVICE_MANAGED --auto-deployment Enabled=true,RetainStacksOnAccountRemoval=false --capabilities " +
				"CAPABILITY_NAMED_IAM --template-body file://role.template.json --parameters " +
				"ParameterKey=ExternalID,ParameterValue=" +
				o.ExternalID +
				" ParameterKey=Level,ParameterValue=" + startStopLevel,
			"aws cloudformation create-stack-instances --stack-set-name " + RoleName + " --regions us-east-1" +
				" --deployment-targets OrganizationalUnitIds=$(aws organizations list-roots --query 'Roots[0].Id' " +
				"--output text)",
		},
	}, nil
}

func trustPolicy(externalID, principal any) document {
	if p, ok := principal.(string); ok {
		principal = principalARN(p)
	}
	return document{Version: "2012-10-17", Statement: []statement{{
		Sid: "LamplighterOnly", Effect: "Allow", Principal: map[string]any{"AWS": principal},
		Action:    []string{"sts:AssumeRole"},
		Condition: map[string]any{"StringEquals": map[string]any{"sts:ExternalId": externalID}},
	}}}
}

// principalARN returns the ARN for a principal given as ARN or as a bare account number.
func principalARN(p string) string {
	if strings.HasPrefix(p, "arn:") {
		return p
	}
	return "arn:aws:iam::" + p + ":root"
}

// conditionNames are the names of the template's conditions, by level.
var conditionNames = map[string]string{
	readOnlyLevel: "ReadOnly", startStopLevel: "StartStop", scaleLevel: "Scale", remediateLevel: "Remediate",
}

// cloudFormation returns the template of the role as JSON, which CloudFormation accepts like YAML. A parameter
// selects the level.
func cloudFormation(o Organisation, policies []CloudPolicy) (string, error) {
	conditions, statements := map[string]any{}, []any{}
	for _, l := range policies {
		name := conditionNames[l.Level]
		conditions[name] = map[string]any{"Fn::Equals": []any{refTo("Level"), l.Level}}
		statements = append(statements, map[string]any{"Fn::If": []any{name, map[string]any{
			"PolicyName": policyName, "PolicyDocument": l.Document,
		}, refTo("AWS::NoValue")}})
	}
	b, err := encodeIndented(map[string]any{
		"AWSTemplateFormatVersion": "2010-09-09",
		"Description":              "The role that Lamplighter assumes in this account",
		"Parameters": map[string]any{
			"Level": map[string]any{
				"Type": "String", "Default": startStopLevel,
				"AllowedValues": []string{readOnlyLevel, startStopLevel, scaleLevel, remediateLevel},
			},
			"ExternalID": map[string]any{
				"Type": "String", "Default": o.ExternalID,
				"Description": "Given out by Lamplighter for the organization",
			},
			"Principal": map[string]any{
				"Type": "String", "Default": principalARN(o.Principal),
				"Description": "Who assumes the role",
			},
		},
		"Conditions": conditions,
		"Resources": map[string]any{"Role": map[string]any{"Type": "AWS::IAM::Role", "Properties": map[string]any{
			"RoleName": RoleName, "AssumeRolePolicyDocument": trustPolicy(refTo("ExternalID"), refTo("Principal")),
			"Policies": statements,
		}}},
		"Outputs": map[string]any{"RoleArn": map[string]any{"Value": map[string]any{"Fn::GetAtt": []string{
			"Role",
			"Arn",
		}}}},
	})
	if err != nil {
		return "", fmt.Errorf("write template: %w", err)
	}
	return string(b), nil
}

func refTo(name string) map[string]string { return map[string]string{"Ref": name} }

// encodeIndented returns indented JSON without HTML escapes, because policies are pasted.
func encodeIndented(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// quote returns s as one word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
