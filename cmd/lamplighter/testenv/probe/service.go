// Package probe sends requests to a running service that no client should send. It has callers in the same process
// that are never rate limited, an organization with one record of each kind, the operations of the interface
// description, and the log of the service.
package probe

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
)

// Service is a running service with its log, at level debug and above.
type Service struct {
	*testenv.Env
	Clock *testenv.Ahead
	Log   LogBuffer
}

// Start starts a service on a clock that callers set ahead. It keeps the log, at level debug and above.
func Start(t *testing.T) *Service {
	t.Helper()
	s := &Service{Clock: &testenv.Ahead{}}
	if now := s.Clock.Now().UTC(); now.Hour() >= 20 {
		s.Clock.Advance(5 * time.Hour) // repeated requests must be on the same day
	}
	log := slog.New(slog.NewJSONHandler(&s.Log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.Env = testenv.Start(t, testenv.Setup{Clock: s.Clock, Log: log})
	t.Cleanup(func() { s.tellErrors(t) })
	return s
}

// tellErrors shows the errors that the service has logged, if the test failed: its answers do not contain them.
func (s *Service) tellErrors(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(s.Log.String()) {
		if t.Failed() && strings.Contains(line, `"level":"ERROR"`) {
			t.Logf("the service logged: %.2000s", line)
		}
	}
}

// LogBuffer is a buffer that goroutines may write to at the same time.
type LogBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends p.
func (s *LogBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

// String returns the text so far.
func (s *LogBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// RebuildCosts runs the rebuild of costs that the changes of Settle have scheduled, and the attribution of closed
// months that the rebuild schedules, and returns when both have ended. Otherwise they would run minutes later, between
// two answers that a test compares.
func (s *Service) RebuildCosts(t testing.TB) {
	t.Helper()
	for range 2 {
		s.Clock.Advance(10 * time.Minute)
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.WaitSettled()
	}
}

// Caller sends requests in process, through gateway and authorizer, without a rate limit: an organization has 100
// requests a minute, so the caller sets the clock to the next minute in time and signs a new access token.
type Caller struct {
	*testenv.Client
	Service   *Service
	Claims    token.Claims
	asked     atomic.Int64
	mu        sync.Mutex // of the client's token, where several ask at once
	Program   string     // a personal access token of the caller's
	AsProgram bool       // ask with it instead of the session's token
}

// NewCaller returns a caller in process with the session of c.
func (s *Service) NewCaller(t *testing.T, c *testenv.Client) *Caller {
	t.Helper()
	claims, err := s.Platform.Tokens.Verify(t.Context(), c.Token)
	if err != nil {
		t.Fatal(err)
	}
	return &Caller{Client: c, Service: s, Claims: claims}
}

// pace sets the clock to the next minute if the limit of this one is reached.
func (c *Caller) pace() {
	if c.asked.Add(1)%60 == 0 {
		c.Service.Clock.Advance(time.Minute)
	}
}

// Credential returns the value of the Authorization header for the next request.
func (c *Caller) Credential(t testing.TB) string {
	t.Helper()
	c.pace()
	if c.AsProgram {
		return "Bearer " + c.Program
	}
	now := c.Service.Clock.Now()
	claims := c.Claims
	claims.ID, claims.Issued, claims.Expires = id.New("jti", now), now, now.Add(token.TTL)
	token, err := c.Service.Platform.Tokens.Sign(t.Context(), claims)
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Token = token
	return "Bearer " + token
}

// spare returns the caller in another session, for requests that end a session.
func (c *Caller) spare(t testing.TB) *Caller {
	t.Helper()
	at := identity.SessionKey(c.Claims.Session)
	ctx := table.Within(t.Context(), identity.SessionPrefix, identity.UserPrefix)
	session, err := table.Read[identity.Session](ctx, c.Service.Platform.Table, at)
	if err != nil {
		t.Fatal(err)
	}
	session.ID = id.New("spare", c.Service.Clock.Now())
	row, err := table.NewItem(identity.SessionKey(session.ID), session)
	if err != nil {
		t.Fatal(err)
	}
	listed, err := table.NewItem(identity.SessionListKey(session.User, session.ID),
		map[string]string{"session": session.ID})
	if err != nil {
		t.Fatal(err)
	}
	if err = c.Service.Platform.Table.Transact(ctx, table.Put(row), table.Put(listed)); err != nil {
		t.Fatal(err)
	}
	other := &Caller{Client: c.Client, Service: c.Service, Claims: c.Claims}
	other.Claims.Session = session.ID
	return other
}

// Ask sends one request. header alternates names and values; the target need not be well-formed. Every answer must
// have a header X-Request-Id, and a status below 500 other than 429.
func (c *Caller) Ask(t testing.TB, method, target, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/", io.NopCloser(strings.NewReader(body)))
	r.Method, r.RequestURI, r.ContentLength = method, target, int64(len(body))
	u, err := url.ParseRequestURI(target)
	if err != nil {
		t.Fatalf("%s: no server would read it: %v", target, err)
	}
	r.URL = u
	c.sign(t, r)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for pair := range slices.Chunk(header, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	w := httptest.NewRecorder()
	c.Service.ServeHTTP(w, r)
	if w.Code >= http.StatusInternalServerError || w.Code == http.StatusTooManyRequests ||
		w.Header().Get("X-Request-Id") == "" {
		t.Errorf("%s %.200s %.200s\n answered %d %v %.300s", method, target, body, w.Code, w.Header(), w.Body)
	}
	return w
}

// Signed returns a function that puts the caller's credential into each request of a fuzzer.
func (c *Caller) Signed(t *testing.T) func(*http.Request) *http.Request {
	t.Helper()
	return func(r *http.Request) *http.Request {
		c.sign(t, r)
		return r
	}
}

// sign puts the caller's credential into r. A log-out gets a session of its own, so that the caller's session does
// not end.
func (c *Caller) sign(t testing.TB, r *http.Request) {
	t.Helper()
	who := c
	if r.URL.Path == "/auth/logout" && !c.AsProgram {
		who = c.spare(t)
		c.pace()
	}
	r.Header.Set("Authorization", who.Credential(t))
}
