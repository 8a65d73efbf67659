package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3assets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssam"
	"github.com/aws/aws-cdk-go/awscdk/v2/cloudformationinclude"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"lamplighter.dev/infra/stacks"
)

// service is the included template, its children, and the resources in them that stages and alarms use.
type service struct {
	awscdk.Stack
	template  cloudformationinclude.CfnInclude
	root      string
	functions []function
	machines  []awssam.CfnStateMachine
	mappings  []awslambda.CfnEventSourceMapping
}

// function is a function of one of the children, and its folder in functions/.
type function struct {
	awssam.CfnFunction
	folder string
}

// NewService returns the stack of one stage and its nested stacks: the resources of template.yaml in root and its
// children, with the built code as assets, and with the resources that only a deployment can describe. Each resource
// is described in one place.
func NewService(scope constructs.Construct, root string, s Stage) awscdk.Stack {
	v := include(scope, root, s)
	v.adjust(s)
	v.addAlarms(s)
	if s.Canary {
		v.shiftSlowly()
	}
	if s.Wide {
		v.addDashboard(s)
	}
	if s.Domain.Name != "" {
		v.setDomain(s)
	}
	return v.Stack
}

// include reads the templates and replaces their local folders by assets.
func include(scope constructs.Construct, root string, s Stage) *service {
	stack := awscdk.NewStack(scope, jsii.String("lamplighter-"+s.Name), nil)
	awscdk.Tags_Of(stack).Add(jsii.String("service"), jsii.String("lamplighter"), nil)
	parameters := map[string]any{"Stage": s.Name, "FaultThreshold": s.Errors}
	if s.Domain.Name != "" {
		parameters["BaseURL"] = "https://" + s.Domain.Name
	}
	v := &service{Stack: stack, root: root}
	children := children(root)
	v.template = cloudformationinclude.NewCfnInclude(stack, jsii.String("Template"),
		&cloudformationinclude.CfnIncludeProps{
			TemplateFile: jsii.String(filepath.Join(root, stacks.Root)), Parameters: &parameters,
			LoadNestedStacks: &children,
		})
	for _, id := range slices.Sorted(maps.Keys(children)) {
		v.includeChild(v.template.GetNestedStack(jsii.String(id)))
	}
	return v
}

// children returns the templates of the nested stacks, by their ids in template.yaml.
func children(root string) map[string]*cloudformationinclude.CfnIncludeProps {
	files, err := stacks.Read(root)
	if err != nil {
		panic(err) // as CDK does where it cannot read the root's template
	}
	out := map[string]*cloudformationinclude.CfnIncludeProps{}
	for _, f := range files[1:] {
		out[f.ID()] = &cloudformationinclude.CfnIncludeProps{TemplateFile: jsii.String(filepath.Join(root, f.Path))}
	}
	return out
}

// includeChild reads the functions, the machines and the stream mappings of a nested stack.
func (v *service) includeChild(child *cloudformationinclude.IncludedNestedStack) {
	for _, c := range *child.IncludedTemplate.Node().Children() {
		switch r := c.(type) {
		case awssam.CfnFunction:
			path := r.CodeUri().(string)
			code := v.upload(child.Stack, *r.Node().Id(), path)
			r.SetCodeUri(&awssam.CfnFunction_S3LocationProperty{Bucket: code.S3BucketName(), Key: code.S3ObjectKey()})
			v.functions = append(v.functions, function{r, filepath.Base(path)})
		case awssam.CfnStateMachine:
			asl := v.upload(child.Stack, *r.Node().Id(), r.DefinitionUri().(string))
			r.SetDefinitionUri(&awssam.CfnStateMachine_S3LocationProperty{
				Bucket: asl.S3BucketName(),
				Key:    asl.S3ObjectKey(),
			})
			v.machines = append(v.machines, r)
		case awslambda.CfnEventSourceMapping:
			v.mappings = append(v.mappings, r)
		}
	}
}

// upload makes an asset of the local path in a template of infra/stacks.
func (v *service) upload(stack constructs.Construct, id, path string) awss3assets.Asset {
	return awss3assets.NewAsset(stack, jsii.String(id+"Asset"), &awss3assets.AssetProps{
		Path: jsii.String(filepath.Join(v.root, "infra", "stacks", path)),
	})
}

// adjust sets the stage's settings in the template's own resources.
func (v *service) adjust(s Stage) {
	for _, id := range []string{"Logs", "AccessLog"} {
		logs := v.template.GetResource(jsii.String(id)).(awslogs.CfnLogGroup)
		logs.SetRetentionInDays(jsii.Number(s.LogDays))
	}
	v.template.GetParameter(jsii.String("ReserveConcurrency")).SetDefault(strconv.FormatBool(s.Reserved))
}
