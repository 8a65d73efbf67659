package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"lamplighter.dev/shared/fault"
)

// reply is what a worker answers an invocation with. A failure that means something to the caller comes as an answer, so
// that its kind is kept and the invocation does not count as a failed one.
type reply struct {
	Data    json.RawMessage `json:"data,omitempty"`
	Kind    fault.Kind      `json:"kind,omitempty"`
	Message string          `json:"message,omitempty"`
}

// Function makes the Lambda function that answers Lambda.Invoke with h. Defects of ours stay failed invocations, which
// alarms see.
func Function(h Handler) func(context.Context, json.RawMessage) (any, error) {
	return func(ctx context.Context, in json.RawMessage) (any, error) {
		out, err := h(ctx, in)
		if kind := fault.KindOf(err); err != nil && kind != fault.Internal {
			return reply{Kind: kind, Message: fault.Message(err)}, nil
		}
		if err != nil {
			return nil, err
		}
		b, err := json.Marshal(out)
		if err != nil {
			return nil, fmt.Errorf("encode answer: %w", err)
		}
		return reply{Data: b}, nil
	}
}

// Lambda invokes worker functions in AWS: that of the folder "connector" is named prefix + "connector".
type Lambda struct {
	client *lambda.Client
	prefix string
}

// NewLambda invokes the functions of the account that cfg opens. The SDK's retries are off: a worker's call has effects
// at a cloud, and whoever calls knows whether it may be repeated.
func NewLambda(cfg aws.Config, prefix string) *Lambda {
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	return &Lambda{lambda.NewFromConfig(cfg), prefix}
}

// Invoke sends in to the function and decodes its answer into out. A throttled or failed invocation is Unavailable.
func (l *Lambda) Invoke(ctx context.Context, function string, in, out any) error {
	b, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode input of %s: %w", function, err)
	}
	got, err := l.client.Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String(l.prefix + function), Payload: b})
	if err != nil {
		return fault.Cause(fault.Unavailable, err, "the worker %s cannot be reached: try again", function)
	}
	if got.FunctionError != nil {
		return fault.Cause(fault.Internal, errors.New(string(got.Payload)), "the worker %s failed", function)
	}
	return decode(function, got.Payload, out)
}

func decode(function string, payload []byte, out any) error {
	var r reply
	if err := json.Unmarshal(payload, &r); err != nil {
		return fmt.Errorf("decode answer of %s: %w", function, err)
	}
	if r.Kind != fault.Internal {
		return fmt.Errorf("invoke %s: %w", function, fault.New(r.Kind, "%s", r.Message))
	}
	if err := json.Unmarshal(r.Data, out); err != nil {
		return fmt.Errorf("decode answer of %s: %w", function, err)
	}
	return nil
}

var (
	_ Invoker = Local(nil)
	_ Invoker = (*Lambda)(nil)
)
