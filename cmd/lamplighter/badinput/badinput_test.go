// Package badinput sends each operation malformed input, and compares the answers with the conventions of the
// interface.
package badinput

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"lamplighter.dev/cmd/lamplighter/testenv/probe"
	"lamplighter.dev/functions"
	"lamplighter.dev/shared/testkit/race"
)

// bad is a service with one organization that has a record of each kind, for malformed requests.
type bad struct {
	*probe.Service
	*probe.Caller
	e   probe.Values
	ops []probe.Operation
}

// ask sends a request, and adds the query parameters that the operation requires.
func (b *bad) ask(t testing.TB, method, target, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	if path, query, _ := strings.Cut(target, "?"); path == "/reports/tags/trends" &&
		!strings.Contains(query, "tag_key") {
		target = path + "?tag_key=env&" + query
	}
	return b.Ask(t, method, target, body, header...)
}

func badly(t *testing.T) *bad {
	t.Helper()
	s := probe.Start(t)
	b := &bad{Service: s, Caller: s.NewCaller(t, s.NewOwner("bad@example.com"))}
	b.e = b.Settle(t, "bad-1")
	b.ops = probe.Operations(t, functions.Describe(s.Platform).YAML())
	return b
}

// target returns the path of op with the known ids in it, except one.
func (b *bad) target(op probe.Operation, name, value string) string {
	path := op.Path
	for _, p := range op.Parameters {
		if p.Value.In != "path" {
			continue
		}
		v := url.PathEscape(b.e.Value(op, p.Value.Name))
		if p.Value.Name == name {
			v = value
		}
		path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", v)
	}
	return path
}

// TestBadInput sends each kind of malformed input to every operation that takes it.
func TestBadInput(t *testing.T) {
	t.Parallel()
	b := badly(t)
	t.Run("bodies that are no JSON, or that two readers could read differently", b.brokenBodies)
	t.Run("bodies of another type than an object", b.unfitBodies)
	t.Run("bodies of another kind than JSON", b.wrongKinds)
	t.Run("ids that are none", b.strangeIDs)
	t.Run("pages that are none", b.strangePages)
	t.Run("long and strange texts in queries", b.strangeQueries)
	t.Run("methods that are not the operation's", b.methods)
	t.Run("too much of it", b.tooLarge)
	t.Run("members that are not the client's to set", b.massAssignment)
	t.Run("headers that claim to be somebody else", b.smuggling)
	t.Run("names that are none", b.strangeNames)
	t.Run("names that a spreadsheet would run", b.formulas)
	t.Run("answers of the gateway have names", b.named)
}

// takers returns the operations that take a body.
func (b *bad) takers() []probe.Operation {
	return slices.DeleteFunc(slices.Clone(b.ops), func(op probe.Operation) bool { return probe.BodySchema(op) == nil })
}

var brokenBodies = map[string]string{
	"10,000 levels of objects":         strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000),
	"10,000 levels of arrays":          `{"a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "}",
	"33 levels":                        strings.Repeat(`{"a":`, 33) + "1" + strings.Repeat("}", 33),
	"a megabyte of brackets":           strings.Repeat("[", 1<<20),
	"a megabyte of braces":             strings.Repeat(`{"":`, 1<<18),
	"a member twice":                   `{"name":"a","name":"b"}`,
	"a member twice but for an escape": `{"name":"a","n\u0061me":"b"}`,
	"a member twice but for case": `{"name":"a","NAME":"b","email":"a","Email":"b","type":"a","Type":"b",` +
		`"members":1,"Members":2,"uids":1,"UIDs":1,"refreshToken":"","refreshtoken":"","tier":1,"Tier":1,"method":"",` +
		`"Method":"","resetToken":"","resettoken":""}`,
	"half of a surrogate pair": `{"name":"\ud800"}`,
	"the other half":           `{"name":"\udc00 a"}`,
	"a byte order mark":        "\ufeff{}",
	"bytes that are no UTF-8":  "{\"name\":\"\xff\xfe\"}",
	"UTF-16":                   "{\x00}\x00",
	"text after the value":     `{} {}`,
	"a comment":                `{/* */}`,
	"a comma too many":         `{"a":1,}`,
	"NaN":                      `{"a":NaN}`,
	"single quotes":            `{'a':1}`,
	"a control character":      "{\"name\":\"a\nb\"}",
	"half of an object":        `{"name":"a"`,
}

func (b *bad) brokenBodies(t *testing.T) {
	for name, body := range brokenBodies {
		takers := b.takers()
		if len(body) > 1<<19 {
			takers = takers[:3] // one reader reads them all
		}
		for _, op := range takers {
			w := b.ask(t, op.Method, b.target(op, "", ""), body)
			if w.Code != http.StatusBadRequest {
				t.Errorf("%s: %s: %d %.200s", name, op.OperationID, w.Code, w.Body)
			}
		}
	}
	w := b.ask(t, http.MethodPut, "/resource-groups/"+b.e["groupID"], `{"stepDelaySeconds":1e999}`)
	if w.Code != http.StatusBadRequest {
		t.Errorf("a number beyond all numbers: %d %.200s", w.Code, w.Body)
	}
	for _, n := range []string{"-1", "9223372036854775808", "1.5", `"1"`, "true", "-0.5"} {
		w := b.ask(t, http.MethodPut, "/resource-groups/"+b.e["groupID"], `{"stepDelaySeconds":`+n+`}`)
		if w.Code != http.StatusBadRequest {
			t.Errorf("stepDelaySeconds of %s: %d %.200s", n, w.Code, w.Body)
		}
	}
}

func (b *bad) unfitBodies(t *testing.T) {
	for _, op := range b.takers() {
		for _, body := range []string{"", "null", "[]", "[{}]", `"x"`, "1", "true", "   "} {
			w := b.ask(t, op.Method, b.target(op, "", ""), body)
			optional := !op.RequestBody.Value.Required && (body == "" || body == "null")
			if w.Code != http.StatusBadRequest && (!optional || w.Code >= http.StatusBadRequest) {
				t.Errorf("%s: %q: %d %.200s", op.OperationID, body, w.Code, w.Body)
			}
		}
	}
	for _, op := range b.ops { // operations without a body ignore it
		if probe.BodySchema(op) == nil && op.Method == http.MethodPost {
			b.ask(t, op.Method, b.target(op, "", ""), "[[[")
		}
	}
	b.WaitSettled()
}

func (b *bad) wrongKinds(t *testing.T) {
	kinds := [][]string{
		{"Content-Type", "text/plain"},
		{"Content-Type", "application/x-www-form-urlencoded"},
		{"Content-Type", "text/xml"},
		{"Content-Type", "multipart/form-data; boundary=x"},
		{"Content-Type", "application/json, text/plain"},
		{"Content-Type", ";;"},
		{"Content-Encoding", "gzip"},
		{"Content-Encoding", "br"},
	}
	for _, op := range b.takers() {
		for _, kind := range kinds {
			if w := b.ask(t, op.Method, b.target(op, "", ""), `{"name":"Wrong kind"}`,
				kind...); w.Code != http.StatusBadRequest {
				t.Errorf("%s: %s: %d %.200s", op.OperationID, kind, w.Code, w.Body)
			}
		}
	}
}

var strangeIDs = []string{
	"%2e%2e", ".%2e", "%2e", "%2e%2e%2fbulk", "%2e%2e%2f%2e%2e%2fhealthz", "%252e%252e", "%252f", "a%2fb", "%5c%2e%2e",
	"%00", "%0a", "%0d%0aX:y", "%7f",
	"%e2%80%aeabc", "e%cc%81", "%f0%9f%98%80", "%ff", "%c0%ae", "latest", "__proto__", "null", "undefined", "-1", "0",
	"*", "%25", "%20", ";", ";a=b",
	"%3Fa=b", "%23", "ORG%23x", "%7C", ":", "%27%20OR%201=1--", "$%7Bjndi:x%7D", strings.Repeat("a", 65),
	strings.Repeat("a", 1024), strings.Repeat("%61", 2000),
}

func (b *bad) strangeIDs(t *testing.T) {
	for _, op := range b.ops {
		for _, p := range op.Parameters {
			if p.Value.In != "path" {
				continue
			}
			ids := append(slices.Clone(strangeIDs), b.e[p.Value.Name]+"x")
			if p.Value.Name != "email" { // an address has no case, and no blanks around it
				ids = append(ids, strings.ToUpper(b.e[p.Value.Name]), b.e[p.Value.Name]+"%20", "%20"+b.e[p.Value.Name])
			}
			for i, id := range ids {
				if race.Enabled && i%4 > 0 {
					continue
				}
				if op.OperationID == "getBulkAction" && id == "latest" ||
					slices.Contains([]string{"clusterName", "tagKey", "tagValue", "screen", "recordID"}, p.Value.Name) {
					continue // the one is an operation, the others any text; the console's page knows its screens
				}
				w := b.ask(t, op.Method, b.target(op, p.Value.Name, id), "{}")
				if !slices.Contains([]int{http.StatusNotFound, http.StatusBadRequest, http.StatusMethodNotAllowed},
					w.Code) {
					t.Errorf("%s: %s as %s: %d %.200s", op.OperationID, id, p.Value.Name, w.Code, w.Body)
				}
			}
		}
	}
}

// queried returns the operations that have the query parameter.
func (b *bad) queried(name string) []probe.Operation {
	return slices.DeleteFunc(slices.Clone(b.ops), func(op probe.Operation) bool {
		return !slices.ContainsFunc(op.Parameters, func(p *openapi3.ParameterRef) bool {
			return p.Value.In == "query" && p.Value.Name == name
		})
	})
}

func (b *bad) strangePages(t *testing.T) {
	for _, op := range b.queried("page") {
		for query, want := range map[string]int{
			"page=0": 400, "page=-1": 400, "page=abc": 400, "page=1.5": 400, "page=99999999999999999999": 400,
			"page=%00": 400, "page=1e3": 400,
			"limit=0": 400, "limit=-1": 400, "limit=abc": 400, "limit=99999999999999999999": 400, "limit=0x10": 400,
			"page=%31%30":           200,
			"page=999999&limit=100": 200, "limit=101": 200, "limit=1000000000": 200, "page=1&limit=1": 200,
			"unknown=x&page=1": 200, "page": 400, "page=": 400, "limit=": 400, "page=1&page=2": 400,
		} {
			if op.Parameters.GetByInAndName("query", "size") != nil {
				query = strings.ReplaceAll(query, "limit", "size") // the interface names it so on two lists
			}
			w := b.ask(t, op.Method, b.target(op, "", "")+"?"+query, "")
			if w.Code != want {
				t.Errorf("%s?%s: %d %.200s, want %d", op.OperationID, query, w.Code, w.Body, want)
			}
			if strings.Contains(query, "limit=1") && len(query) > 8 && strings.Contains(w.Body.String(), `"limit":`) &&
				!strings.Contains(w.Body.String(), `"limit":100`) && query != "page=1&limit=1" {
				t.Errorf("%s?%s: not held to 100: %.300s", op.OperationID, query, w.Body)
			}
		}
	}
}

func (b *bad) strangeQueries(t *testing.T) {
	texts := []string{
		strings.Repeat("a", 7000), strings.Repeat("%25", 2000), "(a%2b)%2b$", "%5B", "%5C", "%00", "%ff", "%zz",
		"%e2%80%ae", "=HYPERLINK(1)", "%27", "%22", "%0d%0a", "%F0%9F%98%80", "=", "a=b=c",
	}
	for _, op := range b.ops {
		if strings.Contains(op.Path, "{provider}") {
			continue // no provider is configured: always 404; functions/auth tests them
		}
		for _, p := range op.Parameters {
			if p.Value.In != "query" {
				continue
			}
			for i, text := range texts {
				if race.Enabled && i%4 > 0 {
					continue
				}
				w := b.ask(t, op.Method, b.target(op, "", "")+"?"+p.Value.Name+"="+text, "")
				if w.Code != http.StatusOK && w.Code != http.StatusBadRequest {
					t.Errorf("%s?%s=%.40s: %d %.200s", op.OperationID, p.Value.Name, text, w.Code, w.Body)
				}
			}
			if w := b.ask(t, op.Method, b.target(op, "", "")+"?"+p.Value.Name+"="+strings.Repeat("a", 10<<10),
				""); w.Code != http.StatusRequestURITooLong {
				t.Errorf("%s: 10 KiB of %s: %d", op.OperationID, p.Value.Name, w.Code)
			}
		}
	}
	for _, query := range []string{"sort_by=password", "sort_order=up", "sort_order=DESC", "sort_by=NAME"} {
		name, _, _ := strings.Cut(query, "=")
		for _, op := range b.queried(name) {
			if w := b.ask(t, op.Method, b.target(op, "", "")+"?"+query, ""); w.Code != http.StatusBadRequest {
				t.Errorf("%s?%s: %d %.200s", op.OperationID, query, w.Code, w.Body)
			}
		}
	}
}
