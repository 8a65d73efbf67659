package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

var update = flag.Bool("update", false, "write the golden files anew")

type (
	asked  = events.APIGatewayProxyRequest
	answer = events.APIGatewayProxyResponse
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// echo answers with the event that it received.
func echo(_ context.Context, ev asked) (answer, error) {
	b, err := json.MarshalIndent(ev, "", "  ")
	return answer{
		StatusCode:        http.StatusOK,
		MultiValueHeaders: map[string][]string{"content-type": {"application/json"}}, Body: string(b),
	}, err
}

// odd misbehaves in the way that its path names.
func odd(ctx context.Context, ev asked) (answer, error) {
	switch ev.PathParameters["proxy"] {
	case "error":
		return answer{}, errors.New("no")
	case "panic":
		panic("boom")
	case "status":
		return answer{StatusCode: 99}, nil
	case "base64":
		return answer{StatusCode: http.StatusOK, Body: "!", IsBase64Encoded: true}, nil
	case "large":
		return answer{StatusCode: http.StatusOK, Body: strings.Repeat("a", maxAnswer+1)}, nil
	case "stuck":
		select {} // a function that does not look at its deadline
	case "binary":
		return answer{
			StatusCode: http.StatusOK, Headers: map[string]string{"Content-Type": "image/png"}, Body: "/wA=",
			IsBase64Encoded: true,
		}, nil
	case "deadline":
		at, ok := ctx.Deadline()
		return answer{StatusCode: http.StatusOK, Body: fmt.Sprint(ok && time.Until(at) <= timeout, ctx.Err())}, nil
	}
	return answer{StatusCode: http.StatusNoContent}, nil
}

// guard allows the credential "good", denies "spent", and rejects unknown ones as unauthorized.
func guard(_ context.Context,
	r events.APIGatewayCustomAuthorizerRequestTypeRequest,
) (events.APIGatewayCustomAuthorizerResponse, error) {
	credential := strings.Join(r.MultiValueHeaders["Authorization"], " and ")
	effect := map[string]string{"Bearer good": "Allow", "Bearer spent": "Deny"}[credential]
	switch {
	case credential == "Bearer panic":
		panic("boom")
	case credential == "Bearer down":
		return events.APIGatewayCustomAuthorizerResponse{}, errors.New("the store is down")
	case effect == "":
		return events.APIGatewayCustomAuthorizerResponse{}, errors.New("Unauthorized")
	}
	return events.APIGatewayCustomAuthorizerResponse{
		PrincipalID: "usr_anna", Context: map[string]any{"org": "org_1", "count": 7},
		PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{
			Statement: []events.IAMPolicyStatement{{Effect: effect}},
		},
	}, nil
}

func open(tb testing.TB) *Gateway {
	tb.Helper()
	g, err := Load("testdata/template.yaml", map[string]rest.Function{"echo": echo, "odd": odd}, guard,
		clock.NewManual(noon))
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

var ids = regexp.MustCompile(`gw_[0-9a-z]{26}`)

// TestAnswers holds pairs of request and answer in testdata/answers.txt. A request is a line, headers, and a body.
func TestAnswers(t *testing.T) {
	g := open(t)
	var out bytes.Buffer
	for _, c := range []struct{ line, headers, body string }{
		{
			"GET /echo/a%2Fb/c?x=1&x=2&y=%C3%A9&bad=%zz&flag",
			"Authorization: Bearer good|X-Two: a|X-Two: b|X-Forwarded-For: 198.51.100.1", "",
		},
		{"POST /echo", "Authorization: Bearer good", `{"a":1}`},
		{"POST /echo", "Authorization: Bearer good", "\xff\x00"},
		{"GET /echo/open", "", ""},
		{"GET /items/i%201/parts", "Authorization: Bearer good", ""},
		{"POST /items/i1/parts", "Authorization: Bearer good", ""},
		{"GET /items/i1", "Authorization: Bearer good", ""},
		{"GET /echo", "", ""},
		{"GET /echo", "Authorization: ", ""},
		{"GET /echo", "Authorization: Bearer", ""},
		{"GET /echo", "Authorization: Basic good", ""},
		{"GET /echo", "Authorization: Bearer bad", ""},
		{"GET /echo", "Authorization: Bearer good|Authorization: Bearer good", ""},
		{"GET /echo", "Authorization: Bearer spent", ""},
		{"GET /echo", "Authorization: Bearer down", ""},
		{"GET /echo", "Authorization: Bearer panic", ""},
		{"GET /nowhere", "", ""},
		{"GET /", "", ""},
		{"GET //echo", "", ""},
		{"TRACE /echo", "Authorization: Bearer good", ""},
		{"CONNECT /echo", "Authorization: Bearer good", ""},
		{"BREW /echo", "Authorization: Bearer good", ""},
		{"GET /echo/" + strings.Repeat("a", rest.MaxURI), "Authorization: Bearer good", ""},
		{"POST /echo/open", "", strings.Repeat("a", rest.MaxBody+1)},
		{"GET /odd/error", "", ""},
		{"GET /odd/panic", "", ""},
		{"GET /odd/status", "", ""},
		{"GET /odd/base64", "", ""},
		{"GET /odd/large", "", ""},
		{"GET /odd/stuck", "", ""},
		{"GET /odd/binary", "", ""},
		{"GET /odd/deadline", "", ""},
		{"DELETE /odd/x", "", ""},
	} {
		if g.timeout = timeout; strings.HasSuffix(c.line, "stuck") {
			g.timeout = 50 * time.Millisecond
		}
		w := httptest.NewRecorder()
		g.ServeHTTP(w, request(c.line, c.headers, c.body))
		for _, name := range []string{"Retry-After", "X-Ratelimit-Limit", "Server"} {
			if w.Header().Get(name) != "" {
				t.Errorf("%s: the answer has %s", c.line, name)
			}
		}
		fmt.Fprintf(&out, "%.80s %s %.20q\n--\n%d %s %s\n%s\n\n", c.line, c.headers, c.body, w.Code,
			w.Header().Get("Content-Type"),
			ids.ReplaceAllString(w.Header().Get("X-Id")+w.Header().Get("X-From"), "ID "), readable(w.Body.String()))
	}
	golden(t, "testdata/answers.txt", out.Bytes())
}

// readable returns a body in the form of the golden file.
func readable(body string) string {
	if !utf8.ValidString(body) {
		return strconv.Quote(body)
	}
	return ids.ReplaceAllString(strings.TrimSpace(body), "ID")
}

func request(line, headers, body string) *http.Request {
	method, path, _ := strings.Cut(line, " ")
	r := httptest.NewRequest(http.MethodGet, "/", strings.NewReader(body))
	u, err := r.URL.Parse(path)
	if err != nil {
		panic(err)
	}
	if strings.HasPrefix(path, "//") {
		u.Host, u.Path = "", path
	}
	r.Method, r.URL, r.RequestURI = method, u, path
	for h := range strings.SplitSeq(headers, "|") {
		if name, v, ok := strings.Cut(h, ": "); ok {
			r.Header.Add(name, v)
		}
	}
	return r
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path) //nolint:gosec // a file of the test
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; -update writes it anew. Got:\n%s", path, got)
	}
}

// TestChunkedBody sends a body of unknown length.
func TestChunkedBody(t *testing.T) {
	g := open(t)
	srv := httptest.NewServer(g)
	defer srv.Close()
	for size, want := range map[int]int{
		rest.MaxBody:     http.StatusOK,
		rest.MaxBody + 1: http.StatusRequestEntityTooLarge,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/echo/open",
			struct{ *strings.Reader }{strings.NewReader(strings.Repeat("a", size))})
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = -1
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%d bytes: %d, want %d", size, resp.StatusCode, want)
		}
	}
}

// TestTheClientGoes checks that a function continues after its client has gone, as in AWS.
func TestTheClientGoes(t *testing.T) {
	ended := make(chan error, 1)
	fn := func(ctx context.Context, _ asked) (answer, error) {
		ended <- ctx.Err()
		return answer{StatusCode: http.StatusOK}, nil
	}
	g, err := Load("testdata/template.yaml", map[string]rest.Function{"echo": fn, "odd": odd}, guard, clock.System{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g.ServeHTTP(httptest.NewRecorder(), request("POST /echo/open", "", "{}").WithContext(ctx))
	if err := <-ended; err != nil {
		t.Errorf("the function's context ended: %v", err)
	}
}

func TestTemplatesThatAreRefused(t *testing.T) {
	whole, err := os.ReadFile("testdata/template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	both := map[string]rest.Function{"echo": echo, "odd": odd}
	for name, c := range map[string]struct {
		old, now  string
		functions map[string]rest.Function
		says      string
	}{
		"no YAML":                         {"Resources:", "\tResources", both, "parse template"},
		"another kind of authorizer":      {"REQUEST", "TOKEN", both, "REQUEST"},
		"an authorizer without a source":  {"[Authorization]", "[]", both, "Identity.Headers"},
		"an answer that is remembered":    {"ReauthorizeEvery: 0", "ReauthorizeEvery: 300", both, "ReauthorizeEvery"},
		"an answer remembered by default": {", ReauthorizeEvery: 0", "", both, "ReauthorizeEvery"},
		"no API": {
			"AWS::Serverless::Api", "AWS::Serverless::HttpApi", both,
			"default authorizer",
		},
		"a path that leads to no function": {"-odd:live/invocations", "-odd/invocations", both, "is no function"},
		"a function that nobody gave":      {"x", "x", map[string]rest.Function{"echo": echo}, `"odd"`},
		"a function that it routes nothing": {
			"x", "x",
			map[string]rest.Function{"echo": echo, "odd": odd, "more": odd},
			"more",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(bytes.Replace(whole, []byte(c.old), []byte(c.now), 1), c.functions, guard, clock.System{})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestRoute(t *testing.T) {
	g := open(t)
	for path, want := range map[string]string{
		"/echo": "echo false", "/echo/open": "echo true",
		"/echo/x/y": "echo false", "/odd/x": "odd true", "/odd": " false",
		"/": "odd true",
	} {
		folder, public, _ := g.Route(http.MethodGet, path)
		if got := fmt.Sprint(folder, " ", public); got != want {
			t.Errorf("%s goes to %s, want %s", path, got, want)
		}
	}
}

// BenchmarkGet measures one GET through the gateway, an authorizer that always allows, rest and the embedded table.
func BenchmarkGet(b *testing.B) {
	store := table.Fenced(tabletest.New(b))
	anna := identity.Caller{
		Org: "org_1", User: "usr_anna",
		Grants: []grant.Grant{{Role: grant.Owner, Scope: grant.OrgScope}},
	}
	yes := func(context.Context,
		events.APIGatewayCustomAuthorizerRequestTypeRequest,
	) (events.APIGatewayCustomAuthorizerResponse, error) {
		return events.APIGatewayCustomAuthorizerResponse{
			Context: identity.EncodeCaller(anna),
			PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{
				Statement: []events.IAMPolicyStatement{{Effect: "Allow"}},
			},
		}, nil
	}
	type record struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	}
	grp := rest.NewGroup("Actions & Execution")
	rest.Handle(grp, rest.Op{ID: "get", Method: http.MethodGet, Path: "/echo/{id}", Policy: "actions:read"},
		func(ctx context.Context, in *struct {
			ID string `path:"id"`
		},
		) (record, error) {
			return table.Read[record](ctx, store, table.Key{PK: table.OrgPK("org_1") + "ACT", SK: in.ID})
		})
	item, err := table.NewItem(table.Key{PK: table.OrgPK("org_1") + "ACT", SK: "a1"}, record{"a1", "running"})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := store.Write(table.WithOrg(b.Context(), "org_1"), table.Put(item)); err != nil {
		b.Fatal(err)
	}
	g, err := Load("testdata/template.yaml",
		map[string]rest.Function{"echo": rest.Lambda(&platform.Platform{}, grp), "odd": odd}, yes, clock.System{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		g.ServeHTTP(w, request("GET /echo/a1", "Authorization: Bearer good", ""))
		if w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
}
