package azure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
)

// answered is an error as the SDK gives it.
func answered(status int, code, message string) error {
	body := fmt.Sprintf(`{"error":{"code":%q,"message":%q}}`, code, message)
	return runtime.NewResponseError(&http.Response{
		StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader([]byte(body))),
		Request: httptest.NewRequest(http.MethodGet, "/", nil),
	})
}

func TestErrors_AreClassified(t *testing.T) {
	tests := []struct {
		status  int
		code    string
		message string
		want    cloud.Class
	}{
		{429, "TooManyRequests", "", cloud.Throttled},
		{429, "SubscriptionRequestsThrottled", "", cloud.Throttled},
		{429, "RateLimiting", "", cloud.Throttled},
		{500, "InternalServerError", "", cloud.Transient},
		{503, "ServerTimeout", "", cloud.Transient},
		{501, "NotImplemented", "", cloud.Unsupported},
		{408, "RequestTimeout", "", cloud.Transient},
		{409, "AllocationFailed", "Allocation failed.", cloud.NoCapacity},
		{409, "ZonalAllocationFailed", "", cloud.NoCapacity},
		{409, "SkuNotAvailable", "", cloud.NoCapacity},
		{409, "Conflict", "", cloud.Moving},
		{409, "AnotherOperationInProgress", "", cloud.Moving},
		{409, "OperationNotAllowed", "Another operation (Stopping) is in progress.", cloud.Moving},
		{
			409, "OperationNotAllowed",
			"Operation could not be completed as it results in exceeding approved Total Regional Cores quota.",
			cloud.Unsupported,
		},
		{
			409, "OperationNotAllowed", "Operation 'deallocate' is not supported for VMs with an ephemeral OS disk.",
			cloud.Unsupported,
		},
		{409, "ScopeLocked", "", cloud.Unsupported},
		{412, "EtagMismatch", "", cloud.Moving},
		{403, "RequestDisallowedByPolicy", "", cloud.Unsupported},
		{403, "AuthorizationFailed", "", cloud.Denied},
		{403, "LinkedAuthorizationFailed", "", cloud.Denied},
		{403, "SomethingNewForbidden", "", cloud.Denied},
		{409, "ReadOnlyDisabledSubscription", "", cloud.Denied},
		{401, "InvalidAuthenticationToken", "", cloud.Refused},
		{401, "ExpiredAuthenticationToken", "", cloud.Refused},
		{404, "SubscriptionNotFound", "", cloud.Refused},
		{404, "ResourceNotFound", "", cloud.NotFound},
		{404, "ResourceGroupNotFound", "", cloud.NotFound},
		{400, "InvalidParameter", "", cloud.Invalid},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.status, " ", tt.code, " ", tt.message), func(t *testing.T) {
			err := classifyError("op", answered(tt.status, tt.code, tt.message))
			e, ok := errors.AsType[*cloud.Error](err)
			if !ok || e.Class != tt.want || e.Code != tt.code || e.Op != "op" || e.Message == "" || tt.message != "" &&
				e.Message != tt.message {
				t.Errorf("classified as %+v; want class %d, and Azure's own words", e, tt.want)
			}
		})
	}
}

func TestErrors_WithoutAnAnswerAreNamed(t *testing.T) {
	for name, tt := range map[string]struct {
		err   error
		class cloud.Class
		code  string
	}{
		"a deadline":              {context.DeadlineExceeded, cloud.Transient, "Timeout"},
		"an end":                  {context.Canceled, cloud.Transient, "Cancelled"},
		"a connection that broke": {io.ErrUnexpectedEOF, cloud.Transient, "NoAnswer"},
		"an address refused":      {fault.New(fault.Invalid, "not there"), cloud.Invalid, "AddressRefused"},
	} {
		t.Run(name, func(t *testing.T) {
			e, ok := errors.AsType[*cloud.Error](classifyError("op", fmt.Errorf("do: %w", tt.err)))
			if !ok || e.Class != tt.class || e.Code != tt.code {
				t.Errorf("classified as %+v", e)
			}
		})
	}
}

func TestErrors_AnAnswerThatIsNoneIsStillTold(t *testing.T) {
	err := runtime.NewResponseError(&http.Response{
		StatusCode: http.StatusBadGateway, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader([]byte("<html>"))),
		Request: httptest.NewRequest(http.MethodGet, "/", nil),
	})
	if e, ok := errors.AsType[*cloud.Error](classifyError("op", err)); !ok || e.Class != cloud.Transient ||
		e.Message == "" {
		t.Errorf("classified as %+v", e)
	}
}

// The SDK's own text repeats the whole answer: many lines, of a page that may be anything.
func TestClassifyToken_OfAnAnswerWithoutAReasonIsOneLine(t *testing.T) {
	err := classifyToken(&azidentity.AuthenticationFailedError{RawResponse: &http.Response{
		Status: "404 Not Found", StatusCode: http.StatusNotFound,
		Body:    io.NopCloser(strings.NewReader("<html>\n</html>")),
		Request: httptest.NewRequest(http.MethodGet, "https://login.example.com/", nil),
	}})
	text := err.Error()
	if strings.ContainsAny(text, "\n<") || !strings.HasPrefix(text, "Microsoft Entra token: 404: ") {
		t.Errorf("%q", text)
	}
}
