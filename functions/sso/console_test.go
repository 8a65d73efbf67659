package sso

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/people/consolesession"
	"lamplighter.dev/shared/testkit/samltest"
)

const (
	stateCookie   = "__Host-lamplighter-state"
	sessionCookie = "__Host-lamplighter"
)

// browser is a browser with cookies of its own, before an organization that signs in by a provider.
type browser struct {
	*fixture

	org *organization
	w   provider
	jar map[string]*http.Cookie
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	h, o, w := newConnected(t)
	return &browser{h, o, w, map[string]*http.Cookie{}}
}

// another returns another browser, without cookies.
func (b *browser) another() *browser {
	return &browser{b.fixture, b.org, b.w, map[string]*http.Cookie{}}
}

// page is what a browser says about a request of a page: of the console, of a form of our own or of another site.
func page(kind string) map[string]string {
	switch kind {
	case "console":
		return map[string]string{"Sec-Fetch-Site": "same-origin", consolesession.Header: "1"}
	case "own form":
		return map[string]string{"Sec-Fetch-Site": "same-origin", "Content-Type": formKind}
	}
	return map[string]string{"Sec-Fetch-Site": "cross-site", "Content-Type": formKind}
}

// post sends a form or JSON. A form of another site has only the cookies with SameSite=None.
func (b *browser) post(path, body string, headers map[string]string) answer {
	b.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for name, v := range headers {
		r.Header.Set(name, v)
	}
	for _, c := range b.jar {
		if headers["Sec-Fetch-Site"] == "same-origin" || c.SameSite == http.SameSiteNoneMode {
			r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
		}
	}
	a := b.Serve(identity.Caller{}, r)
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		b.jar[c.Name] = c
		if c.MaxAge < 0 {
			delete(b.jar, c.Name)
		}
	}
	return decoded(a)
}

// leave begins single sign-on in the console, and returns the provider's response about a person.
func (b *browser) leave(email string) []byte {
	b.Helper()
	a := b.post("/auth/saml/initiate", `{"email":"`+email+`","for":"console"}`, page("console"))
	a.want(b.TB, http.StatusOK)
	u, err := url.Parse(a.Data["redirectURL"].(string))
	b.Must(err)
	return b.w.respond(b.fixture, samltest.ReadRequest(b.TB, u), email).Document(b.TB)
}

// comeHome sends a response as the page of the provider does.
func (b *browser) comeHome(doc []byte) answer {
	b.Helper()
	form := url.Values{"SAMLResponse": {base64.StdEncoding.EncodeToString(doc)}}
	return b.post(acsPath, form.Encode(), page("provider"))
}

// pressButton sends the form of the page "Continue as …?".
func (b *browser) pressButton() answer {
	b.Helper()
	return b.post(continuePath, "", page("own form"))
}

func (b *browser) wantEntered(a answer) {
	b.Helper()
	c := b.jar[sessionCookie]
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/console/" || a.Body != "" || c == nil {
		b.Fatalf("%s, to %q, cookie %s", a, a.Header.Get("Location"), c)
	}
	if !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || b.jar[stateCookie] != nil {
		b.Errorf("cookies %v", b.jar)
	}
}

func (b *browser) wantNoSession(a answer, problem consolesession.Problem) {
	b.Helper()
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/console/?signin="+string(problem) {
		b.Errorf("%s, to %q, want the problem %q", a, a.Header.Get("Location"), problem)
	}
	if b.jar[sessionCookie] != nil {
		b.Errorf("a session: %v", b.jar)
	}
}

func TestConsole_SingleSignOnSetsTheCookieAndShowsNoToken(t *testing.T) {
	b := newBrowser(t)
	doc := b.leave(ada)
	c := b.jar[stateCookie]
	if c == nil || c.SameSite != http.SameSiteNoneMode || !c.Secure || !c.HttpOnly || c.MaxAge != 600 || c.Path != "/" {
		t.Fatalf("the state cookie is %s", c)
	}
	b.wantEntered(b.comeHome(doc))
	row := b.LastAudited(b.org.org)
	if row.Action != "completeSAML" || row.Actor != ada || row.Status != http.StatusSeeOther {
		t.Errorf("audited %+v", row)
	}
	delete(b.jar, sessionCookie)
	b.jar[stateCookie] = c
	b.wantNoSession(b.comeHome(doc), consolesession.Expired) // used
}

func TestConsole_RedirectsBelowTheStageOfAnAPI(t *testing.T) {
	b := newBrowser(t)
	b.Settings.BaseURL += "/prod"
	if a := b.comeHome(b.leave(ada)); a.Header.Get("Location") != "/prod/console/" {
		t.Errorf("%s to %q", a, a.Header.Get("Location"))
	}
}

// Some browsers send no cookie with a form of another site. They get a page, and the session begins with its button.
func TestConsole_WithoutTheStateCookieAPersonContinuesOnAPage(t *testing.T) {
	b := newBrowser(t)
	doc := b.leave(ada)
	c := b.jar[stateCookie]
	delete(b.jar, stateCookie)
	a := b.comeHome(doc)
	a.want(t, http.StatusOK)
	if !strings.Contains(a.Body, "Continue as "+ada+"?") || !strings.Contains(a.Body, `action="continue"`) ||
		strings.Contains(a.Body, "<script") || strings.Contains(a.Body, c.Value) {
		t.Errorf("page %s", a.Body)
	}
	policy := a.Header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "form-action 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy has no %s: %s", part, policy)
		}
	}
	if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") || len(b.jar) > 0 ||
		a.Header.Get("Referrer-Policy") != "same-origin" { // with no-referrer the button's Origin would be null
		t.Errorf("headers %v", a.Header)
	}
	b.jar[stateCookie] = c // our own page's form has it
	b.wantEntered(b.pressButton())
	if row := b.LastAudited(b.org.org); row.Action != "continueSAML" || row.Actor != ada {
		t.Errorf("audited %+v", row)
	}
}

func TestConsole_NothingButItsOwnPageContinues(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b *browser) *browser
		kind   string
		status int
	}{
		"a form of another site": {nil, "provider", http.StatusForbidden},
		"a second time": {func(b *browser) *browser {
			b.pressButton()
			return b.forgotten()
		}, "own form", http.StatusSeeOther},
		"another browser": {func(b *browser) *browser { return b.another() }, "own form", http.StatusSeeOther},
		"a browser that signs in": {func(b *browser) *browser {
			o := b.another()
			o.leave(ada)
			return o
		}, "own form", http.StatusSeeOther},
		"after five minutes": {func(b *browser) *browser {
			b.Clock.Advance(continueTTL + 1)
			return b
		}, "own form", http.StatusSeeOther},
		"no word about the page": {nil, "", http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBrowser(t)
			doc := b.leave(ada)
			state := *b.jar[stateCookie]
			delete(b.jar, stateCookie)
			b.comeHome(doc).want(t, http.StatusOK)
			b.jar[stateCookie] = &state
			if c.change != nil {
				b = c.change(b)
			}
			if name == "a second time" {
				b.jar[stateCookie] = &state
			}
			headers := page(c.kind)
			if c.kind == "" {
				headers = map[string]string{"Content-Type": formKind}
			}
			a := b.post(continuePath, "", headers)
			if a.Status != c.status {
				t.Errorf("%s, want %d", a, c.status)
			}
			if c.status == http.StatusSeeOther {
				b.wantNoSession(a, consolesession.Expired)
			}
			if b.jar[sessionCookie] != nil {
				t.Errorf("a session: %v", b.jar)
			}
		})
	}
}

// forgotten returns the browser without the cookie of its session.
func (b *browser) forgotten() *browser {
	if b.jar[sessionCookie] == nil {
		b.Error("the button began no session")
	}
	delete(b.jar, sessionCookie)
	return b
}

// Responses of strangers, and of attackers in the browser of a victim.
func TestConsole_AForeignResponseBeginsNoSession(t *testing.T) {
	t.Run("an attacker's response while the victim signs in", func(t *testing.T) {
		b := newBrowser(t)
		doc := b.leave(ada)
		victim := b.another()
		victim.leave("victim@example.com")
		victim.wantNoSession(victim.comeHome(doc), consolesession.Expired)
	})
	t.Run("an attacker's response in a browser that began nothing", func(t *testing.T) {
		b := newBrowser(t)
		doc := b.leave(ada)
		victim := b.another()
		victim.comeHome(doc).want(t, http.StatusOK)
		victim.wantNoSession(victim.pressButton(), consolesession.Expired)
	})
	t.Run("a response after ten minutes", func(t *testing.T) {
		b := newBrowser(t)
		doc := b.leave(ada)
		b.Clock.Advance(requestTTL + 1)
		b.wantNoSession(b.comeHome(doc), consolesession.Expired)
	})
	t.Run("a response that is not accepted", func(t *testing.T) {
		b := newBrowser(t)
		doc := strings.Replace(string(b.leave(ada)), "ada@example.com", "eva@example.com", 1)
		b.wantNoSession(b.comeHome([]byte(doc)), consolesession.Refused)
	})
	t.Run("a person of a domain that is not proven", func(t *testing.T) {
		b := newBrowser(t)
		a := b.post("/auth/saml/initiate", `{"domain":"example.com","for":"console"}`, page("console"))
		u, err := url.Parse(a.Data["redirectURL"].(string))
		b.Must(err)
		r := samltest.ReadRequest(t, u)
		b.wantNoSession(b.comeHome(b.w.respond(b.fixture, r, "x@other.test").Document(t)), consolesession.Denied)
	})
	t.Run("an organization that ended its single sign-on before the button", func(t *testing.T) {
		b := newBrowser(t)
		doc := b.leave(ada)
		state := b.jar[stateCookie]
		delete(b.jar, stateCookie)
		b.comeHome(doc).want(t, http.StatusOK)
		b.jar[stateCookie] = state
		b.org.askAs(grant.Owner, http.MethodDelete, nil).want(t, http.StatusOK)
		b.wantNoSession(b.pressButton(), consolesession.Refused)
	})
}

// Only a page of the service's own origin begins single sign-on for the console.
func TestConsole_AForgedForConsoleBeginsNoSingleSignOn(t *testing.T) {
	for name, headers := range map[string]map[string]string{
		"a page of another site": {consolesession.Header: "1", "Sec-Fetch-Site": "cross-site"},
		"a program":              {},
		"a page without header":  {"Sec-Fetch-Site": "same-origin"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBrowser(t)
			b.post("/auth/saml/initiate", `{"email":"`+ada+`","for":"console"}`, headers).want(t, http.StatusForbidden)
			if len(b.jar) > 0 {
				t.Errorf("cookies %v", b.jar)
			}
		})
	}
	b := newBrowser(t)
	a := b.comeHome(b.w.answer(b.fixture, b.beginSignOn(ada))) // a client that began without for gets JSON
	a.want(t, http.StatusOK)
	if a.Data["refreshToken"] == "" || b.jar[sessionCookie] != nil {
		t.Errorf("%v, cookies %v", a.Data, b.jar)
	}
}
