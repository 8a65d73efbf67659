package kubernetes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
)

// classifyError returns the *cloud.Error for an error of the call op ("patch deployments.apps"), in the cluster's own
// words. It is the only place that knows the errors of clusters.
func classifyError(op string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*cloud.Error](err); ok {
		if e.Op == "" && e.Code != "" { // from the transport, which does not know the call
			named := *e
			named.Op = op
			return &named
		}
		return e
	}
	status, ok := errors.AsType[*statusError](err)
	if !ok {
		return &cloud.Error{Class: cloud.Transient, Op: op, Code: "NoAnswer", Message: err.Error(), Err: err}
	}
	s := status.apiStatus
	return &cloud.Error{Class: classOf(s), Op: op, Code: codeOf(s), Message: messageOf(s), Err: err}
}

func codeOf(s apiStatus) string {
	if s.Reason != "" {
		return s.Reason
	}
	return fmt.Sprintf("HTTP %d", s.Code)
}

func messageOf(s apiStatus) string {
	if s.Message == "" {
		return "the cluster gave no message"
	}
	return s.Message
}

// admissionWords are words of admission control, which a cluster asks before it accepts a change. It refuses this
// change from every caller.
var admissionWords = []string{"admission webhook", "ValidatingAdmissionPolicy", "denied request:", "exceeded quota"}

func classOf(s apiStatus) cloud.Class {
	for _, w := range admissionWords {
		if strings.Contains(s.Message, w) && s.Code < http.StatusInternalServerError {
			return cloud.Unsupported
		}
	}
	switch s.Code {
	case http.StatusUnauthorized:
		return cloud.Refused
	case http.StatusForbidden:
		return cloud.Denied
	case http.StatusNotFound:
		return cloud.NotFound
	case http.StatusConflict:
		return cloud.Moving
	case http.StatusTooManyRequests:
		return cloud.Throttled
	case http.StatusGone:
		return cloud.Transient
	case http.StatusNotImplemented:
		return cloud.Unsupported
	}
	if cloud.IsTransientStatus(s.Code) {
		return cloud.Transient
	}
	return cloud.Invalid
}

// unansweredError classifies an error that is not an answer of the cluster. It wraps only errors that end a context.
// nil stays nil.
func unansweredError(err error) error {
	if err == nil {
		return nil
	}
	e, ours := errors.AsType[*cloud.Error](err)
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case ours:
		return e
	case fault.Is(err, fault.Invalid):
		return &cloud.Error{Class: cloud.Invalid, Code: "AddressRefused", Message: fault.Message(err)}
	case isCertificate(err):
		return &cloud.Error{
			Class: cloud.Invalid, Code: "Certificate",
			Message: "the cluster's certificate is not accepted: " + err.Error(),
		}
	case errors.Is(err, context.Canceled):
		return &cloud.Error{Class: cloud.Transient, Code: "Cancelled", Message: err.Error(), Err: context.Canceled}
	case errors.Is(err, context.DeadlineExceeded), ok && timeout.Timeout():
		return &cloud.Error{
			Class: cloud.Transient, Code: "Timeout", Message: err.Error(),
			Err: context.DeadlineExceeded,
		}
	default:
		return &cloud.Error{Class: cloud.Transient, Code: "NoAnswer", Message: err.Error()}
	}
}

func isCertificate(err error) bool {
	_, verify := errors.AsType[*tls.CertificateVerificationError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	return verify || unknown
}
