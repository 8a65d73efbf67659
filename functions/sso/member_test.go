package sso

import (
	"net/http"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/people/sessions"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/samltest"
)

func TestTheFirstSignInMakesAMemberWithTheDefaultRole(t *testing.T) {
	h, o, w := newConnected(t)
	a := h.finishSignOn(w.answer(h, h.beginSignOn(ada)))
	a.want(t, http.StatusOK)
	user := a.Data["user"].(map[string]any)
	if user["email"] != ada || user["name"] != "Ada Lovelace" || a.Data["accessToken"] == "" ||
		a.Data["refreshToken"] == "" {
		t.Errorf("%v", a.Data)
	}
	m := apitest.Read[identity.Member](h.Fixture, identity.MemberKey(o.org, a.user()))
	if len(m.Grants) != 1 || m.Grants[0].Role != grant.Viewer || m.Grants[0].Scope != grant.OrgScope || m.Email != ada {
		t.Errorf("member %+v", m)
	}
	if n := apitest.Read[identity.Access](h.Fixture, identity.AccessKey(o.org)); n.Members != 2 || n.Owners != 1 {
		t.Errorf("counted %+v", n)
	}
	if m := apitest.Read[identity.Membership](h.Fixture, identity.MembershipKey(m.User, o.org)); m.Org != o.org {
		t.Errorf("membership %+v", m)
	}
	claims, err := h.Tokens.Verify(anywhere(), a.Data["accessToken"].(string))
	if err != nil || claims.Org != o.org {
		t.Errorf("token of %+v, %v", claims, err)
	}

	again := h.finishSignOn(w.answer(h, h.beginSignOn(ada)))
	again.want(t, http.StatusOK)
	if again.user() != a.user() {
		t.Errorf("the second time it is %v, was %v", again.user(), a.user())
	}
	if n := apitest.Read[identity.Access](h.Fixture, identity.AccessKey(o.org)); n.Members != 2 {
		t.Errorf("counted twice: %+v", n)
	}
}

func TestAMemberStaysWhatTheyAre(t *testing.T) {
	h, o, w := newConnected(t)
	a := h.finishSignOn(w.respond(h, samltest.ReadRequest(t, h.beginSignOn(ada)), "owner@example.com").Document(t))
	a.want(t, http.StatusOK)
	if a.user() != o.owner.ID {
		t.Errorf("signed in %s, want the owner %s", a.user(), o.owner.ID)
	}
	if m := apitest.Read[identity.Member](h.Fixture, identity.MemberKey(o.org, o.owner.ID)); !m.Owns() {
		t.Errorf("the owner is now %+v", m)
	}
}

func TestADisabledMemberDoesNotGetIn(t *testing.T) {
	h, o, w := newConnected(t)
	user := h.finishSignOn(w.answer(h, h.beginSignOn(ada))).user()
	k := identity.MemberKey(o.org, user)
	h.Write(table.Update(k, []table.Change{table.Set("disabled", true)}))
	h.refuses(http.StatusForbidden, w.answer(h, h.beginSignOn(ada)))
}

func TestADisabledAccountDoesNotGetIn(t *testing.T) {
	h, _, w := newConnected(t)
	user := h.finishSignOn(w.answer(h, h.beginSignOn(ada))).user()
	h.Write(table.Update(identity.UserKey(user), []table.Change{table.Set("disabled", true)}))
	h.refuses(http.StatusForbidden, w.answer(h, h.beginSignOn(ada)))
}

// Who was on the way when the organization ended is told so, in a status that is documented, member or not.
func TestAnOrganizationThatEndsMeanwhileLetsNobodyIn(t *testing.T) {
	h, o, w := newConnected(t)
	newcomer := w.answer(h, h.beginSignOn(ada))
	owner := w.respond(h, samltest.ReadRequest(t, h.beginSignOn(ada)), "owner@example.com").Document(t)
	for _, k := range []table.Key{identity.AccessKey(o.org), identity.OrganisationKey(o.org)} {
		h.Write(table.Update(k, []table.Change{table.Set("ended", true)}))
	}
	h.finishSignOn(newcomer).want(t, http.StatusForbidden)
	h.finishSignOn(owner).want(t, http.StatusForbidden)
}

// A session from single sign-on works only in its organization: it must not open the person's other organizations.
func TestASessionOfSingleSignOnStaysInItsOrganization(t *testing.T) {
	h, o, w := newConnected(t)
	user := apitest.Read[identity.User](h.Fixture,
		identity.UserKey(h.finishSignOn(w.answer(h, h.beginSignOn(ada))).user()))
	b := h.newOrganization("owner@other.test")
	viewer := []grant.Grant{{Role: grant.Viewer, Scope: grant.OrgScope}}
	if err := newService(h.Platform).people.JoinOrganisation(anywhere(), b.org, user, viewer); err != nil {
		t.Fatal(err)
	}
	a := h.finishSignOn(w.answer(h, h.beginSignOn(ada)))
	a.want(t, http.StatusOK)
	if organisations := a.Data["tenants"].([]any); len(organisations) != 1 ||
		organisations[0].(map[string]any)["id"] != o.org {
		t.Errorf("offers %v", organisations)
	}
	token := a.Data["refreshToken"].(string)
	at := sessions.Refreshing{Org: b.org}
	if _, err := sessions.New(h.Platform).Refresh(anywhere(), token, at); !fault.Is(err, fault.Denied) {
		t.Errorf("refreshed into another organization: %v", err)
	}
	out, err := sessions.New(h.Platform).Refresh(anywhere(), token, sessions.Refreshing{})
	if err != nil || out.Tenants[0].ID != o.org {
		t.Errorf("refreshed: %+v, %v", out, err)
	}
}

func TestEnforcedSingleSignOn(t *testing.T) {
	h, o, w := newConnected(t)
	member := apitest.Read[identity.User](h.Fixture,
		identity.UserKey(h.finishSignOn(w.answer(h, h.beginSignOn(ada))).user()))
	guest := h.newAccount("guest@elsewhere.test")
	viewer := []grant.Grant{{Role: grant.Viewer, Scope: grant.OrgScope}}
	if err := newService(h.Platform).people.JoinOrganisation(anywhere(), o.org, guest, viewer); err != nil {
		t.Fatal(err)
	}
	begin := func(u identity.User) error {
		_, err := sessions.New(h.Platform).Begin(anywhere(), u, sessions.Options{Org: o.org})
		return err
	}
	if err := begin(member); err != nil {
		t.Errorf("before it was enforced: %v", err)
	}
	o.putSettings(map[string]any{"enforced": true})
	if err := begin(member); !fault.Is(err, fault.Denied) {
		t.Errorf("a member of a proven domain got in by password: %v", err)
	}
	for name, u := range map[string]identity.User{"the owner": o.owner, "a member of another domain": guest} {
		if err := begin(u); err != nil {
			t.Errorf("%s is kept out: %v", name, err)
		}
	}
	h.finishSignOn(w.answer(h, h.beginSignOn(ada))).want(t, http.StatusOK)
	o.putSettings(map[string]any{"enforced": false})
	if err := begin(member); err != nil {
		t.Errorf("after it ended: %v", err)
	}
}

func TestTheDefaultRole(t *testing.T) {
	h, o, w := newConnected(t)
	role := id.New("role", h.Platform.Clock.Now())
	h.Put(identity.AccessKey(o.org), identity.Access{Members: 1, Owners: 1, Roles: map[string]identity.CustomRole{
		role: {ID: role, Name: "Starter", Policies: []string{"actions:execute"}},
	}})
	o.putSettings(map[string]any{"defaultRole": role})
	user := h.finishSignOn(w.answer(h, h.beginSignOn(ada))).user()
	if m := apitest.Read[identity.Member](h.Fixture, identity.MemberKey(o.org, user)); m.Grants[0].Role != role {
		t.Errorf("member %+v", m)
	}
	h.Put(identity.AccessKey(o.org), identity.Access{Members: 2, Owners: 1}) // the role goes
	h.refuses(http.StatusForbidden, w.respond(h, samltest.ReadRequest(t, h.beginSignOn(ada)), boss).Document(t))
	h.finishSignOn(w.answer(h, h.beginSignOn(ada))).want(t, http.StatusOK) // who is a member already needs no role
}

func TestWhoWasInvitedGetsTheRoleOfTheInvitation(t *testing.T) {
	h, o, w := newConnected(t)
	now := h.Platform.Clock.Now()
	inv := membership.Invitation{
		Email: ada, Role: grant.Editor, Inviter: o.owner.ID, Created: now,
		Expires: now.Add(time.Hour),
	}
	if _, err := newService(h.Platform).people.StoreInvitation(anywhere(), o.org, membership.Invitation{},
		inv); err != nil {
		t.Fatal(err)
	}
	a := h.finishSignOn(w.answer(h, h.beginSignOn(ada)))
	a.want(t, http.StatusOK)
	if m := apitest.Read[identity.Member](h.Fixture, identity.MemberKey(o.org, a.user())); len(m.Grants) != 1 ||
		m.Grants[0].Role != grant.Editor {
		t.Errorf("member %+v", m)
	}
}

// The provider says who belongs to the organization: who shall stay out is disabled, here or there.
func TestWhoWasRemovedComesBackWithTheDefaultRole(t *testing.T) {
	h, o, w := newConnected(t)
	o.putSettings(map[string]any{"defaultRole": grant.Editor})
	user := h.finishSignOn(w.answer(h, h.beginSignOn(ada))).user()
	k := identity.MemberKey(o.org, user)
	if err := newService(h.Platform).people.RemoveMember(anywhere(), o.org,
		apitest.Read[identity.Member](h.Fixture, k)); err != nil {
		t.Fatal(err)
	}
	o.putSettings(map[string]any{"defaultRole": grant.Viewer})
	h.finishSignOn(w.answer(h, h.beginSignOn(ada))).want(t, http.StatusOK)
	if m := apitest.Read[identity.Member](h.Fixture, k); m.Grants[0].Role != grant.Viewer {
		t.Errorf("member %+v", m)
	}
}
