package sessions_test

import (
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/people/sessions"
	"lamplighter.dev/shared/testkit/apitest"
)

// house is a platform with an organization of ada's that has invited eve.
func house(t *testing.T) (*platform.Platform, identity.User) {
	t.Helper()
	p, c := apitest.NewPlatform(t)
	ctx := table.Within(t.Context(), "")
	put := func(k table.Key, v any) {
		it, err := table.Row(k, v)
		if err == nil {
			_, err = p.Table.Write(ctx, table.Put(it))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	ada, eve := identity.User{ID: "usr_ada", Email: "ada@example.com", Verified: true}, identity.User{ID: "usr_eve", Email: "eve@example.com", Verified: true}
	put(identity.UserKey(ada.ID), ada)
	put(identity.UserKey(eve.ID), eve)
	put(identity.AccessKey("org_1"), identity.Access{})
	put(identity.OrganisationKey("org_1"), identity.Organisation{ID: "org_1", Name: "Engines", CreatedAt: c.Now()})
	s := membership.Of(p)
	if err := s.Join(ctx, "org_1", ada, []identity.Grant{{Role: identity.Owner, Scope: identity.OrgScope}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Invite(ctx, "org_1", membership.Invitation{}, membership.Invitation{Email: eve.Email, Role: identity.Viewer, Inviter: ada.ID}); err != nil {
		t.Fatal(err)
	}
	return p, eve
}

func TestALogInAcceptsTheInvitationsOfTheAddress(t *testing.T) {
	p, eve := house(t)
	got, err := sessions.Of(p).Begin(t.Context(), eve, sessions.How{Tenant: "org_1"})
	if err != nil || len(got.Tenants) != 1 || got.Tenants[0].ID != "org_1" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTheWordOfOneOrganizationsProviderAcceptsNothingElsewhere(t *testing.T) {
	p, eve := house(t)
	got, err := sessions.Of(p).Begin(t.Context(), eve, sessions.How{SSO: "org_2"})
	if err != nil || len(got.Tenants) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, _, err = membership.Of(p).Member(t.Context(), "org_1", eve.ID); err == nil {
		t.Error("joined")
	}
}

func TestInvitationsThatCannotBeReadKeepNobodyFromLoggingIn(t *testing.T) {
	p, eve := house(t)
	whole := p.Table
	p.Table = table.Faulty(whole, p.Clock, table.Injection{Harm: table.FailBefore, PK: membership.InvitedPrefix})
	got, err := sessions.Of(p).Begin(t.Context(), eve, sessions.How{})
	if err != nil || got.AccessToken == "" || len(got.Tenants) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	p.Table = whole
	if got, err = sessions.Of(p).Begin(t.Context(), eve, sessions.How{}); err != nil || len(got.Tenants) != 1 {
		t.Errorf("at the next log-in: %+v, %v", got, err)
	}
}
