package sessions_test

import (
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/people/sessions"
	"lamplighter.dev/shared/testkit/apitest"
)

const org = apitest.Org

// invitedEve returns an organization of ada's that has invited eve.
func invitedEve(t *testing.T) (*platform.Platform, identity.User) {
	t.Helper()
	f := apitest.New(t)
	ada, eve := f.Join(org, "ada", grant.Owner), f.User("eve")
	apitest.Value(f.People.StoreInvitation(t.Context(), org, membership.Invitation{},
		membership.Invitation{Email: eve.Email, Role: grant.Viewer, Inviter: ada.User}))(f)
	return f.Platform, eve
}

func TestALogInAcceptsTheInvitationsOfTheAddress(t *testing.T) {
	p, eve := invitedEve(t)
	got, err := sessions.New(p).Begin(t.Context(), eve, sessions.Options{Org: org})
	if err != nil || len(got.Tenants) != 1 || got.Tenants[0].ID != org {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTheWordOfOneOrganizationsProviderAcceptsNothingElsewhere(t *testing.T) {
	p, eve := invitedEve(t)
	got, err := sessions.New(p).Begin(t.Context(), eve, sessions.Options{SSO: apitest.OtherOrg})
	if err != nil || len(got.Tenants) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, _, err = membership.New(p).ReadMember(t.Context(), org, eve.ID); err == nil {
		t.Error("joined")
	}
}

func TestInvitationsThatCannotBeReadKeepNobodyFromLoggingIn(t *testing.T) {
	p, eve := invitedEve(t)
	whole := p.Table
	p.Table = table.NewFaultyStore(whole, p.Clock,
		table.Injection{Harm: table.FailBefore, PK: membership.InvitedPrefix})
	got, err := sessions.New(p).Begin(t.Context(), eve, sessions.Options{})
	if err != nil || got.AccessToken == "" || len(got.Tenants) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	p.Table = whole
	if got, err = sessions.New(p).Begin(t.Context(), eve, sessions.Options{}); err != nil || len(got.Tenants) != 1 {
		t.Errorf("at the next log-in: %+v, %v", got, err)
	}
}
