package auth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/functions/passkeyverifier"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/passkeys"
	"lamplighter.dev/shared/testkit/apitest"
)

const (
	ada      = "ada@example.com"
	password = "nine tall lanterns"
)

// fixture is the group and the service behind it.
type fixture struct {
	*apitest.Fixture
	s *service
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	return mountFixture(apitest.New(t))
}

// mountFixture puts the group in front of f's platform.
func mountFixture(f *apitest.Fixture) *fixture {
	f.Workers = lambdacall.Local{passkeys.Worker: passkeyverifier.Handler}
	s := newService(f.Platform)
	f.Mount(func(*platform.Platform) *rest.Group { return mountOperations(s) })
	return &fixture{f, s}
}

// quickly replaces the costly hash of passwords, where a test is about how often, not about how.
func (h *fixture) quickly() *fixture {
	h.s.passwords.idKey = func(password, salt []byte, _, _ uint32, _ uint8, _ uint32) []byte {
		sum := sha256.Sum256(append(slices.Clone(salt), password...))
		return sum[:]
	}
	return h
}

// call makes a request; body is a struct, a map, or nil for none.
func (h *fixture) call(method, path string, body any) (int, []byte, http.Header) {
	return h.callAs(identity.Caller{}, method, path, body)
}

func (h *fixture) callAs(c identity.Caller, method, path string, body any) (int, []byte, http.Header) {
	h.Helper()
	a := h.Call(c, method+" "+path, body)
	return a.Status, []byte(a.Body), a.Header
}

// want makes a request that must have the status, and returns the data, or the message of the error.
func (h *fixture) want(status int, method, path string, body map[string]any) map[string]any {
	h.Helper()
	a := h.Call(identity.Caller{}, method+" "+path, body)
	if status == http.StatusOK {
		return apitest.Data[map[string]any](a)
	}
	var out struct{ Error map[string]any }
	if err := json.Unmarshal([]byte(a.Body), &out); err != nil || a.Status != status {
		h.Fatalf("%s %s: status %d, want %d: %s", method, path, a.Status, status, a.Body)
	}
	return map[string]any{"message": out.Error["message"]}
}

// lastMail returns the newest, which must be of the template.
func (h *fixture) lastMail(want mail.Template) mail.Mail {
	h.Helper()
	all := h.Mails()
	if len(all) == 0 || all[len(all)-1].Template != want {
		h.Fatalf("newest of %d mails: want %s: %+v", len(all), want, all)
	}
	return all[len(all)-1]
}

func (h *fixture) mailedCode(t mail.Template) string { return h.lastMail(t).Data["code"] }

// register signs ada up and verifies the address.
func (h *fixture) register() {
	h.Helper()
	h.want(200, "POST", "/auth/signup", map[string]any{"email": ada, "password": password, "name": "Ada"})
	h.want(200, "PATCH", "/auth/otp/validate", map[string]any{"email": ada, "otp": h.mailedCode(mail.VerifyAddress)})
}

func (h *fixture) logIn() map[string]any {
	h.Helper()
	return h.want(200, "POST", "/auth/login", map[string]any{"email": ada, "password": password})
}

func (h *fixture) sessionOf(tokens map[string]any) identity.Session {
	h.Helper()
	ctx := table.Within(context.Background(), identity.SessionPrefix)
	claims := apitest.Value(h.Tokens.Verify(ctx, tokens["accessToken"].(string)))(h)
	return apitest.Read[identity.Session](h.Fixture, identity.SessionKey(claims.Session))
}

func (h *fixture) callerOf(tokens map[string]any) identity.Caller {
	s := h.sessionOf(tokens)
	return identity.Caller{User: s.User, Org: s.Org, Email: ada, Session: s.ID, Method: identity.MethodToken}
}

func TestFromSignUpToLogOut(t *testing.T) {
	h := newFixture(t)
	got := h.want(200, "POST", "/auth/signup",
		map[string]any{"email": " Ada@Example.COM ", "password": password, "name": " Ada "})
	user := got["user"].(map[string]any)
	if user["email"] != ada || user["name"] != "Ada" || user["emailVerified"] != false {
		t.Errorf("signed up as %v", user)
	}
	refused := h.want(403, "POST", "/auth/login", map[string]any{"email": ada, "password": password})
	if want := "verify"; !bytes.Contains([]byte(refused["message"].(string)), []byte(want)) {
		t.Errorf("before verification: %q does not say what to do", refused["message"])
	}
	h.want(401, "POST", "/auth/login", map[string]any{"email": ada, "password": password + "!"})
	h.want(200, "PATCH", "/auth/otp/validate", map[string]any{"email": ada, "otp": h.mailedCode(mail.VerifyAddress)})

	in := h.logIn()
	if in["tokenType"] != "Bearer" || in["expiresIn"] != 900.0 || in["user"].(map[string]any)["id"] != user["id"] {
		t.Errorf("logged in: %v", in)
	}
	if organisations, ok := in["tenants"].([]any); !ok || len(organisations) != 0 {
		t.Errorf("tenants of a new user: %v, want []", in["tenants"])
	}
	h.Clock.Advance(time.Minute)
	next := h.want(200, "POST", "/auth/refresh", map[string]any{"refreshToken": in["refreshToken"]})
	status, b, _ := h.callAs(h.callerOf(next), "POST", "/auth/logout", nil)
	if status != 200 {
		t.Fatalf("log out: %d %s", status, b)
	}
	if s := h.sessionOf(next); s.State != identity.SessionOut {
		t.Errorf("state after log-out %q", s.State)
	}
	h.want(401, "POST", "/auth/refresh", map[string]any{"refreshToken": next["refreshToken"]})
}

func TestLogOutEndsTheSessionOfTheRefreshTokenToo(t *testing.T) {
	h := newFixture(t)
	h.register()
	first, second := h.logIn(), h.logIn()
	status, b, _ := h.callAs(h.callerOf(first), "POST", "/auth/logout",
		map[string]any{"refreshToken": second["refreshToken"]})
	if status != 200 {
		t.Fatalf("log out: %d %s", status, b)
	}
	for name, tokens := range map[string]map[string]any{"own": first, "other": second} {
		if s := h.sessionOf(tokens); s.State != identity.SessionOut {
			t.Errorf("%s session is %q", name, s.State)
		}
	}
	third := h.logIn()
	stranger := identity.Caller{User: "usr_stranger", Session: "none", Method: identity.MethodToken}
	h.callAs(stranger, "POST", "/auth/logout", map[string]any{"refreshToken": third["refreshToken"]})
	if s := h.sessionOf(third); s.State != identity.SessionLive {
		t.Errorf("a stranger ended the session: %q", s.State)
	}
}

func TestLogInSaysNothingAboutAccounts(t *testing.T) {
	h := newFixture(t)
	h.register()
	unknown := h.want(401, "POST", "/auth/login", map[string]any{"email": "eve@example.com", "password": password})
	wrong := h.want(401, "POST", "/auth/login", map[string]any{"email": ada, "password": password + "x"})
	if unknown["message"] != wrong["message"] {
		t.Errorf("unknown: %q, wrong password: %q", unknown["message"], wrong["message"])
	}
	google := h.want(400, "POST", "/auth/login", map[string]any{"provider": "google", "token": "x"})
	if google["message"] == "" {
		t.Error("google: no message")
	}
	h.want(400, "POST", "/auth/login", map[string]any{"email": ada})
	h.want(400, "POST", "/auth/login", map[string]any{"email": ada, "password": password, "provider": "myspace"})
	h.want(403, "POST", "/auth/login",
		map[string]any{"email": ada, "password": password, "tenantID": "org_01k8z3v5y0e6m9x2q4t7r1c8bd"})
}

func TestPasswordIsKnownInEverySpellingOfUnicode(t *testing.T) {
	h := newFixture(t)
	composed, decomposed := "Gr\u00fc\u00dfe aus K\u00f6ln 1900", "Gru\u0308\u00dfe aus Ko\u0308ln 1900"
	h.want(200, "POST", "/auth/signup", map[string]any{"email": ada, "password": composed})
	h.want(200, "PATCH", "/auth/otp/validate", map[string]any{"email": ada, "otp": h.mailedCode(mail.VerifyAddress)})
	h.want(200, "POST", "/auth/login", map[string]any{"email": ada, "password": decomposed})
}

// check 19: refused, and before anything is hashed.
func TestUnacceptablePasswords(t *testing.T) {
	h := newFixture(t)
	h.s.passwords.idKey = func([]byte, []byte, uint32, uint32, uint8, uint32) []byte {
		t.Error("it was hashed")
		return nil
	}
	for name, bad := range map[string]string{
		"eleven characters":       "short words",
		"129 characters":          string(bytes.Repeat([]byte("abcde fgh"), 15))[:129],
		"two megabytes":           string(bytes.Repeat([]byte("abcde fgh"), 230_000)),
		"only blanks":             "             ",
		"a NUL in it":             "nine tall\x00 lanterns",
		"the address":             "Ada@example.com",
		"one letter":              "aaaaaaaaaaaaaaa",
		"a worn word with digits": "password123456",
		"a run of the keyboard":   "qwertyuiop1234",
	} {
		t.Run(name, func(t *testing.T) {
			status, b, _ := h.call("POST", "/auth/signup", map[string]any{"email": ada, "password": bad})
			if status != http.StatusBadRequest &&
				(name != "two megabytes" || status != http.StatusRequestEntityTooLarge) {
				t.Errorf("status %d: %s", status, b)
			}
		})
	}
	if n := len(h.Mails()); n != 0 {
		t.Errorf("%d mails", n)
	}
}

func TestProvisionIsSafeToRepeat(t *testing.T) {
	h := newFixture(t)
	ctx := context.Background()
	first := apitest.Value(CreateVerifiedUser(ctx, h.Platform, ada, password, "Ada"))(h)
	again, err := CreateVerifiedUser(ctx, h.Platform, ada, "another fine password", "Eve")
	if err != nil || again.ID != first.ID || again.Name != "Ada" {
		t.Fatalf("again: %+v, %v", again, err)
	}
	h.logIn()
}
