package client

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// maxMessage bounds the text of an error, in bytes.
const maxMessage = 2000

// Error is an answer that is not a success. Its text holds no token.
type Error struct {
	Method, Path string
	Status       int
	Message      string // in the service's words
	RequestID    string
	header       http.Header
}

// Error returns the service's message, the status and the id of the request, which the service's logs have, too.
func (e *Error) Error() string {
	if e.RequestID == "" {
		return fmt.Sprintf("%s (%s %s: %d)", e.Message, e.Method, e.Path, e.Status)
	}
	return fmt.Sprintf("%s (%s %s: %d, request %s)", e.Message, e.Method, e.Path, e.Status, e.RequestID)
}

// IsStatus reports whether err is an answer with the status.
func IsStatus(err error, status int) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == status
}

// LostError is a request without an answer: no connection, a broken one, or none within the deadline.
type LostError struct {
	Address string
	Err     error
}

// Error returns the address and the reason.
func (e *LostError) Error() string {
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](e.Err); ok && invalid.Reason == x509.Expired {
		return fmt.Sprintf("%s has no valid certificate: %v: check the clock of this machine", e.Address, e.Err)
	}
	return fmt.Sprintf("%s does not answer: %v: check the address and the network", e.Address, e.Err)
}

// Unwrap returns the reason.
func (e *LostError) Unwrap() error { return e.Err }

// lost returns the error of a request without an answer. It leaves out the request's address, which may hold a secret.
func (s *sending) lost(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return &LostError{Address: s.c.base.String(), Err: err}
}

func newError(r Request, res *http.Response, body []byte) *Error {
	e := &Error{
		Method: r.Method, Path: r.Path, Status: res.StatusCode, RequestID: res.Header.Get("X-Request-Id"),
		header: res.Header,
	}
	e.Message = messageOf(res, body)
	if len(e.Message) > maxMessage {
		e.Message = strings.ToValidUTF8(e.Message[:maxMessage], "") + " …"
	}
	return e
}

// messageOf returns the message of any of the three shapes of errors. Pages in HTML, from a proxy, have none.
func messageOf(res *http.Response, body []byte) string {
	if to := res.Header.Get("Location"); res.StatusCode/100 == 3 && to != "" {
		return fmt.Sprintf("the service has moved to %q: sign in at that address", to)
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if kind == "application/json" || kind == "text/plain" { // /oauth/authorize labels its JSON text/plain
		if text := decodeMessage(body); text != "" {
			return text
		}
	}
	if text := http.StatusText(res.StatusCode); text != "" {
		return text
	}
	return "no reason given"
}

// decodeMessage reads {"error":{"message"}}, {"error"} and {"error","error_description"}.
func decodeMessage(body []byte) string {
	var v struct {
		Error       json.RawMessage `json:"error"`
		Description string          `json:"error_description"`
	}
	if json.Unmarshal(body, &v) != nil {
		return ""
	}
	var object struct {
		Message string `json:"message"`
	}
	var text string
	switch {
	case v.Description != "":
		return v.Description
	case json.Unmarshal(v.Error, &object) == nil:
		return object.Message
	case json.Unmarshal(v.Error, &text) == nil:
		return text
	}
	return ""
}
