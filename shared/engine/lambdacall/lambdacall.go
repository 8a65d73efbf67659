// Package lambdacall calls a worker function and waits for its response. API operations use it for work that needs a
// cloud SDK, which they must not link, for example verifying credentials. In AWS a call is a Lambda invocation.
package lambdacall

import (
	"context"
	"encoding/json"
	"fmt"

	"lamplighter.dev/shared/foundation/fault"
)

// Invoker calls worker functions by the name of their folder, for example "connector".
type Invoker interface {
	// Invoke sends in as JSON, and decodes the response into out. A failure that the worker reports keeps its kind and
	// its message.
	Invoke(ctx context.Context, function string, in, out any) error
	// RunTask is Invoke for a worker that state machines call (workflow.LambdaHandler). All its failures are
	// fault.Internal.
	RunTask(ctx context.Context, function string, in, out any) error
}

// Handler handles an invocation.
type Handler func(ctx context.Context, in json.RawMessage) (any, error)

// Local calls handlers in this process.
type Local map[string]Handler

// Invoke passes in and out through JSON, as a Lambda invocation does.
func (l Local) Invoke(ctx context.Context, function string, in, out any) error {
	h := l[function]
	if h == nil {
		return fault.New(fault.Internal, "no worker %q", function)
	}
	b, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode input of %s: %w", function, err)
	}
	got, err := h(ctx, b)
	if err != nil {
		return fmt.Errorf("invoke %s: %w", function, err)
	}
	if b, err = json.Marshal(got); err != nil {
		return fmt.Errorf("encode answer of %s: %w", function, err)
	}
	if err = json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("decode answer of %s: %w", function, err)
	}
	return nil
}

// RunTask calls a handler as a state machine does.
func (l Local) RunTask(ctx context.Context, function string, in, out any) error {
	return l.Invoke(ctx, function, in, out)
}
