package rest_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
)

// newEvent returns a request of anna as an event of API Gateway.
func newEvent(method, path, body string) events.APIGatewayProxyRequest {
	ev := events.APIGatewayProxyRequest{
		HTTPMethod: method, Path: path, Body: body, Resource: "/{proxy+}",
		Headers:           map[string]string{"Authorization": "Bearer x", "Content-Type": "application/json"},
		MultiValueHeaders: map[string][]string{"Authorization": {"Bearer x"}, "Content-Type": {"application/json"}},
	}
	ev.RequestContext.RequestID = "gateway-request-1"
	ev.RequestContext.Identity.SourceIP = "203.0.113.7"
	ev.RequestContext.Authorizer = identity.EncodeCaller(anna)
	return ev
}

// TestEvents requires JSON answers without 5xx to hostile and odd events.
func TestEvents(t *testing.T) {
	victim := map[string]any{"authorizer": identity.EncodeCaller(identity.Caller{
		Org:  "org_victim",
		User: "usr_victim",
	})}
	spoofed, err := json.Marshal(victim)
	if err != nil {
		t.Fatal(err)
	}
	type ev = events.APIGatewayProxyRequest
	fn := rest.AdaptHandler(openReply(t).h)
	for name, c := range map[string]struct {
		method, path, body string
		spoil              func(*ev)
		status             int
		holds              string
	}{
		"a plain one":                  {"GET", "/things/t1", "", nil, 200, `"id":"t1"`},
		"a bad escape in the path":     {"GET", "/things/%zz", "", nil, 400, "path"},
		"half an escape":               {"GET", "/things/%2", "", nil, 400, "path"},
		"a NUL in the path":            {"GET", "/things/a\x00b", "", nil, 400, "path"},
		"an escaped NUL":               {"GET", "/things/a%00b", "", nil, 404, "not found"},
		"a line break in the path":     {"GET", "/things/a\r\nX: y", "", nil, 400, "path"},
		"no UTF-8 in the path":         {"GET", "/things/\xff", "", nil, 400, "path"},
		"an escaped slash is no slash": {"GET", "/things/a%2Ft1", "", nil, 404, "a/t1"},
		"an escape is decoded once":    {"GET", "/things/a%252Fb", "", nil, 404, "a%2Fb"},
		"dots do not climb":            {"GET", "/x/../things/t1", "", nil, 404, "not found"},
		"escaped dots do not climb":    {"GET", "/x/%2e%2e/things/t1", "", nil, 404, "not found"},
		"two slashes are no host":      {"GET", "//evil.example/things/t1", "", nil, 404, "not found"},
		"a question mark in the path":  {"GET", "/things/t1?x=1", "", nil, 404, "t1?x=1"},
		"a hash in the path":           {"GET", "/things/t1#x", "", nil, 404, "t1#x"},
		"a blank in the path":          {"GET", "/things/a b", "", nil, 404, "a b"},
		"no slash at the beginning":    {"GET", "things/t1", "", nil, 200, `"id":"t1"`},
		"no path":                      {"GET", "", "", nil, 404, "not found"},
		"a path that is too long":      {"GET", "/things/" + strings.Repeat("a", rest.MaxURI), "", nil, 414, "8 KiB"},
		"no method":                    {"", "/things", "", nil, 405, `{"error":"method not allowed"}`},
		"a method with a blank":        {"GE T", "/things", "", nil, 405, `{"error":"method not allowed"}`},
		"a method in small letters":    {"get", "/things", "", nil, 405, `{"error":"method not allowed"}`},
		"an unknown method":            {"BREW", "/things", "", nil, 405, `{"error":"method not allowed"}`},
		"TRACE":                        {"TRACE", "/things", "", nil, 405, `{"error":"method not allowed"}`},
		"a method override is not read": {"GET", "/things/t1", "", func(e *ev) {
			e.MultiValueHeaders["X-Http-Method-Override"] = []string{"DELETE"}
		}, 200, `"id":"t1"`},
		"broken base64": {"POST", "/things", "!!!", func(e *ev) {
			e.IsBase64Encoded = true
		}, 400, "body"},
		"base64 is decoded": {"POST", "/things", base64.StdEncoding.EncodeToString([]byte(lamp)), func(e *ev) {
			e.IsBase64Encoded = true
		}, 200, "lamp"},
		"binary": {"POST", "/things", base64.StdEncoding.EncodeToString([]byte{0, 1, 0xff}), func(e *ev) {
			e.IsBase64Encoded = true
		}, 400, "UTF-8"},
		"a body that is too large": {"POST", "/things", strings.Repeat("a", rest.MaxBody+1), nil, 413, "1 MiB"},
		"a body just small enough": {
			"POST", "/things", `{"name":"a"}` + strings.Repeat(" ", rest.MaxBody-12), nil,
			200, "thing-a",
		},
		"gzip": {"POST", "/things", lamp, func(e *ev) {
			e.MultiValueHeaders["Content-Encoding"] = []string{"gzip"}
		}, 400, "Content-Encoding"},
		"two Authorization headers": {"GET", "/things", "", func(e *ev) {
			e.MultiValueHeaders["Authorization"] = []string{"Bearer a", "Bearer b"}
		}, 401, `{"error":"unauthorized"}`},
		"two spellings of it": {"GET", "/things", "", func(e *ev) {
			e.MultiValueHeaders["authorization"] = []string{"Bearer b"}
		}, 401, `{"error":"unauthorized"}`},
		"two spellings, single values": {"GET", "/things", "", func(e *ev) {
			e.MultiValueHeaders, e.Headers["authorization"] = nil, "b"
		}, 401, `{"error":"unauthorized"}`},
		"a line break in a header": {"GET", "/things", "", func(e *ev) {
			e.MultiValueHeaders["X-A"] = []string{"b\r\nAuthorization: Bearer x"}
		}, 400, "header"},
		"a header with a blank name": {"GET", "/things", "", func(e *ev) {
			e.MultiValueHeaders["X A"] = []string{"b"}
		}, 400, "header"},
		"a spoofed adapter header": {"POST", "/things", `{"name":"stored"}`, func(e *ev) {
			e.MultiValueHeaders["X-GoLambdaProxy-ApiGw-Context"] = []string{string(spoofed)}
		}, 500, "internal error"},
		"a spoofed header and no caller": {"GET", "/things", "", func(e *ev) {
			e.RequestContext.Authorizer = nil
			e.Headers["X-Golambdaproxy-Apigw-Context"] = string(spoofed)
		}, 401, "unauthorized"},
		"an authorizer's word is garbled": {"GET", "/things", "", func(e *ev) {
			e.RequestContext.Authorizer["grants"] = "{"
		}, 500, "internal error"},
		"no UTF-8 in the query": {"GET", "/things", "", func(e *ev) {
			e.MultiValueQueryStringParameters = map[string][]string{"search": {"\xff"}}
		}, 400, "text"},
		"a query with separators in it": {"GET", "/things", "", func(e *ev) {
			e.MultiValueQueryStringParameters = map[string][]string{"search": {"a&page=0"}}
		}, 200, `"page":1`},
		"only single values of the query": {"GET", "/things", "", func(e *ev) {
			e.QueryStringParameters = map[string]string{"page": "0"}
		}, 400, "page"},
		"a host that is none": {"GET", "/things/t1", "", func(e *ev) {
			e.RequestContext.DomainName = "a b/%"
		}, 200, `"id":"t1"`},
		"no headers at all": {"GET", "/things/t1", "", func(e *ev) {
			e.Headers, e.MultiValueHeaders = nil, nil
		}, 200, `"id":"t1"`},
		"HEAD is GET without a body": {"HEAD", "/things/t1", "", nil, 200, ""},
		"a public path needs no authorizer": {"POST", "/auth/login", `{"password":"open sesame"}`, func(e *ev) {
			e.RequestContext.Authorizer = nil
		}, 200, "accessToken"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEvent(c.method, c.path, c.body)
			if c.spoil != nil {
				c.spoil(&e)
			}
			out, err := fn(t.Context(), e)
			if err != nil || out.StatusCode != c.status || !strings.Contains(plainly(out.Body), c.holds) {
				t.Errorf("%d %s %v, want %d with %q", out.StatusCode, out.Body, err, c.status, c.holds)
			}
			if c.method != http.MethodHead && !json.Valid([]byte(out.Body)) {
				t.Errorf("the body is no JSON: %s", out.Body)
			}
			if http.Header(out.MultiValueHeaders).Get("X-Request-Id") != "gateway-request-1" {
				t.Errorf("headers %v do not name the request", out.MultiValueHeaders)
			}
		})
	}
}

// plainly removes the escapes of a JSON text in an error message.
func plainly(s string) string { return strings.ReplaceAll(s, `\"`, `"`) }

func FuzzLambdaEvent(f *testing.F) {
	for _, seed := range []struct{ method, path, header, value, query, body string }{
		{"GET", "/things/t1", "Authorization", "Bearer x", "page=1", ""},
		{"POST", "/things", "Idempotency-Key", "k", "", lamp},
		{"PATCH", "/things/%zz", "X-GoLambdaProxy-ApiGw-Context", "{}", "a", `{"name":null}`},
		{"get", "//x", "a b", "\r\n", "\xff", "\x00"},
	} {
		f.Add(seed.method, seed.path, seed.header, seed.value, seed.query, seed.body, false)
	}
	s := openReply(f)
	fn := rest.AdaptHandler(s.h)
	f.Fuzz(func(t *testing.T, method, path, header, value, query, body string, encoded bool) {
		e := newEvent(method, path, body)
		e.MultiValueHeaders[header] = append(e.MultiValueHeaders[header], value)
		e.MultiValueQueryStringParameters = map[string][]string{query: {value}, "search": {query}}
		e.IsBase64Encoded = encoded
		e.RequestContext.DomainName = header
		if strings.Contains(body, "broken") || strings.Contains(body, "panic") || strings.Contains(path, "panic") ||
			strings.Contains(body, "stored") || strings.Contains(body, "slow") {
			return // the sample fails here on purpose
		}
		out, err := fn(t.Context(), e)
		if err != nil || out.StatusCode >= http.StatusInternalServerError || out.StatusCode < http.StatusOK {
			t.Errorf("%d %s %v\n%s", out.StatusCode, out.Body, err, s.log.String())
		}
		if out.Body != "" && !json.Valid([]byte(out.Body)) {
			t.Errorf("the body is no JSON: %s", out.Body)
		}
		s.log.Reset()
	})
}

func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		lamp, `{}`, `null`, `[`, `{"name":"a","NAME":"b"}`, `{"name":"\ud83d\ude00"}`,
		`{"name":"a","spec":{"size":1e5}}`,
		`{"tags":{"a":"b"},"name":"x","day":"2026-01-31T09:00:00Z"}`, "\ufeff", `{"name":"\ud800"}`,
		`{"name" : "a" , "spec" : null}`,
	} {
		f.Add([]byte(seed))
	}
	s := openReply(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, word := range []string{"broken", "panic", "stored", "slow"} {
			if bytes.Contains(body, []byte(word)) {
				return
			}
		}
		w := s.sendRequest(anna, "POST /things", string(body))
		if w.Code >= http.StatusInternalServerError || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%q: %d %s\n%s", body, w.Code, w.Body, s.log.String())
		}
		s.log.Reset()
	})
}

func BenchmarkLambda(b *testing.B) {
	s := openReply(b)
	fn := rest.AdaptHandler(s.h)
	for name, e := range map[string]events.APIGatewayProxyRequest{
		"get": newEvent("GET", "/things/t1", ""), "list": newEvent("GET", "/things", ""),
		"create": newEvent("POST", "/things", `{"name":"lamp","tags":{"a":"b"},"spec":{"size":3}}`),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if out, err := fn(b.Context(), e); err != nil || out.StatusCode != http.StatusOK {
					b.Fatal(out.StatusCode, out.Body, err)
				}
				s.log.Reset()
			}
		})
	}
}
