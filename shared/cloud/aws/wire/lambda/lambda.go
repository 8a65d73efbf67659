// Package lambda calls the operations of Lambda that Lamplighter uses (shared/cloud/aws/wire).
package lambda

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "Lambda", Agent: "lambda", Host: "lambda", Signing: "lambda",
	Protocol: wire.RESTJSON{},
}

// Client calls Lambda in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DeleteFunctionConcurrency calls DeleteFunctionConcurrency of Lambda.
func (c *Client) DeleteFunctionConcurrency(ctx context.Context,
	in *DeleteFunctionConcurrencyInput,
) (*DeleteFunctionConcurrencyOutput, error) {
	op := wire.Operation{
		Name: "DeleteFunctionConcurrency", Method: "DELETE",
		URI: "/2017-10-31/functions/{FunctionName}/concurrency", NoResult: true,
	}
	return wire.Call[DeleteFunctionConcurrencyOutput](ctx, c.wire, op, in)
}

// DeleteProvisionedConcurrencyConfig calls DeleteProvisionedConcurrencyConfig of Lambda.
func (c *Client) DeleteProvisionedConcurrencyConfig(ctx context.Context,
	in *DeleteProvisionedConcurrencyConfigInput,
) (*DeleteProvisionedConcurrencyConfigOutput, error) {
	op := wire.Operation{
		Name: "DeleteProvisionedConcurrencyConfig", Method: "DELETE",
		URI: "/2019-09-30/functions/{FunctionName}/provisioned-concurrency", NoResult: true,
	}
	return wire.Call[DeleteProvisionedConcurrencyConfigOutput](ctx, c.wire, op, in)
}

// GetFunctionConcurrency calls GetFunctionConcurrency of Lambda.
func (c *Client) GetFunctionConcurrency(ctx context.Context,
	in *GetFunctionConcurrencyInput,
) (*GetFunctionConcurrencyOutput, error) {
	op := wire.Operation{
		Name: "GetFunctionConcurrency", Method: "GET",
		URI: "/2019-09-30/functions/{FunctionName}/concurrency",
	}
	return wire.Call[GetFunctionConcurrencyOutput](ctx, c.wire, op, in)
}

// ListFunctionEventInvokeConfigs calls ListFunctionEventInvokeConfigs of Lambda.
func (c *Client) ListFunctionEventInvokeConfigs(ctx context.Context,
	in *ListFunctionEventInvokeConfigsInput,
) (*ListFunctionEventInvokeConfigsOutput, error) {
	op := wire.Operation{
		Name: "ListFunctionEventInvokeConfigs", Method: "GET",
		URI: "/2019-09-25/functions/{FunctionName}/event-invoke-config/list",
	}
	return wire.Call[ListFunctionEventInvokeConfigsOutput](ctx, c.wire, op, in)
}

// ListFunctions calls ListFunctions of Lambda.
func (c *Client) ListFunctions(ctx context.Context, in *ListFunctionsInput) (*ListFunctionsOutput, error) {
	op := wire.Operation{Name: "ListFunctions", Method: "GET", URI: "/2015-03-31/functions"}
	return wire.Call[ListFunctionsOutput](ctx, c.wire, op, in)
}

// ListProvisionedConcurrencyConfigs calls ListProvisionedConcurrencyConfigs of Lambda.
func (c *Client) ListProvisionedConcurrencyConfigs(ctx context.Context,
	in *ListProvisionedConcurrencyConfigsInput,
) (*ListProvisionedConcurrencyConfigsOutput, error) {
	op := wire.Operation{
		Name: "ListProvisionedConcurrencyConfigs", Method: "GET",
		URI: "/2019-09-30/functions/{FunctionName}/provisioned-concurrency?List=ALL",
	}
	return wire.Call[ListProvisionedConcurrencyConfigsOutput](ctx, c.wire, op, in)
}

// ListTags calls ListTags of Lambda.
func (c *Client) ListTags(ctx context.Context, in *ListTagsInput) (*ListTagsOutput, error) {
	op := wire.Operation{Name: "ListTags", Method: "GET", URI: "/2017-03-31/tags/{Resource}"}
	return wire.Call[ListTagsOutput](ctx, c.wire, op, in)
}

// PutFunctionConcurrency calls PutFunctionConcurrency of Lambda.
func (c *Client) PutFunctionConcurrency(ctx context.Context,
	in *PutFunctionConcurrencyInput,
) (*PutFunctionConcurrencyOutput, error) {
	op := wire.Operation{
		Name: "PutFunctionConcurrency", Method: "PUT",
		URI: "/2017-10-31/functions/{FunctionName}/concurrency", Body: true,
	}
	return wire.Call[PutFunctionConcurrencyOutput](ctx, c.wire, op, in)
}

// PutProvisionedConcurrencyConfig calls PutProvisionedConcurrencyConfig of Lambda.
func (c *Client) PutProvisionedConcurrencyConfig(ctx context.Context,
	in *PutProvisionedConcurrencyConfigInput,
) (*PutProvisionedConcurrencyConfigOutput, error) {
	op := wire.Operation{
		Name: "PutProvisionedConcurrencyConfig", Method: "PUT",
		URI: "/2019-09-30/functions/{FunctionName}/provisioned-concurrency", Body: true,
	}
	return wire.Call[PutProvisionedConcurrencyConfigOutput](ctx, c.wire, op, in)
}

// TagResource calls TagResource of Lambda.
func (c *Client) TagResource(ctx context.Context, in *TagResourceInput) (*TagResourceOutput, error) {
	op := wire.Operation{
		Name: "TagResource", Method: "POST", URI: "/2017-03-31/tags/{Resource}", Body: true,
		NoResult: true,
	}
	return wire.Call[TagResourceOutput](ctx, c.wire, op, in)
}

// UntagResource calls UntagResource of Lambda.
func (c *Client) UntagResource(ctx context.Context, in *UntagResourceInput) (*UntagResourceOutput, error) {
	op := wire.Operation{Name: "UntagResource", Method: "DELETE", URI: "/2017-03-31/tags/{Resource}", NoResult: true}
	return wire.Call[UntagResourceOutput](ctx, c.wire, op, in)
}
