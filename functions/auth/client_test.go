package auth

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// browser is a client that keeps cookies, at a network address.
type browser struct {
	*fixture
	ip      string
	cookies map[string]*http.Cookie
}

func (h *fixture) browserAt(ip string) *browser { return &browser{h, ip, map[string]*http.Cookie{}} }

// send makes a request with the browser's cookies and keeps those of the answer.
func (b *browser) send(method, path, kind, body string) apitest.Answer {
	b.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	r.RemoteAddr = b.ip
	for _, c := range b.cookies {
		r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
	}
	a := b.Serve(identity.Caller{}, r)
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		b.cookies[c.Name] = c
	}
	return a
}

func (b *browser) post(method, path string, body map[string]any) apitest.Answer {
	b.Helper()
	return b.send(method, path, "application/json", apitest.JSON(body))
}

func (b *browser) enter(password string) int {
	b.Helper()
	return b.post("POST", "/auth/login", map[string]any{"email": ada, "password": password}).Status
}

// cookie returns the only cookie of the browser.
func (b *browser) cookie() *http.Cookie {
	b.Helper()
	for _, c := range b.cookies {
		if len(b.cookies) == 1 {
			return c
		}
	}
	b.Fatalf("%d cookies", len(b.cookies))
	return nil
}

// forgetClients makes every device and source a stranger to the account of ada.
func (h *fixture) forgetClients() {
	h.Helper()
	u := apitest.Value(h.s.accounts.Find(h.Context(), ada))(h)
	h.Write(table.Delete(knownClientsKey(u.ID)))
}

// mailedLink returns the path of the link in the newest mail that has one.
func (h *fixture) mailedLink() string {
	h.Helper()
	for _, m := range slices.Backward(h.Mails()) {
		if path, ok := strings.CutPrefix(m.Data["link"], h.Settings.BaseURL); ok && path != "" {
			return path
		}
	}
	h.Fatal("no mail has a link")
	return ""
}

func TestDeviceCookie(t *testing.T) {
	for name, c := range map[string]struct {
		base   string
		secure bool
		path   string
	}{
		"of a service behind https":         {"https://lamplighter.test", true, "/auth"},
		"of a service below a path":         {"https://lamplighter.test/v1", true, "/v1/auth"},
		"of a laptop":                       {"http://127.0.0.1:8080", false, "/auth"},
		"of a service without its own name": {"", true, "/auth"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t).quickly()
			h.register()
			h.Settings.BaseURL = c.base
			b := h.browserAt(home)
			if got := b.enter(password); got != 200 {
				t.Fatal(got)
			}
			got := b.cookie()
			if !got.HttpOnly || got.SameSite != http.SameSiteStrictMode || got.Secure != c.secure ||
				got.Path != c.path ||
				got.Domain != "" || got.MaxAge != int(deviceTTL.Seconds()) || len(got.Value) < len(deviceMark)+26 ||
				strings.Contains(got.Name, "ada") {
				t.Errorf("%+v", got)
			}
		})
	}
}

// exhaust makes the strangers' guesses at the password of ada cost a delay.
func (h *fixture) exhaust() {
	h.Helper()
	for i := range passwordGuesses[stranger].Free {
		if got := h.logInFrom(fmt.Sprintf("198.51.100.%d", i), ada, wrong); got != 401 {
			h.Fatal(got)
		}
	}
	if got := h.logInFrom("198.51.100.99", ada, wrong); got != 403 {
		h.Fatalf("the next stranger: %d", got)
	}
}

func TestKnownDevice(t *testing.T) {
	begin := func(t *testing.T) (*fixture, *browser) {
		t.Helper()
		h := newFixture(t).quickly()
		h.register()
		b := h.browserAt(home)
		if got := b.enter(password); got != 200 {
			t.Fatal(got)
		}
		b.ip = "203.0.113.5" // another source
		h.exhaust()
		return h, b
	}
	t.Run("its token changes with each log-in, and the one before works once more", func(t *testing.T) {
		_, b := begin(t)
		first := b.cookie()
		if got := b.enter(password); got != 200 || b.cookie().Value == first.Value {
			t.Fatalf("%d, %q after %q", got, b.cookie().Value, first.Value)
		}
		second := *b.cookie()
		b.cookies[first.Name] = first // the answer was lost
		if got := b.enter(password); got != 200 {
			t.Fatalf("with the token before: %d", got)
		}
		b.cookies[first.Name] = &second
		b.ip = "203.0.113.6"
		if got := b.enter(password); got != 403 {
			t.Errorf("with a token that was never confirmed: %d", got)
		}
	})
	t.Run("its wrong passwords delay it, and no other", func(t *testing.T) {
		h, b := begin(t)
		other := h.browserAt("203.0.113.5")
		for range 10 {
			if got := b.enter(wrong); got != 401 {
				t.Fatal(got)
			}
		}
		if got := b.enter(password); got != 403 {
			t.Errorf("after ten wrong ones: %d", got)
		}
		if got := other.enter(password); got != 403 {
			t.Errorf("a stranger: %d", got)
		}
		h.Clock.Advance(time.Minute)
		if got := b.enter(password); got != 200 {
			t.Errorf("a minute later: %d", got)
		}
	})
	t.Run("it is a stranger to other accounts", func(t *testing.T) {
		const eve = "eve@example.com"
		h, b := begin(t)
		apitest.Value(CreateVerifiedUser(t.Context(), h.Platform, eve, password, "Eve"))(t)
		for i := range 11 {
			h.logInFrom(fmt.Sprintf("198.51.100.%d", i), eve, wrong)
		}
		of := b.cookie()
		b.cookies = map[string]*http.Cookie{"x": {Name: h.s.deviceCookieName(eve), Value: of.Value}}
		got := b.post("POST", "/auth/login", map[string]any{"email": eve, "password": password})
		if got.Status != 403 {
			t.Errorf("with the token of ada under the name of eve: %d", got.Status)
		}
	})
	t.Run("it is forgotten after half a year without a log-in", func(t *testing.T) {
		h, b := begin(t)
		h.Clock.Advance(deviceTTL)
		h.exhaust()
		if got := b.enter(password); got != 403 {
			t.Errorf("%d", got)
		}
	})
	t.Run("log-out leaves it known", func(t *testing.T) {
		h, b := begin(t)
		tokens := apitest.Data[map[string]any](b.post("POST", "/auth/login",
			map[string]any{"email": ada, "password": password}))
		h.callAs(h.callerOf(tokens), "POST", "/auth/logout", nil)
		if got := b.enter(password); got != 200 {
			t.Errorf("%d", got)
		}
	})
	t.Run("a reset of the password makes all strangers, but who resets it", func(t *testing.T) {
		h, b := begin(t)
		thief := h.browserAt("203.0.113.6")
		maps.Copy(thief.cookies, b.cookies)
		owner := h.browserAt("203.0.113.7")
		owner.post("POST", "/auth/password/forget", map[string]any{"email": ada}).Want(200)
		owner.post("PATCH", "/auth/password/reset", map[string]any{
			"email": ada, "otp": h.mailedCode(mail.ResetPassword), "password": fresh,
		}).Want(200)
		if got := []int{thief.enter(fresh), owner.enter(fresh)}; got[0] != 403 || got[1] != 200 {
			t.Errorf("the thief of a cookie, the owner: %d", got)
		}
		owner.cookies = map[string]*http.Cookie{}
		if got := owner.enter(fresh); got != 200 {
			t.Errorf("the owner without cookies at the same place: %d", got)
		}
	})
	t.Run("others who fail at its place do not keep it out", func(t *testing.T) {
		h, b := begin(t)
		for i := range 150 {
			h.logInFrom(b.ip, fmt.Sprintf("nobody%d@example.com", i), wrong)
		}
		if got := h.logInFrom(b.ip, "someone@example.com", wrong); got != 403 {
			t.Fatalf("the place: %d", got)
		}
		if got := b.enter(password); got != 200 {
			t.Errorf("%d", got)
		}
	})
	t.Run("a sign-in at a provider makes a device known", func(t *testing.T) {
		in := newProviderFixture(t)
		b := in.browserAt(home)
		back := in.goOut("google", "alice")
		b.send("GET", "/auth/google/callback?"+back.Encode(), "", "").Want(200)
		b.cookie()
	})
	t.Run("a log-in with a passkey makes a device known", func(t *testing.T) {
		e, key, _ := newPasskeyOwner(t)
		b := e.browserAt(cafe)
		key.count++
		b.post("POST", "/auth/login/passkey/confirm", key.sign(e.options(""))).Want(200)
		b.cookie()
	})
	t.Run("the right password without the second factor makes no device known", func(t *testing.T) {
		e, _, added := newPasskeyOwner(t)
		b := e.browserAt(cafe)
		if got := b.enter(password); got != 403 || len(b.cookies) != 0 {
			t.Errorf("%d, cookies %v", got, b.cookies)
		}
		b.post("POST", "/auth/login",
			map[string]any{"email": ada, "password": password, "otp": added.RecoveryCodes[0]}).Want(200)
		b.cookie()
	})
}

// The cookie comes and goes in events of API Gateway, whose source is the client's.
func TestKnownDevice_ThroughTheGateway(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	fn := rest.Lambda(h.Platform, mountOperations(h.s))
	enter := func(ip, cookie string) events.APIGatewayProxyResponse {
		ev := events.APIGatewayProxyRequest{
			HTTPMethod: "POST", Path: "/auth/login",
			Body:              apitest.JSON(map[string]any{"email": ada, "password": password}),
			MultiValueHeaders: map[string][]string{"content-type": {"application/json"}, "cookie": {cookie}},
		}
		ev.RequestContext.Identity.SourceIP = ip
		return apitest.Value(fn(t.Context(), ev))(t)
	}
	set := enter(home, "theme=dark").MultiValueHeaders["Set-Cookie"]
	if len(set) != 1 {
		t.Fatalf("cookies %q", set)
	}
	cookie, _, _ := strings.Cut(set[0], ";")
	h.exhaust()
	got := []int{enter("203.0.113.5", "theme=dark").StatusCode, enter("203.0.113.5", "theme=dark; "+cookie).StatusCode}
	if got[0] != 403 || got[1] != 200 {
		t.Errorf("without and with the cookie: %d", got)
	}
}

// A program that keeps no cookies does not displace the browsers.
func TestKnownDevices_AreTwentyAndBrowsersStay(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	b := h.browserAt(home)
	for range 2 { // it has come back once
		if got := b.enter(password); got != 200 {
			t.Fatal(got)
		}
	}
	for i := range 100 {
		if got := h.logInFrom(fmt.Sprintf("203.0.113.%d", i), ada, password); got != 200 {
			t.Fatal(got)
		}
	}
	u := apitest.Value(h.s.accounts.Find(h.Context(), ada))(t)
	known := apitest.Read[knownClients](h.Fixture, knownClientsKey(u.ID))
	if len(known.Devices) != maxDevices || len(known.Sources) != maxSources {
		t.Errorf("%d devices, %d sources", len(known.Devices), len(known.Sources))
	}
	h.exhaust()
	b.ip = "203.0.113.250"
	if got := b.enter(password); got != 200 {
		t.Errorf("the browser after 100 log-ins of a program: %d", got)
	}
}

func TestKnownSource_IsForgottenAfterAMonth(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	h.exhaust()
	if got := h.logInFrom(home, ada, password); got != 200 {
		t.Fatalf("at first: %d", got)
	}
	h.Clock.Advance(sourceTTL)
	h.exhaust()
	if got := h.logInFrom(home, ada, password); got != 403 {
		t.Errorf("a month later: %d", got)
	}
}

// Neither the store nor the audit log has the token of a device, or the address of a source.
func TestDeviceTokensAreNotStored(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	b := h.browserAt(home)
	if got := b.enter(password); got != 200 {
		t.Fatal(got)
	}
	u := apitest.Value(h.s.accounts.Find(h.Context(), ada))(t)
	item := string(apitest.Value(h.Table.Get(h.Anywhere(), knownClientsKey(u.ID)))(t).Data)
	for _, secret := range []string{b.cookie().Value, deviceMark, home} {
		if strings.Contains(item, secret) {
			t.Errorf("%q is in %s", secret, item)
		}
	}
	apitest.LinkAudit(t, h.Platform, audit.SystemPlaces()...)
	for _, at := range audit.SystemPlaces() {
		for _, it := range apitest.Value(h.Table.Query(h.Anywhere(), table.Query{PK: at.PK, Limit: 1000}))(t).Items {
			if strings.Contains(string(it.Data), deviceMark) || strings.Contains(string(it.Data), deviceCookie) {
				t.Errorf("on record: %s", it.Data)
			}
		}
	}
	if !audit.SecretName("Cookie") || !audit.SecretName("Set-Cookie") {
		t.Error("cookies are not secrets")
	}
}
