package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"lamplighter.dev/shared/engine/workflow/asl"
)

// LambdaHandler makes what a LambdaHandler's main hands to lambda.Start of h. It is h, but that a *TaskError anywhere in the chain of
// the error is reported under its own Name, with its Cause as the message; aws-lambda-go alone would report the name of
// the Go type, "TaskError". The embedded engine reports every failure by the same rules, so that Retry and Catch see the
// same names in both.
func LambdaHandler(h Handler) func(ctx context.Context, input json.RawMessage) (any, error) {
	return func(ctx context.Context, input json.RawMessage) (any, error) {
		out, err := h(ctx, input)
		if task, ok := errors.AsType[*TaskError](err); ok {
			return nil, messages.InvokeResponse_Error{Type: task.Name, Message: task.Cause}
		}
		return out, err
	}
}

// callHandler calls h as a Lambda is called: JSON goes in and comes out, and whatever goes wrong becomes an error with the name
// that a Go Lambda reports.
func callHandler(ctx context.Context, h Handler, input json.RawMessage) (out json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, reported(panicked(p))
		}
	}()
	v, err := LambdaHandler(h)(ctx, input)
	if err != nil {
		return nil, reported(failure(err))
	}
	if out, err = asl.Encode(v); err != nil {
		return nil, reported(failure(errors.Unwrap(err)))
	}
	return out, nil
}

// failure returns what aws-lambda-go (lambda/errors.go, lambdaErrorResponse) makes of the error of a handler: the name is that
// of its Go type, without the package and without a pointer: "errorString" of errors.New, "wrapError" of fmt.Errorf with
// %w.
func failure(err error) messages.InvokeResponse_Error {
	if e, ok := err.(messages.InvokeResponse_Error); ok { //nolint:errorlint // aws-lambda-go does not look into the chain
		return e
	}
	return messages.InvokeResponse_Error{Type: typeName(err), Message: err.Error()}
}

// panicked returns what aws-lambda-go makes of a panic: the name is that of the value's Go type, "string" of panic("…"). The
// stack, which it adds, is left out.
func panicked(p any) messages.InvokeResponse_Error {
	if e, ok := p.(messages.InvokeResponse_Error); ok {
		return e
	}
	return messages.InvokeResponse_Error{Type: typeName(p), Message: fmt.Sprint(p)}
}

func typeName(v any) string {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

// reported returns a function's failure as a Task state sees it: the cause is what the function answered, as JSON.
func reported(e messages.InvokeResponse_Error) error {
	cause, err := asl.Encode(e)
	if err != nil {
		cause = []byte(e.Message)
	}
	return &asl.Error{Name: e.Type, Cause: string(cause)}
}
