package auth

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/sessions"
	"lamplighter.dev/shared/testkit/apitest"
)

// logInWith logs ada in from an address, with a User-Agent.
func (h *fixture) logInWith(ip, agent string) map[string]any {
	h.Helper()
	return h.sendFrom(ip, agent, "/auth/login", `{"email":"`+ada+`","password":"`+password+`"}`)
}

func (h *fixture) sendFrom(ip, agent, path, body string) map[string]any {
	h.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", agent)
	r.RemoteAddr = ip
	return apitest.Data[map[string]any](h.Serve(identity.Caller{}, r))
}

// listSessions returns the sessions that the holder of tokens sees.
func (h *fixture) listSessions(tokens map[string]any) []map[string]any {
	h.Helper()
	var out []map[string]any
	page := apitest.Data[map[string]any](h.Call(h.callerOf(tokens), "GET /auth/sessions"))
	for _, item := range page["items"].([]any) {
		out = append(out, item.(map[string]any))
	}
	return out
}

func TestSessions_AreListedWithTheirLastUse(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	began := h.Clock.Now()
	old := h.logInWith("192.0.2.1:99", "Firefox")
	h.Clock.Advance(5 * time.Minute)
	now := h.logInWith("192.0.2.2:99", "curl/8")
	h.Clock.Advance(5 * time.Minute)
	refreshed := h.sendFrom("192.0.2.3:99", "Chrome "+strings.Repeat("x", 300), "/auth/refresh",
		`{"refreshToken":"`+old["refreshToken"].(string)+`"}`)

	all := h.listSessions(now)
	if len(all) != 2 {
		t.Fatalf("%d sessions: %v", len(all), all)
	}
	first, second := all[0], all[1]
	h.Equal("the refreshed session", []any{
		first["id"], first["sourceIP"], first["method"], first["current"], first["createdAt"],
		first["lastSeenAt"],
	}, []any{
		h.sessionOf(refreshed).ID, "192.0.2.3", "email", false, began.UTC().Format(time.RFC3339Nano),
		h.Clock.Now().UTC().Truncate(time.Second).Format(time.RFC3339),
	})
	if agent := first["userAgent"].(string); !strings.HasPrefix(agent, "Chrome x") || len(agent) > 210 {
		t.Errorf("User-Agent %q", agent)
	}
	h.Equal("the session of the request", []any{second["id"], second["userAgent"], second["current"]},
		[]any{h.sessionOf(now).ID, "curl/8", true})
}

func TestSessions_ThatHaveEndedAreNotListed(t *testing.T) {
	for name, end := range map[string]func(h *fixture, tokens map[string]any){
		"by a log-out": func(h *fixture, tokens map[string]any) {
			h.Call(h.callerOf(tokens), "POST /auth/logout").Want(http.StatusOK)
		},
		"by a refresh token that was used twice": func(h *fixture, tokens map[string]any) {
			h.refreshTokens(200, tokens)
			h.Clock.Advance(11 * time.Second)
			h.refreshTokens(401, tokens)
		},
		"after a week without a refresh": func(h *fixture, _ map[string]any) {
			h.Clock.Advance(7 * 24 * time.Hour)
		},
		"by a reset of the password": func(h *fixture, _ map[string]any) {
			h.want(200, "POST", "/auth/password/forget", map[string]any{"email": ada})
			h.want(200, "PATCH", "/auth/password/reset", map[string]any{
				"email": ada, "otp": h.mailedCode(mail.ResetPassword), "password": password,
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t).quickly()
			h.register()
			end(h, h.logIn())
			now := h.logIn()
			if all := h.listSessions(now); len(all) != 1 || all[0]["id"] != h.sessionOf(now).ID {
				t.Errorf("sessions %v", all)
			}
		})
	}
}

func TestSessions_OneIsEnded(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	lost, mine := h.logIn(), h.logIn()
	end := func(c identity.Caller, session string) apitest.Answer {
		return h.Call(c, "DELETE /auth/sessions/"+session)
	}
	id := h.sessionOf(lost).ID
	end(h.callerOf(mine), id).Want(http.StatusOK, id)
	h.refreshTokens(401, lost)
	h.refreshTokens(200, mine)
	end(h.callerOf(mine), id).Want(http.StatusNotFound)
	if all := h.listSessions(mine); len(all) != 1 {
		t.Errorf("%d sessions are left", len(all))
	}
	t.Run("the own one is ended too", func(t *testing.T) {
		in := h.logIn()
		end(h.callerOf(in), h.sessionOf(in).ID).Want(http.StatusOK)
		h.refreshTokens(401, in)
	})
}

func TestSessions_OfOthersAreUnknown(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	in := h.logIn()
	stranger := identity.Caller{User: "usr_stranger", Session: "theirs", Method: identity.MethodToken}
	h.Put(identity.UserKey(stranger.User), identity.User{ID: stranger.User})
	got := h.Call(stranger, "DELETE /auth/sessions/"+h.sessionOf(in).ID).Want(http.StatusNotFound).Body
	none := h.Call(stranger, "DELETE /auth/sessions/"+strings.Repeat("a", 26)).Want(http.StatusNotFound).Body
	if strings.ReplaceAll(got, h.sessionOf(in).ID, "") != strings.ReplaceAll(none, strings.Repeat("a", 26), "") {
		t.Errorf("another user's session: %s\nno session: %s", got, none)
	}
	h.refreshTokens(200, in)
	if all := apitest.Data[map[string]any](h.Call(stranger, "GET /auth/sessions")); all["total"] != 0.0 {
		t.Errorf("a stranger sees %v", all)
	}
}

// The identity provider of one organization must not learn of the user's other sessions, or end them.
func TestSessions_ASessionOfSingleSignOnSeesThoseOfItsOrganization(t *testing.T) {
	const org = "org_01k8z3v5y0e6m9x2q4t7r1c8bd"
	h := newFixture(t).quickly()
	h.register()
	own, vouched := h.logIn(), h.logIn()
	h.Change(identity.SessionKey(h.sessionOf(vouched).ID), table.Set("sso", org))
	c := h.callerOf(vouched)
	c.Org, c.SSO = org, true
	page := apitest.Data[map[string]any](h.Call(c, "GET /auth/sessions"))
	if page["total"] != 1.0 || page["items"].([]any)[0].(map[string]any)["id"] != c.Session {
		t.Errorf("it sees %v", page)
	}
	h.Call(c, "DELETE /auth/sessions/"+h.sessionOf(own).ID).Want(http.StatusNotFound)
	h.refreshTokens(200, own)
}

func TestSessions_NeedASession(t *testing.T) {
	h := newFixture(t)
	token := identity.Caller{User: "usr_ada", Method: identity.MethodPAT}
	for _, request := range []string{
		"GET /auth/sessions", "DELETE /auth/sessions/x", "POST /auth/password/change", "DELETE /auth/account",
	} {
		h.Call(token, request, `{}`).Want(http.StatusForbidden, "personal access token")
		h.Call(identity.Caller{}, request, `{}`).Want(http.StatusUnauthorized)
	}
}

// Sessions that an earlier version began are on no list until they are refreshed.
func TestSessions_OfAnEarlierVersionAreListedOnceRefreshed(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	old := h.logIn()
	s := h.sessionOf(old)
	h.Change(identity.SessionKey(s.ID), table.Remove("listed"), table.Remove("method"), table.Remove("ip"))
	h.Write(table.Delete(identity.SessionListKey(s.User, s.ID)))
	if all := h.listSessions(old); len(all) != 0 {
		t.Fatalf("sessions %v", all)
	}
	next := h.refreshTokens(200, old)
	all := h.listSessions(next)
	if len(all) != 1 || all[0]["id"] != s.ID || all[0]["method"] != nil || all[0]["current"] != true {
		t.Errorf("sessions %v", all)
	}
}

func TestSessions_AreListedByPage(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	var in map[string]any
	for range 5 {
		in = h.logIn()
		h.Clock.Advance(time.Second)
	}
	seen := map[string]bool{}
	for page := range 3 {
		got := apitest.Data[map[string]any](h.Call(h.callerOf(in),
			fmt.Sprintf("GET /auth/sessions?limit=2&page=%d", page+1)))
		for _, item := range got["items"].([]any) {
			seen[item.(map[string]any)["id"].(string)] = true
		}
		h.Equal("total", got["total"], 5.0)
	}
	if len(seen) != 5 {
		t.Errorf("%d different sessions on three pages", len(seen))
	}
}

// The use of an access token writes nothing: the last use is that of the refresh token.
func TestSessions_ARefreshCostsNoMoreThanBefore(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	h.logIn()
	in := h.logIn()
	got := h.Meter(func(ctx context.Context) {
		_, err := h.s.sessions.Refresh(ctx, in["refreshToken"].(string), sessions.Refreshing{})
		h.Must(err)
	})
	if got.WriteUnits != 2 {
		t.Errorf("a refresh writes %v units, want the 2 of one item in a transaction", got.WriteUnits)
	}
}
