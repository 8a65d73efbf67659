package auth

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/people/consolesession"
	"lamplighter.dev/shared/testkit/apitest"
)

// consolePage is a page of the console in a browser that sends requests to the service. It keeps the cookie of the
// console, as a browser does.
type consolePage struct {
	*fixture

	headers map[string]string
	cookie  *http.Cookie
	source  string // network address and port
}

// openConsole returns a page with the console of the service, whose address is base.
func openConsole(t *testing.T, base string) *consolePage {
	t.Helper()
	h := newFixture(t).quickly()
	h.register()
	h.Settings.BaseURL = base
	headers := map[string]string{consolesession.Header: "1", "Sec-Fetch-Site": "same-origin"}
	return &consolePage{h, headers, nil, "127.0.0.1:5000"}
}

// send makes a request with the headers, apart from those in without, and takes the cookie of the answer.
func (b *consolePage) send(c identity.Caller, path string, body object) apitest.Answer {
	b.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(apitest.JSON(body)))
	r.RemoteAddr = b.source
	r.Header.Set("Content-Type", "application/json")
	for name, v := range b.headers {
		r.Header.Set(name, v)
	}
	if b.cookie != nil {
		r.AddCookie(&http.Cookie{Name: b.cookie.Name, Value: b.cookie.Value})
	}
	a := b.Serve(c, r)
	for _, set := range (&http.Response{Header: a.Header}).Cookies() {
		if !strings.HasPrefix(set.Name, deviceCookie) {
			b.cookie = set
		}
	}
	return a
}

func (b *consolePage) logIn() object {
	b.Helper()
	return apitest.Data[object](b.send(identity.Caller{}, "/auth/login", object{"email": ada, "password": password}))
}

const consoleBase = "https://api.example.com/prod"

func TestConsole_TheRefreshTokenIsInACookieAndNotInTheBody(t *testing.T) {
	b := openConsole(t, consoleBase)
	in := b.logIn()
	c := b.cookie
	if in["refreshToken"] != "" || in["accessToken"] == "" || c == nil {
		t.Fatalf("logged in: %v, cookie %v", in, c)
	}
	if c.Name != "__Host-lamplighter" || c.Path != "/" || c.Domain != "" || !c.Secure || !c.HttpOnly ||
		c.SameSite != http.SameSiteStrictMode || c.MaxAge != 7*24*60*60 {
		t.Errorf("the cookie is %s", c)
	}
	first := c.Value
	next := apitest.Data[object](b.send(identity.Caller{}, "/auth/refresh", object{}))
	if next["refreshToken"] != "" || next["user"].(object)["email"] != ada || b.cookie.Value == first {
		t.Errorf("refreshed: %v, cookie %s", next, b.cookie)
	}
	b.send(b.callerOf(next), "/auth/logout", object{}).Want(http.StatusOK)
	if b.cookie.MaxAge >= 0 || b.cookie.Value != "" || b.cookie.Name != "__Host-lamplighter" || !b.cookie.Secure {
		t.Errorf("the cookie after log-out is %s", b.cookie)
	}
	if s := b.sessionOf(next); s.State != identity.SessionOut {
		t.Errorf("state after log-out %q", s.State)
	}
}

func TestConsole_OnLoopbackTheCookieHasThePortAndNeedsNoTLS(t *testing.T) {
	for name, c := range map[string]struct{ base, source, cookie string }{
		"an IPv4 address":                    {"http://127.0.0.1:9351", "127.0.0.1:5000", "lamplighter-9351"},
		"an IPv6 address":                    {"http://[::1]:9351", "[::1]:5000", "lamplighter-9351"},
		"a name":                             {"http://localhost:9351", "127.0.0.1:5000", "lamplighter-9351"},
		"a request from elsewhere":           {"http://127.0.0.1:9351", "198.51.100.7:5000", "__Host-lamplighter"},
		"TLS before the service":             {"https://127.0.0.1:9351", "127.0.0.1:5000", "__Host-lamplighter"},
		"an address that only looks like it": {"http://127.0.0.1.example.com", "127.0.0.1:5000", "__Host-lamplighter"},
	} {
		t.Run(name, func(t *testing.T) {
			b := openConsole(t, c.base)
			b.source = c.source
			b.logIn()
			if got := b.cookie; got.Name != c.cookie || got.Secure != strings.HasPrefix(c.cookie, "__Host-") ||
				!got.HttpOnly || got.SameSite != http.SameSiteStrictMode {
				t.Errorf("the cookie is %s, want %s", got, c.cookie)
			}
			b.send(identity.Caller{}, "/auth/refresh", object{}).Want(http.StatusOK)
		})
	}
}

func TestConsole_WithoutACookieNobodyIsSignedInAndThatIsNoError(t *testing.T) {
	b := openConsole(t, consoleBase)
	in := apitest.Data[object](b.send(identity.Caller{}, "/auth/refresh", object{}))
	if user, there := in["user"]; !there || user != nil || in["accessToken"] != "" || in["refreshToken"] != "" {
		t.Errorf("got %v", in)
	}
	tokens := b.fixture.logIn()
	body := object{"refreshToken": tokens["refreshToken"]}
	in = apitest.Data[object](b.send(identity.Caller{}, "/auth/refresh", body))
	if in["user"] != nil {
		t.Errorf("the console signs in by a token in the body: %v", in)
	}
	b.refreshTokens(200, tokens) // it was not spent
}

// Requests that another site can make a browser send, with the cookie or without.
func TestConsole_RefusesEveryOriginButItsOwn(t *testing.T) {
	const own, evil = "https://api.example.com", "https://evil.example"
	for name, c := range map[string]struct {
		headers map[string]string
		status  int
	}{
		"the console":                     {map[string]string{"Sec-Fetch-Site": "same-origin"}, 200},
		"another site":                    {map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		"another host of the site":        {map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
		"an address that a person typed":  {map[string]string{"Sec-Fetch-Site": "none"}, 403},
		"a browser of before 2023":        {map[string]string{"Origin": "https://api.example.com"}, 200},
		"the host that it asked":          {map[string]string{"Origin": "https://abc.execute-api.example"}, 200},
		"its foreign page":                {map[string]string{"Origin": "https://evil.example"}, 403},
		"its page without TLS":            {map[string]string{"Origin": "http://api.example.com"}, 403},
		"its page on another port":        {map[string]string{"Origin": "https://api.example.com:8443"}, 403},
		"its page without an origin":      {map[string]string{"Origin": "null"}, 403},
		"neither header":                  {nil, 403},
		"a foreign site with our Origin":  {map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": own}, 403},
		"our site with a foreign Origin":  {map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": evil}, 200},
		"a foreign suffix of our address": {map[string]string{"Origin": "https://api.example.com.evil.example"}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			b := openConsole(t, consoleBase)
			in := b.logIn()
			before := b.cookie.Value
			b.headers = map[string]string{consolesession.Header: "1", "Host": "abc.execute-api.example"}
			maps.Copy(b.headers, c.headers)
			b.send(identity.Caller{}, "/auth/login", object{"email": ada, "password": password}).Want(c.status)
			b.send(b.callerOf(in), "/auth/logout", object{}).Want(c.status)
			if c.status != http.StatusOK && b.cookie.Value != before {
				t.Errorf("the cookie changed to %s", b.cookie)
			}
			b.send(identity.Caller{}, "/auth/refresh", object{}).Want(c.status)
			if live := b.sessionOf(in).State == identity.SessionLive; live == (c.status == http.StatusOK) {
				t.Errorf("the session lives: %v", live)
			}
		})
	}
}

func TestConsole_WithoutItsHeaderACookieIsNotRead(t *testing.T) {
	b := openConsole(t, consoleBase)
	in := b.logIn()
	delete(b.headers, consolesession.Header)
	b.send(identity.Caller{}, "/auth/refresh", object{}).Want(http.StatusBadRequest, "refreshToken")
	before := b.cookie.Value
	out := b.logIn()
	if out["refreshToken"] == "" || b.cookie.Value != before {
		t.Errorf("without the header: %v, cookie %s", out, b.cookie)
	}
	b.send(identity.Caller{}, "/organisations", object{"name": "Forged"}).Want(http.StatusNotFound) // not of this group
	if s := b.sessionOf(in); s.State != identity.SessionLive {
		t.Errorf("state %q", s.State)
	}
}

// A page that is reloaded while it refreshes has spent its token, and may never see the answer.
func TestConsole_ASpentCookieWithinTenSecondsEndsNothing(t *testing.T) {
	b := openConsole(t, consoleBase)
	b.logIn()
	spent := b.cookie
	b.send(identity.Caller{}, "/auth/refresh", object{}).Want(http.StatusOK)
	newest := b.cookie
	b.Clock.Advance(2 * time.Second)
	b.cookie = spent
	b.send(identity.Caller{}, "/auth/refresh", object{}).Want(http.StatusUnauthorized)
	if b.cookie != spent {
		t.Errorf("a refusal set the cookie %s, which would replace the newest one", b.cookie)
	}
	b.cookie = newest
	b.send(identity.Caller{}, "/auth/refresh", object{}).Want(http.StatusOK)
}

// The console of one user moves its session only to organizations of that user.
func TestConsole_ACookieOpensNoOtherOrganization(t *testing.T) {
	b := openConsole(t, consoleBase)
	in := b.logIn()
	b.send(identity.Caller{}, "/auth/refresh", object{"tenantID": apitest.OtherOrg}).Want(http.StatusForbidden)
	if s := b.sessionOf(in); s.Org == apitest.OtherOrg {
		t.Errorf("the session moved to %s", s.Org)
	}
}
