package apitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
)

// Answer is the answer of an operation.
type Answer struct {
	Status int
	Body   string
	Header http.Header
	Usage  table.Usage // the use of the store by the request

	request string
	tb      testing.TB
}

// Call makes a request as c: "GET /teams?limit=2", "POST /teams {…}". The body may also be a separate argument: a
// text, or a value that is encoded as JSON. Many goroutines may call at once.
func (f *Fixture) Call(c identity.Caller, request string, body ...any) Answer {
	f.Helper()
	method, target, _ := strings.Cut(request, " ")
	path, text, _ := strings.Cut(target, " ")
	for _, b := range body {
		if s, ok := b.(string); ok {
			text = s
		} else if b != nil {
			text = JSON(b)
		}
	}
	r := httptest.NewRequestWithContext(f.Context(), method, path, strings.NewReader(text))
	if text != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return f.Serve(c, r)
}

// Serve makes a request that Call has no words for.
func (f *Fixture) Serve(c identity.Caller, r *http.Request) Answer {
	ctx, meter := table.WithMeter(identity.WithCaller(r.Context(), c))
	w := httptest.NewRecorder()
	f.Handler.ServeHTTP(w, r.WithContext(ctx))
	return Answer{w.Code, w.Body.String(), w.Header(), meter.Usage(), r.Method + " " + r.URL.Path, f.TB}
}

// String returns the status and the body.
func (a Answer) String() string { return fmt.Sprint(a.Status, " ", a.Body) }

// Want reports an answer of another status, or without one of the words.
func (a Answer) Want(status int, words ...string) Answer {
	a.tb.Helper()
	if a.Status != status {
		a.tb.Errorf("%s: got %d %.900s, want %d", a.request, a.Status, a.Body, status)
	}
	for _, w := range words {
		if !strings.Contains(a.Body, w) {
			a.tb.Errorf("%s: %.900s does not say %q", a.request, a.Body, w)
		}
	}
	return a
}

// AtMost reports an answer that took more round trips to the store.
func (a Answer) AtMost(trips int) Answer {
	a.tb.Helper()
	if a.Usage.RoundTrips > trips {
		a.tb.Errorf("%s: %d round trips, want %d at most", a.request, a.Usage.RoundTrips, trips)
	}
	return a
}

// Data decodes the field data of an answer, whose status must be 200 or the given one.
func Data[T any](a Answer, status ...int) T {
	a.tb.Helper()
	want := append(status, http.StatusOK)[0]
	var out struct{ Data T }
	if err := json.Unmarshal([]byte(a.Body), &out); err != nil || a.Status != want {
		a.tb.Fatalf("%s: %d %.900s: %v; want %d", a.request, a.Status, a.Body, err, want)
	}
	return out.Data
}
