package compute

import (
	"context"
	"slices"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/lambda"
)

// Functions are Lambda functions.
var Functions = resource.Source{
	Name: "functions",
	Needs: []string{
		"lambda:ListFunctions", "lambda:ListProvisionedConcurrencyConfigs",
		"lambda:ListFunctionEventInvokeConfigs", "tag:GetResources",
	}, List: listFunctions,
}

func listFunctions(ctx context.Context, at resource.Place, page string) (cloud.ResourcePage, error) {
	api := lambda.NewFromConfig(at.Cfg)
	out, err := api.ListFunctions(ctx,
		&lambda.ListFunctionsInput{MaxItems: sdk.Int32(50), Marker: resource.OptionalString(page)})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.NextMarker)}
	for _, f := range out.Functions {
		p.Resources = append(p.Resources, functionResource(f))
	}
	resource.AskEach(len(p.Resources), func(i int) {
		addProvisioned(ctx, api, &p.Resources[i])
		addDestination(ctx, api, &p.Resources[i])
	})
	if err := resource.AddTags(ctx, at, p.Resources); err != nil {
		return p, err
	}
	return p, addStops(ctx, api, p.Resources)
}

// addProvisioned adds the provisioned concurrency of the function's versions, which is billed.
func addProvisioned(ctx context.Context, api *lambda.Client, r *cloud.Resource) {
	sum := int32(0)
	pages := wire.NewPages(api.ListProvisionedConcurrencyConfigs,
		&lambda.ListProvisionedConcurrencyConfigsInput{FunctionName: &r.UID})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			resource.NoteMissing(r.Facts, err, "lambda:ListProvisionedConcurrencyConfigs", "provisioned_concurrency")
			return
		}
		for _, c := range out.ProvisionedConcurrencyConfigs {
			sum += sdk.ToInt32(c.RequestedProvisionedConcurrentExecutions)
		}
	}
	r.Facts["provisioned_concurrency"] = float64(sum)
}

// addDestination adds whether failed events are kept. For a function without a dead-letter queue it asks for the
// destination of its failures.
func addDestination(ctx context.Context, api *lambda.Client, r *cloud.Resource) {
	if r.Facts["has_dlq"] == true {
		return
	}
	out, err := api.ListFunctionEventInvokeConfigs(ctx,
		&lambda.ListFunctionEventInvokeConfigsInput{FunctionName: &r.UID})
	if err != nil {
		resource.NoteMissing(r.Facts, err, "lambda:ListFunctionEventInvokeConfigs", "has_dlq")
		return
	}
	r.Facts["has_dlq"] = slices.ContainsFunc(out.FunctionEventInvokeConfigs,
		func(c lambda.FunctionEventInvokeConfig) bool {
			return c.DestinationConfig != nil && c.DestinationConfig.OnFailure != nil &&
				sdk.ToString(c.DestinationConfig.OnFailure.Destination) != ""
		})
}

func functionResource(f lambda.FunctionConfiguration) cloud.Resource {
	r := cloud.Resource{
		UID: sdk.ToString(f.FunctionArn), Name: sdk.ToString(f.FunctionName), Type: "aws-lambda", Status: cloud.Running,
		InstanceType: string(f.Runtime),
		Capacity:     map[string]int64{"memoryMiB": int64(sdk.ToInt32(f.MemorySize))},
		Facts: cloud.Facts{
			"memory_mb": float64(sdk.ToInt32(f.MemorySize)), "timeout_s": float64(sdk.ToInt32(f.Timeout)),
			"runtime":      string(f.Runtime),
			"architecture": "x86_64", "ephemeral_mb": 512.0,
		},
	}
	if len(f.Architectures) > 0 {
		r.Facts["architecture"] = string(f.Architectures[0])
	}
	if f.EphemeralStorage != nil {
		r.Facts["ephemeral_mb"] = float64(sdk.ToInt32(f.EphemeralStorage.Size))
	}
	if f.DeadLetterConfig != nil && sdk.ToString(f.DeadLetterConfig.TargetArn) != "" {
		r.Facts["has_dlq"] = true
	}
	if at, err := time.Parse("2006-01-02T15:04:05.000-0700", sdk.ToString(f.LastModified)); err == nil {
		r.CreatedAt = at.UTC() // the listing has no earlier time
	}
	return r
}
