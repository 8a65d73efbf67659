package auth

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/people/consolesession"
	"lamplighter.dev/shared/testkit/apitest"
)

// consoleBrowser is a browser with the console and cookies of its own, before a service that has providers.
type consoleBrowser struct {
	*providerFixture

	jar    map[string]*http.Cookie
	source string
}

func newBrowser(t *testing.T, base string) *consoleBrowser {
	t.Helper()
	in := newProviderFixture(t)
	in.Settings.BaseURL = base
	return &consoleBrowser{in, map[string]*http.Cookie{}, "127.0.0.1:5000"}
}

// another returns another browser of the same service, without cookies.
func (b *consoleBrowser) another() *consoleBrowser {
	return &consoleBrowser{b.providerFixture, map[string]*http.Cookie{}, "198.51.100.9:5000"}
}

// get makes a request with the cookies of the browser, and keeps those of the answer.
func (b *consoleBrowser) get(method, path string, headers map[string]string) apitest.Answer {
	b.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader("{}"))
	r.RemoteAddr = b.source
	r.Header.Set("Content-Type", "application/json")
	for name, v := range headers {
		r.Header.Set(name, v)
	}
	for _, c := range b.jar {
		r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
	}
	a := b.Serve(identity.Caller{}, r)
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if c.MaxAge < 0 {
			delete(b.jar, c.Name)
			continue
		}
		b.jar[c.Name] = c
	}
	return a
}

// ownPage is what the browser says about a request of a page of the console.
func ownPage() map[string]string {
	return map[string]string{consolesession.Header: "1", "Sec-Fetch-Site": "same-origin"}
}

// leave begins a sign-in in the console, and returns the query with which the provider sends the browser back.
func (b *consoleBrowser) leave(provider, person string) url.Values {
	b.Helper()
	begun := apitest.Data[Departure](b.get("GET", "/auth/"+provider+"/url?for=console", ownPage()))
	var back url.Values
	if provider == "google" {
		back = b.google.Visit(b.TB, begun.URL, person)
	} else {
		back = b.github.Visit(b.TB, begun.URL, person)
	}
	if back.Get("state") != begun.State {
		b.Fatalf("sent away with the state %v, back with %v", begun.State, back)
	}
	return back
}

// comeHome follows the redirect of the provider, which is a navigation from another site.
func (b *consoleBrowser) comeHome(provider string, back url.Values) apitest.Answer {
	b.Helper()
	return b.get("GET", "/auth/"+provider+"/callback?"+back.Encode(), map[string]string{
		"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Accept": "text/html",
	})
}

// signedIn returns the address of the user whose session the cookies of the browser hold, or "".
func (b *consoleBrowser) signedIn() string {
	b.Helper()
	in := apitest.Data[object](b.get("POST", "/auth/refresh", ownPage()))
	if in["user"] == nil {
		return ""
	}
	return in["user"].(object)["email"].(string)
}

// wantNoSession checks that the answer sends the browser to the sign-in of the console with a problem.
func (b *consoleBrowser) wantNoSession(a apitest.Answer, problem consolesession.Problem) {
	b.Helper()
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/prod/console/?signin="+string(problem) {
		b.Errorf("%s, to %q, want the problem %q", a, a.Header.Get("Location"), problem)
	}
	if who := b.signedIn(); who != "" {
		b.Errorf("%s is signed in", who)
	}
}

func TestConsole_SignsInAtAProviderWithoutShowingTokens(t *testing.T) {
	for _, provider := range []string{"google", "github"} {
		t.Run(provider, func(t *testing.T) {
			b := newBrowser(t, consoleBase)
			back := b.leave(provider, "alice")
			c := b.jar["__Host-lamplighter-state"]
			if c == nil || c.Path != "/" || c.Domain != "" || !c.Secure || !c.HttpOnly || c.MaxAge != 600 ||
				c.SameSite != http.SameSiteLaxMode || strings.Contains(back.Encode(), c.Value) {
				t.Fatalf("the state cookie is %s", c)
			}
			a := b.comeHome(provider, back)
			if a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/prod/console/" || a.Body != "" ||
				a.Header.Get("Referrer-Policy") != "no-referrer" || a.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("back: %s, %v", a, a.Header)
			}
			if c := b.jar["__Host-lamplighter"]; c == nil || !c.HttpOnly || !c.Secure ||
				c.SameSite != http.SameSiteStrictMode {
				t.Errorf("the cookie of the session is %s", c)
			}
			if b.jar["__Host-lamplighter-state"] != nil {
				t.Error("the state cookie is still there")
			}
			if who := b.signedIn(); who != "alice@example.com" {
				t.Errorf("signed in as %q", who)
			}
		})
	}
}

func TestConsole_ListsTheWaysToSignInThatAreConfigured(t *testing.T) {
	none := newFixture(t)
	none.Settings.BaseURL = ""
	for name, c := range map[string]struct {
		h    *fixture
		want string
	}{
		"both providers": {newProviderFixture(t).fixture, `["google","github"],"singleSignOn":true`},
		"none":           {none, `[],"singleSignOn":false`},
	} {
		t.Run(name, func(t *testing.T) {
			a := c.h.Call(identity.Caller{}, "GET /auth/providers")
			if a.Status != 200 || a.Body != `{"data":{"providers":`+c.want+`}}` {
				t.Errorf("%s, want %s", a, c.want)
			}
		})
	}
}

func TestConsole_OnLoopbackTheStateCookieHasThePortAndNeedsNoTLS(t *testing.T) {
	b := newBrowser(t, "http://127.0.0.1:9351")
	back := b.leave("google", "alice")
	if c := b.jar["lamplighter-state-9351"]; c == nil || c.Secure || !c.HttpOnly ||
		c.SameSite != http.SameSiteLaxMode {
		t.Fatalf("cookies %v", b.jar)
	}
	if a := b.comeHome("google", back); a.Header.Get("Location") != "/console/" {
		t.Errorf("back: %s to %q", a, a.Header.Get("Location"))
	}
	if b.signedIn() == "" {
		t.Error("nobody is signed in")
	}
}

// Sign-ins of strangers, and of attackers who have learned a state or an address.
func TestConsole_StartsNoSessionByAForeignSignIn(t *testing.T) {
	for name, c := range map[string]struct {
		attack func(b *consoleBrowser, back url.Values) *consoleBrowser // it returns the browser that comes back
		says   consolesession.Problem
	}{
		"a stolen address in another browser": {func(b *consoleBrowser, _ url.Values) *consoleBrowser {
			return b.another()
		}, "expired"},
		"an attacker's address at a victim who is signing in": {func(b *consoleBrowser, _ url.Values) *consoleBrowser {
			victim := b.another()
			victim.leave("google", "eve")
			return victim
		}, "expired"},
		"a cookie that is made up": {func(b *consoleBrowser, _ url.Values) *consoleBrowser {
			b.jar["__Host-lamplighter-state"].Value = "AAAAAAAAAAAAAAAAAAAAAAAAAA"
			return b
		}, "expired"},
		"the state as the cookie": {func(b *consoleBrowser, back url.Values) *consoleBrowser {
			b.jar["__Host-lamplighter-state"].Value = back.Get("state")
			return b
		}, "expired"},
		"a state that was used by a thief": {func(b *consoleBrowser, back url.Values) *consoleBrowser {
			b.another().comeHome("google", back)
			return b
		}, "expired"},
		"a state after ten minutes": {func(b *consoleBrowser, _ url.Values) *consoleBrowser {
			b.Clock.Advance(consolesession.StateTTL + 1)
			return b
		}, "expired"},
		"a state that is made up": {func(b *consoleBrowser, back url.Values) *consoleBrowser {
			back.Set("state", consoleState+strings.Repeat("A", 52))
			return b
		}, "expired"},
		"a code that is made up": {func(b *consoleBrowser, back url.Values) *consoleBrowser {
			back.Set("code", "made-up")
			return b
		}, "refused"},
		"a person who does not agree": {func(b *consoleBrowser, back url.Values) *consoleBrowser {
			back.Del("code")
			back.Set("error", "access_denied")
			return b
		}, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBrowser(t, consoleBase)
			back := b.leave("google", "alice")
			back2 := url.Values{"state": back["state"], "code": back["code"], "iss": back["iss"]}
			victim := c.attack(b, back2)
			if len(back["error"]) > 0 {
				back2.Set("error", back.Get("error"))
			}
			victim.wantNoSession(victim.comeHome("google", back2), c.says)
		})
	}
}

func TestConsole_AStateIsGoodOnce(t *testing.T) {
	b := newBrowser(t, consoleBase)
	back := b.leave("google", "alice")
	state := b.jar["__Host-lamplighter-state"]
	b.comeHome("google", back)
	delete(b.jar, "__Host-lamplighter")
	b.jar[state.Name] = state
	calls := b.google.Calls("/token")
	b.wantNoSession(b.comeHome("google", back), consolesession.Expired)
	if b.google.Calls("/token") != calls {
		t.Error("the code was sent again")
	}
}

// The address of an account that the provider does not run: the person is told, and the log has the refusal.
func TestConsole_TellsInWordsWhyTheServiceDoesNotAdmit(t *testing.T) {
	b := newBrowser(t, consoleBase)
	apitest.Value(CreateVerifiedUser(t.Context(), b.Platform, "alice@example.com", password, "Alice"))(t)
	b.wantNoSession(b.comeHome("github", b.leave("github", "alice")), consolesession.Denied)
}

// Only a page of the service's own origin begins a sign-in for the console.
func TestConsole_AForgedForConsoleBeginsNothing(t *testing.T) {
	for name, headers := range map[string]map[string]string{
		"a link of another page":  {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
		"a typed address":         {"Sec-Fetch-Site": "none"},
		"a page of another site":  {consolesession.Header: "1", "Sec-Fetch-Site": "cross-site"},
		"another host of ours":    {consolesession.Header: "1", "Sec-Fetch-Site": "same-site"},
		"a frame of our own page": {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "iframe"},
		"an old browser's page":   {consolesession.Header: "1", "Origin": "https://evil.example"},
		"no word about the page":  {consolesession.Header: "1"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBrowser(t, consoleBase)
			b.get("GET", "/auth/google/url?for=console", headers).Want(http.StatusForbidden)
			if len(b.jar) > 0 {
				t.Errorf("cookies %v", b.jar)
			}
		})
	}
	b := newBrowser(t, consoleBase)
	b.get("GET", "/auth/google/url?for=elsewhere", ownPage()).Want(http.StatusBadRequest, "for")
	// A client that began without for=console gets JSON, whatever a stranger adds to the address of the callback.
	back := b.goOut("google", "alice")
	back.Set("for", "console")
	a := b.comeHome("google", back)
	if got := apitest.Data[object](a); got["accessToken"] == "" || b.jar["__Host-lamplighter"] != nil {
		t.Errorf("%v, cookies %v", got, b.jar)
	}
}
