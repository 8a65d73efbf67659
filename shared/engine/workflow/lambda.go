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

// LambdaHandler returns the function that a Lambda's main passes to lambda.Start. It calls h, and reports a *TaskError
// in the error chain with its Name, and with its Cause as the message. aws-lambda-go alone would report the name of the
// Go type, "TaskError". The embedded engine reports failures in the same way, so Retry and Catch see the same names in
// both.
func LambdaHandler(h Handler) func(ctx context.Context, input json.RawMessage) (any, error) {
	return func(ctx context.Context, input json.RawMessage) (any, error) {
		out, err := h(ctx, input)
		if task, ok := errors.AsType[*TaskError](err); ok {
			return nil, messages.InvokeResponse_Error{Type: task.Name, Message: task.Cause}
		}
		return out, err
	}
}

// callHandler calls h like a Lambda, with JSON input and output. Each failure becomes an error with the name that a Go
// Lambda reports.
func callHandler(ctx context.Context, h Handler, input json.RawMessage) (out json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, taskFailure(panicFailure(p))
		}
	}()
	v, err := LambdaHandler(h)(ctx, input)
	if err != nil {
		return nil, taskFailure(handlerFailure(err))
	}
	if out, err = asl.Encode(v); err != nil {
		return nil, taskFailure(handlerFailure(errors.Unwrap(err)))
	}
	return out, nil
}

// handlerFailure returns the response of aws-lambda-go (lambda/errors.go, lambdaErrorResponse) to the error of a
// handler. Its name is the Go type without package and pointer: "errorString" for errors.New, "wrapError" for
// fmt.Errorf with %w.
func handlerFailure(err error) messages.InvokeResponse_Error {
	// aws-lambda-go does not look into the chain
	if e, ok := err.(messages.InvokeResponse_Error); ok { //nolint:errorlint // as aws-lambda-go does
		return e
	}
	return messages.InvokeResponse_Error{Type: typeName(err), Message: err.Error()}
}

// panicFailure returns the response of aws-lambda-go to a panic, without the stack. Its name is the Go type of the
// value: "string" for panic("…").
func panicFailure(p any) messages.InvokeResponse_Error {
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

// taskFailure returns a function's failure as a Task state sees it: the cause is the response as JSON.
func taskFailure(e messages.InvokeResponse_Error) error {
	cause, err := asl.Encode(e)
	if err != nil {
		cause = []byte(e.Message)
	}
	return &asl.Error{Name: e.Type, Cause: string(cause)}
}
