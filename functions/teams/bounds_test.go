package teams

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/people/teams"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestTeamsAreBounded(t *testing.T) {
	s := newFixture(t)
	for n := range teams.MaxTeams {
		one := teams.Team{ID: fmt.Sprintf("team_%03d", n), Name: strconv.Itoa(n)}
		s.Put(teams.Key(ours, one.ID), one)
	}
	s.Call(ada, "POST /teams", `{"name":"one too many"}`).Want(http.StatusBadRequest, "500 teams")
}

// TestALargeTeamIsReadInHundreds bounds the cost of the largest team.
func TestALargeTeamIsReadInHundreds(t *testing.T) {
	s := newFixture(t)
	var members []identity.Member
	for n := range 250 {
		m := identity.Member{
			User: fmt.Sprintf("usr_%03d", n), Email: fmt.Sprintf("u%03d@example.com", n),
			Joined: s.Clock.Now(),
		}
		s.Put(identity.MemberKey(ours, m.User), m)
		members = append(members, m)
	}
	web := s.newTeam("Web", "")
	w := apitest.Value(rosterWrite(ours, web.ID, members))(s)
	s.Write(w)
	page := s.Call(ada, "GET /teams/"+web.ID+"/members?page=3&limit=100")
	page.AtMost(6) // the team, its people, three hundreds of them, the names of the page
	list := apitest.Data[rest.List[TeamMember]](page)
	s.Equal("members", fmt.Sprint(list.Total, len(list.Items), list.Items[0].Email), "250 50u200@example.com")
	s.Call(ada, "GET /teams").AtMost(7).Want(http.StatusOK)
}
