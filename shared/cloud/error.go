package cloud

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"lamplighter.dev/shared/foundation/fault"
)

// Class tells callers whether to retry an error.
type Class uint8

// The classes.
const (
	Unclassified Class = iota // treated as Transient
	Transient                 // timeouts, 5xx, lost replies: retry
	Throttled                 // retry later, and slower
	Moving                    // the resource is between two states: read again, then decide
	NoCapacity                // the provider has no capacity to start the resource: retry for an hour
	NotFound                  // no such resource: permanent
	Denied                    // the credential lacks a permission: permanent, and the account is degraded
	Refused                   // the credential itself is not accepted: permanent
	Unsupported               // this cannot be done to this resource: permanent
	Invalid                   // the provider calls the request wrong: permanent
)

// Retryable reports whether trying again may help.
func (c Class) Retryable() bool { return c <= NoCapacity }

// Error is a failure at the provider, classified in one place of each provider. Code and Message are the provider's
// own.
type Error struct {
	Class   Class
	Op      string // "ec2:StopInstances"
	Code    string
	Message string
	Err     error
}

// ErrInvalid returns an error of class Invalid that is not the provider's: a check before a call.
func ErrInvalid(format string, args ...any) error {
	return &Error{Class: Invalid, Message: fmt.Sprintf(format, args...)}
}

// ErrUnsupported returns an error of class Unsupported that is not the provider's.
func ErrUnsupported(format string, args ...any) error {
	return &Error{Class: Unsupported, Message: fmt.Sprintf(format, args...)}
}

// ErrNotFound returns an error of class NotFound that is not the provider's.
func ErrNotFound(format string, args ...any) error {
	return &Error{Class: NotFound, Message: fmt.Sprintf(format, args...)}
}

// ErrMoving returns an error of class Moving that is not the provider's.
func ErrMoving(format string, args ...any) error {
	return &Error{Class: Moving, Message: fmt.Sprintf(format, args...)}
}

// Error returns operation, code and message.
func (e *Error) Error() string {
	s := e.Message
	if e.Code != "" {
		s = e.Code + ": " + s
	}
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	return s
}

// Unwrap returns the SDK's error.
func (e *Error) Unwrap() error { return e.Err }

// Fault maps the class to the kind of failure that a client of ours sees.
func (e *Error) Fault() fault.Kind {
	switch e.Class {
	case NotFound:
		return fault.NotFound
	case Denied, Refused, Invalid, Unsupported:
		return fault.Invalid
	default:
		return fault.Unavailable
	}
}

// IsTransientStatus reports whether an HTTP status says that the same request may succeed later: 408 and 5xx. 501 is
// not one of them: it says that the provider does not know the operation (RFC 9110, 15.6.2).
func IsTransientStatus(status int) bool {
	return status == http.StatusRequestTimeout || status >= http.StatusInternalServerError &&
		status != http.StatusNotImplemented
}

// ClassOf returns the class of err; Transient when it is not classified.
func ClassOf(err error) Class {
	if e, ok := errors.AsType[*Error](err); ok && e.Class != Unclassified {
		return e.Class
	}
	return Transient
}

// CodeOf returns the provider's code of err; "" when it has none.
func CodeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// UnansweredCode returns the code of an error that is not an answer of the provider: Cancelled, Timeout or NoAnswer.
// The call may or may not have taken effect.
func UnansweredCode(err error) string {
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, context.Canceled):
		return "Cancelled"
	case errors.Is(err, context.DeadlineExceeded), ok && timeout.Timeout():
		return "Timeout"
	default:
		return "NoAnswer"
	}
}
