package auth

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/testkit/apitest"
)

func (h *fixture) refreshTokens(status int, tokens map[string]any) map[string]any {
	h.Helper()
	return h.want(status, "POST", "/auth/refresh", map[string]any{"refreshToken": tokens["refreshToken"]})
}

// check 11.
func TestTwentyRefreshesAtOnceHaveOneWinner(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	in := h.logIn()
	var won atomic.Int64
	runTogether(20, func(int) {
		if status, _, _ := h.call("POST", "/auth/refresh",
			map[string]any{"refreshToken": in["refreshToken"]}); status == http.StatusOK {
			won.Add(1)
		}
	})
	if won.Load() != 1 {
		t.Errorf("%d of 20 won", won.Load())
	}
	if s := h.sessionOf(in); s.State != identity.SessionLive {
		t.Errorf("the losers ended the session: %q", s.State)
	}
}

// check 11.
func TestUsingARefreshTokenTwice(t *testing.T) {
	t.Run("within ten seconds is refused and nothing more", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		in := h.logIn()
		next := h.refreshTokens(200, in)
		h.Clock.Advance(10 * time.Second)
		h.refreshTokens(401, in)
		h.refreshTokens(200, next)
	})
	t.Run("later ends the session for whoever has the newest token", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		in := h.logIn()
		next := h.refreshTokens(200, in)
		h.Clock.Advance(11 * time.Second)
		h.refreshTokens(401, in)
		h.refreshTokens(401, next)
		if s := h.sessionOf(in); s.State != identity.SessionReused {
			t.Errorf("state %q", s.State)
		}
		h.lastMail(mail.SessionReused)
	})
	t.Run("of two generations ago ends it at once", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		in := h.logIn()
		h.refreshTokens(200, h.refreshTokens(200, in))
		h.refreshTokens(401, in)
		if s := h.sessionOf(in); s.State != identity.SessionReused {
			t.Errorf("state %q", s.State)
		}
	})
	t.Run("with a wish that cannot be met is noticed all the same", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		in := h.logIn()
		h.refreshTokens(200, in)
		h.Clock.Advance(time.Minute)
		h.want(401, "POST", "/auth/refresh", map[string]any{"refreshToken": in["refreshToken"], "tenantID": "org_none"})
		if s := h.sessionOf(in); s.State != identity.SessionReused {
			t.Errorf("state %q", s.State)
		}
	})
}

// TestRefresh_IgnoresAnIdempotencyKey: with a key, a used refresh token returned the tokens of its first use again
// for a day.
func TestRefresh_IgnoresAnIdempotencyKey(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	in := h.logIn()
	send := func() apitest.Answer {
		body := `{"refreshToken":"` + in["refreshToken"].(string) + `"}`
		r := httptest.NewRequest(http.MethodPost, "/auth/refresh", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "k")
		return h.Serve(identity.Caller{}, r)
	}
	send().Want(http.StatusOK)
	h.Clock.Advance(11 * time.Second)
	send().Want(http.StatusUnauthorized)
	if s := h.sessionOf(in); s.State != identity.SessionReused {
		t.Errorf("state %q after a spent token was used again", s.State)
	}
}

// check 11.
func TestAForgedRefreshTokenCannotEndASession(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	in := h.logIn()
	next := h.refreshTokens(200, in)
	h.Clock.Advance(time.Minute)
	token := in["refreshToken"].(string)
	parts := strings.Split(token, ".")
	for name, forged := range map[string]string{
		"another secret":     strings.Join([]string{parts[0], parts[1], "AAAA", parts[3]}, "."),
		"another tag":        strings.Join([]string{parts[0], parts[1], parts[2], strings.Repeat("A", 16)}, "."),
		"generation zero":    strings.Join([]string{parts[0], "0", parts[2], parts[3]}, "."),
		"a generation +1":    strings.Join([]string{parts[0], "+1", parts[2], parts[3]}, "."),
		"no tag":             strings.Join(parts[:3], "."),
		"no mark":            strings.TrimPrefix(token, "lampr_"),
		"a blank at the end": token + " ",
		"nothing":            "",
		"a word":             "refresh",
	} {
		t.Run(name, func(t *testing.T) {
			status, b, _ := h.call("POST", "/auth/refresh", map[string]any{"refreshToken": forged})
			if status != 401 {
				t.Errorf("status %d: %s", status, b)
			}
		})
	}
	h.refreshTokens(200, next)
}

// check 11.
func TestSessionsEnd(t *testing.T) {
	t.Run("after a week without a refresh", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		in := h.logIn()
		h.Clock.Advance(7 * 24 * time.Hour)
		h.refreshTokens(401, in)
	})
	t.Run("after thirty days, however often refreshed", func(t *testing.T) {
		h := newFixture(t).quickly()
		h.register()
		in := h.logIn()
		for range 5 {
			h.Clock.Advance(6*24*time.Hour - time.Minute)
			in = h.refreshTokens(200, in)
		}
		h.Clock.Advance(time.Hour)
		h.refreshTokens(401, in)
	})
}

func TestChoosingAnOrganization(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	user := h.sessionOf(h.logIn()).User
	h.belongTo(user, "org_01k8z3v5y0e6m9x2q4t7r1c8bd", "First")
	h.belongTo(user, "org_01k8z3v5y0e6m9x2q4t7r1c8be", "Second")

	in := h.logIn()
	if s := h.sessionOf(in); s.Org != "org_01k8z3v5y0e6m9x2q4t7r1c8bd" {
		t.Errorf("without a wish: %q", s.Org)
	}
	organisations := in["tenants"].([]any)
	if len(organisations) != 2 || organisations[1].(map[string]any)["name"] != "Second" {
		t.Errorf("tenants %v", organisations)
	}
	body := map[string]any{"refreshToken": in["refreshToken"], "tenantID": "org_01k8z3v5y0e6m9x2q4t7r1c8bf"}
	h.want(403, "POST", "/auth/refresh", body)
	body["tenantID"] = "org_01k8z3v5y0e6m9x2q4t7r1c8be"
	next := h.want(200, "POST", "/auth/refresh", body) // the refused wish has not used the token up
	claims, err := h.Tokens.Verify(context.Background(), next["accessToken"].(string))
	if err != nil || claims.Org != "org_01k8z3v5y0e6m9x2q4t7r1c8be" {
		t.Fatalf("claims %+v, %v", claims, err)
	}
	last := h.refreshTokens(200, next)
	if s := h.sessionOf(last); s.Org != "org_01k8z3v5y0e6m9x2q4t7r1c8be" {
		t.Errorf("the choice does not last: %q", s.Org)
	}
}

// A person who is invited to an organization and then locked out of it keeps access to other organizations, and can
// create one.
func TestWhoIsLockedOutOfOneOrganizationGetsInElsewhere(t *testing.T) {
	const first, second = "org_01k8z3v5y0e6m9x2q4t7r1c8bd", "org_01k8z3v5y0e6m9x2q4t7r1c8be"
	h := newFixture(t).quickly()
	h.register()
	user := h.sessionOf(h.logIn()).User
	h.belongTo(user, first, "First")
	in := h.logIn()
	h.Put(identity.MemberKey(first, user), identity.Member{User: user, Email: ada, Disabled: true})
	h.refreshTokens(403, in)
	h.want(403, "POST", "/auth/login", map[string]any{"email": ada, "password": password, "tenantID": first})
	if s := h.sessionOf(h.logIn()); s.Org != "" {
		t.Errorf("without another organization the session is in %q", s.Org)
	}
	h.belongTo(user, second, "Second")
	if s := h.sessionOf(h.logIn()); s.Org != second {
		t.Errorf("with another organization the session is in %q", s.Org)
	}
}

// belongTo makes user a member of a new organization.
func (h *fixture) belongTo(user, org, name string) {
	h.Helper()
	h.Put(identity.OrganisationKey(org), identity.Organisation{ID: org, Name: name, CreatedBy: user})
	h.Put(identity.MembershipKey(user, org), identity.Membership{Org: org})
}
