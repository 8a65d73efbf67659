package membership_test

import (
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/testkit/apitest"
)

const org = apitest.Org

// fixture is an organization.
type fixture struct{ *apitest.Fixture }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return &fixture{apitest.New(t)}
}

func (s *fixture) wantKind(kind fault.Kind, err error) {
	s.Helper()
	if !fault.Is(err, kind) {
		s.Errorf("%v, want kind %d", err, kind)
	}
}

func (s *fixture) readAccess() identity.Access {
	s.Helper()
	return apitest.Read[identity.Access](s.Fixture, identity.AccessKey(org))
}

// wantCounts requires the organization's counts.
func (s *fixture) wantCounts(members, owners int64) {
	s.Helper()
	if a := s.readAccess(); a.Members != members || a.Owners != owners {
		s.Errorf("%d members, %d owners counted; want %d, %d", a.Members, a.Owners, members, owners)
	}
}

// setDisabled disables the member m, or enables m again.
func (s *fixture) setDisabled(m identity.Member, disabled bool) error {
	next := m
	next.Disabled = disabled
	_, err := s.People.ChangeMember(s.Context(), org, membership.MemberChange{Old: m, New: next})
	return err
}

func callerWith(gs ...grant.Grant) identity.Caller {
	return identity.Caller{Org: org, User: "usr_1", Grants: grant.ResolveGrants(gs)}
}
