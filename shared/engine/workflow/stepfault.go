package workflow

import (
	"context"
	"errors"
	"net"

	"github.com/aws/smithy-go"

	"lamplighter.dev/shared/foundation/fault"
)

// faultKinds are the kinds of the errors of Step Functions by code. All other codes are defects of this service or of
// its deployment. Source: the API reference, "Common Errors" and the errors of each operation.
var faultKinds = map[string]fault.Kind{
	"ExecutionDoesNotExist":    fault.NotFound,
	"TaskDoesNotExist":         fault.NotFound,
	"TaskTimedOut":             fault.Conflict, // the task has ended, or was answered
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

// messagesOf are the messages for clients, by kind.
var messagesOf = map[fault.Kind]string{
	fault.NotFound:    "there is no such execution or task",
	fault.Conflict:    "the task was answered already or is over",
	fault.Invalid:     "the name, the token or the JSON is not valid",
	fault.Unavailable: "the workflow service does not answer for now; try again",
}

// errorCode returns the code of an error of the API, and "" for other errors.
func errorCode(err error) string {
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return e.ErrorCode()
	}
	return ""
}

// classifyError adds the kind and the operation to an error of the SDK.
func classifyError(op string, err error) error {
	if err == nil {
		return nil
	}
	kind, known := faultKinds[errorCode(err)]
	if !known && isTransient(err) {
		kind = fault.Unavailable
	}
	return fault.Wrap(op, fault.NewWithCause(kind, err, "%s", messagesOf[kind]))
}

// isTransient reports whether err is a network error, or a failure of the service itself.
func isTransient(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	e, ok := errors.AsType[smithy.APIError](err)
	return ok && e.ErrorFault() == smithy.FaultServer
}
