package lambdacall

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
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

// Lambda invokes worker functions in AWS: that of the folder "connector" is named prefix + "connector". It signs the one
// request itself: the SDK's client of Lambda costs every API function 0.8 ms of its start. Nothing is tried twice, for a
// worker's call has effects at a cloud, and whoever calls knows whether it may be repeated.
type Lambda struct {
	cfg    aws.Config
	prefix string
	http   *http.Client
	clock  clock.Clock
}

// NewLambda invokes the functions of the account that cfg opens. The clock dates the signatures.
func NewLambda(cfg aws.Config, prefix string, c clock.Clock) *Lambda {
	return &Lambda{cfg: cfg, prefix: prefix, http: &http.Client{Timeout: patience}, clock: c}
}

// alias names what is live of a function, while a deployment shifts it from one version to the next: AutoPublishAlias in infra/shared.yaml.
const alias = "live"

const (
	patience  = 28 * time.Second // less than API Gateway waits
	maxAnswer = 6 << 20          // what Lambda lets a function answer
)

// Invoke sends in to the function and decodes its answer into out. A throttled or failed invocation is Unavailable.
func (l *Lambda) Invoke(ctx context.Context, function string, in, out any) error {
	payload, err := l.call(ctx, function, in)
	if err != nil {
		return err
	}
	return decode(function, payload, out)
}

// RunTask is Invoke for a worker of state machines, whose answer is the bare result.
func (l *Lambda) RunTask(ctx context.Context, function string, in, out any) error {
	payload, err := l.call(ctx, function, in)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(payload, out); err != nil {
		return fmt.Errorf("decode answer of %s: %w", function, err)
	}
	return nil
}

// call returns what the function answered.
func (l *Lambda) call(ctx context.Context, function string, in any) ([]byte, error) {
	b, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encode input of %s: %w", function, err)
	}
	req, err := l.request(ctx, function, b)
	if err != nil {
		return nil, fmt.Errorf("invoke %s: %w", function, err)
	}
	res, err := l.http.Do(req)
	if err != nil {
		return nil, unreachable(function, err)
	}
	defer res.Body.Close() //nolint:errcheck // it is read to its end
	payload, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, unreachable(function, err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, unreachable(function, fmt.Errorf("%s: %.500s", res.Status, payload))
	}
	if res.Header.Get("X-Amz-Function-Error") != "" {
		return nil, fault.NewWithCause(fault.Internal, errors.New(string(payload)), "the worker %s failed", function)
	}
	return payload, nil
}

func unreachable(function string, err error) error {
	return fault.NewWithCause(fault.Unavailable, err, "the worker %s cannot be reached: try again", function)
}

// request returns the signed invocation (Lambda API reference, Invoke).
func (l *Lambda) request(ctx context.Context, function string, payload []byte) (*http.Request, error) {
	url := l.endpoint() + "/2015-03-31/functions/" + l.prefix + function + "/invocations?Qualifier=" + alias
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(payload))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	creds, err := l.cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("find credentials: %w", err)
	}
	sum := sha256.Sum256(payload)
	err = v4.NewSigner().SignHTTP(ctx, creds, req, hex.EncodeToString(sum[:]), "lambda", l.cfg.Region, l.clock.Now())
	return req, err
}

// endpoint returns where Lambda is: in China under a domain of its own.
func (l *Lambda) endpoint() string {
	if l.cfg.BaseEndpoint != nil {
		return *l.cfg.BaseEndpoint
	}
	domain := ".amazonaws.com"
	if strings.HasPrefix(l.cfg.Region, "cn-") {
		domain += ".cn"
	}
	return "https://lambda." + l.cfg.Region + domain
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
