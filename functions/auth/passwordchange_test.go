package auth

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

const newPassword = "ten short candles"

// changePassword asks for a change in the session of tokens.
func (h *fixture) changePassword(tokens map[string]any, current, next string) apitest.Answer {
	h.Helper()
	return h.Call(h.callerOf(tokens), "POST /auth/password/change",
		map[string]any{"currentPassword": current, "password": next})
}

func TestChangePassword_EndsAllOtherSessions(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	other, mine := h.logIn(), h.logIn()
	h.changePassword(mine, password, newPassword).Want(http.StatusOK)
	if m := h.lastMail(mail.PasswordChanged); m.To != ada {
		t.Errorf("the mail went to %s", m.To)
	}
	h.refreshTokens(401, other)
	mine = h.refreshTokens(200, mine)
	if all := h.listSessions(mine); len(all) != 1 || all[0]["current"] != true {
		t.Errorf("sessions %v", all)
	}
	h.want(401, "POST", "/auth/login", map[string]any{"email": ada, "password": password})
	h.want(200, "POST", "/auth/login", map[string]any{"email": ada, "password": newPassword})
}

// Programs keep working; a reset, which a person makes who may have lost the account, ends their tokens too.
func TestChangePassword_KeepsPersonalAccessTokens(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	in := h.logIn()
	h.changePassword(in, password, newPassword).Want(http.StatusOK)
	u := apitest.Read[identity.User](h.Fixture, identity.UserKey(h.sessionOf(in).User))
	token := identity.PAT{User: u.ID, Expires: h.Clock.Now().Add(time.Hour), Created: h.Clock.Now()}
	if !token.Live(u, h.Clock.Now(), time.Time{}) {
		t.Errorf("a token of epoch 0 has ended: the user's epoch is %d", u.Epoch)
	}
}

func TestChangePassword_IsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		current, next string
		change        func(*identity.Caller)
		status        int
		says          string
	}{
		"with a wrong current password": {"nine tall lampposts", newPassword, nil, 403, "POST /auth/password/forget"},
		"without the current password":  {"", newPassword, nil, 400, "currentPassword"},
		"with the same password":        {password, password, nil, 400, "current password"},
		"with a short password":         {password, "short", nil, 400, "12"},
		"with the own address":          {password, "Ada@Example.com", nil, 400, "too easy"},
		"in a session of single sign-on": {
			password, newPassword, func(c *identity.Caller) { c.SSO = true }, 403, "single sign-on",
		},
		"with a personal access token": {
			password, newPassword, func(c *identity.Caller) { c.Session = "" }, 403, "token",
		},
		"in a session that ended just now": {
			password, newPassword, func(c *identity.Caller) { c.Session = "gone" }, 409, "log in again",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t).quickly()
			h.register()
			in := h.logIn()
			caller := h.callerOf(in)
			if c.change != nil {
				c.change(&caller)
			}
			h.Call(caller, "POST /auth/password/change",
				map[string]any{"currentPassword": c.current, "password": c.next}).Want(c.status, c.says)
			h.refreshTokens(200, in)
			h.logIn()
		})
	}
}

func TestChangePassword_WithoutAPassword(t *testing.T) {
	in := newProviderFixture(t)
	tokens := in.signIn("google")
	c := in.callerOf(tokens)
	in.Call(c, "POST /auth/password/change", map[string]any{"currentPassword": password, "password": newPassword}).
		Want(http.StatusForbidden, "no password", "/auth/password/forget")
}

// A stolen access token is of no use for guessing the password.
func TestChangePassword_TenWrongPasswordsAQuarterOfAnHour(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	in := h.logIn()
	var tried atomic.Int64
	hash := h.s.passwords.idKey
	h.s.passwords.idKey = func(p, salt []byte, n, m uint32, l uint8, size uint32) []byte {
		tried.Add(1)
		return hash(p, salt, n, m, l, size)
	}
	runTogether(30, func(int) { h.changePassword(in, "nine tall lampposts", newPassword) })
	if tried.Load() != 10 {
		t.Errorf("%d passwords were compared", tried.Load())
	}
	h.changePassword(in, password, newPassword).Want(http.StatusForbidden, "a quarter of an hour")
	h.Clock.Advance(15 * time.Minute)
	h.changePassword(in, password, newPassword).Want(http.StatusOK)
	for i := range 12 { // a right password does not count
		is, next := newPassword, password
		if i%2 == 1 {
			is, next = next, is
		}
		h.changePassword(in, is, next).Want(http.StatusOK)
	}
}

func TestChangePassword_TwoAtOnceChangeItOnce(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	a, b := h.logIn(), h.logIn()
	var won atomic.Int64
	runTogether(2, func(i int) {
		if h.changePassword([]map[string]any{a, b}[i], password, newPassword).Status == http.StatusOK {
			won.Add(1)
		}
	})
	if won.Load() != 1 {
		t.Errorf("%d changes", won.Load())
	}
}

// A code or a ticket for a reset that was issued before the change lets nobody in after it.
func TestChangePassword_EndsCodesAndTicketsForAReset(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	in := h.logIn()
	h.want(200, "POST", "/auth/password/forget", map[string]any{"email": ada})
	ticket := h.want(200, "PATCH", "/auth/otp/validate", map[string]any{
		"email": ada, "otp": h.mailedCode(mail.ResetPassword), "purpose": "password_reset",
	})["resetToken"]
	h.Clock.Advance(2 * time.Minute)
	h.want(200, "POST", "/auth/password/forget", map[string]any{"email": ada})
	code := h.mailedCode(mail.ResetPassword)
	h.changePassword(in, password, newPassword).Want(http.StatusOK)
	h.want(401, "PATCH", "/auth/password/reset", map[string]any{"resetToken": ticket, "password": password})
	h.want(401, "PATCH", "/auth/password/reset", map[string]any{"email": ada, "otp": code, "password": password})
}

// A reset changes the epoch of sessions and tokens; a change before it must not make the reset's condition fail.
func TestChangePassword_ThenAReset(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	in := h.logIn()
	h.changePassword(in, password, newPassword).Want(http.StatusOK)
	h.want(200, "POST", "/auth/password/forget", map[string]any{"email": ada})
	h.want(200, "PATCH", "/auth/password/reset", map[string]any{
		"email": ada, "otp": h.mailedCode(mail.ResetPassword), "password": password,
	})
	h.refreshTokens(401, in)
	h.refreshTokens(200, h.logIn())
}

// The log of the organization says that the password was changed, and holds neither password.
func TestChangePassword_IsRecorded(t *testing.T) {
	const org = "org_01k8z3v5y0e6m9x2q4t7r1c8bd"
	h := newFixture(t).quickly()
	h.register()
	in := h.logIn()
	h.Change(identity.SessionKey(h.sessionOf(in).ID), table.Set("org", org))
	h.changePassword(in, password, newPassword).Want(http.StatusOK)
	row := h.LastAudited(org)
	h.Equal("row", []any{row.Action, row.Actor, row.Status}, []any{"changePassword", ada, 200})
	if text := apitest.JSON(row); containsAny(text, password, newPassword) {
		t.Errorf("the row tells a password: %s", text)
	}
}

func containsAny(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}
