package resource

import (
	"errors"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
)

// ErrNoDryRun is the error of a dry run that AWS does not offer.
var ErrNoDryRun = errors.New("AWS has no dry run for this action: its first use will tell")

// codes are the exceptions from the rules in classOf.
var codes = map[string]cloud.Class{
	"AuthFailure":                 cloud.Refused,
	"ExpiredToken":                cloud.Refused,
	"ExpiredTokenException":       cloud.Refused,
	"IncompleteSignature":         cloud.Refused,
	"InvalidAccessKeyId":          cloud.Refused,
	"InvalidClientTokenId":        cloud.Refused,
	"InvalidSignatureException":   cloud.Refused,
	"MissingAuthenticationToken":  cloud.Refused,
	"RequestExpired":              cloud.Refused,
	"SignatureDoesNotMatch":       cloud.Refused,
	"UnrecognizedClientException": cloud.Refused,

	"AccessDenied":                  cloud.Denied,
	"AccessDeniedException":         cloud.Denied,
	"AuthorizationError":            cloud.Denied,
	"FailedResourceAccessException": cloud.Denied,
	"NotAuthorized":                 cloud.Denied,
	"OptInRequired":                 cloud.Denied,
	"UnauthorizedOperation":         cloud.Denied,

	"IncorrectInstanceState":    cloud.Moving,
	"IncorrectState":            cloud.Moving,
	"ResourceConflictException": cloud.Moving,
	"ResourceInUse":             cloud.Moving,
	"ResourceInUseException":    cloud.Moving,
	"ScalingActivityInProgress": cloud.Moving,
	"UpdateInProgressException": cloud.Moving,

	"ConcurrentUpdateException": cloud.Transient,
	"ResourceContention":        cloud.Transient,
	"ServerException":           cloud.Transient,

	"ClusterNotFoundException":    cloud.NotFound,
	"InvalidInstanceID.Malformed": cloud.NotFound,
	"ServiceNotActiveException":   cloud.NotFound,

	"KMSKeyNotAccessibleFault": cloud.Unsupported,
	"OperationNotPermitted":    cloud.Unsupported,

	"OperationNotSupportedException": cloud.Unsupported,
	"PlatformUnknownException":       cloud.Unsupported,
}

// ClassifyError converts an error of the SDK to a *cloud.Error, with AWS's own code and message. It is the only place
// that knows AWS's error codes.
func ClassifyError(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*cloud.Error](err); ok {
		return e // one of ours, which the SDK may have wrapped
	}
	if fault.Is(err, fault.Invalid) { // the guard's error
		return &cloud.Error{
			Class: cloud.Invalid, Op: opOf(err), Code: "AddressRefused", Message: fault.Message(err),
			Err: err,
		}
	}
	out := &cloud.Error{Op: opOf(err), Message: err.Error(), Err: err}
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		out.Class, out.Code = cloud.Transient, cloud.UnansweredCode(err)
		return out
	}
	out.Code, out.Message = api.ErrorCode(), api.ErrorMessage()
	if out.Message == "" {
		out.Message = "AWS gave no message"
	}
	out.Class = classOf(out.Code, StatusOf(err), out.Message)
	if out.Class == cloud.Denied && out.Op == "sts:AssumeRole" {
		out.Class = cloud.Refused // the role does not open: no other call will
	}
	return out
}

// classOf returns the class of a code. Its rules follow AWS's naming of errors, so that they also fit new services.
func classOf(code string, status int, message string) cloud.Class {
	if c, ok := codes[code]; ok {
		return c
	}
	if _, ok := retry.DefaultThrottleErrorCodes[code]; ok {
		return cloud.Throttled
	}
	if LacksCapacity(code) {
		return cloud.NoCapacity
	}
	return byName(code, status, message)
}

// byName returns the class of a code by its form.
func byName(code string, status int, message string) cloud.Class {
	switch {
	case strings.Contains(code, "NotFound"), code == "ValidationError" && strings.Contains(message, "not found"),
		code == "ValidationException" && strings.Contains(message, "RecordNotFound"): // SageMaker
		return cloud.NotFound
	case code == "ValidationException" && strings.Contains(message, "Unable to transition"): // SageMaker: wrong state
		return cloud.Moving
	case strings.HasPrefix(code, "Unsupported"):
		return cloud.Unsupported
	case strings.HasPrefix(code, "Invalid") && strings.Contains(code, "State"):
		return cloud.Moving
	case status == http.StatusNotImplemented:
		return cloud.Unsupported
	case strings.HasPrefix(code, "Insufficient"), cloud.IsTransientStatus(status):
		return cloud.Transient
	}
	return byStatus(status)
}

// LacksCapacity reports whether the code says that AWS lacks capacity: InsufficientInstanceCapacity,
// InsufficientClusterCapacity, also as the reason of a state, "Server.InsufficientInstanceCapacity". Other
// Insufficient… codes are a lack of addresses, which a person must resolve.
func LacksCapacity(code string) bool {
	code = strings.TrimPrefix(code, "Server.")
	return strings.HasPrefix(code, "Insufficient") && strings.Contains(code, "Capacity")
}

func byStatus(status int) cloud.Class {
	switch status {
	case http.StatusTooManyRequests:
		return cloud.Throttled
	case http.StatusUnauthorized:
		return cloud.Refused
	case http.StatusForbidden:
		return cloud.Denied
	case http.StatusNotFound:
		return cloud.NotFound
	default:
		return cloud.Invalid
	}
}

// CodeOf returns the error code of AWS's answer, or "" if err is not an answer.
func CodeOf(err error) string {
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return e.ErrorCode()
	}
	return ""
}

// StatusOf returns the HTTP status of AWS's answer, or 0 if err is not an answer.
func StatusOf(err error) int {
	if e, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		return e.HTTPStatusCode()
	}
	return 0
}

// opOf returns the failed call as permissions name it: the innermost call, such as sts:AssumeRole when a call had no
// credentials.
func opOf(err error) string {
	var op string
	for {
		e, ok := errors.AsType[*smithy.OperationError](err)
		if !ok {
			return op
		}
		op, err = PermissionPrefix(e.ServiceID)+":"+e.OperationName, e.Err
	}
}
