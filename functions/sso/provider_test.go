package sso

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"lamplighter.dev/shared/testkit/samltest"
)

// provider is the identity provider of a test. It goes by the clock of the test.
type provider struct{ *samltest.Provider }

func newProvider() provider { return provider{samltest.NewProvider()} }

// respond returns the provider's correct response to a request.
func (p provider) respond(h *fixture, r samltest.Request, email string) samltest.Response {
	return p.Respond(r, email, h.Platform.Clock.Now())
}

// answer signs ada in.
func (p provider) answer(h *fixture, u *url.URL) []byte {
	return p.respond(h, samltest.ReadRequest(h.TB, u), ada).Document(h.TB)
}

// refuses checks that a response gets the status, and that no session begins.
func (h *fixture) refuses(status int, doc []byte) answer {
	h.Helper()
	a := h.finishSignOn(doc)
	a.want(h.TB, status)
	if strings.Contains(a.Body, "accessToken") {
		h.Fatalf("let in: %s", a.Body)
	}
	return a
}

// check 25: each attack is sent in response to one open request. None gets in, none uses the request up, and nothing is
// fetched; then the genuine response gets in, once. The same attacks in other ways of signing
// are tried in functions/sso/saml.
func TestAttacksOnAnOpenRequest(t *testing.T) {
	for name, signAssertion := range map[string]bool{"signed as a whole": false, "signed twice": true} {
		t.Run(name, func(t *testing.T) {
			h, _, w := newConnected(t)
			s := w.respond(h, samltest.ReadRequest(t, h.beginSignOn(ada)), ada)
			s.SignAssertion, s.SignResponse = signAssertion, true
			attackRequest(t, h, s.Document(t))
		})
	}
}

func attackRequest(t *testing.T, h *fixture, good []byte) {
	t.Helper()
	var fetched atomic.Int64
	trap := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { fetched.Add(1) }))
	defer trap.Close()
	asked := len(h.dns.Asked())
	for _, a := range slices.Concat(samltest.Wrappings, samltest.Texts) {
		doc := a.Change(good, trap.URL)
		if doc == nil {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			h.TB = t
			if a.Malformed {
				h.refuses(http.StatusBadRequest, doc)
			} else if got := h.refuses(http.StatusUnauthorized, doc); !strings.Contains(got.Body,
				"POST /auth/saml/initiate") {
				t.Errorf("it does not say what to do: %s", got.Body)
			}
		})
	}
	h.TB = t
	if fetched.Load() > 0 || len(h.dns.Asked()) > asked {
		t.Errorf("%d fetched, asked DNS for %v", fetched.Load(), h.dns.Asked()[asked:])
	}
	a := h.finishSignOn(good)
	a.want(t, http.StatusOK)
	if got := a.Data["user"].(map[string]any)["email"]; got != ada {
		t.Errorf("signed in %v", got)
	}
	h.refuses(http.StatusUnauthorized, good) // check 25: replay
}

// A valid response has a subject that is not a mail address.
func TestAResponseAboutNoAddress(t *testing.T) {
	h, _, w := newConnected(t)
	s := w.respond(h, samltest.ReadRequest(t, h.beginSignOn(ada)), "ada at example.com")
	h.refuses(http.StatusUnauthorized, s.Document(t))
}

// check 28: the size of the input is limited before any of it is read.
func TestAResponseThatIsTooMuch(t *testing.T) {
	h := newFixture(t)
	h.refuses(http.StatusRequestEntityTooLarge, []byte(strings.Repeat("<a>", 250_000)))
	h.refuses(http.StatusBadRequest, []byte(strings.Repeat("<a>", 80_000)))
}
