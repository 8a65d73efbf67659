package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"lamplighter.dev/shared/foundation/fault"
)

const contentJSON = "application/json"

// statuses is the one table from kinds of failure to HTTP.
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

// Error is a failure that the service answers with: {"error":{"message":…}}.
type Error struct {
	status int
	Detail ErrorDetail `json:"error"`
}

// ErrorDetail says what was wrong.
type ErrorDetail struct {
	Message string `json:"message" doc:"What was wrong, which value, and what to do"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Detail.Message }

// GetStatus returns the HTTP status.
func (e *Error) GetStatus() int { return e.status }

func newError(status int, format string, args ...any) *Error {
	return &Error{status, ErrorDetail{fmt.Sprintf(format, args...)}}
}

// GatewayError is a failure that the gateway's layer answers with: {"error":"…"} on 401, 405 and 429.
type GatewayError struct {
	status  int
	Message string `json:"error" doc:"What was wrong"`
}

// Error returns the message.
func (e *GatewayError) Error() string { return e.Message }

// GetStatus returns the HTTP status.
func (e *GatewayError) GetStatus() int { return e.status }

// OAuthError is a failure of an operation under /oauth/, as RFC 6749 section 5.2 writes it.
type OAuthError struct {
	Status      int    `json:"-"`
	Code        string `json:"error" doc:"A code of RFC 6749, such as invalid_request"`
	Description string `json:"error_description" doc:"What was wrong, for the developer of the client"`
	Plain       bool   `json:"-"` // labelled text/plain, as /oauth/authorize does
}

// Error returns the code and its description.
func (e *OAuthError) Error() string { return e.Code + ": " + e.Description }

// GetStatus returns the HTTP status.
func (e *OAuthError) GetStatus() int { return e.Status }

// ContentType labels the body.
func (e *OAuthError) ContentType(kind string) string {
	if e.Plain {
		return "text/plain"
	}
	return kind
}

// clientError makes the failure of op that the client sees of err, and keeps err for the log when it is ours.
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

// isLate reports whether an operation failed because its time was up, and does not say so itself.
func isLate(ctx context.Context, err error) bool {
	return errors.Is(ctx.Err(), context.DeadlineExceeded) && fault.KindOf(err) == fault.Internal
}

// errorForStatus chooses among the three error shapes: by the operation's family, then by the layer that answers such a status. Of
// what was sent, a message shows no more than maxQuoted bytes.
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

// sendFailure writes a failure outside huma.
func sendFailure(w http.ResponseWriter, e huma.StatusError) {
	kind := contentJSON
	if f, ok := e.(huma.ContentTypeFilter); ok {
		kind = f.ContentType(kind)
	}
	b, err := json.Marshal(e)
	if err != nil { // structs of strings always encode
		panic(err)
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(e.GetStatus())
	_, _ = w.Write(b)
}

func init() {
	huma.DefaultArrayNullable = false
	validation.MsgExpectedOneOf = "expected one of %s" // quotation marks are for what was sent
	huma.NewError = refused
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
		e := refused(status, msg, errs...)
		op, _ := ctx.Operation().Metadata[opKey].(*Op)
		return errorForStatus(op, e.GetStatus(), e.Error())
	}
}

// refused returns how huma reports that a request fails validation. The interface knows 400 only, never 415 or 422.
func refused(status int, msg string, errs ...error) huma.StatusError {
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

// explainAll says which inputs are wrong: as many as fit with their names and values into what an error quotes.
func explainAll(errs []error) string {
	var parts []string
	quoted, more := 0, 0
	for _, err := range errs {
		if err == nil {
			continue
		}
		part, n := explain(err)
		if quoted += n; quoted > maxQuoted && len(parts) > 0 {
			more++
			continue
		}
		parts = append(parts, part)
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

// explain says which input is wrong, and how many bytes of what was sent it shows: the name, which can be the client's own,
// and the value when it came in the address; a body may hold secrets.
func explain(err error) (text string, quoted int) {
	d, ok := errors.AsType[*huma.ErrorDetail](err)
	if !ok {
		return err.Error(), 0
	}
	message := strings.TrimPrefix(d.Message, "invalid value: ") // before the words of a type of ours
	part, name, _ := strings.Cut(d.Location, ".")
	name = clip(name, maxName)
	switch {
	case name == "":
		return d.Location + ": " + message, 0
	case part == "body", d.Value == nil, d.Value == "":
		return name + ": " + message, len(name)
	}
	value := fmt.Sprintf("%.64q", fmt.Sprint(d.Value))
	return name + ": " + message + ", got " + value, len(name) + len(value)
}

// maxName is how many bytes of a member's path an error shows.
const maxName = 100
