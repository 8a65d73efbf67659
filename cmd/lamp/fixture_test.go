package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/client"
)

// watch is a clock whose Sleep moves it at once.
type watch struct {
	mu  sync.Mutex
	now time.Time
}

func (w *watch) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *watch) Sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
	return ctx.Err()
}

// desk is a user's desk: a service that answers as told, and the files and terminal of one user.
type desk struct {
	t        *testing.T
	url      string
	env      map[string]string
	clock    *watch
	terminal bool   // there is one
	typed    string // what the user types
	width    int

	mu       sync.Mutex
	answers  map[string]http.HandlerFunc // by method and path
	requests []string                    // method, path with query, body
}

// newDesk returns a desk of a user who is signed in.
func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{
		t: t, answers: map[string]http.HandlerFunc{}, env: map[string]string{"LAMPLIGHTER_CONFIG_DIR": t.TempDir()},
		clock: &watch{now: time.Date(2026, 11, 29, 10, 0, 33, 0, time.UTC)},
	}
	srv := httptest.NewServer(d)
	t.Cleanup(srv.Close)
	d.url = srv.URL
	a := d.app(nil, nil)
	f, err := a.credentialsFile()
	if err != nil {
		t.Fatal(err)
	}
	err = f.Change(t.Context(), "default", func(client.Credential) (client.Credential, error) {
		return client.Credential{
			Tokens: client.Tokens{Access: "the-access-token", Refresh: "the-refresh-token"}, Address: d.url,
		}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = a.writeConfig(config{Current: "default", Contexts: map[string]place{"default": {API: d.url, Name: "Acme"}}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// ServeHTTP answers as told, else with 404.
func (d *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	d.requests = append(d.requests, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Request-Id", "req-1")
	w.Header().Set("Date", d.clock.Now().Format(http.TimeFormat))
	if h := d.answers[r.Method+" "+r.URL.Path]; h != nil {
		h(w, r)
		return
	}
	w.WriteHeader(http.StatusNotFound)
	io.WriteString(w, `{"error":{"message":"no such thing"}}`)
}

// answer sets the data of the answers to a request.
func (d *desk) answer(request, data string) {
	d.answers[request] = func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"data":%s}`, data) }
}

// refuse sets the status of the answers to a request.
func (d *desk) refuse(request string, status int, message string) {
	d.answers[request] = func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": message}})
	}
}

func (d *desk) app(out, err io.Writer) *app {
	return &app{
		in: strings.NewReader(d.typed), out: out, err: err, env: func(k string) string { return d.env[k] },
		clock: d.clock, asks: d.terminal, width: d.width,
		readSecret: func(<-chan struct{}) (string, error) { return d.typed, nil },
	}
}

// result is the result of a command.
type result struct {
	code     int
	out, err string
}

// run runs a command line.
func (d *desk) run(args ...string) result { return d.runUntil(d.t.Context(), args...) }

func (d *desk) runUntil(ctx context.Context, args ...string) result {
	var out, err bytes.Buffer
	code := d.app(&out, &err).run(ctx, args)
	return result{code, out.String(), err.String()}
}

// want fails the test unless the result has the code and holds the texts in either output.
func (d *desk) want(r result, code int, texts ...string) {
	d.t.Helper()
	if r.code != code {
		d.t.Errorf("exit code %d, want %d\n%s%s", r.code, code, r.out, r.err)
	}
	for _, s := range texts {
		if !strings.Contains(r.out+r.err, s) {
			d.t.Errorf("%q is missing in\n%s%s", s, r.out, r.err)
		}
	}
	if all := r.out + r.err; strings.Contains(all, "the-access-token") || strings.Contains(all, "the-refresh-token") {
		d.t.Errorf("a token is shown:\n%s", all)
	}
}

// sent returns the requests that begin with the text.
func (d *desk) sent(prefix string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, r := range d.requests {
		if strings.HasPrefix(r, prefix) {
			out = append(out, r)
		}
	}
	return out
}
