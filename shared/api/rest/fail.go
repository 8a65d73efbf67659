package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"lamplighter.dev/shared/foundation/fault"
)

const contentJSON = "application/json"

// statuses are the HTTP statuses of kinds of failure.
var statuses = map[fault.Kind]int{
	fault.Internal:        http.StatusInternalServerError,
	fault.Invalid:         http.StatusBadRequest,
	fault.Unauthenticated: http.StatusUnauthorized,
	fault.Denied:          http.StatusForbidden,
	fault.NotFound:        http.StatusNotFound,
	fault.Conflict:        http.StatusConflict,
	fault.Limited:         http.StatusTooManyRequests,
	fault.Unavailable:     http.StatusInternalServerError,
}

// Error is a failure in the format of the service: {"error":{"message":…}}.
type Error struct {
	status int
	Detail ErrorDetail `json:"error"`
}

// ErrorDetail describes the failure.
type ErrorDetail struct {
	Message string `json:"message" doc:"The wrong field or thing, its value, the rule, and the way out"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Detail.Message }

// GetStatus returns the HTTP status.
func (e *Error) GetStatus() int { return e.status }

func newError(status int, format string, args ...any) *Error {
	return &Error{status, ErrorDetail{fmt.Sprintf(format, args...)}}
}

// GatewayError is a failure in the format of the gateway: {"error":"…"} with the statuses 401, 405 and 429.
type GatewayError struct {
	status  int
	Message string `json:"error" doc:"The reason of the failure"`
}

// Error returns the message.
func (e *GatewayError) Error() string { return e.Message }

// GetStatus returns the HTTP status.
func (e *GatewayError) GetStatus() int { return e.status }

// OAuthError is a failure of an operation under /oauth/, in the format of RFC 6749 section 5.2.
type OAuthError struct {
	Status      int    `json:"-"`
	Code        string `json:"error" doc:"A code of RFC 6749, such as invalid_request"`
	Description string `json:"error_description" doc:"The reason of the failure, for the developer of the client"`
	Plain       bool   `json:"-"` // sent as text/plain, like /oauth/authorize
}

// Error returns the code and its description.
func (e *OAuthError) Error() string { return e.Code + ": " + e.Description }

// GetStatus returns the HTTP status.
func (e *OAuthError) GetStatus() int { return e.Status }

// ContentType returns the content type of the body.
func (e *OAuthError) ContentType(kind string) string {
	if e.Plain {
		return "text/plain"
	}
	return kind
}

// clientError returns the failure that the client sees for err. If err is internal, it records err for the log.
func clientError(ctx context.Context, op *Op, err error) error {
	if e, ok := errors.AsType[*OAuthError](err); ok {
		short := *e
		short.Description = shorten(e.Status, e.Description)
		return &short
	}
	if isLate(ctx, err) {
		err = fault.NewWithCause(fault.Unavailable, err, "there was no answer in time: try again, or ask for less")
	}
	status := statuses[fault.KindOf(err)]
	if status >= http.StatusInternalServerError {
		noteFailure(ctx, err)
	}
	return errorForStatus(op, status, fault.Message(err))
}

// isLate reports whether an operation failed because of its deadline without saying so.
func isLate(ctx context.Context, err error) bool {
	return errors.Is(ctx.Err(), context.DeadlineExceeded) && fault.KindOf(err) == fault.Internal
}

// errorForStatus returns the failure in one of the three formats: that of the operation's family, or else that of the
// layer with this status. The message quotes at most maxQuoted bytes of the request.
func errorForStatus(op *Op, status int, message string) huma.StatusError {
	message = shorten(status, message)
	switch {
	case op != nil && strings.HasPrefix(op.Path, "/oauth/"):
		return &OAuthError{status, oauthCode(status), message, op.Path == "/oauth/authorize"}
	case status == http.StatusTooManyRequests, status == http.StatusMethodNotAllowed:
		return &GatewayError{status, message}
	case status == http.StatusUnauthorized && (op == nil || !op.Public):
		return &GatewayError{status, message}
	}
	return newError(status, "%s", message)
}

func oauthCode(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "invalid_client"
	case http.StatusForbidden:
		return "access_denied"
	case http.StatusInternalServerError:
		return "server_error"
	}
	return "invalid_request"
}

// sendFailure sends a failure without huma.
func sendFailure(w http.ResponseWriter, e huma.StatusError) {
	kind := contentJSON
	if f, ok := e.(huma.ContentTypeFilter); ok {
		kind = f.ContentType(kind)
	}
	b, err := json.Marshal(e)
	if err != nil { // structs of strings can always be encoded
		panic(err)
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(e.GetStatus())
	_, _ = w.Write(b)
}

func init() {
	huma.DefaultArrayNullable = false
	huma.NewError = newValidationError
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
		e := newValidationError(status, msg, errs...)
		op, _ := ctx.Operation().Metadata[opKey].(*Op)
		return errorForStatus(op, e.GetStatus(), e.Error())
	}
}

// newValidationError returns the failure for huma's report of an invalid request. The interface uses 400 only, never
// 415 or 422.
func newValidationError(status int, msg string, errs ...error) huma.StatusError {
	switch status {
	case http.StatusUnprocessableEntity, http.StatusUnsupportedMediaType, http.StatusNotAcceptable,
		http.StatusRequestTimeout:
		status = http.StatusBadRequest
	}
	if status >= http.StatusInternalServerError {
		return newError(status, "internal error")
	}
	if parts := explainAll(errs); parts != "" {
		msg = parts
	}
	return newError(status, "%s", msg)
}
