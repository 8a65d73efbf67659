package aws

import (
	"context"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"lamplighter.dev/shared/cloud"
)

// functions are Lambda functions.
var functions = source{
	name: "functions", needs: []string{"lambda:ListFunctions", "tag:GetResources"}, list: listFunctions,
}

func listFunctions(ctx context.Context, at place, page string) (cloud.ResourcePage, error) {
	out, err := lambda.NewFromConfig(at.cfg).ListFunctions(ctx, &lambda.ListFunctionsInput{MaxItems: sdk.Int32(50), Marker: optionalString(page)})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.NextMarker)}
	for _, f := range out.Functions {
		p.Resources = append(p.Resources, functionResource(f))
	}
	if err := addTags(ctx, at, p.Resources); err != nil {
		return p, err
	}
	return p, addStops(ctx, lambda.NewFromConfig(at.cfg), p.Resources)
}

func functionResource(f types.FunctionConfiguration) cloud.Resource {
	r := cloud.Resource{
		UID: sdk.ToString(f.FunctionArn), Name: sdk.ToString(f.FunctionName), Type: "aws-lambda", Status: cloud.Running, InstanceType: string(f.Runtime),
		Capacity: map[string]int64{"memoryMiB": int64(sdk.ToInt32(f.MemorySize))},
		Facts: cloud.Facts{
			"memory_mb": float64(sdk.ToInt32(f.MemorySize)), "timeout_s": float64(sdk.ToInt32(f.Timeout)), "runtime": string(f.Runtime),
			"architecture": "x86_64", "ephemeral_mb": 512.0,
		},
	}
	if len(f.Architectures) > 0 {
		r.Facts["architecture"] = string(f.Architectures[0])
	}
	if f.EphemeralStorage != nil {
		r.Facts["ephemeral_mb"] = float64(sdk.ToInt32(f.EphemeralStorage.Size))
	}
	// Without one it may still have a destination of failures, which the listing does not tell.
	if f.DeadLetterConfig != nil && sdk.ToString(f.DeadLetterConfig.TargetArn) != "" {
		r.Facts["has_dlq"] = true
	}
	if at, err := time.Parse("2006-01-02T15:04:05.000-0700", sdk.ToString(f.LastModified)); err == nil {
		r.CreatedAt = at.UTC() // the listing tells no earlier time
	}
	return r
}
