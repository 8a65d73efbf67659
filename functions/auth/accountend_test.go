package auth

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/people/erasure"
	"lamplighter.dev/shared/testkit/apitest"
)

const (
	engines = "org_01k8z3v5y0e6m9x2q4t7r1c8bd"
	looms   = "org_01k8z3v5y0e6m9x2q4t7r1c8be"
)

// newAccountFixture returns a fixture in which work is not started, as if the process died after its commit.
func newAccountFixture(t *testing.T) *fixture {
	t.Helper()
	h := newFixture(t).quickly()
	h.Workflow = apitest.Idle{}
	h.register()
	return h
}

// joinOrg makes a user a member of an organization, which has the given number of owners.
func (h *fixture) joinOrg(org, user, role string, owners int64) {
	h.Helper()
	h.belongTo(user, org, "Name of "+org)
	h.Put(identity.AccessKey(org), identity.Access{Members: 2, Owners: owners})
	h.Put(identity.MemberKey(org, user), identity.Member{
		User: user, Email: ada, Grants: []grant.Grant{{ID: "asgn_1", Role: role, Scope: grant.OrgScope}}, Version: 1,
	})
}

func (h *fixture) deleteAccount(tokens map[string]any, confirm string) apitest.Answer {
	h.Helper()
	return h.Call(h.callerOf(tokens), "DELETE /auth/account", map[string]any{"confirm": confirm})
}

// listErasures returns the inputs of unfinished erasures.
func (h *fixture) listErasures() []erasure.Input {
	h.Helper()
	var out []erasure.Input
	for _, w := range apitest.Rows[workqueue.Work](h.Fixture, workqueue.Lists()...) {
		var in erasure.Input
		h.Must(json.Unmarshal(w.Input, &in))
		out = append(out, in)
	}
	return out
}

func TestDeleteAccount_EndsIt(t *testing.T) {
	h := newAccountFixture(t)
	other, in := h.logIn(), h.logIn()
	user := h.sessionOf(in).User
	if id := apitest.Data[map[string]any](h.deleteAccount(in, " Ada@Example.com "))["id"]; id != user {
		t.Errorf("deleted %v, want %s", id, user)
	}
	if m := h.lastMail(mail.AccountDeleted); m.To != ada {
		t.Errorf("the mail went to %s", m.To)
	}
	h.refreshTokens(401, in)
	h.refreshTokens(401, other)
	h.want(401, "POST", "/auth/login", map[string]any{"email": ada, "password": password})
	if works := h.listErasures(); len(works) != 1 || works[0].Account != user || works[0].Org != "" {
		t.Errorf("erasures %+v", works)
	}
	t.Run("a second deletion is refused", func(t *testing.T) {
		h.deleteAccount(in, ada).Want(http.StatusUnauthorized)
	})
	t.Run("the address signs up again", func(t *testing.T) {
		h.Clock.Advance(time.Minute) // one code a minute
		h.register()
		if again := h.sessionOf(h.logIn()).User; again == user {
			t.Errorf("it is the account %s again", again)
		}
	})
}

func TestDeleteAccount_IsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		confirm string
		change  func(*identity.Caller)
		status  int
		says    string
	}{
		"without the address":            {"", nil, 400, "confirm"},
		"with another address":           {"eve@example.com", nil, 400, "is not your own address"},
		"with a text that is no address": {"ada", nil, 400, "confirm"},
		"in a session of single sign-on": {ada, func(c *identity.Caller) { c.SSO = true }, 403, "single sign-on"},
		"with a personal access token":   {ada, func(c *identity.Caller) { c.Session = "" }, 403, "token"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newAccountFixture(t)
			in := h.logIn()
			caller := h.callerOf(in)
			if c.change != nil {
				c.change(&caller)
			}
			h.Call(caller, "DELETE /auth/account", map[string]any{"confirm": c.confirm}).Want(c.status, c.says)
			h.refreshTokens(200, in)
			if works := h.listErasures(); len(works) != 0 {
				t.Errorf("erasures %+v", works)
			}
		})
	}
}

func TestDeleteAccount_ConfirmInTheQuery(t *testing.T) {
	h := newAccountFixture(t)
	in := h.logIn()
	h.Call(h.callerOf(in), "DELETE /auth/account?confirm=eve@example.com").Want(http.StatusBadRequest)
	h.Call(h.callerOf(in), "DELETE /auth/account?confirm=ada@example.com").Want(http.StatusOK)
}

func TestDeleteAccount_OfTheLastOwner(t *testing.T) {
	h := newAccountFixture(t)
	in := h.logIn()
	user := h.sessionOf(in).User
	h.joinOrg(engines, user, grant.Owner, 1)
	h.joinOrg(looms, user, grant.Owner, 2)
	h.deleteAccount(in, ada).Want(http.StatusConflict, "last owner", engines, "Name of "+engines)
	if m := apitest.Read[identity.Member](h.Fixture, identity.MemberKey(looms, user)); !m.Owns() {
		t.Error("the refused deletion has given up another organization")
	}
	h.refreshTokens(200, in)

	t.Run("who is only a member does not count as an owner", func(t *testing.T) {
		h.joinOrg(engines, user, grant.Admin, 1)
		h.deleteAccount(h.logIn(), ada).Want(http.StatusOK)
		a := apitest.Read[identity.Access](h.Fixture, identity.AccessKey(looms))
		m := apitest.Read[identity.Member](h.Fixture, identity.MemberKey(looms, user))
		if a.Owners != 1 || m.Owns() {
			t.Errorf("after it the other organization counts %d owners; still one: %v", a.Owners, m.Owns())
		}
	})
}

func TestDeleteAccount_NamesFiveOrganizationsAtMost(t *testing.T) {
	h := newAccountFixture(t)
	in := h.logIn()
	for i := range 8 {
		h.joinOrg(fmt.Sprintf("org_01k8z3v5y0e6m9x2q4t7r1c8b%d", i), h.sessionOf(in).User, grant.Owner, 1)
	}
	h.deleteAccount(in, ada).Want(http.StatusConflict, "and 3 more")
}

func TestDeleteAccount_OfAnOwnerOfManyOrganizations(t *testing.T) {
	h := newAccountFixture(t)
	in := h.logIn()
	for i := range 41 {
		h.joinOrg(fmt.Sprintf("org_01k8z3v5y0e6m9x2q4t7r1c8%02d", i), h.sessionOf(in).User, grant.Owner, 2)
	}
	h.deleteAccount(in, ada).Want(http.StatusConflict, "41 organizations", "all but 40")
	h.joinOrg("org_01k8z3v5y0e6m9x2q4t7r1c800", h.sessionOf(in).User, grant.Viewer, 2)
	h.deleteAccount(in, ada).Want(http.StatusOK)
}

// An organization that is being deleted needs no owner any more.
func TestDeleteAccount_WithAnOrganizationThatHasEnded(t *testing.T) {
	h := newAccountFixture(t)
	in := h.logIn()
	h.joinOrg(engines, h.sessionOf(in).User, grant.Owner, 1)
	h.Change(identity.AccessKey(engines), table.Set("ended", true))
	h.Change(identity.OrganisationKey(engines), table.Set("ended", true))
	h.deleteAccount(in, ada).Want(http.StatusOK)
}

// Of two owners who delete their accounts at the same time, one stays.
func TestDeleteAccount_TwoOwnersAtOnce(t *testing.T) {
	for range 20 {
		h := newAccountFixture(t)
		first := h.callerOf(h.logIn())
		h.joinOrg(engines, first.User, grant.Owner, 2)
		second := identity.Caller{
			User: "usr_eve", Email: "eve@example.com", Session: "evesession", Method: identity.MethodToken,
		}
		h.Put(identity.UserKey(second.User), identity.User{ID: second.User, Email: second.Email, Verified: true})
		h.Put(identity.AddressKey(h.Settings.Pepper, second.Email), identity.AddressRow{User: second.User})
		h.joinOrg(engines, second.User, grant.Owner, 2)
		var gone atomic.Int64
		callers := []identity.Caller{first, second}
		runTogether(2, func(i int) {
			a := h.Call(callers[i], "DELETE /auth/account", map[string]any{"confirm": callers[i].Email})
			if a.Status == http.StatusOK {
				gone.Add(1)
			}
		})
		a := apitest.Read[identity.Access](h.Fixture, identity.AccessKey(engines))
		if gone.Load() != 1 || a.Owners != 1 {
			t.Fatalf("%d accounts ended, and %d owners are counted", gone.Load(), a.Owners)
		}
	}
}

// The row of the organization of the session names the account, and none of the user's other organizations.
func TestDeleteAccount_IsRecorded(t *testing.T) {
	h := newAccountFixture(t)
	in := h.logIn()
	user := h.sessionOf(in).User
	h.joinOrg(engines, user, grant.Admin, 1)
	h.joinOrg(looms, user, grant.Owner, 1)
	h.Change(identity.SessionKey(h.sessionOf(in).ID), table.Set("org", engines))
	h.deleteAccount(in, ada).Want(http.StatusConflict, looms)
	refused := h.LastAudited(engines)
	h.joinOrg(looms, user, grant.Viewer, 1)
	h.deleteAccount(in, ada).Want(http.StatusOK)
	done := h.LastAudited(engines)
	h.Equal("rows", []any{refused.Action, refused.Status, done.Action, done.Status, done.Actor},
		[]any{"deleteAccount", 409, "deleteAccount", 200, ada})
	for _, row := range []any{refused, done} {
		if text := apitest.JSON(row); strings.Contains(text, looms) {
			t.Errorf("the row tells another organization: %s", text)
		}
	}
	if rows := h.Audited(looms); len(rows) != 0 {
		t.Errorf("%d rows of the other organization", len(rows))
	}
}

// A person who signs in at a provider after the deletion gets a new account.
func TestDeleteAccount_ThenASignInAtAProvider(t *testing.T) {
	in := newProviderFixture(t)
	in.Workflow = apitest.Idle{}
	tokens := in.signIn("google")
	c := in.callerOf(tokens)
	c.Email = userOf(tokens)["email"].(string)
	was := userOf(tokens)["id"]
	in.Call(c, "DELETE /auth/account", map[string]any{"confirm": c.Email}).Want(http.StatusOK)
	if is := userOf(in.signIn("google"))["id"]; is == was {
		t.Errorf("it is the account %s again", is)
	}
}

// Each call to the store fails in turn, with and without effect. Either the account lives with all of it, or it has
// ended and its erasure is on the list of unfinished work.
func TestDeleteAccount_WhateverTheStoreDoes(t *testing.T) {
	for _, harm := range []table.Harm{table.FailBefore, table.FailAfter} {
		for call := 1; ; call++ {
			h := newAccountFixture(t)
			in := h.logIn()
			c, user := h.callerOf(in), h.sessionOf(in).User
			h.joinOrg(engines, user, grant.Owner, 2)
			faulty := table.NewFaultyStore(h.Table, h.Clock, table.Injection{Harm: harm, Call: call})
			store := h.Table
			h.Table = faulty
			status := h.Call(c, "DELETE /auth/account", map[string]any{"confirm": ada}).Status
			h.Table = store
			_, err := h.Table.Get(h.Anywhere(), identity.UserKey(user))
			lives, owners := err == nil, apitest.Read[identity.Access](h.Fixture, identity.AccessKey(engines)).Owners
			works := len(h.listErasures())
			if lives && (works != 0 || owners != 2) || !lives && (works != 1 || owners != 1) {
				t.Fatalf("harm %d at call %d: status %d, lives %v, %d erasures, %d owners", harm, call, status, lives,
					works, owners)
			}
			if status == http.StatusOK && call > 12 {
				break
			}
		}
	}
}

// A session that begins in a request from before the deletion is refused.
func TestDeleteAccount_WhileTheSameUserLogsIn(t *testing.T) {
	h := newAccountFixture(t)
	in := h.logIn()
	c := h.callerOf(in)
	answers := make([][]byte, 10)
	runTogether(10, func(i int) {
		if i == 0 {
			h.Call(c, "DELETE /auth/account", map[string]any{"confirm": ada}).Want(http.StatusOK)
			return
		}
		_, answers[i], _ = h.call("POST", "/auth/login", map[string]any{"email": ada, "password": password})
	})
	for _, answer := range answers[1:] {
		var out struct{ Data map[string]any }
		if err := json.Unmarshal(answer, &out); err == nil && out.Data["refreshToken"] != nil {
			h.refreshTokens(401, out.Data)
		}
	}
	if slices.ContainsFunc(apitest.Rows[identity.User](h.Fixture, identity.UserPrefix+c.User),
		func(u identity.User) bool { return u.ID == c.User }) {
		t.Error("the account is there again")
	}
}
