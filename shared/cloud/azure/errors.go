package azure

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
)

// errUnreadable is an answer that is not of the form that Azure documents.
func errUnreadable(what string, err error) error {
	return &cloud.Error{
		Class: cloud.Transient, Code: "UnreadableAnswer", Message: fmt.Sprintf("%s: %v", what, err),
		Err: err,
	}
}

// codes are the codes that the status of their answer would not place right.
var codes = map[string]cloud.Class{
	"AuthenticationFailed":       cloud.Refused,
	"ExpiredAuthenticationToken": cloud.Refused,
	"InvalidAuthenticationToken": cloud.Refused,
	"SubscriptionNotFound":       cloud.Refused, // also when it is another tenant's

	"AuthorizationFailed":          cloud.Denied,
	"LinkedAuthorizationFailed":    cloud.Denied,
	"DisabledSubscription":         cloud.Denied,
	"ReadOnlyDisabledSubscription": cloud.Denied,

	"RequestDisallowedByPolicy": cloud.Unsupported,
	"ScopeLocked":               cloud.Unsupported, // a lock is taken away by a person, not by time
	"QuotaExceeded":             cloud.Unsupported,

	// no capacity, though the status 409 is that of temporary refusals
	"AllocationFailed":                      cloud.NoCapacity,
	"ZonalAllocationFailed":                 cloud.NoCapacity,
	"OverconstrainedAllocationRequest":      cloud.NoCapacity,
	"OverconstrainedZonalAllocationRequest": cloud.NoCapacity,
	"SkuNotAvailable":                       cloud.NoCapacity,
}

// permanentPattern are words of an OperationNotAllowed that time does not heal. The others come of another operation's
// being under way.
var permanentPattern = regexp.MustCompile(`(?i)not supported|quota|exceed`)

// classifyError returns the *cloud.Error for an SDK error of a call, with Azure's own code and words. It is the only
// place that knows Azure's error codes.
func classifyError(op string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*cloud.Error](err); ok {
		return e // one of ours, which the SDK may have wrapped
	}
	if fault.Is(err, fault.Invalid) { // of the guard
		return &cloud.Error{Class: cloud.Invalid, Op: op, Code: "AddressRefused", Message: fault.Message(err), Err: err}
	}
	if e, ok := errors.AsType[*azidentity.AuthenticationFailedError](err); ok {
		return classifyToken(e)
	}
	answer, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok {
		return &cloud.Error{
			Class: cloud.Transient, Op: op, Code: cloud.UnansweredCode(err), Message: err.Error(),
			Err: err,
		}
	}
	out := &cloud.Error{Op: op, Code: answer.ErrorCode, Message: messageOf(answer), Err: err}
	out.Class = classOf(out.Code, answer.StatusCode, out.Message)
	return out
}

// classOf places an answer.
func classOf(code string, status int, message string) cloud.Class {
	if code == "OperationNotAllowed" && permanentPattern.MatchString(message) {
		return cloud.Unsupported
	}
	if c, ok := codes[code]; ok {
		return c
	}
	switch status {
	case http.StatusTooManyRequests:
		return cloud.Throttled
	case http.StatusUnauthorized:
		return cloud.Refused
	case http.StatusForbidden:
		return cloud.Denied
	case http.StatusNotFound, http.StatusGone:
		return cloud.NotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		return cloud.Moving
	case http.StatusNotImplemented:
		return cloud.Unsupported
	}
	if cloud.IsTransientStatus(status) {
		return cloud.Transient
	}
	return cloud.Invalid
}

// entraCode is the code in a message of Microsoft Entra.
var entraCode = regexp.MustCompile(`AADSTS\d+`)

// classifyToken places a failure to get a token: the credentials are not accepted, unless Entra did not answer or had
// no time.
func classifyToken(e *azidentity.AuthenticationFailedError) error {
	out := &cloud.Error{
		Class: cloud.Transient, Op: "Microsoft Entra token", Code: cloud.UnansweredCode(e),
		Message: e.Error(),
		Err:     e,
	}
	if e.RawResponse == nil {
		return out
	}
	out.Class = cloud.Refused
	switch s := e.RawResponse.StatusCode; {
	case s == http.StatusTooManyRequests:
		out.Class = cloud.Throttled
	case s == http.StatusNotImplemented:
		out.Class = cloud.Unsupported
	case cloud.IsTransientStatus(s):
		out.Class = cloud.Transient
	}
	if out.Code = entraCode.FindString(out.Message); out.Code == "" {
		out.Code = strconv.Itoa(e.RawResponse.StatusCode)
	}
	line, _, _ := strings.Cut(out.Message, "\n") // the others are the whole answer
	out.Message = cmp.Or(entraMessage(e.RawResponse), strings.TrimSpace(line))
	return out
}

// entraMessage returns the first line of Entra's message. The other lines are its own ids.
func entraMessage(resp *http.Response) string {
	var answer struct {
		Description string `json:"error_description"`
	}
	body, err := runtime.Payload(resp)
	if err != nil || json.Unmarshal(body, &answer) != nil {
		return ""
	}
	line, _, _ := strings.Cut(answer.Description, "\n")
	return strings.TrimSpace(line)
}

// messageOf returns the message of an answer, without the request that the SDK repeats beside it.
func messageOf(e *azcore.ResponseError) string {
	var answer struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
		Message string `json:"message"`
	}
	body, err := runtime.Payload(e.RawResponse)
	if err == nil && json.Unmarshal(body, &answer) == nil {
		if m := strings.TrimSpace(answer.Error.Message + answer.Message); m != "" {
			return m
		}
	}
	if m := storageMessage(body); m != "" {
		return m
	}
	return fmt.Sprintf("Azure answered %d and gave no message", e.StatusCode)
}
