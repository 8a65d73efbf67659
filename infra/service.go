package main

import (
	"path/filepath"
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3assets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssam"
	"github.com/aws/aws-cdk-go/awscdk/v2/cloudformationinclude"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// service is the included template and the resources in it that stages and alarms are about.
type service struct {
	awscdk.Stack
	template  cloudformationinclude.CfnInclude
	root      string
	functions []awssam.CfnFunction
	machines  []awssam.CfnStateMachine
}

// NewService returns the stack of one stage: what template.yaml in root describes, with the built code as assets, and with
// what only a deployment knows. Nothing is described twice.
func NewService(scope constructs.Construct, root string, s Stage) awscdk.Stack {
	v := include(scope, root, s)
	v.adjust(s)
	alarms := v.addAlarms(s)
	if s.Canary {
		v.shiftSlowly(alarms)
	}
	if s.Wide {
		v.addDashboard(s)
	}
	if s.Domain.Name != "" {
		v.setDomain(s)
	}
	return v.Stack
}

// include reads the template and replaces its local folders by assets.
func include(scope constructs.Construct, root string, s Stage) *service {
	stack := awscdk.NewStack(scope, jsii.String("lamplighter-"+s.Name), nil)
	awscdk.Tags_Of(stack).Add(jsii.String("service"), jsii.String("lamplighter"), nil)
	parameters := map[string]any{"Stage": s.Name}
	if s.Domain.Name != "" {
		parameters["BaseURL"] = "https://" + s.Domain.Name
	}
	v := &service{Stack: stack, root: root}
	v.template = cloudformationinclude.NewCfnInclude(stack, jsii.String("Template"),
		&cloudformationinclude.CfnIncludeProps{
			TemplateFile: jsii.String(filepath.Join(root, "template.yaml")), Parameters: &parameters,
		})
	for _, child := range *v.template.Node().Children() {
		switch r := child.(type) {
		case awssam.CfnFunction:
			code := v.upload(*r.Node().Id(), r.CodeUri())
			r.SetCodeUri(&awssam.CfnFunction_S3LocationProperty{Bucket: code.S3BucketName(), Key: code.S3ObjectKey()})
			v.functions = append(v.functions, r)
		case awssam.CfnStateMachine:
			asl := v.upload(*r.Node().Id(), r.DefinitionUri())
			r.SetDefinitionUri(&awssam.CfnStateMachine_S3LocationProperty{Bucket: asl.S3BucketName(),
				Key: asl.S3ObjectKey()})
			v.machines = append(v.machines, r)
		}
	}
	return v
}

// upload makes an asset of the local path that the template names.
func (v *service) upload(id string, path any) awss3assets.Asset {
	return awss3assets.NewAsset(v.Stack, jsii.String(id+"Asset"), &awss3assets.AssetProps{
		Path: jsii.String(filepath.Join(v.root, path.(string))),
	})
}

// adjust sets what differs by stage in the template's own resources.
func (v *service) adjust(s Stage) {
	logs := v.template.GetResource(jsii.String("Logs")).(awslogs.CfnLogGroup)
	logs.SetRetentionInDays(jsii.Number(s.LogDays))
	table := v.template.GetResource(jsii.String("Table")).(awsdynamodb.CfnTable)
	table.SetDeletionProtectionEnabled(jsii.Bool(s.Protected))
	v.template.GetParameter(jsii.String("ReserveConcurrency")).SetDefault(strconv.FormatBool(s.Reserved))
}
