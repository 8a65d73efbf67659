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

func (s *fixture) want(kind fault.Kind, err error) {
	s.Helper()
	if !fault.Is(err, kind) {
		s.Errorf("%v, want kind %d", err, kind)
	}
}

func (s *fixture) access() identity.Access {
	s.Helper()
	return apitest.Read[identity.Access](s.Fixture, identity.AccessKey(org))
}

// counts checks the organization's counters.
func (s *fixture) counts(members, owners int64) {
	s.Helper()
	if a := s.access(); a.Members != members || a.Owners != owners {
		s.Errorf("%d members, %d owners counted; want %d, %d", a.Members, a.Owners, members, owners)
	}
}

// disable locks the member m out, or lets them in again.
func (s *fixture) disable(m identity.Member, disabled bool) error {
	next := m
	next.Disabled = disabled
	_, err := s.People.ChangeMember(s.Context(), org, membership.MemberChange{Old: m, New: next})
	return err
}

func caller(gs ...grant.Grant) identity.Caller {
	return identity.Caller{Org: org, User: "usr_1", Grants: grant.ResolveGrants(gs)}
}
