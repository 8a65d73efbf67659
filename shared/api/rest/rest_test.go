package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/resttest"
)

// TestAnswers compares the answers to one request of each kind with testdata/answers.txt.
func TestAnswers(t *testing.T) {
	s := openReply(t)
	deep := strings.Repeat(`{"a":`, 33) + "1" + strings.Repeat("}", 33)
	nobody, viewer, lost := identity.Caller{}, anna, anna
	viewer.Grants = []grant.Grant{{Policies: []string{"resources:read"}, Scope: "team:team_1"}}
	lost.Org, lost.Grants = "", nil
	var out bytes.Buffer
	for _, c := range []struct {
		caller     identity.Caller
		line, body string
	}{
		{anna, "GET /things", ""},
		{anna, "GET /things?page=2&limit=500&unknown=1", ""},
		{anna, "GET /things?page=0", ""},
		{anna, "GET /things?page=-1&limit=0", ""},
		{anna, "GET /things?page=abc", ""},
		{anna, "GET /things?page=1e9", ""},
		{anna, "GET /things?page=9223372036854775807", ""},
		{anna, "GET /things?sort_by=colour", ""},
		{anna, "GET /things?sort_order=up", ""},
		{anna, "GET /things?search=%zz", ""},
		{anna, "GET /things?search=%00", ""},
		{anna, "GET /things?search=%ff", ""},
		{anna, "HEAD /things", ""},
		{anna, "POST /things", `{"name":"lamp","unknown":{"x":[1]},"tags":{"Env":"a","env":"b"}}`},
		{anna, "POST /things", ``},
		{anna, "POST /things", `null`},
		{anna, "POST /things", `[]`},
		{anna, "POST /things", `{"name":`},
		{anna, "POST /things", `{"name":"a"} trailing`},
		{anna, "POST /things", "\ufeff{}"},
		{anna, "POST /things", "{\"name\":\"\xff\"}"},
		{anna, "POST /things", `{"name":"\ud800"}`},
		{anna, "POST /things", `{"name":NaN}`},
		{anna, "POST /things", `{"name":"a","name":"b"}`},
		{anna, "POST /things", `{"kind":"red","name":"a","KIND":"black"}`},
		{anna, "POST /things", `{"name":"a","spec":{"zone":"a","Zone":"c"}}`},
		{anna, "POST /things", `{"name":"a","spec":{"size":9223372036854775808}}`},
		{anna, "POST /things", `{"name":"a","spec":{"size":1e999}}`},
		{anna, "POST /things", `{"name":"a","day":"yesterday"}`},
		{anna, "POST /things", `{"name":""}`},
		{anna, "POST /things", `{"name":"a","kind":"green"}`},
		{anna, "POST /things", `{"kind":"red"}`},
		{anna, "POST /things", `{"name":7}`},
		{anna, "POST /things", deep},
		{anna, "POST /things", `{"name":"taken"}`},
		{anna, "POST /things", `{"name":"broken"}`},
		{anna, "POST /things", `{"name":"panic"}`},
		{anna, "POST /things", `{"name":"stored"}`},
		{anna, "GET /things/t1", ""},
		{anna, "GET /things/latest", ""},
		{anna, "GET /things/t2", ""},
		{anna, "GET /things/limited", ""},
		{anna, "GET /things/panic", ""},
		{anna, "GET /things/a%2Fb", ""},
		{anna, "GET /things/%e2%80%ae", ""},
		{anna, "GET /things/%00", ""},
		{anna, "GET /things/%2e%2e", ""},
		{anna, "GET /things/", ""},
		{anna, "GET //things", ""},
		{anna, "GET /nowhere", ""},
		{anna, "PATCH /things/t1", `{"name":null}`},
		{anna, "PATCH /things/t1", `{}`},
		{anna, "PATCH /things/t1", `{"name":"n","spec":{"size":1}}`},
		{anna, "PATCH /things/t1", `{"name":7}`},
		{anna, "PATCH /things/t1", `{"name":""}`},
		{anna, "PATCH /things/t1", `{"spec":{"size":0}}`},
		{anna, "PUT /things/t1", `{}`},
		{anna, "DELETE /things", ""},
		{anna, "OPTIONS /things", ""},
		{nobody, "GET /things", ""},
		{lost, "GET /things", ""},
		{lost, "GET /things/latest", ""},
		{viewer, "GET /things", ""},
		{viewer, "GET /things/t1", ""},
		{viewer, "POST /things", `{"name":"a"}`},
		{nobody, "POST /auth/login", `{"password":"open sesame"}`},
		{nobody, "POST /auth/login", `{"password":"guess"}`},
		{nobody, "POST /auth/login", `{"password":"x"}`},
		{nobody, "GET /.well-known/jwks.json", ""},
		{nobody, "GET /callback", ""},
		{nobody, "POST /oauth/token", `{"grant_type":"code"}`},
		{nobody, "POST /oauth/token", `{"grant_type":"x"}`},
		{nobody, "POST /oauth/token", `{}`},
		{nobody, "GET /oauth/authorize", ""},
		{nobody, "GET /oauth/authorize?client_id=x", ""},
	} {
		w := s.sendRequest(c.caller, c.line, c.body, "X-Request-Id: test-request", "Accept: application/cbor")
		fmt.Fprintf(&out, "%s", c.line)
		if c.body != "" {
			fmt.Fprintf(&out, " %.80q", c.body)
		}
		fmt.Fprintf(&out, "\n%d %s", w.Code, w.Header().Get("Content-Type"))
		for _, name := range []string{"Allow", "Location"} {
			if v := w.Header().Get(name); v != "" {
				fmt.Fprintf(&out, " %s: %s", name, v)
			}
		}
		fmt.Fprintf(&out, "\n%s\n\n", strings.TrimSpace(w.Body.String()))
	}
	compareGolden(t, "answers.txt", out.Bytes())
}

func TestDeclarationsThatAreRefused(t *testing.T) {
	ok := rest.Op{ID: "x", Method: http.MethodGet, Path: "/x", SignedIn: true}
	for name, spoil := range map[string]func(*rest.Op){
		"nobody may call it":     func(op *rest.Op) { op.SignedIn = false },
		"two ways to be allowed": func(op *rest.Op) { op.Public = true },
		"an unknown policy":      func(op *rest.Op) { op.SignedIn, op.Policy = false, "lamps:read" },
		"a wildcard as policy":   func(op *rest.Op) { op.SignedIn, op.Policy = false, "*:*" },
		"no id":                  func(op *rest.Op) { op.ID = "" },
		"no path":                func(op *rest.Op) { op.Path = "" },
		"a path that is taken":   func(op *rest.Op) { op.ID, op.Path = "y", "/taken" },
	} {
		t.Run(name, func(t *testing.T) {
			g := rest.NewGroup("Resources")
			taken := ok
			taken.ID, taken.Path = "taken", "/taken"
			op := ok
			spoil(&op)
			for _, o := range []rest.Op{taken, op} {
				rest.Handle(g, o, func(context.Context, *struct{}) (string, error) { return "", nil })
			}
			defer func() {
				if recover() == nil {
					t.Error("it was mounted")
				}
			}()
			rest.Mount(&platform.Platform{}, g)
		})
	}
}

// part and Part are embedded in inputs; the framework reads only the exported one.
type part struct {
	ID string `path:"id"`
}

// Part is like part, but exported.
type Part struct {
	ID string `path:"id"`
}

type listed struct {
	Search string `query:"search"`
}

type sent struct{ Body string }

type plain struct{ Seen int }

// Deep embeds an unexported struct one level down.
type Deep struct{ *listed }

func TestInputsThatWouldNotBeReadAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		mount func(*rest.Group, rest.Op)
		says  string // "" if it is mounted
	}{
		"an unexported field of the path":                {declareTaking[unexported], "field id "},
		"a parameter of the path in an embedded struct":  {declareTaking[struct{ part }], "field ID "},
		"a parameter of the query in an embedded struct": {declareTaking[struct{ listed }], "field Search "},
		"a header in an embedded struct":                 {declareTaking[struct{ *heading }], "field Tag "},
		"a parameter of the query one level down":        {declareTaking[struct{ Deep }], "field Search "},
		"the body in an embedded struct":                 {declareTaking[struct{ sent }], "field Body "},
		"an embedded struct that is exported":            {declareTaking[struct{ Part }], ""},
		"an embedded struct that is filled by the handler": {declareTaking[struct {
			plain
			Part
		}], ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := rest.NewGroup("Resources")
			c.mount(g, rest.Op{ID: "x", Method: http.MethodPut, Path: "/x/{id}", SignedIn: true})
			defer func() {
				said := fmt.Sprint(recover())
				if c.says == "" && said != "<nil>" || !strings.Contains(said, c.says) {
					t.Errorf("mounting it said %s, want %q", said, c.says)
				}
			}()
			rest.Mount(&platform.Platform{}, g)
		})
	}
}

type unexported struct {
	id string `path:"id"` //nolint:unused // never read: that is the mistake
}

type heading struct {
	Tag string `header:"X-Tag"`
}

// declareTaking declares an operation with the input I.
func declareTaking[I any](g *rest.Group, op rest.Op) {
	rest.Handle(g, op, func(context.Context, *I) (string, error) { return "", nil })
}

// TestDescription compares the description with a golden file, validates it, and checks known traps of the framework.
func TestDescription(t *testing.T) {
	s := openReply(t)
	doc := s.api.YAML()
	compareGolden(t, "openapi.yaml", doc)
	if again := openReply(t).api.YAML(); !bytes.Equal(doc, again) {
		t.Error("mounting twice describes two things")
	}
	parsed, err := openapi3.NewLoader().LoadFromData(doc)
	if err != nil {
		t.Fatal(err)
	}
	if err := parsed.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	for _, trap := range []string{"\"422\"", "\"415\"", "$schema", "application/problem+json"} {
		if bytes.Contains(doc, []byte(trap)) {
			t.Errorf("the document holds %s", trap)
		}
	}
	var v map[string]any
	if err := json.Unmarshal(s.api.JSON(), &v); err != nil || v["openapi"] != "3.1.0" {
		t.Errorf("JSON: %v %v", v["openapi"], err)
	}
}

func TestBodiesThatAreNotPlainJSON(t *testing.T) {
	s := openReply(t)
	for header, want := range map[string]int{
		"Content-Type: application/json; charset=utf-8":   http.StatusOK,
		"Content-Type: application/merge-patch+json":      http.StatusOK,
		"Content-Type: text/plain":                        http.StatusBadRequest,
		"Content-Type: application/x-www-form-urlencoded": http.StatusBadRequest,
		"Content-Type: ;;;":                               http.StatusBadRequest,
		"Content-Encoding: gzip":                          http.StatusBadRequest,
	} {
		if w := s.sendRequest(anna, "POST /things", `{"name":"a"}`, header); w.Code != want {
			t.Errorf("%s: %d %s", header, w.Code, w.Body)
		}
	}
	if w := s.sendRequest(anna, "POST /things",
		`{"name":"`+strings.Repeat("a", rest.MaxBody)+`"}`); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a body above the limit: %d %s", w.Code, w.Body)
	}
}

func TestRaw_ItsHeadersStandInPlaceOfTheUsualOnes(t *testing.T) {
	w := openReply(t).sendRequest(anna, "GET /.well-known/jwks.json", "")
	if got := w.Result().Header.Values("Cache-Control"); !slices.Equal(got, []string{"public, max-age=300"}) {
		t.Errorf("Cache-Control: %q", got)
	}
}

func TestRequestID_IsAlwaysOursAndTheClientsIsLogged(t *testing.T) {
	for _, c := range []struct{ name, sent, logged string }{
		{"a client's own is logged", "client-0123456789", "client-0123456789"},
		{"a short one is not", "short", ""},
		{"one with a line break is not", "abc\r\nX: yyyyyyyy", ""},
		{"one that is too long is not", strings.Repeat("a", 200), ""},
		{"one with a token is redacted", "lampr_01k0.1.abcdefgh", audit.Redacted},
		{"none is none", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openReply(t)
			got := s.sendRequest(anna, "GET /things", "", "X-Request-Id: "+c.sent).Header().Get("X-Request-Id")
			if !strings.HasPrefix(got, "req_") || !id.IsValid("req", got) {
				t.Errorf("sent %q, got %q", c.sent, got)
			}
			var line map[string]any
			if err := json.Unmarshal(s.log.Bytes(), &line); err != nil {
				t.Fatal(err)
			}
			if logged, _ := line["clientRequestID"].(string); logged != c.logged || line["request_id"] != got {
				t.Errorf("sent %q, got %q, logged %v", c.sent, got, line)
			}
			if _, has := line["clientRequestID"]; has != (c.logged != "") {
				t.Errorf("the line is %v", line)
			}
		})
	}
}

// TestLog requires one line for each request with the operation and without secrets.
func TestLog(t *testing.T) {
	s := openReply(t)
	s.sendRequest(anna, "POST /things?search=hush", `{"name":"hush"}`, "Authorization: Bearer hush")
	s.sendRequest(anna, "GET /things/hush", "")
	s.sendRequest(anna, "POST /things", `{"name":"broken"}`)
	s.sendRequest(anna, "GET /things/panic", "")
	lines := strings.Split(strings.TrimSpace(s.log.String()), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines:\n%s", len(lines), s.log.String())
	}
	if strings.Contains(s.log.String(), "hush") {
		t.Errorf("the log holds what a client sent:\n%s", s.log.String())
	}
	var line map[string]any
	if err := json.Unmarshal([]byte(lines[1]), &line); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"method", "route", "status", "ms", "request_id", "org", "user", "roundTrips",
		"readUnits", "writeUnits", "late",
	} {
		if _, ok := line[name]; !ok {
			t.Errorf("the line has no %s: %s", name, lines[1])
		}
	}
	if line["route"] != "/things/{thingID}" || line["status"] != 404.0 {
		t.Errorf("line: %s", lines[1])
	}
	if !strings.Contains(lines[2], "deadline exceeded") {
		t.Errorf("a 500 does not tell its cause: %s", lines[2])
	}
	if !strings.Contains(lines[3], "boom") || !strings.Contains(lines[3], "sample_test.go") {
		t.Errorf("a panic does not tell where: %s", lines[3])
	}
}

// TestContract sends random requests to each sample operation, and compares the answers with the description.
func TestContract(t *testing.T) {
	s := openReply(t)
	seen := resttest.FuzzOperations(t, s.h, s.api.YAML(), resttest.Options{
		Requests: 100, Before: func(r *http.Request) *http.Request { return withCaller(r, anna) },
	})
	if seen[http.StatusOK] == 0 || seen[http.StatusBadRequest] == 0 || seen[http.StatusNotFound] == 0 {
		t.Errorf("the fuzzer does not reach the operations: %v", seen)
	}
}
