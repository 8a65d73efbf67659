// Package resttest tests a handler against its interface description: it sends random requests to every operation,
// valid, nearly valid and hostile, and checks that no answer is a 5xx and that the description allows every answer.
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

// Options are the options of FuzzOperations.
type Options struct {
	Authorization string               // value of the header; "" sends none
	Requests      int                  // for each operation; 0 means 20
	Seed          uint64               // the same seed sends the same requests
	Skip          func(id string) bool // operations to leave out, such as the one that ends the session
	// Fixed are the only values that members of bodies get, by their names, such as a setting that would keep the
	// caller out.
	Fixed map[string]any
	// Known are IDs of existing records, by the names of parameters and members. They are sent in three of four
	// requests, so that not all requests end in a 404.
	Known map[string][]string
	// Seen, if set, is called with each operation and its answer, so that a test can check that no operation was
	// always refused.
	Seen func(id string, answer *httptest.ResponseRecorder)
	// Before, if set, changes each request first: it moves a clock, or puts a caller into the context.
	Before func(*http.Request) *http.Request
}

// FuzzOperations sends requests to every operation of document, an OpenAPI 3.1 text, and fails t for each answer that
// is a 5xx or is not described. It returns the number of answers with each status.
func FuzzOperations(tb testing.TB, h http.Handler, document []byte, o Options) map[int]int {
	tb.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		tb.Fatalf("load interface description: %v", err)
	}
	if o.Requests == 0 {
		o.Requests = 20
	}
	f := &fuzzer{tb, h, doc, o, maker{seed.Fixed(tb, o.Seed, 1), o.Known, o.Fixed}, map[int]int{}}
	paths := doc.Paths.InMatchingOrder()
	f.fuzzMethods(paths, func(method string) bool { return method != http.MethodDelete })
	slices.SortStableFunc(paths, func(a, b string) int { return strings.Count(b, "/") - strings.Count(a, "/") })
	// deletions come last, starting with the deepest paths
	f.fuzzMethods(paths, func(method string) bool { return method == http.MethodDelete })
	return f.seen
}

// fuzzMethods fuzzes the operations with matching methods.
func (f *fuzzer) fuzzMethods(paths []string, which func(method string) bool) {
	f.t.Helper()
	for _, path := range paths {
		item := f.doc.Paths.Value(path)
		for _, method := range slices.Sorted(sortedKeys(item.Operations())) {
			if which(method) {
				f.fuzzOperation(method, path, item.Operations()[method])
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

func (f *fuzzer) fuzzOperation(method, path string, op *openapi3.Operation) {
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
			return // one report for each operation is enough
		}
	}
}

// owner returns the operation that answers r: a random value may turn the path into another one.
func (f *fuzzer) owner(r *http.Request, meant *openapi3.Operation) *openapi3.Operation {
	got := strings.Split(r.URL.EscapedPath(), "/")
	for _, path := range f.doc.Paths.InMatchingOrder() {
		if matchesPattern(strings.Split(path, "/"), got) {
			if op := f.doc.Paths.Value(path).GetOperation(r.Method); op != nil {
				return op
			}
			return meant
		}
	}
	return meant
}

func matchesPattern(pattern, path []string) bool {
	return slices.EqualFunc(pattern, path, func(p, s string) bool {
		return p == s || strings.HasPrefix(p, "{") && s != ""
	})
}

// request returns a request to op, or nil if the random parts cannot be sent.
func (f *fuzzer) request(method, path string, op *openapi3.Operation) (*http.Request, string) {
	query, header := url.Values{}, http.Header{}
	bare := f.make.IntN(4) == 0 // with a dozen filters, hardly any request would succeed
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
			header.Set(p.Value.Name, strings.Map(replaceUnprintable, v))
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

func replaceUnprintable(r rune) rune {
	if r < ' ' || r > '~' {
		return '?'
	}
	return r
}

// always are statuses that any path may answer without describing them: a value in the path may refer to no record,
// make another path with other methods, or be too long.
var always = []int{
	http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusRequestURITooLong,
	http.StatusRequestEntityTooLarge,
}

// Described returns an error if op does not describe an answer with all its members.
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
			return checkShape(w)
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
	return checkFits(media.Schema.Value, w.Body.Bytes())
}

func checkFits(s *openapi3.Schema, body []byte) error {
	d := json.NewDecoder(bytes.NewReader(body))
	var v any
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("its body is no JSON: %w", err)
	}
	if err := s.VisitJSON(v, openapi3.MultiErrors()); err != nil && !isAnyNull(err) {
		return fmt.Errorf("its body does not fit the schema: %w", err)
	}
	return checkComplete("", s, v)
}

// isAnyNull reports whether all that err complains of is null where the schema has no type and allows any value.
func isAnyNull(err error) bool {
	if all, ok := err.(openapi3.MultiError); ok { //nolint:errorlint // a list of errors, not a chain
		return !slices.ContainsFunc(all, func(err error) bool { return !isAnyNull(err) })
	}
	e, ok := errors.AsType[*openapi3.SchemaError](err)
	return ok && e.Value == nil && e.Schema.Type == nil && e.Schema.AnyOf == nil
}

// checkComplete requires every described member in every object: one without a value is null, [] or {}.
func checkComplete(at string, s *openapi3.Schema, v any) error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, option := range s.AnyOf {
		errs = append(errs, checkComplete(at, option.Value, v))
	}
	switch v := v.(type) {
	case []any:
		for i := range v {
			if s.Items != nil {
				errs = append(errs, checkComplete(fmt.Sprintf("%s[%d]", at, i), s.Items.Value, v[i]))
			}
		}
	case map[string]any:
		for name, member := range s.Properties {
			if _, ok := v[name]; !ok {
				errs = append(errs, fmt.Errorf("%s.%s is left out", at, name))
				continue
			}
			errs = append(errs, checkComplete(at+"."+name, member.Value, v[name]))
		}
	}
	return errors.Join(errs...)
}

// checkShape requires one of the three error formats, or the proxy's page.
func checkShape(w *httptest.ResponseRecorder) error {
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
