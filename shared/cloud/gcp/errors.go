package gcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"google.golang.org/api/googleapi"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
	"lamplighter.dev/shared/foundation/fault"
)

// codes are the reasons that the status of an answer would not place right: a 403 is throttling, a denial or a lack of
// quota, and a 400 may be a state that passes. Google's older APIs spell them in camel case, the newer and operations
// in capitals.
var codes = map[string]cloud.Class{
	"rateLimitExceeded":                   cloud.Throttled,
	"userRateLimitExceeded":               cloud.Throttled,
	"concurrentLimitExceeded":             cloud.Throttled,
	"RATE_LIMIT_EXCEEDED":                 cloud.Throttled,
	"RESOURCE_EXHAUSTED":                  cloud.Throttled,
	"RESOURCE_OPERATION_RATE_EXCEEDED":    cloud.Throttled,
	"resourceNotReady":                    cloud.Moving,
	"RESOURCE_NOT_READY":                  cloud.Moving,
	"resourceInUseByAnotherResource":      cloud.Moving,
	"RESOURCE_IN_USE_BY_ANOTHER_RESOURCE": cloud.Moving,
	"conditionNotMet":                     cloud.Moving,
	"CONDITION_NOT_MET":                   cloud.Moving,
	"operationInProgress":                 cloud.Moving,
	"failedPrecondition":                  cloud.Moving,
	"FAILED_PRECONDITION":                 cloud.Moving,
	"ABORTED":                             cloud.Moving,
	"quotaExceeded":                       cloud.Invalid,
	"QUOTA_EXCEEDED":                      cloud.Invalid,
	"jobRateLimitExceeded":                cloud.Throttled,
	"tableUnavailable":                    cloud.Transient,
	"authError":                           cloud.Refused,
	"UNAUTHENTICATED":                     cloud.Refused,
	"ACCESS_TOKEN_SCOPE_INSUFFICIENT":     cloud.Refused,
}

// noRoom is the prefix of the codes for a zone without free machines.
const noRoom = "ZONE_RESOURCE_POOL_EXHAUSTED"

// serviceDisabled is the reason of a project that has not switched the API on.
const serviceDisabled = "SERVICE_DISABLED"

// answer is an error answer of Google.
type answer struct {
	status        int
	code, message string
	consumer      string // "projects/<number>", of a service that is disabled
}

// wireError is the body of an error: of APIs, and of the token endpoints, whose error is a string.
type wireError struct {
	Error       json.RawMessage `json:"error"`
	Description string          `json:"error_description"`
}

type wireStatus struct {
	Message string `json:"message"`
	Status  string `json:"status"`
	Errors  []struct {
		Reason string `json:"reason"`
	} `json:"errors"`
	Details []struct {
		Reason   string            `json:"reason"`
		Metadata map[string]string `json:"metadata"`
	} `json:"details"`
}

// parseAnswer parses the body of an error answer. For a body that is not Google's it uses the HTTP status.
func parseAnswer(status int, body []byte) answer {
	a := answer{
		status: status, code: strings.ReplaceAll(http.StatusText(status), " ", ""),
		message: fmt.Sprintf("HTTP %d without a message", status),
	}
	var w wireError
	if json.Unmarshal(body, &w) != nil || len(w.Error) == 0 {
		return a
	}
	var name string
	if json.Unmarshal(w.Error, &name) == nil {
		a.code, a.message = name, name
		if w.Description != "" {
			a.message = w.Description
		}
		return a
	}
	var s wireStatus
	if json.Unmarshal(w.Error, &s) == nil {
		a.takeStatus(s)
	}
	return a
}

// takeStatus takes the most specific code: first the reason of a detail, then the reason of the older form, then the
// status.
func (a *answer) takeStatus(s wireStatus) {
	if s.Message != "" {
		a.message = s.Message
	}
	if s.Status != "" {
		a.code = s.Status
	}
	if len(s.Errors) > 0 && s.Errors[0].Reason != "" {
		a.code = s.Errors[0].Reason
	}
	for _, d := range s.Details {
		if d.Reason != "" {
			a.code, a.consumer = d.Reason, d.Metadata["consumer"]
			return
		}
	}
}

// lacksRoom: Compute Engine names a zone's pool, GKE its stock.
func (a answer) lacksRoom() bool {
	return strings.HasPrefix(a.code, noRoom) || strings.HasSuffix(a.code, "STOCKOUT")
}

func (a answer) errorClass() cloud.Class {
	if c, ok := codes[a.code]; ok && a.status != http.StatusTooManyRequests {
		return c
	}
	if a.lacksRoom() {
		return cloud.NoCapacity
	}
	return byStatus(a.status)
}

func byStatus(status int) cloud.Class {
	switch {
	case status == http.StatusTooManyRequests:
		return cloud.Throttled
	case cloud.IsTransientStatus(status):
		return cloud.Transient
	case status == http.StatusNotImplemented:
		return cloud.Unsupported
	case status == http.StatusUnauthorized:
		return cloud.Refused
	case status == http.StatusForbidden:
		return cloud.Denied
	case status == http.StatusNotFound:
		return cloud.NotFound
	case status == http.StatusConflict, status == http.StatusPreconditionFailed:
		return cloud.Moving
	default:
		return cloud.Invalid
	}
}

// partialSuccess is the parameter of a listing over all zones that lets zones which do not answer be named in the
// answer; else they fail the listing for all regions.
const partialSuccess = "returnPartialSuccess"

// call makes a call and names its error after the permission that it takes.
func call[T any](ctx context.Context, s *session, r *googlerest.Request) (*T, error) {
	out, err := googlerest.Do[T](ctx, s.apiHTTP, r)
	return out, classifyError(r.Permission, err)
}

// classifyError returns the *cloud.Error for an error of a call, with Google's own code and words. This function and
// the tables above it are the only place that knows Google's error codes.
func classifyError(op string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*cloud.Error](err); ok {
		return e // one of ours, which the client has wrapped
	}
	if fault.Is(err, fault.Invalid) { // of the guard
		return &cloud.Error{Class: cloud.Invalid, Op: op, Code: "AddressRefused", Message: fault.Message(err), Err: err}
	}
	e, ok := errors.AsType[*googleapi.Error](err)
	if !ok {
		return &cloud.Error{
			Class: cloud.Transient, Op: op, Code: cloud.UnansweredCode(err), Message: err.Error(),
			Err: err,
		}
	}
	a := parseAnswer(e.Code, []byte(e.Body))
	return &cloud.Error{Class: a.errorClass(), Op: op, Code: a.code, Message: a.message, Err: err}
}

// isDisabled reports whether the error says that the API is not switched on in the project, by its number.
func isDisabled(err error, projectNumber string) bool {
	e, ok := errors.AsType[*googleapi.Error](err)
	if !ok || projectNumber == "" {
		return false
	}
	a := parseAnswer(e.Code, []byte(e.Body))
	return a.code == serviceDisabled && a.consumer == "projects/"+projectNumber
}

// isGone reports whether the error is that there is no such resource.
func isGone(err error) bool { return err != nil && cloud.ClassOf(err) == cloud.NotFound }
