package teams

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/people/teams"
)

func TestTeamsAreBounded(t *testing.T) {
	s := newStage(t)
	for n := range teams.MaxTeams {
		one := teams.Team{ID: fmt.Sprintf("team_%03d", n), Name: strconv.Itoa(n)}
		s.put(teams.Key(ours, one.ID), one)
	}
	s.refused(http.StatusBadRequest, "500 teams", s.as(ada(), "POST /teams", `{"name":"one too many"}`))
}

// TestALargeTeamIsReadInHundreds bounds what the largest team costs.
func TestALargeTeamIsReadInHundreds(t *testing.T) {
	s := newStage(t)
	var members []identity.Member
	for n := range 250 {
		m := identity.Member{User: fmt.Sprintf("usr_%03d", n), Email: fmt.Sprintf("u%03d@example.com", n), Joined: s.clock.Now()}
		s.put(identity.MemberKey(ours, m.User), m)
		members = append(members, m)
	}
	web := s.team("Web", "")
	w, err := rosterWrite(ours, web.ID, members)
	s.must(err)
	_, err = s.p.Table.Write(s.tenant(ours), w)
	s.must(err)
	list := data[rest.List[TeamMember]](s, s.as(ada(), "GET /teams/"+web.ID+"/members?page=3&limit=100", ""))
	s.want("members", fmt.Sprint(list.Total, len(list.Items), list.Items[0].Email), "250 50u200@example.com")
	if s.trips > 6 { // the team, its people, three hundreds of them, the names of the page
		t.Errorf("%d round trips", s.trips)
	}
	data[rest.List[TeamBrief]](s, s.as(ada(), "GET /teams", ""))
	if s.trips > 7 {
		t.Errorf("the list took %d round trips", s.trips)
	}
}
