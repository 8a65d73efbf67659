package workflow

import (
	"context"
	"errors"
	"net"

	"github.com/aws/smithy-go"

	"lamplighter.dev/shared/foundation/fault"
)

// kinds of the errors of Step Functions by their codes; every other code is a defect of ours or of the deployment.
// Source: the API reference, "Common Errors" and the errors of each operation.
var kinds = map[string]fault.Kind{
	"ExecutionDoesNotExist":    fault.NotFound,
	"TaskDoesNotExist":         fault.NotFound,
	"TaskTimedOut":             fault.Conflict, // the task is over, or was answered
	"InvalidToken":             fault.Invalid,
	"InvalidName":              fault.Invalid,
	"InvalidExecutionInput":    fault.Invalid,
	"InvalidOutput":            fault.Invalid,
	"ExecutionLimitExceeded":   fault.Unavailable,
	"KmsThrottlingException":   fault.Unavailable,
	"ThrottlingException":      fault.Unavailable,
	"Throttling":               fault.Unavailable,
	"ThrottledException":       fault.Unavailable,
	"RequestLimitExceeded":     fault.Unavailable,
	"TooManyRequestsException": fault.Unavailable,
	"ServiceUnavailable":       fault.Unavailable,
	"InternalFailure":          fault.Unavailable,
	"RequestExpired":           fault.Unavailable,
}

// messages for clients, by kind.
var messagesOf = map[fault.Kind]string{
	fault.NotFound:    "there is no such execution or task",
	fault.Conflict:    "the task was answered already or is over",
	fault.Invalid:     "the name, the token or the JSON is not valid",
	fault.Unavailable: "the workflow service does not answer for now; try again",
}

// errorCode returns the code of an error of the API, "" of others.
func errorCode(err error) string {
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return e.ErrorCode()
	}
	return ""
}

// classifyError returns an error of the SDK its kind, and the operation.
func classifyError(op string, err error) error {
	if err == nil {
		return nil
	}
	kind, known := kinds[errorCode(err)]
	if !known && transient(err) {
		kind = fault.Unavailable
	}
	return fault.Wrap(op, fault.NewWithCause(kind, err, "%s", messagesOf[kind]))
}

// transient reports whether err is of the way to the service, or the service's own failure.
func transient(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	e, ok := errors.AsType[smithy.APIError](err)
	return ok && e.ErrorFault() == smithy.FaultServer
}
