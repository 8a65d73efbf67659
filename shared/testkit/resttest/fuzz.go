// Package resttest holds a handler to its interface description: it sends every operation random requests, well-formed,
// nearly so and hostile, and checks that none ends in a 5xx and that every answer is one that the description allows.
package resttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"lamplighter.dev/shared/testkit/seed"
)

// Options say how to fuzz.
type Options struct {
	Authorization string               // the value of the header; "" sends none
	Requests      int                  // to each operation; 0 is 20
	Seed          uint64               // the same seed sends the same requests
	Skip          func(id string) bool // operations to leave out, such as the one that ends the session
	// Known are values of things that exist, by the names of the parameters and members that hold them. Three times of four
	// one of them is sent, so that requests get behind the first 404.
	Known map[string][]string
	// Seen, if set, hears which operation was asked and what it answered: a test sees by it that none was only ever refused.
	Seen func(id string, answer *httptest.ResponseRecorder)
	// Before, if set, sees each request first: it moves a clock, or puts a caller into the context.
	Before func(*http.Request) *http.Request
}

// FuzzOperations sends requests to every operation of document, an OpenAPI 3.1 text, and fails t for each answer that is a 5xx or is
// not described. It returns how many answers had which status.
func FuzzOperations(tb testing.TB, h http.Handler, document []byte, o Options) map[int]int {
	tb.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		tb.Fatalf("load interface description: %v", err)
	}
	if o.Requests == 0 {
		o.Requests = 20
	}
	f := &fuzzer{tb, h, doc, o, maker{seed.Fixed(tb, o.Seed, 1), o.Known}, map[int]int{}}
	paths := doc.Paths.InMatchingOrder()
	f.operations(paths, func(method string) bool { return method != http.MethodDelete })
	slices.SortStableFunc(paths, func(a, b string) int { return strings.Count(b, "/") - strings.Count(a, "/") })
	// last, and what lies within first
	f.operations(paths, func(method string) bool { return method == http.MethodDelete })
	return f.seen
}

// operations fuzzes those whose method is among which.
func (f *fuzzer) operations(paths []string, which func(method string) bool) {
	f.t.Helper()
	for _, path := range paths {
		item := f.doc.Paths.Value(path)
		for _, method := range slices.Sorted(sortedKeys(item.Operations())) {
			if which(method) {
				f.operation(method, path, item.Operations()[method])
			}
		}
	}
}

func sortedKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

type fuzzer struct {
	t   testing.TB
	h   http.Handler
	doc *openapi3.T
	Options
	make maker
	seen map[int]int
}

func (f *fuzzer) operation(method, path string, op *openapi3.Operation) {
	f.t.Helper()
	if f.Skip != nil && f.Skip(op.OperationID) {
		return
	}
	for range f.Requests {
		r, body := f.request(method, path, op)
		if r == nil {
			continue
		}
		if f.Before != nil {
			r = f.Before(r)
		}
		w := httptest.NewRecorder()
		f.h.ServeHTTP(w, r)
		f.seen[w.Code]++
		if f.Seen != nil {
			f.Seen(f.owner(r, op).OperationID, w)
		}
		if err := Described(f.owner(r, op), w); err != nil {
			f.t.Errorf("%s: %s %s %.300s\n answered %d %.500s\n but %v", op.OperationID, method, r.URL, body, w.Code,
				w.Body, err)
			return // one report for each operation is enough to read
		}
	}
}

// owner returns the operation whose answer r gets: a random value may make another path of the one that was meant.
func (f *fuzzer) owner(r *http.Request, meant *openapi3.Operation) *openapi3.Operation {
	got := strings.Split(r.URL.EscapedPath(), "/")
	for _, path := range f.doc.Paths.InMatchingOrder() {
		if matches(strings.Split(path, "/"), got) {
			if op := f.doc.Paths.Value(path).GetOperation(r.Method); op != nil {
				return op
			}
			return meant
		}
	}
	return meant
}

func matches(pattern, path []string) bool {
	return slices.EqualFunc(pattern, path, func(p, s string) bool {
		return p == s || strings.HasPrefix(p, "{") && s != ""
	})
}

// request makes a request to op; nil when the random parts made none that can be sent.
func (f *fuzzer) request(method, path string, op *openapi3.Operation) (*http.Request, string) {
	query, header := url.Values{}, http.Header{}
	bare := f.make.IntN(4) == 0 // a list with a dozen filters would hardly ever get through with all of them
	for _, p := range op.Parameters {
		v, send := f.make.makeParameter(p.Value)
		send = send && (p.Value.Required || !bare)
		switch {
		case p.Value.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", url.PathEscape(v))
		case !send:
		case p.Value.In == "query":
			query.Set(p.Value.Name, v)
		case p.Value.In == "header":
			header.Set(p.Value.Name, strings.Map(printable, v))
		}
	}
	body := f.make.makeBody(op.RequestBody)
	u, err := url.Parse(path)
	if err != nil || strings.HasPrefix(path, "//") {
		return nil, ""
	}
	u.RawQuery = query.Encode()
	r := httptest.NewRequest(method, "/", strings.NewReader(body))
	r.URL, r.RequestURI, r.Header = u, u.RequestURI(), header
	if f.Authorization != "" {
		header.Set("Authorization", f.Authorization)
	}
	if body != "" {
		header.Set("Content-Type", "application/json")
	}
	return r, body
}

func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return '?'
	}
	return r
}

// always are answers that any path may get without describing them: a value in the path may name nothing, or another
// path with other methods, or be too long.
var always = []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusRequestURITooLong,
	http.StatusRequestEntityTooLarge}

// Described returns why an answer is not one that op describes, with every member that it describes; nil when it is.
func Described(op *openapi3.Operation, w *httptest.ResponseRecorder) error {
	if w.Code >= http.StatusInternalServerError {
		return errors.New("that is a failure of the service")
	}
	if w.Header().Get("X-Request-Id") == "" {
		return errors.New("it has no X-Request-Id")
	}
	ref := op.Responses.Status(w.Code)
	if ref == nil {
		if slices.Contains(always, w.Code) {
			return shaped(w)
		}
		return fmt.Errorf("status %d is not described", w.Code)
	}
	kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	media := ref.Value.Content.Get(kind)
	if media == nil && len(ref.Value.Content) > 0 {
		return fmt.Errorf("content type %q is not described", kind)
	}
	if media == nil || media.Schema == nil {
		return nil
	}
	return fits(media.Schema.Value, w.Body.Bytes())
}

func fits(s *openapi3.Schema, body []byte) error {
	d := json.NewDecoder(bytes.NewReader(body))
	var v any
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("its body is no JSON: %w", err)
	}
	if err := s.VisitJSON(v, openapi3.MultiErrors()); err != nil && !anything(err) {
		return fmt.Errorf("its body does not fit the schema: %w", err)
	}
	return complete("", s, v)
}

// anything reports whether all that err complains of is null where the schema, which names no type, allows anything.
func anything(err error) bool {
	if all, ok := err.(openapi3.MultiError); ok { //nolint:errorlint // a list of errors, not a chain
		return !slices.ContainsFunc(all, func(err error) bool { return !anything(err) })
	}
	e, ok := errors.AsType[*openapi3.SchemaError](err)
	return ok && e.Value == nil && e.Schema.Type == nil && e.Schema.AnyOf == nil
}

// complete wants every member that is described in every object: one without a value is null, [] or {}.
func complete(at string, s *openapi3.Schema, v any) error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, option := range s.AnyOf {
		errs = append(errs, complete(at, option.Value, v))
	}
	switch v := v.(type) {
	case []any:
		for i := range v {
			if s.Items != nil {
				errs = append(errs, complete(fmt.Sprintf("%s[%d]", at, i), s.Items.Value, v[i]))
			}
		}
	case map[string]any:
		for name, member := range s.Properties {
			if _, ok := v[name]; !ok {
				errs = append(errs, fmt.Errorf("%s.%s is left out", at, name))
				continue
			}
			errs = append(errs, complete(at+"."+name, member.Value, v[name]))
		}
	}
	return errors.Join(errs...)
}

// shaped wants one of the three error shapes, or the proxy's page.
func shaped(w *httptest.ResponseRecorder) error {
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		return nil
	}
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || len(e.Error) == 0 {
		return errors.New("its body has none of the three error shapes")
	}
	return nil
}
