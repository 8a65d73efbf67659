// Package fault is the error type of the service. An error has a kind, an operation for logs, and one sentence that
// clients may see. The kind decides the HTTP status (in shared/api/rest) and whether a retry makes sense.
package fault

import (
	"errors"
	"fmt"
)

// Kind is the class of a failure. The list is append-only: functions compare kinds across deployments.
type Kind uint8

// The kinds. The zero value is Internal, so that an unclassified error is never shown to a client.
const (
	Internal        Kind = iota // a defect of the service; clients see "internal error"
	Invalid                     // malformed, or fails validation: 400
	Unauthenticated             // no usable credential: 401
	Denied                      // known caller, missing permission: 403
	NotFound                    // absent, or not visible to the caller: 404
	Conflict                    // the state of the record forbids it, or a race was lost: 409
	Limited                     // over a limit: 429
	Unavailable                 // a dependency failed for now, a retry may help: 500 to clients
)

// Error is a failure of operation Op. Message is written for clients: the field or thing, its value, the rule, the way
// out.
type Error struct {
	Op      string
	Kind    Kind
	Message string
	Err     error
}

// Error returns operation, message and cause, for logs.
func (e *Error) Error() string {
	s := e.Message
	if e.Err != nil && s == "" {
		s = e.Err.Error()
	} else if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Op != "" {
		return e.Op + ": " + s
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns a failure of kind k with a message that clients see.
func New(k Kind, format string, args ...any) error {
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...)}
}

// NewWithCause returns a failure of kind k with a message that clients see, and a cause that appears only in logs.
func NewWithCause(k Kind, err error, format string, args ...any) error {
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...), Err: err}
}

// Wrap adds the operation (a verb and a key) to err and keeps its kind and message. A nil err stays nil.
func Wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", op, err)
}

// KindOf returns the kind of the first Error in err's chain, or Internal if there is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	if k, ok := errors.AsType[interface {
		error
		Fault() Kind
	}](err); ok {
		return k.Fault()
	}
	return Internal
}

// Message returns the part of err that clients may see: the message of an Error, or "internal error".
func Message(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Kind != Internal && e.Message != "" {
		return e.Message
	}
	return "internal error"
}

// Is reports whether err is of kind k.
func Is(err error, k Kind) bool { return err != nil && KindOf(err) == k }
