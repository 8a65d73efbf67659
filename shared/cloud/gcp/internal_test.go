package gcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"google.golang.org/api/googleapi"

	"lamplighter.dev/shared/cloud"
)

// older and newer are the two forms of Google's errors.
func older(status int, reason string) error {
	return refusal(status,
		fmt.Sprintf(`{"error":{"code":%d,"message":"the words",
			"errors":[{"message":"the words","domain":"global","reason":%q}]}}`, status, reason))
}

func newer(status int, code, reason string) error {
	return refusal(status,
		fmt.Sprintf(`{"error":{"code":%d,"message":"the words","status":%q,
			"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":%q}]}}`, status, code, reason))
}

func refusal(status int, body string) error { return &googleapi.Error{Code: status, Body: body} }

func TestErrorsAreClassified(t *testing.T) {
	tests := []struct {
		err  error
		code string
		want cloud.Class
	}{
		{older(403, "rateLimitExceeded"), "rateLimitExceeded", cloud.Throttled},
		{older(403, "userRateLimitExceeded"), "userRateLimitExceeded", cloud.Throttled},
		{older(403, "forbidden"), "forbidden", cloud.Denied},
		{older(403, "accessNotConfigured"), "accessNotConfigured", cloud.Denied},
		{older(403, "quotaExceeded"), "quotaExceeded", cloud.Invalid},
		{older(429, "quotaExceeded"), "quotaExceeded", cloud.Throttled},
		{older(412, "conditionNotMet"), "conditionNotMet", cloud.Moving},
		{older(409, "operationInProgress"), "operationInProgress", cloud.Moving},
		{older(409, "somethingNew"), "somethingNew", cloud.Moving},
		{older(400, "resourceNotReady"), "resourceNotReady", cloud.Moving},
		{older(400, "failedPrecondition"), "failedPrecondition", cloud.Moving},
		{older(400, "invalid"), "invalid", cloud.Invalid},
		{older(404, "notFound"), "notFound", cloud.NotFound},
		{older(401, "authError"), "authError", cloud.Refused},
		{older(503, "backendError"), "backendError", cloud.Transient},
		{older(501, "notImplemented"), "notImplemented", cloud.Unsupported},
		{older(503, "ZONE_RESOURCE_POOL_EXHAUSTED"), "ZONE_RESOURCE_POOL_EXHAUSTED", cloud.NoCapacity},
		{older(400, "GCE_STOCKOUT"), "GCE_STOCKOUT", cloud.NoCapacity},
		{newer(429, "RESOURCE_EXHAUSTED", "RATE_LIMIT_EXCEEDED"), "RATE_LIMIT_EXCEEDED", cloud.Throttled},
		{newer(403, "PERMISSION_DENIED", "IAM_PERMISSION_DENIED"), "IAM_PERMISSION_DENIED", cloud.Denied},
		{
			newer(403, "PERMISSION_DENIED", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"), "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
			cloud.Refused,
		},
		{newer(401, "UNAUTHENTICATED", "ACCESS_TOKEN_EXPIRED"), "ACCESS_TOKEN_EXPIRED", cloud.Refused},
		{newer(400, "FAILED_PRECONDITION", ""), "FAILED_PRECONDITION", cloud.Moving},
		{newer(409, "ABORTED", ""), "ABORTED", cloud.Moving},
		{newer(400, "INVALID_ARGUMENT", ""), "INVALID_ARGUMENT", cloud.Invalid},
		{newer(404, "NOT_FOUND", ""), "NOT_FOUND", cloud.NotFound},
		{newer(500, "INTERNAL", ""), "INTERNAL", cloud.Transient},
	}
	for _, tt := range tests {
		e, ok := errors.AsType[*cloud.Error](classifyError("compute.instances.stop", fmt.Errorf("wrapped: %w", tt.err)))
		if !ok || e.Class != tt.want || e.Code != tt.code || e.Message != "the words" ||
			e.Op != "compute.instances.stop" {
			t.Errorf("%v: %+v; want class %d and code %s, with words and call", tt.err, e, tt.want, tt.code)
		}
	}
}

func TestAnAnswerThatIsNotGooglesIsToldByItsStatus(t *testing.T) {
	for body, want := range map[string]answer{
		"<html>502</html>": {
			status: 502, code: "BadGateway",
			message: "HTTP 502 without a message",
		},
		`{"error":"invalid_grant"}`:         {status: 502, code: "invalid_grant", message: "invalid_grant"},
		`{"error":{"message":"the words"}}`: {status: 502, code: "BadGateway", message: "the words"},
		`{"error":[1]}`: {
			status: 502, code: "BadGateway",
			message: "HTTP 502 without a message",
		},
		`{"error":"x","error_description":"the words"}`: {status: 502, code: "x", message: "the words"},
	} {
		if got := parseAnswer(http.StatusBadGateway, []byte(body)); got != want {
			t.Errorf("%s: %+v; want %+v", body, got, want)
		}
	}
	for err, code := range map[error]string{
		context.Canceled: "Cancelled", context.DeadlineExceeded: "Timeout",
		io.ErrUnexpectedEOF: "NoAnswer",
	} {
		e, ok := errors.AsType[*cloud.Error](classifyError("x", fmt.Errorf("call: %w", err)))
		if !ok || e.Class != cloud.Transient || e.Code != code {
			t.Errorf("%v: %+v; want transient, %s", err, e, code)
		}
	}
}

func TestNamesAreTakenApart(t *testing.T) {
	zonal, ok := parseName("//compute.googleapis.com/projects/example.com:shop/zones/us-central1-a/instances/web-1")
	if !ok || zonal.project != "example.com:shop" || zonal.location != "us-central1-a" ||
		zonal.region() != "us-central1" || zonal.isRegional() || zonal.kind != "instances" || zonal.name != "web-1" {
		t.Errorf("%+v, %v", zonal, ok)
	}
	node, ok := parseName("//container.googleapis.com/projects/shop/locations/us-central1/clusters/prod/nodePools/blue")
	if !ok || node.cluster != "prod" || node.name != "blue" || !node.isRegional() ||
		node.poolLink() != "projects/shop/locations/us-central1/clusters/prod/nodePools/blue" {
		t.Errorf("%+v, %v", node, ok)
	}
	for _, uid := range []string{
		"", "//", "web", "//compute.googleapis.com/projects/shop", "//compute.googleapis.com/projects/shop/zones",
		"/compute/projects/shop/zones/a/instances/b",
		"//compute.googleapis.com/projects/shop/zones/us-central1-a/instances/",
		"//compute.googleapis.com/projects/shop/zones/../instances/web",
		"//compute.googleapis.com/projects/../zones/a/instances/web",
		"//compute.googleapis.com/projects/shop/zones/us-central1-a/instances/a|b",
		"//compute.googleapis.com/projects/shop/zones/us-central1-a/instances/a\"b",
		"//compute.googleapis.com/folders/shop/zones/a/instances/b",
		"//compute.googleapis.com/projects/shop/zones/us-central1-a/instances/a%2fb",
		"//compute.googleapis.com/projects/shop/zones/us-central1-a/instances/a?b",
	} {
		if r, ok := parseName(uid); ok {
			t.Errorf("%q was taken for %+v", uid, r)
		}
	}
}

func FuzzParseName(f *testing.F) {
	f.Add("//compute.googleapis.com/projects/shop/zones/us-central1-a/instances/web-1")
	f.Add("//container.googleapis.com/projects/shop/locations/us-central1/clusters/prod/nodePools/blue")
	f.Fuzz(func(t *testing.T, uid string) {
		r, ok := parseName(uid)
		if ok && (!plainName.MatchString(r.name) || !projectID.MatchString(r.project) || r.uid != uid) {
			t.Errorf("%q was taken for %+v", uid, r)
		}
	})
}

func TestSizesThatContradictThemselvesAreInvalid(t *testing.T) {
	num := func(n int64) *int64 { return &n }
	for what, c := range map[string]cloud.Capacity{
		"desired above the maximum": {Desired: num(4)}, "desired below the minimum": {Desired: num(0)},
		"a minimum above the maximum": {Min: num(7)},
		"a negative size":             {Min: num(-1)}, "a size beyond all bounds": {Max: num(1 << 40)},
	} {
		if _, err := (size{Min: 1, Max: 3, Desired: 2}).withCapacity(c); cloud.ClassOf(err) != cloud.Invalid {
			t.Errorf("%s: %v; want it to be invalid", what, err)
		}
	}
}
