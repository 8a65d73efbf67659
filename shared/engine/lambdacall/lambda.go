package lambdacall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/engine/awsrequest"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// reply is the response of a worker. A failure with a kind is part of a successful response, so that the caller gets
// the kind, and the invocation does not count as failed.
type reply struct {
	Data    json.RawMessage `json:"data,omitempty"`
	Kind    fault.Kind      `json:"kind,omitempty"`
	Message string          `json:"message,omitempty"`
}

// Function returns the Lambda function that serves Lambda.Invoke with h. Internal errors stay failed invocations, so
// that alarms see them.
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

// Lambda invokes worker functions in AWS. The function of the folder "connector" has the name prefix + "connector". It
// signs its request without the SDK's Lambda client, which would add 0.8 ms to the start of every API function. It does
// not retry, because a worker's call changes things in a cloud. The caller decides whether to repeat it.
type Lambda struct {
	cfg    aws.Config
	prefix string
	http   *http.Client
	clock  clock.Clock
}

// NewLambda invokes the functions of the account that cfg opens. The clock provides the dates of signatures.
func NewLambda(cfg aws.Config, prefix string, c clock.Clock) *Lambda {
	return &Lambda{cfg: cfg, prefix: prefix, http: &http.Client{Timeout: invokeTimeout}, clock: c}
}

// alias is the published version of a function, which a deployment shifts gradually: AutoPublishAlias in
// infra/shared.yaml.
const alias = "live"

const (
	invokeTimeout    = 28 * time.Second // API Gateway waits a little longer
	maxResponseBytes = 6 << 20          // Lambda's limit of a response in bytes
)

// Invoke sends in to the function and decodes its response into out. A throttled or failed invocation is
// fault.Unavailable.
func (l *Lambda) Invoke(ctx context.Context, function string, in, out any) error {
	payload, err := l.callFunction(ctx, function, in)
	if err != nil {
		return err
	}
	return decodeReply(function, payload, out)
}

// RunTask is Invoke for a worker of state machines, whose response is the result without an envelope.
func (l *Lambda) RunTask(ctx context.Context, function string, in, out any) error {
	payload, err := l.callFunction(ctx, function, in)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(payload, out); err != nil {
		return fmt.Errorf("decode answer of %s: %w", function, err)
	}
	return nil
}

// callFunction returns the response of the function.
func (l *Lambda) callFunction(ctx context.Context, function string, in any) ([]byte, error) {
	b, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encode input of %s: %w", function, err)
	}
	req, err := l.newRequest(ctx, function, b)
	if err != nil {
		return nil, fmt.Errorf("invoke %s: %w", function, err)
	}
	res, err := l.http.Do(req)
	if err != nil {
		return nil, errUnreachable(function, err)
	}
	defer res.Body.Close() //nolint:errcheck // it is read to its end
	payload, err := io.ReadAll(io.LimitReader(res.Body, maxResponseBytes))
	if err != nil {
		return nil, errUnreachable(function, err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, errUnreachable(function, fmt.Errorf("%s: %.500s", res.Status, payload))
	}
	if res.Header.Get("X-Amz-Function-Error") != "" {
		return nil, fault.NewWithCause(fault.Internal, errors.New(string(payload)), "the worker %s failed", function)
	}
	return payload, nil
}

func errUnreachable(function string, err error) error {
	return fault.NewWithCause(fault.Unavailable, err, "the worker %s cannot be reached: try again", function)
}

// newRequest returns the signed invocation (Lambda API reference, Invoke).
func (l *Lambda) newRequest(ctx context.Context, function string, payload []byte) (*http.Request, error) {
	return awsrequest.New(ctx, awsrequest.Service{
		Config: l.cfg, Name: "lambda", At: l.clock.Now(),
		Path: "/2015-03-31/functions/" + l.prefix + function + "/invocations?Qualifier=" + alias,
	}, nil, payload)
}

func decodeReply(function string, payload []byte, out any) error {
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
