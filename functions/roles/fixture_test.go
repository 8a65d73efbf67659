package roles

import (
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

const ours, theirs = apitest.Org, apitest.OtherOrg

// fixture is two organizations that Olga owns; each has a team and a resource.
type fixture struct {
	*apitest.Fixture
	teams     map[string]string // by organization
	resources map[string]string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s := &fixture{apitest.New(t, Operations), map[string]string{}, map[string]string{}}
	for _, org := range []string{ours, theirs} {
		s.Join(org, "olga", grant.Owner)
		s.teams[org] = inventorytest.Team(s.Fixture, org, "Web")
		s.resources[org] = inventorytest.Discover(s.Fixture, org, "aws-ec2", inventorytest.Instances(1)...)[0]
	}
	return s
}

// addMember makes a user of our organization who has roles on all of it.
func (s *fixture) addMember(name string, roles ...string) {
	s.Helper()
	s.Clock.Advance(time.Second) // lists are in order of time
	s.Join(ours, name, roles...)
}

// as asks as the member of our organization: a method, a path and a body.
func (s *fixture) as(name, request string) apitest.Answer {
	s.Helper()
	return s.Call(s.Authorized(ours, name), request)
}

// newRole makes a role of our organization, as Olga.
func (s *fixture) newRole(name string, policies ...string) Role {
	s.Helper()
	s.Clock.Advance(time.Second)
	return apitest.Data[Role](s.as("olga",
		`POST /roles `+apitest.JSON(map[string]any{"name": name, "policies": policies})))
}

// assignRole returns the member a role, as Olga.
func (s *fixture) assignRole(name, role, scope string) Assignment {
	s.Helper()
	s.Clock.Advance(time.Second)
	return apitest.Data[Assignment](s.as("olga", assignRequest(name, role, scope)))
}

func assignRequest(name, role, scope string) string {
	return `POST /assignments ` +
		apitest.JSON(map[string]any{"email": apitest.Email(name), "roleID": role, "scope": scope})
}
