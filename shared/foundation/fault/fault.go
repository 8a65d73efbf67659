// Package fault is the one error type of the service: what failed, which kind of failure it is, and the one sentence a
// client may see. Kinds decide the HTTP status in one place (shared/api/rest) and whether a retry makes sense.
package fault

import (
	"errors"
	"fmt"
)

// Kind is the class of a failure. The list is append-only: functions compare kinds across deployments.
type Kind uint8

// The kinds. The zero value is Internal, so that an unclassified error is never shown to a client.
const (
	Internal        Kind = iota // a defect of ours; clients see "internal error"
	Invalid                     // malformed or failing validation: 400
	Unauthenticated             // no usable credential: 401
	Denied                      // known caller, missing permission: 403
	NotFound                    // absent, or not visible to the caller: 404
	Conflict                    // the state of the thing forbids it, or a race was lost: 409
	Limited                     // over a limit: 429
	Unavailable                 // something outside failed for now, a retry may help: 500 to clients
)

// Error is a failure of operation Op. Message is written for the client: what was wrong, with which value, what to do.
type Error struct {
	Op      string
	Kind    Kind
	Message string
	Err     error
}

// Error returns the whole story, for logs.
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

// New makes a failure of kind k whose message the client sees.
func New(k Kind, format string, args ...any) error {
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...)}
}

// NewWithCause makes a failure of kind k whose message the client sees and whose cause only logs see.
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

// KindOf returns the kind of err: that of the first Error in its chain, else Internal.
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

// Message returns what a client may see of err.
func Message(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Kind != Internal && e.Message != "" {
		return e.Message
	}
	return "internal error"
}

// Is reports whether err is of kind k.
func Is(err error, k Kind) bool { return err != nil && KindOf(err) == k }
