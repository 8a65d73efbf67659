package auth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
)

const (
	ada      = "ada@example.com"
	password = "nine tall lanterns"
)

// house is the group behind a door, with the mails that it queued.
type house struct {
	t     testing.TB
	p     *platform.Platform
	clock *clock.Manual
	s     *service
	door  http.Handler
}

func newHouse(t *testing.T) *house {
	t.Helper()
	p, c := apitest.NewPlatform(t)
	h := &house{t: t, p: p, clock: c, s: newService(p)}
	h.door, _ = rest.Mount(p, operations(h.s))
	return h
}

// quickly replaces the costly hash of passwords, where a test is about how often, not about how.
func (h *house) quickly() *house {
	h.s.passwords.idKey = func(password, salt []byte, _, _ uint32, _ uint8, _ uint32) []byte {
		sum := sha256.Sum256(append(slices.Clone(salt), password...))
		return sum[:]
	}
	return h
}

// call makes a request; body is a struct, a map, or nil for none.
func (h *house) call(method, path string, body any) (int, []byte, http.Header) {
	return h.callAs(identity.Caller{}, method, path, body)
}

func (h *house) callAs(c identity.Caller, method, path string, body any) (int, []byte, http.Header) {
	h.t.Helper()
	var r io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			h.t.Fatal(err)
		}
		r = bytes.NewReader(b)
	}
	req := httptest.NewRequest(method, path, r)
	req.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.door.ServeHTTP(w, req.WithContext(identity.With(req.Context(), c)))
	return w.Code, w.Body.Bytes(), w.Header()
}

// want makes a request that must have the status, and reads what is in data.
func (h *house) want(status int, method, path string, body map[string]any) map[string]any {
	h.t.Helper()
	got, b, _ := h.call(method, path, body)
	if got != status {
		h.t.Fatalf("%s %s: status %d, want %d: %s", method, path, got, status, b)
	}
	var out struct {
		Data  map[string]any `json:"data"`
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(b, &out); err != nil {
		h.t.Fatalf("%s %s: %v in %s", method, path, err, b)
	}
	if status != http.StatusOK {
		return map[string]any{"message": out.Error.Message}
	}
	return out.Data
}

// mails are all that were queued, the oldest first.
func (h *house) mails() []mail.Mail {
	h.t.Helper()
	ctx := table.Within(context.Background(), table.OutboxSuffix)
	feed, err := h.p.Table.Feed(ctx, "", 1000)
	if err != nil {
		h.t.Fatal(err)
	}
	var out []mail.Mail
	for _, it := range feed.Items {
		m, _, err := mail.Take(ctx, h.p.Sealer, it)
		if err != nil {
			h.t.Fatal(err)
		}
		if m.Template != mail.Nothing {
			out = append(out, m)
		}
	}
	return out
}

// lastMail is the newest, which must be of the template.
func (h *house) lastMail(want mail.Template) mail.Mail {
	h.t.Helper()
	all := h.mails()
	if len(all) == 0 || all[len(all)-1].Template != want {
		h.t.Fatalf("newest of %d mails: want %s: %+v", len(all), want, all)
	}
	return all[len(all)-1]
}

func (h *house) code(t mail.Template) string { return h.lastMail(t).Data["code"] }

// register signs ada up and verifies the address.
func (h *house) register() {
	h.t.Helper()
	h.want(200, "POST", "/auth/signup", map[string]any{"email": ada, "password": password, "name": "Ada"})
	h.want(200, "PATCH", "/auth/otp/validate", map[string]any{"email": ada, "otp": h.code(mail.VerifyAddress)})
}

func (h *house) logIn() map[string]any {
	h.t.Helper()
	return h.want(200, "POST", "/auth/login", map[string]any{"email": ada, "password": password})
}

func (h *house) session(tokens map[string]any) identity.Session {
	h.t.Helper()
	ctx := table.Within(context.Background(), identity.SessionPrefix)
	claims, err := h.p.Tokens.Verify(ctx, tokens["accessToken"].(string))
	if err != nil {
		h.t.Fatal(err)
	}
	s, err := table.Read[identity.Session](ctx, h.p.Table, identity.SessionKey(claims.Session))
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

func (h *house) caller(tokens map[string]any) identity.Caller {
	s := h.session(tokens)
	return identity.Caller{User: s.User, Org: s.Org, Email: ada, Session: s.ID, Method: identity.MethodToken}
}

func TestFromSignUpToLogOut(t *testing.T) {
	h := newHouse(t)
	got := h.want(200, "POST", "/auth/signup", map[string]any{"email": " Ada@Example.COM ", "password": password, "name": " Ada "})
	user := got["user"].(map[string]any)
	if user["email"] != ada || user["name"] != "Ada" || user["emailVerified"] != false {
		t.Errorf("signed up as %v", user)
	}
	refused := h.want(403, "POST", "/auth/login", map[string]any{"email": ada, "password": password})
	if want := "verify"; !bytes.Contains([]byte(refused["message"].(string)), []byte(want)) {
		t.Errorf("before verification: %q does not say what to do", refused["message"])
	}
	h.want(401, "POST", "/auth/login", map[string]any{"email": ada, "password": password + "!"})
	h.want(200, "PATCH", "/auth/otp/validate", map[string]any{"email": ada, "otp": h.code(mail.VerifyAddress)})

	in := h.logIn()
	if in["tokenType"] != "Bearer" || in["expiresIn"] != 900.0 || in["user"].(map[string]any)["id"] != user["id"] {
		t.Errorf("logged in: %v", in)
	}
	if tenants, ok := in["tenants"].([]any); !ok || len(tenants) != 0 {
		t.Errorf("tenants of a new user: %v, want []", in["tenants"])
	}
	h.clock.Advance(time.Minute)
	next := h.want(200, "POST", "/auth/refresh", map[string]any{"refreshToken": in["refreshToken"]})
	status, b, _ := h.callAs(h.caller(next), "POST", "/auth/logout", nil)
	if status != 200 {
		t.Fatalf("log out: %d %s", status, b)
	}
	if s := h.session(next); s.State != identity.SessionOut {
		t.Errorf("state after log-out %q", s.State)
	}
	h.want(401, "POST", "/auth/refresh", map[string]any{"refreshToken": next["refreshToken"]})
}

func TestLogOutEndsTheSessionOfTheRefreshTokenToo(t *testing.T) {
	h := newHouse(t)
	h.register()
	first, second := h.logIn(), h.logIn()
	status, b, _ := h.callAs(h.caller(first), "POST", "/auth/logout", map[string]any{"refreshToken": second["refreshToken"]})
	if status != 200 {
		t.Fatalf("log out: %d %s", status, b)
	}
	for name, tokens := range map[string]map[string]any{"own": first, "other": second} {
		if s := h.session(tokens); s.State != identity.SessionOut {
			t.Errorf("%s session is %q", name, s.State)
		}
	}
	third := h.logIn()
	stranger := identity.Caller{User: "usr_stranger", Session: "none", Method: identity.MethodToken}
	h.callAs(stranger, "POST", "/auth/logout", map[string]any{"refreshToken": third["refreshToken"]})
	if s := h.session(third); s.State != identity.SessionLive {
		t.Errorf("a stranger ended the session: %q", s.State)
	}
}

func TestLogInSaysNothingAboutAccounts(t *testing.T) {
	h := newHouse(t)
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
	h.want(403, "POST", "/auth/login", map[string]any{"email": ada, "password": password, "tenantID": "org_01k8z3v5y0e6m9x2q4t7r1c8bd"})
}

func TestPasswordIsKnownInEverySpellingOfUnicode(t *testing.T) {
	h := newHouse(t)
	composed, decomposed := "Gr\u00fc\u00dfe aus K\u00f6ln 1900", "Gru\u0308\u00dfe aus Ko\u0308ln 1900"
	h.want(200, "POST", "/auth/signup", map[string]any{"email": ada, "password": composed})
	h.want(200, "PATCH", "/auth/otp/validate", map[string]any{"email": ada, "otp": h.code(mail.VerifyAddress)})
	h.want(200, "POST", "/auth/login", map[string]any{"email": ada, "password": decomposed})
}

// check 19: refused, and before anything is hashed.
func TestUnacceptablePasswords(t *testing.T) {
	h := newHouse(t)
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
			if status != http.StatusBadRequest && (name != "two megabytes" || status != http.StatusRequestEntityTooLarge) {
				t.Errorf("status %d: %s", status, b)
			}
		})
	}
	if n := len(h.mails()); n != 0 {
		t.Errorf("%d mails", n)
	}
}

func TestProvisionIsSafeToRepeat(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	first, err := Provision(ctx, h.p, ada, password, "Ada")
	if err != nil {
		t.Fatal(err)
	}
	again, err := Provision(ctx, h.p, ada, "another fine password", "Eve")
	if err != nil || again.ID != first.ID || again.Name != "Ada" {
		t.Fatalf("again: %+v, %v", again, err)
	}
	h.logIn()
}
