package webhooks

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/testkit/apitest"
)

var (
	ada  = apitest.Caller(apitest.Org, "ada", "owner")
	vera = apitest.Caller(apitest.Org, "vera", "viewer")
	eve  = apitest.Caller(apitest.OtherOrg, "eve", "owner")
)

// fixture is an organization with a receiver whose answers a test sets, and which records its requests.
type fixture struct {
	*apitest.Fixture
	*listener
	store *receiver.WebhookStore
}

type listener struct {
	*httptest.Server
	mu     sync.Mutex
	answer http.HandlerFunc
	came   []request
}

// request is a received request.
type request struct {
	http.Header
	body string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Fixture: apitest.New(t, Operations), listener: &listener{}}
	f.Join(apitest.Org, "ada", "owner") // a receiver gets only events that its maker may read
	f.store = receiver.NewWebhookStore(f.Table, f.Sealer)
	f.Server = httptest.NewServer(f.listener)
	t.Cleanup(f.Close)
	return f
}

// ServeHTTP records the request and answers it.
func (v *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	v.mu.Lock()
	v.came = append(v.came, request{r.Header.Clone(), string(b)})
	answer := v.answer
	v.mu.Unlock()
	if answer != nil {
		answer(w, r)
	}
}

// answers sets the receiver's answer: a status, and headers in pairs.
func (v *listener) answers(status int, headers ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.answer = func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
	}
}

// last returns the last request.
func (v *listener) last() request {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.came[len(v.came)-1]
}

// hook creates a webhook that leads to the receiver.
func (f *fixture) hook(more map[string]any) IssuedWebhook {
	f.Helper()
	body := map[string]any{"name": "Ops", "url": f.URL + "/in/abcdefgh1234"}
	maps.Copy(body, more)
	return apitest.Data[IssuedWebhook](f.Call(ada, "POST /webhooks", body))
}

// verify reports whether the signature of a request is valid for a secret. It ignores the time, because the fixture
// has its own clock.
func verify(t *testing.T, secret string, r request) bool {
	t.Helper()
	w, err := standard.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return w.VerifyIgnoringTimestamp([]byte(r.body), r.Header) == nil
}
