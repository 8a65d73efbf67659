// Package oauthlogintest is the identity providers of tests: small servers that behave as Google and GitHub do at the
// endpoints that package oauthlogin calls. On request they sign any claims, or fail.
package oauthlogintest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"lamplighter.dev/shared/api/platform"
)

// The client id and secret of the service at every provider here.
const (
	ClientID = "lamplighter-test"
	Secret   = "a secret of the tests, 100% <&+> odd"
)

// server is the common part of both kinds of provider.
type server struct {
	URL string // the issuer

	mu     sync.Mutex
	calls  map[string]int // by path
	broken map[string]int // how many calls of a path fail from now on
	codes  map[string]grant
}

// grant is the login that a code stands for.
type grant struct {
	person    string
	asked     url.Values // as the browser was sent
	exchanged bool
}

func (s *server) start(tb testing.TB, h http.Handler) {
	tb.Helper()
	s.calls, s.broken, s.codes = map[string]int{}, map[string]int{}, map[string]grant{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.fails(r.URL.Path) {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		h.ServeHTTP(w, r)
	}))
	tb.Cleanup(srv.Close)
	s.URL = srv.URL
}

func (s *server) fails(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[path]++
	if s.broken[path] == 0 {
		return false
	}
	s.broken[path]--
	return true
}

// Calls returns how often a path was requested.
func (s *server) Calls(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[path]
}

// Break lets the next n calls of a path fail.
func (s *server) Break(path string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken[path] = n
}

// Client returns the service's client at the provider.
func (s *server) Client() platform.Client {
	return platform.Client{ID: ClientID, Secret: Secret, Issuer: s.URL}
}

// grant makes a code.
func (s *server) grant(person string, asked url.Values) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	code := rand.Text()
	s.codes[code] = grant{person: person, asked: asked}
	return code
}

// redeem checks a token call: the code must be new, with the verifier and the address of the login.
func (s *server) redeem(form url.Values) (grant, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, ok := s.codes[form.Get("code")]
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	ok = ok && !g.exchanged && form.Get("grant_type") == "authorization_code" &&
		form.Get("redirect_uri") == g.asked.Get("redirect_uri") &&
		base64.RawURLEncoding.EncodeToString(sum[:]) == g.asked.Get("code_challenge")
	g.exchanged = true
	s.codes[form.Get("code")] = g
	return g, ok
}

// Visit returns the query of a redirect after a visit by a person's browser. The person agrees to everything.
func (s *server) Visit(tb testing.TB, address, person string) url.Values {
	tb.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, nil)
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("X-Person", person)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // nothing is read
	to, err := resp.Location()
	if err != nil {
		tb.Fatalf("%s does not send the browser back: %d", address, resp.StatusCode)
	}
	return to.Query()
}

// sound reports whether the parameters of a login request are correct.
func sound(q url.Values) bool {
	return q.Get("client_id") == ClientID && q.Get("response_type") == "code" && q.Get("redirect_uri") != "" &&
		q.Get("state") != "" &&
		q.Get("code_challenge_method") == "S256" && q.Get("code_challenge") != ""
}

// sendBack redirects a browser with the code, the state and the parameters in more.
func (s *server) sendBack(w http.ResponseWriter, r *http.Request, more url.Values) {
	q := r.URL.Query()
	if !sound(q) {
		http.Error(w, "the request is not one of ours", http.StatusBadRequest)
		return
	}
	more.Set("code", s.grant(r.Header.Get("X-Person"), q))
	more.Set("state", q.Get("state"))
	back := q.Get("redirect_uri") + "?" + more.Encode()
	http.Redirect(w, r, back, http.StatusFound) //nolint:gosec // tests alone send browsers here
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(err)
	}
}
