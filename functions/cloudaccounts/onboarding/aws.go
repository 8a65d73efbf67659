package onboarding

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// document is an IAM policy.
type document struct {
	Version   string      `json:"Version"`
	Statement []statement `json:"Statement"`
}

type statement struct {
	Sid       string            `json:"Sid"`
	Effect    string            `json:"Effect"`
	Principal map[string]string `json:"Principal,omitempty"`
	Action    []string          `json:"Action"`
	Resource  string            `json:"Resource,omitempty"`
	Condition map[string]any    `json:"Condition,omitempty"`
}

type level struct {
	name       string
	statements []statement
}

func allow(sid string, actions ...string) statement {
	return statement{Sid: sid, Effect: "Allow", Action: actions, Resource: "*"}
}

// awsLevels are what the AWS provider calls, and nothing more; a test holds them against its kinds. kms:CreateGrant is
// what EC2 needs in the customer's name to start an instance with encrypted volumes: without it the start is accepted
// and falls back. The service-linked role is what Application Auto Scaling needs once in an account.
var awsLevels = []level{
	{"read_only", []statement{allow("LamplighterDiscover",
		"ec2:DescribeRegions", "ec2:DescribeInstances", "ec2:DescribeSpotInstanceRequests",
		"rds:DescribeDBInstances", "rds:DescribeDBClusters", "rds:ListTagsForResource",
		"autoscaling:DescribeAutoScalingGroups",
		"ecs:ListClusters", "ecs:ListServices", "ecs:DescribeServices", "ecs:ListTagsForResource",
		"application-autoscaling:DescribeScalableTargets",
		"eks:ListClusters", "eks:DescribeCluster", "eks:ListNodegroups", "eks:DescribeNodegroup", "eks:ListUpdates",
		"eks:DescribeUpdate",
		"redshift:DescribeClusters", "sagemaker:ListNotebookInstances", "sagemaker:ListTags",
	)}},
	{"start_stop", []statement{
		allow("LamplighterStartStop",
			"ec2:StartInstances", "ec2:StopInstances", "ec2:DescribeInstanceStatus",
			"rds:StartDBInstance", "rds:StopDBInstance", "rds:StartDBCluster", "rds:StopDBCluster",
			"autoscaling:UpdateAutoScalingGroup", "autoscaling:SuspendProcesses", "autoscaling:ResumeProcesses",
			"ecs:UpdateService", "application-autoscaling:RegisterScalableTarget",
			"eks:UpdateNodegroupConfig",
			"redshift:PauseCluster", "redshift:ResumeCluster",
			"sagemaker:DescribeNotebookInstance", "sagemaker:StartNotebookInstance", "sagemaker:StopNotebookInstance",
		),
		{
			Sid: "LamplighterStartEncryptedInstances", Effect: "Allow", Action: []string{"kms:CreateGrant"}, Resource: "*",
			Condition: map[string]any{"Bool": map[string]string{"kms:GrantIsForAWSResource": "true"}},
		},
	}},
	{"scale", []statement{
		allow("LamplighterScale", "autoscaling:UpdateAutoScalingGroup", "ecs:UpdateService", "application-autoscaling:RegisterScalableTarget", "eks:UpdateNodegroupConfig"),
		{
			Sid: "LamplighterScalingRole", Effect: "Allow", Action: []string{"iam:CreateServiceLinkedRole"}, Resource: "*",
			Condition: map[string]any{"StringEquals": map[string]string{"iam:AWSServiceName": "ecs.application-autoscaling.amazonaws.com"}},
		},
	}},
}

const (
	roleName   = "lamplighter"
	policyName = "lamplighter"
)

func awsMethods(externalID, principal string, policies []CloudPolicy) ([]Method, error) {
	trust, err := encodeIndented(trustPolicy(externalID, principal))
	if err != nil {
		return nil, fmt.Errorf("write trust policy: %w", err)
	}
	template, err := cloudFormation(externalID, principal, policies)
	if err != nil {
		return nil, err
	}
	full := string(policies[len(policies)-1].Document)
	return []Method{
		{
			AuthMethod: "assume_role", Title: "A role that this service assumes; no secret changes hands", Recommended: true,
			Template: &template, Credentials: []string{"roleArn", "externalID"},
			Commands: []string{
				"aws iam create-role --role-name " + roleName + " --assume-role-policy-document " + quote(string(trust)),
				"aws iam put-role-policy --role-name " + roleName + " --policy-name " + policyName + " --policy-document " + quote(full),
				"aws iam get-role --role-name " + roleName + " --query Role.Arn --output text",
			},
		},
		{
			AuthMethod: "static_keys", Title: "A user with an access key", Credentials: []string{"accessKeyID", "secretAccessKey"},
			Commands: []string{
				"aws iam create-user --user-name " + roleName,
				"aws iam put-user-policy --user-name " + roleName + " --policy-name " + policyName + " --policy-document " + quote(full),
				"aws iam create-access-key --user-name " + roleName,
			},
		},
		{
			AuthMethod: "temporary_credentials", Title: "A session, for a trial: it ends by itself",
			Credentials: []string{"accessKeyID", "secretAccessKey", "sessionToken"},
			Commands:    []string{"aws sts get-session-token --duration-seconds 43200"},
		},
	}, nil
}

func trustPolicy(externalID, principal string) document {
	return document{Version: "2012-10-17", Statement: []statement{{
		Sid: "LamplighterOnly", Effect: "Allow", Principal: map[string]string{"AWS": principalARN(principal)},
		Action:    []string{"sts:AssumeRole"},
		Condition: map[string]any{"StringEquals": map[string]string{"sts:ExternalId": externalID}},
	}}}
}

// principalARN makes an ARN of a bare account number.
func principalARN(p string) string {
	if strings.HasPrefix(p, "arn:") {
		return p
	}
	return "arn:aws:iam::" + p + ":root"
}

// cloudFormation returns the template of the role: JSON, which CloudFormation takes as well as YAML. Its parameter chooses the level.
func cloudFormation(externalID, principal string, policies []CloudPolicy) (string, error) {
	conditions, statements := map[string]any{}, []any{}
	for _, l := range policies {
		name := map[string]string{"read_only": "ReadOnly", "start_stop": "StartStop", "scale": "Scale"}[l.Level]
		conditions[name] = map[string]any{"Fn::Equals": []any{map[string]string{"Ref": "Level"}, l.Level}}
		statements = append(statements, map[string]any{"Fn::If": []any{name, map[string]any{
			"PolicyName": policyName, "PolicyDocument": l.Document,
		}, map[string]string{"Ref": "AWS::NoValue"}}})
	}
	b, err := encodeIndented(map[string]any{
		"AWSTemplateFormatVersion": "2010-09-09",
		"Description":              "The role that Lamplighter assumes in this account",
		"Parameters": map[string]any{"Level": map[string]any{
			"Type": "String", "Default": "start_stop", "AllowedValues": []string{"read_only", "start_stop", "scale"},
		}},
		"Conditions": conditions,
		"Resources": map[string]any{"Role": map[string]any{"Type": "AWS::IAM::Role", "Properties": map[string]any{
			"RoleName": roleName, "AssumeRolePolicyDocument": trustPolicy(externalID, principal), "Policies": statements,
		}}},
		"Outputs": map[string]any{"RoleArn": map[string]any{"Value": map[string]any{"Fn::GetAtt": []string{"Role", "Arn"}}}},
	})
	if err != nil {
		return "", fmt.Errorf("write template: %w", err)
	}
	return string(b), nil
}

// encodeIndented writes indented JSON with its characters as they are: policies are pasted.
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

// quote makes one word of s for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
