package teams

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/identity/identitytest"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/id"
)

func TestATeamFromItsCreationToItsEnd(t *testing.T) {
	s := newStage(t)
	made := s.team(" Web ", fmt.Sprintf(`,"description":"the shop","members":["BOB@example.com","ada@example.com","bob@example.com"],"resources":[%q,%q]`, s.ids[1], s.ids[1]))
	s.want("made", fmt.Sprint(made.Name, made.Description, made.Members, made.Resources, made.MemberCount, made.ResourceCount),
		fmt.Sprint("Web", "the shop", []TeamMember{{email("ada"), "ADA"}, {email("bob"), "BOB"}}, []string{s.ids[1]}, 2, 1))
	if !id.Valid("team", made.ID) || made.CreatedAt.IsZero() {
		t.Errorf("made: %+v", made)
	}
	s.want("read", s.read(made.ID), made)

	s.clock.Advance(time.Hour)
	path := "/teams/" + made.ID
	got := data[Team](s, s.as(ada(), "PUT "+path, `{"name":"Shop"}`))
	s.want("renamed", fmt.Sprint(got.Name, got.Description, len(got.Members), got.Resources), fmt.Sprint("Shop", "the shop", 2, []string{s.ids[1]}))
	if !got.UpdatedAt.After(made.UpdatedAt) || !got.CreatedAt.Equal(made.CreatedAt) {
		t.Errorf("times: %v %v", got.CreatedAt, got.UpdatedAt)
	}
	got = data[Team](s, s.as(ada(), "PUT "+path, fmt.Sprintf(`{"description":null,"members":null,"resources":[%q,%q]}`, s.ids[2], s.ids[3])))
	s.want("replaced", fmt.Sprint(got.Description, got.Members, len(got.Resources)), fmt.Sprint("", []TeamMember{}, 2))

	brief := data[TeamBrief](s, s.as(ada(), "POST "+path+"/resources", fmt.Sprintf(`{"resourceIDs":[%q,%q]}`, s.ids[0], s.ids[2])))
	s.want("given", brief.ResourceCount, 3)
	brief = data[TeamBrief](s, s.as(ada(), "POST "+path+"/members", `{"email":"Bob@Example.com"}`))
	s.want("joined", brief.MemberCount, 1)
	s.want("joined again", data[TeamBrief](s, s.as(ada(), "POST "+path+"/members", `{"email":"bob@example.com"}`)), brief)
	people := data[rest.List[TeamMember]](s, s.as(ada(), "GET "+path+"/members", ""))
	s.want("members", fmt.Sprint(people.Items, people.Total), fmt.Sprint([]TeamMember{{email("bob"), "BOB"}}, 1))
	owned := data[rest.List[TeamResource]](s, s.as(ada(), "GET "+path+"/resources?limit=2&page=2", ""))
	s.want("resources", fmt.Sprint(owned.Total, len(owned.Items), owned.Items[0].Name), "3 1web-3")

	s.want("taken", data[rest.Deleted](s, s.as(ada(), "DELETE "+path+"/resources/"+s.ids[2], "")).ID, s.ids[2])
	s.want("left", data[rest.Deleted](s, s.as(ada(), "DELETE "+path+"/members/bob@example.com", "")).ID, email("bob"))
	list := data[rest.List[TeamBrief]](s, s.as(ada(), "GET /teams", ""))
	s.want("listed", fmt.Sprint(list.Total, list.Items[0].Name, list.Items[0].MemberCount, list.Items[0].ResourceCount), "1Shop0 2")

	s.want("deleted", data[rest.Deleted](s, s.as(ada(), "DELETE "+path, "")).ID, made.ID)
	s.refused(http.StatusNotFound, made.ID, s.as(ada(), "GET "+path, ""))
	s.want("listed after the end", data[rest.List[TeamBrief]](s, s.as(ada(), "GET /teams", "")).Total, 0)
	s.team("shop", "") // its name is free
}

func TestRefusals(t *testing.T) {
	s := newStage(t)
	web := s.team("Web", "")
	s.team("Other", "")
	path, nobody := "/teams/"+web.ID, id.New("res", identitytest.Start)
	foreign := s.discover(theirs, 1)[0]
	for _, c := range []struct {
		name, request, body string
		status              int
		says                string
	}{
		{"no name", "POST /teams", `{}`, 400, "name"},
		{"a blank name", "POST /teams", `{"name":" "}`, 400, "name"},
		{"a name with a line break", "POST /teams", `{"name":"a\nb"}`, 400, "name"},
		{"a name that is taken", "POST /teams", `{"name":" wEB"}`, 409, "name"},
		{"a new name that is taken", "PUT " + path, `{"name":"other"}`, 409, "name"},
		{"a name of null", "PUT " + path, `{"name":null}`, 400, "name"},
		{"a member whom nobody knows", "POST /teams", `{"name":"x","members":["nobody@example.com"]}`, 400, "nobody@example.com"},
		{"a member of another organization", "POST /teams", `{"name":"x","members":["eve@example.com"]}`, 400, "eve@example.com"},
		{"a member who is no address", "PUT " + path, `{"members":["bob"]}`, 400, "bob"},
		{"a resource that does not exist", "POST /teams", `{"name":"x","resources":["` + nobody + `"]}`, 400, nobody},
		{"a resource of another organization", "PUT " + path, `{"resources":["` + foreign + `"]}`, 400, foreign},
		{"a resource by its native id", "PUT " + path, `{"resources":["i-1"]}`, 400, "i-1"},
		{"giving what does not exist", "POST " + path + "/resources", `{"resourceIDs":["` + s.ids[0] + `","` + nobody + `"]}`, 404, nobody},
		{"giving what is of another organization", "POST " + path + "/resources", `{"resourceIDs":["` + foreign + `"]}`, 404, foreign},
		{"giving nothing", "POST " + path + "/resources", `{"resourceIDs":[]}`, 400, "resourceIDs"},
		{"taking what is not owned", "DELETE " + path + "/resources/" + s.ids[0], "", 404, s.ids[0]},
		{"adding who is unknown", "POST " + path + "/members", `{"email":"nobody@example.com"}`, 404, "nobody@example.com"},
		{"adding who is elsewhere", "POST " + path + "/members", `{"email":"eve@example.com"}`, 404, "eve@example.com"},
		{"removing who is elsewhere", "DELETE " + path + "/members/eve@example.com", "", 404, "eve@example.com"},
		{"removing who is not in it", "DELETE " + path + "/members/bob@example.com", "", 404, "not a member of the team"},
		{"a team that does not exist", "GET /teams/" + id.New("team", identitytest.Start), "", 404, "team"},
		{"what cannot be a team", "DELETE /teams/x", "", 404, "team"},
		{"an order that nobody knows", "GET /teams?sort_by=colour", "", 400, "sort_by"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.t = t
			s.refused(c.status, c.says, s.as(ada(), c.request, c.body))
		})
	}
	s.t = t
	s.want("after all that", s.read(web.ID), web)
}

// TestAddressesOfOthersAreAnsweredAsThoseOfNobody: the two differ in nothing but the address.
func TestAddressesOfOthersAreAnsweredAsThoseOfNobody(t *testing.T) {
	s := newStage(t)
	path := "/teams/" + s.team("Web", "").ID
	for _, request := range []string{"POST " + path + "/members", "POST /teams", "DELETE " + path + "/members/%s"} {
		var bodies []string
		var trips []int
		for _, who := range []string{"eve@example.com", "abc@example.com"} {
			w := s.as(ada(), strings.ReplaceAll(request, "%s", who), fmt.Sprintf(`{"email":%q,"name":"x","members":[%q]}`, who, who))
			bodies, trips = append(bodies, fmt.Sprint(w.Code, strings.ReplaceAll(w.Body.String(), who, "?"))), append(trips, s.trips)
		}
		if bodies[0] != bodies[1] || trips[0] != trips[1] {
			t.Errorf("%s: %v after %v round trips", request, bodies, trips)
		}
	}
}

func TestAnotherOrganizationHasNoneOfOurTeams(t *testing.T) {
	s := newStage(t)
	web := s.team("Web", fmt.Sprintf(`,"members":["bob@example.com"],"resources":[%q]`, s.ids[0]))
	path := "/teams/" + web.ID
	for _, request := range []string{
		"GET " + path, "PUT " + path, "DELETE " + path, "GET " + path + "/members", "POST " + path + "/members", "DELETE " + path + "/members/eve@example.com",
		"GET " + path + "/resources", "POST " + path + "/resources", "DELETE " + path + "/resources/" + s.ids[0],
	} {
		w := s.as(eve(), request, fmt.Sprintf(`{"name":"Theirs","email":"eve@example.com","resourceIDs":[%q]}`, s.discover(theirs, 1)[0]))
		s.refused(http.StatusNotFound, "does not exist", w)
	}
	if list := data[rest.List[TeamBrief]](s, s.as(eve(), "GET /teams", "")); list.Total != 0 {
		t.Errorf("listed: %+v", list)
	}
	s.want("after all that", s.read(web.ID), web)
}

// TestWhoLeavesTheOrganizationLeavesItsTeams, and does not come back into them with coming back.
func TestWhoLeavesTheOrganizationLeavesItsTeams(t *testing.T) {
	s := newStage(t)
	path := "/teams/" + s.team("Web", `,"members":["ada@example.com","bob@example.com"]`).ID
	s.leave("bob")
	count := func(what string, n int) {
		t.Helper()
		people := data[rest.List[TeamMember]](s, s.as(ada(), "GET "+path+"/members", ""))
		list := data[rest.List[TeamBrief]](s, s.as(ada(), "GET /teams", "")).Items[0]
		one := data[Team](s, s.as(ada(), "GET "+path, ""))
		s.want(what, fmt.Sprint(people.Total, len(people.Items), list.MemberCount, one.MemberCount, len(one.Members)), fmt.Sprint(n, n, n, n, n))
	}
	count("after bob has left", 1)
	s.refused(http.StatusNotFound, email("bob"), s.as(ada(), "DELETE "+path+"/members/bob@example.com", ""))
	s.clock.Advance(time.Minute)
	s.join(ours, "bob", grant.Viewer)
	count("after bob has come back", 1)
	data[TeamBrief](s, s.as(ada(), "POST "+path+"/members", `{"email":"bob@example.com"}`))
	count("after bob was added again", 2)
}

func TestATeamOnWhichRolesAreHeldIsNotDeleted(t *testing.T) {
	s := newStage(t)
	web := s.team("Web", "")
	s.assign("bob", grant.Operator, web.ID)
	m := s.member("bob")
	s.refused(http.StatusConflict, m.Grants[1].ID, s.as(ada(), "DELETE /teams/"+web.ID, ""))
	s.must(s.people.Regrant(t.Context(), ours, m, m.Grants[:1]))
	data[rest.Deleted](s, s.as(ada(), "DELETE /teams/"+web.ID, ""))
}

// TestNobodyMakesRolesReachFurtherThanTheirOwn: whoever may change teams, and no more, cannot give a team on which somebody
// operates the resources that they themselves may not operate.
func TestNobodyMakesRolesReachFurtherThanTheirOwn(t *testing.T) { // check 43
	s := newStage(t)
	web := s.team("Web", fmt.Sprintf(`,"resources":[%q]`, s.ids[0]))
	keeper := identity.Caller{Org: ours, User: "usr_bob", Email: email("bob"), Session: "s", Grants: grant.Resolve([]grant.Grant{
		{Role: "role_keeper", Policies: []string{"teams:read", "teams:write", "resources:read"}, Scope: grant.OrgScope},
		{Role: grant.Operator, Scope: grant.TeamScope + web.ID},
	})}
	path := "/teams/" + web.ID
	data[TeamBrief](s, s.as(keeper, "POST "+path+"/resources", fmt.Sprintf(`{"resourceID":%q}`, s.ids[1]))) // nobody holds anything on it
	s.assign("bob", grant.Operator, web.ID)
	for request, body := range map[string]string{
		"POST " + path + "/resources": fmt.Sprintf(`{"resourceIDs":[%q]}`, s.ids[2]),
		"PUT " + path:                 fmt.Sprintf(`{"resources":[%q]}`, s.ids[2]),
	} {
		s.refused(http.StatusForbidden, "holds more than you do", s.as(keeper, request, body))
	}
	s.want("owned", s.read(web.ID).ResourceCount, 2)
	data[Team](s, s.as(keeper, "PUT "+path, fmt.Sprintf(`{"resources":[%q]}`, s.ids[1])))
	data[TeamBrief](s, s.as(ada(), "POST "+path+"/resources", fmt.Sprintf(`{"resourceIDs":[%q]}`, s.ids[2])))
}

func TestAGrantOnATeamShowsThatTeam(t *testing.T) { // check 42
	s := newStage(t)
	web, db := s.team("Web", fmt.Sprintf(`,"resources":[%q,%q]`, s.ids[0], s.ids[1])), s.team("DB", fmt.Sprintf(`,"resources":[%q]`, s.ids[2]))
	c := bob(grant.Admin, grant.TeamScope+web.ID)
	list := data[rest.List[TeamBrief]](s, s.as(c, "GET /teams", ""))
	s.want("listed", fmt.Sprint(list.Total, list.Items[0].ID, list.Items[0].ResourceCount), fmt.Sprint(1, web.ID, 2))
	s.want("read", data[Team](s, s.as(c, "GET /teams/"+web.ID, "")), web)
	s.want("its resources", data[rest.List[TeamResource]](s, s.as(c, "GET /teams/"+web.ID+"/resources", "")).Total, 2)
	unknown := s.as(c, "GET /teams/"+strings.Replace(db.ID, db.ID[len(db.ID)-1:], "0", 1), "").Code
	for _, path := range []string{"", "/members", "/resources"} {
		w := s.as(c, "GET /teams/"+db.ID+path, "")
		s.refused(unknown, "does not exist", w)
	}
	for _, request := range []string{
		"POST /teams", "PUT /teams/" + web.ID, "DELETE /teams/" + web.ID, "POST /teams/" + web.ID + "/members", "DELETE /teams/" + web.ID + "/members/bob@example.com",
		"POST /teams/" + web.ID + "/resources", "DELETE /teams/" + web.ID + "/resources/" + s.ids[0],
	} { // who could give a team resources could act on any
		s.refused(http.StatusForbidden, "teams:write", s.as(c, request, fmt.Sprintf(`{"name":"x","email":"bob@example.com","resourceIDs":[%q]}`, s.ids[5])))
	}
	if list = data[rest.List[TeamBrief]](s, s.as(bob(grant.Viewer, grant.ResourceScope+s.ids[0]), "GET /teams", "")); list.Total != 0 {
		t.Errorf("a grant on a resource shows %d teams", list.Total)
	}
	s.refused(http.StatusForbidden, "teams:read", s.as(identity.Caller{Org: ours, User: "usr_x"}, "GET /teams", ""))
}

func TestChangesAtTheSameTimeAreAllThere(t *testing.T) {
	s := newStage(t)
	web := s.team("Web", "")
	var wg sync.WaitGroup
	for n, resource := range s.ids {
		s.join(ours, fmt.Sprint("user", n), grant.Viewer)
		for request, body := range map[string]string{"/resources": fmt.Sprintf(`{"resourceIDs":[%q]}`, resource), "/members": fmt.Sprintf(`{"email":"user%d@example.com"}`, n)} {
			wg.Go(func() {
				for range 10 { // more rivals than the service itself tries again for
					if s.status(ada(), "POST /teams/"+web.ID+request, body) == http.StatusOK {
						return
					}
				}
				t.Errorf("%s never got in", body)
			})
		}
	}
	wg.Wait()
	got := s.read(web.ID)
	s.want("in the end", fmt.Sprint(got.MemberCount, got.ResourceCount), "6 6")
}

func TestListsArePagedAndOrdered(t *testing.T) {
	s := newStage(t)
	for _, name := range []string{"beta", "Alpha", "gamma"} {
		s.team(name, "")
		s.clock.Advance(time.Second)
	}
	for query, want := range map[string]string{
		"": "Alpha beta gamma", "?sort_order=desc": "gamma beta Alpha", "?sort_by=createdAt": "beta Alpha gamma", "?limit=2&page=2": "gamma", "?page=9": "",
	} {
		list := data[rest.List[TeamBrief]](s, s.as(ada(), "GET /teams"+query, ""))
		var names []string
		for _, one := range list.Items {
			names = append(names, one.Name)
		}
		s.want(query, fmt.Sprint(strings.Join(names, " "), list.Total), fmt.Sprint(want, 3))
	}
}

func TestEveryChangeIsOnRecord(t *testing.T) {
	s := newStage(t)
	web := s.team("Web", `,"members":["bob@example.com"]`)
	path := "/teams/" + web.ID
	for _, c := range []struct{ request, body, before, after string }{
		{"PUT " + path, `{"name":"Shop"}`, `"name":"Web"`, `"name":"Shop"`},
		{"POST " + path + "/members", `{"email":"ada@example.com"}`, "", "ada@example.com"},
		{"DELETE " + path + "/members/bob@example.com", "", "bob@example.com", ""},
		{"POST " + path + "/resources", `{"resourceIDs":["` + s.ids[0] + `"]}`, "", s.ids[0]},
		{"DELETE " + path + "/resources/" + s.ids[0], "", s.ids[0], ""},
		{"DELETE " + path, "", `"name":"Shop"`, ""},
	} {
		if w := s.as(ada(), c.request, c.body); w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", c.request, w.Code, w.Body)
		}
		row := s.record()
		before, _ := json.Marshal(row.Changes.Before)
		after, _ := json.Marshal(row.Changes.After)
		if row.Target != web.ID || !strings.Contains(string(before), c.before) || !strings.Contains(string(after), c.after) {
			t.Errorf("%s: %s before %s after %s", c.request, row.Target, before, after)
		}
	}
}
