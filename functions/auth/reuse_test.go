package auth

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// sendWithKey sends a POST with an Idempotency-Key.
func (h *fixture) sendWithKey(key, path, body string) apitest.Answer {
	h.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", key)
	return h.Serve(identity.Caller{}, r)
}

// TestLogIn_IgnoresAnIdempotencyKey: a repeat is another log-in, with other tokens, and a wrong password gets nothing.
func TestLogIn_IgnoresAnIdempotencyKey(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	body := `{"email":"` + ada + `","password":"` + password + `"}`
	first := apitest.Data[map[string]any](h.sendWithKey("k", "/auth/login", body))
	second := apitest.Data[map[string]any](h.sendWithKey("k", "/auth/login", body))
	if first["refreshToken"] == second["refreshToken"] || h.sessionOf(first).ID == h.sessionOf(second).ID {
		t.Error("the repeat got the tokens of the first log-in")
	}
	h.sendWithKey("k", "/auth/login", strings.Replace(body, password, "nine tall lampposts", 1)).
		Want(http.StatusUnauthorized)
	h.refreshTokens(200, first)
	h.refreshTokens(200, second)
}

// reuse is the second use of a spent refresh token.
type reuse struct {
	after  time.Duration                                // of its first use
	before func(h *fixture, spent, next map[string]any) // what happens in between
	key    string                                       // Idempotency-Key of both uses
	ends   bool                                         // whether the session ends for reuse
}

// Every second use of a refresh token is 401. It ends the session, except within 10 seconds of the first use and while
// the next token is the newest.
func TestRefresh_ASpentTokenIsReuse(t *testing.T) {
	for name, c := range map[string]reuse{
		"at once":                         {0, nil, "", false},
		"after 10 seconds":                {10 * time.Second, nil, "", false},
		"after 11 seconds":                {11 * time.Second, nil, "", true},
		"after a day":                     {24 * time.Hour, nil, "", true},
		"at once, with the same key":      {0, nil, "k", false},
		"after 11 seconds, with that key": {11 * time.Second, nil, "k", true},
		"at once, when it is two uses old": {
			0, func(h *fixture, _, next map[string]any) { h.refreshTokens(200, next) }, "", true,
		},
		"after a week, when the session is idle": {7 * 24 * time.Hour, nil, "", true},
		"after a log-out": {11 * time.Second, func(h *fixture, _, next map[string]any) {
			h.Call(h.callerOf(next), "POST /auth/logout").Want(http.StatusOK)
		}, "", false},
		"after a change of the password in the session": {11 * time.Second, func(h *fixture, _, next map[string]any) {
			h.changePassword(next, password, newPassword).Want(http.StatusOK)
		}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t).quickly()
			h.register()
			spent := h.logIn()
			body := `{"refreshToken":"` + spent["refreshToken"].(string) + `"}`
			use := func() apitest.Answer {
				if c.key != "" {
					return h.sendWithKey(c.key, "/auth/refresh", body)
				}
				return h.Call(identity.Caller{}, "POST /auth/refresh", body)
			}
			next := apitest.Data[map[string]any](use())
			session := h.sessionOf(next).ID
			if c.before != nil {
				c.before(h, spent, next)
			}
			h.Clock.Advance(c.after)
			if answer := use().Want(http.StatusUnauthorized); strings.Contains(answer.Body, "lampr_") {
				t.Errorf("a spent token got tokens: %s", answer.Body)
			}
			state := apitest.Read[identity.Session](h.Fixture, identity.SessionKey(session)).State
			told := slices.ContainsFunc(h.Mails(), func(m mail.Mail) bool { return m.Template == mail.SessionReused })
			if ended := state == identity.SessionReused; ended != c.ends || told != c.ends {
				t.Errorf("state %q, mailed %v; want an end for reuse: %v", state, told, c.ends)
			}
		})
	}
}

// A tab that lost the race goes on with the tokens of the winner, however often both refresh.
func TestRefresh_RacingTabs(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	in := h.logIn()
	for range 5 {
		next := h.refreshTokens(200, in)
		h.Clock.Advance(3 * time.Second)
		h.refreshTokens(401, in)
		h.refreshTokens(401, in)
		in = next
		h.Clock.Advance(time.Minute)
	}
	h.refreshTokens(200, in)
}

// A session that waits for a second factor is none yet.
func TestSessions_ThatWaitForASecondFactorAreNotListed(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	waiting, mine := h.logIn(), h.logIn()
	id := h.sessionOf(waiting).ID
	h.Change(identity.SessionKey(id), table.Set("pending", true))
	if all := h.listSessions(mine); len(all) != 1 || all[0]["id"] == id {
		t.Errorf("sessions %v", all)
	}
}
