package sessions_test

import (
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/foundation/fault"
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

func TestBegin_AcceptsNoInvitation(t *testing.T) {
	for name, how := range map[string]sessions.Options{
		"a log-in":                       {},
		"the word of another's provider": {SSO: apitest.OtherOrg},
	} {
		p, eve := invitedEve(t)
		got, err := sessions.New(p).Begin(t.Context(), eve, how)
		if err != nil || got.AccessToken == "" || len(got.Tenants) != 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if _, _, err = membership.New(p).ReadMember(t.Context(), org, eve.ID); err == nil {
			t.Errorf("%s made a member", name)
		}
		if _, err = sessions.New(p).Begin(t.Context(), eve, sessions.Options{Org: org}); !fault.Is(err, fault.Denied) {
			t.Errorf("%s into the inviting organization: %v", name, err)
		}
	}
}
