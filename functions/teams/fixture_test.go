package teams

import (
	"fmt"
	"testing"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

const ours, theirs = apitest.Org, apitest.OtherOrg

var (
	ada = apitest.Caller(ours, "ada", grant.Owner)
	eve = apitest.Caller(theirs, "eve", grant.Owner)
)

// fixture has six instances in our organization, which ada owns and bob may view, and one in theirs, which eve owns.
type fixture struct {
	*apitest.Fixture
	ids     []string // of the six
	foreign string   // of the one
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s := &fixture{Fixture: apitest.New(t, Operations)}
	s.Join(ours, "ada", grant.Owner)
	s.Join(ours, "bob", grant.Viewer)
	s.Join(theirs, "eve", grant.Owner)
	s.ids = inventorytest.Discover(s.Fixture, ours, "aws-ec2", inventorytest.Instances(6)...)
	s.foreign = inventorytest.Discover(s.Fixture, theirs, "aws-ec2", inventorytest.Instances(1)...)[0]
	return s
}

// newTeam creates a team. body is the rest of the request's JSON after the name.
func (s *fixture) newTeam(name, body string) Team {
	s.Helper()
	return apitest.Data[Team](s.Call(ada, "POST /teams", fmt.Sprintf(`{"name":%q%s}`, name, body)))
}

func (s *fixture) readTeam(id string) Team {
	s.Helper()
	return apitest.Data[Team](s.Call(ada, "GET /teams/"+id))
}

// assignRole gives name a role on a team.
func (s *fixture) assignRole(name, role, teamID string) {
	s.Helper()
	m := s.Member(ours, name)
	s.Must(s.People.ReplaceGrants(s.Context(), ours, m,
		append(m.Grants, grant.Grant{Role: role, Scope: grant.TeamScope + teamID})))
}
