// Package wire calls AWS APIs without the SDK's service packages. It uses the SDK's own parts for everything that the
// calls have in common: middleware stack, retries, clock skew, request signing, user agent, HTTP transport and error
// types. A service package below this one declares only the operations and the fields that Lamplighter uses, because
// the complete packages take longer to compile than the rest of the program
// (docs/decisions/057-which-sdks-are-compiled.md).
package wire

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Service describes the API of one AWS service.
type Service struct {
	ID       string // the SDK's name, which limits, permissions and errors use: "Auto Scaling"
	Agent    string // name in the user agent: "autoscaling"
	Host     string // first part of the host name: "autoscaling"
	Signing  string // service name in signatures
	Protocol Protocol
	// HashHeader says that the hash of the body is sent in a header too, as S3 wants it.
	HashHeader bool
	// Errors maps the error codes that the API declares to the codes that the SDK reports for them.
	Errors map[string]string
	// Endpoint returns the host and the signing region for a region whose endpoint is not "Host.region.suffix".
	Endpoint func(region string) (host, signingRegion string)
}

// Operation is one call of a service.
type Operation struct {
	Name string
	// Method and URI are set for the REST protocols only. URI may hold labels: "/clusters/{name}".
	Method, URI string
	// HostPrefix is written before the host name of the service.
	HostPrefix string
	// Body says that a REST request has a JSON body.
	Body bool
	// NoResult says that the API returns no data.
	NoResult bool
}

// Client calls one service in one region. It may be used concurrently.
type Client struct {
	service *Service
	config  aws.Config
	skew    *atomic.Int64 // nanoseconds that the server's clock is ahead
}

// New returns a client that uses the region, credentials, HTTP client, retryer, endpoint and middleware of cfg.
func New(s *Service, cfg aws.Config) *Client {
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = awshttp.NewBuildableClient()
	}
	if cfg.Retryer == nil {
		cfg.Retryer = func() aws.Retryer { return retry.NewStandard() }
	}
	return &Client{service: s, config: cfg, skew: new(atomic.Int64)}
}

// Call sends a request and returns the decoded response. The error is a *smithy.OperationError; where the service
// answered, it wraps a *smithyhttp.ResponseError and a smithy.APIError.
func Call[Out any](ctx context.Context, c *Client, op Operation, in any) (*Out, error) {
	out, err := c.invoke(ctx, op, in, func() any { return new(Out) })
	if err != nil {
		return nil, err
	}
	return out.(*Out), nil
}

func (c *Client) invoke(ctx context.Context, op Operation, in any, newOutput func() any) (any, error) {
	ctx = middleware.ClearStackValues(ctx)
	ctx = middleware.WithServiceID(ctx, c.service.ID)
	ctx = middleware.WithOperationName(ctx, op.Name)
	ctx = awsmiddleware.SetServiceID(ctx, c.service.ID)
	ctx = awsmiddleware.SetOperationName(ctx, op.Name)
	ctx = awsmiddleware.SetRegion(ctx, c.config.Region)
	stack := middleware.NewStack(op.Name, smithyhttp.NewStackRequest)
	if err := c.fillStack(stack, call{op, c.retryer(ctx), newOutput}); err != nil {
		return nil, err
	}
	handler := middleware.DecorateHandler(smithyhttp.NewClientHandlerWithOptions(c.config.HTTPClient), stack)
	out, _, err := handler.Handle(ctx, in)
	if err != nil {
		return nil, &smithy.OperationError{ServiceID: c.service.ID, OperationName: op.Name, Err: err}
	}
	return out, nil
}

// call is the data of one call that its middleware stack needs.
type call struct {
	op        Operation
	retryer   aws.Retryer
	newOutput func() any
}

// fillStack adds the steps that the SDK's clients have, under the same names and in the same order.
func (c *Client) fillStack(s *middleware.Stack, k call) error {
	attempts := retry.NewAttemptMiddleware(k.retryer, smithyhttp.RequestCloner, func(a *retry.Attempt) {
		a.ClientSkew = c.skew
	})
	for _, add := range []func() error{
		func() error { return s.Serialize.Add(serializer{c, k.op}, middleware.After) },
		func() error { return s.Build.Add(&awsmiddleware.ClientRequestID{}, middleware.After) },
		func() error { return c.addUserAgent(s) },
		func() error { return s.Build.Add(&awsmiddleware.RecursionDetection{}, middleware.After) },
		func() error { return s.Finalize.Add(attempts, middleware.After) },
		func() error { return s.Finalize.Add(signer{c}, middleware.After) },
		func() error { return s.Deserialize.Add(&awshttp.ResponseErrorWrapper{}, middleware.After) },
		func() error { return s.Deserialize.Add(&awsmiddleware.RequestIDRetriever{}, middleware.After) },
		func() error { return s.Deserialize.Add(deserializer{c, k.op, k.newOutput}, middleware.After) },
		func() error { return s.Deserialize.Add(&awsmiddleware.RecordResponseTiming{}, middleware.After) },
	} {
		if err := add(); err != nil {
			return err
		}
	}
	for _, add := range c.config.APIOptions {
		if err := add(s); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) addUserAgent(s *middleware.Stack) error {
	if err := awsmiddleware.AddSDKAgentKey(awsmiddleware.APIMetadata, c.service.Agent)(s); err != nil {
		return err
	}
	if c.config.AppID == "" {
		return nil
	}
	return awsmiddleware.AddSDKAgentKey(awsmiddleware.ApplicationIdentifier, c.config.AppID)(s)
}

// serializer writes the request.
type serializer struct {
	client *Client
	op     Operation
}

// ID returns the name of the step.
func (serializer) ID() string { return "OperationSerializer" }

// HandleSerialize writes the endpoint, the parameters and the body into the request.
func (s serializer) HandleSerialize(ctx context.Context, in middleware.SerializeInput,
	next middleware.SerializeHandler,
) (out middleware.SerializeOutput, md middleware.Metadata, err error) {
	req := in.Request.(*smithyhttp.Request)
	if ctx, err = s.client.resolveEndpoint(ctx, req, s.op); err != nil {
		return out, md, &smithy.SerializationError{Err: err}
	}
	if in.Request, err = s.client.service.Protocol.encode(req, s.op, in.Parameters); err != nil {
		return out, md, &smithy.SerializationError{Err: err}
	}
	return next.HandleSerialize(ctx, in)
}

// deserializer reads the response.
type deserializer struct {
	client    *Client
	op        Operation
	newOutput func() any
}

// ID returns the name of the step.
func (deserializer) ID() string { return "OperationDeserializer" }

// HandleDeserialize decodes the response, or makes the error that it reports.
func (d deserializer) HandleDeserialize(ctx context.Context, in middleware.DeserializeInput,
	next middleware.DeserializeHandler,
) (out middleware.DeserializeOutput, md middleware.Metadata, err error) {
	out, md, err = next.HandleDeserialize(ctx, in)
	resp, ok := out.RawResponse.(*smithyhttp.Response)
	if !ok {
		return out, md, err
	}
	defer func() { smithyhttp.CloseResponseBody(ctx, resp, false, err) }()
	if err != nil {
		return out, md, err
	}
	if resp.StatusCode < http.StatusOK || resp.StatusCode >= http.StatusMultipleChoices {
		return out, md, d.client.service.readError(resp, &md)
	}
	out.Result = d.newOutput()
	if d.op.NoResult {
		return out, md, nil
	}
	if err = d.client.service.Protocol.decode(resp.Body, d.op, out.Result); err != nil {
		err = &smithy.DeserializationError{Err: err}
	}
	return out, md, err
}
