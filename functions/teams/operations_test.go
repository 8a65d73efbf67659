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
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestATeamFromItsCreationToItsEnd(t *testing.T) {
	s := newFixture(t)
	made := s.newTeam(" Web ",
		fmt.Sprintf(`,"description":"the shop","members":["BOB@example.com","ada@example.com","bob@example.com"],`+
			`"resources":[%q,%q]`, s.ids[1], s.ids[1]))
	s.Equal("made",
		fmt.Sprint(made.Name, made.Description, made.Members, made.Resources, made.MemberCount, made.ResourceCount),
		fmt.Sprint("Web", "the shop", []TeamMember{{apitest.Email("ada"), "ADA"}, {apitest.Email("bob"), "BOB"}},
			[]string{s.ids[1]}, 2, 1))
	if !id.IsValid("team", made.ID) || made.CreatedAt.IsZero() {
		t.Errorf("made: %+v", made)
	}
	s.Equal("read", s.readTeam(made.ID), made)

	s.Clock.Advance(time.Hour)
	path := "/teams/" + made.ID
	got := apitest.Data[Team](s.Call(ada, "PUT "+path, `{"name":"Shop"}`))
	s.Equal("renamed", fmt.Sprint(got.Name, got.Description, len(got.Members), got.Resources),
		fmt.Sprint("Shop", "the shop", 2, []string{s.ids[1]}))
	if !got.UpdatedAt.After(made.UpdatedAt) || !got.CreatedAt.Equal(made.CreatedAt) {
		t.Errorf("times: %v %v", got.CreatedAt, got.UpdatedAt)
	}
	got = apitest.Data[Team](s.Call(ada, "PUT "+path,
		fmt.Sprintf(`{"description":null,"members":null,"resources":[%q,%q]}`, s.ids[2], s.ids[3])))
	s.Equal("replaced", fmt.Sprint(got.Description, got.Members, len(got.Resources)), fmt.Sprint("", []TeamMember{}, 2))

	brief := apitest.Data[TeamListed](s.Call(ada, "POST "+path+"/resources",
		fmt.Sprintf(`{"resourceIDs":[%q,%q]}`, s.ids[0], s.ids[2])))
	s.Equal("given", brief.ResourceCount, 3)
	brief = apitest.Data[TeamListed](s.Call(ada, "POST "+path+"/members", `{"email":"Bob@Example.com"}`))
	s.Equal("joined", brief.MemberCount, 1)
	again := apitest.Data[TeamListed](s.Call(ada, "POST "+path+"/members", `{"email":"bob@example.com"}`))
	s.Equal("joined again", fmt.Sprint(again), fmt.Sprint(brief))
	s.Equal("shown", fmt.Sprint(brief.Members, len(brief.Resources)),
		fmt.Sprint([]TeamMember{{apitest.Email("bob"), "BOB"}}, 3))
	people := apitest.Data[rest.List[TeamMember]](s.Call(ada, "GET "+path+"/members"))
	s.Equal("members", fmt.Sprint(people.Items, people.Total),
		fmt.Sprint([]TeamMember{{apitest.Email("bob"), "BOB"}}, 1))
	owned := apitest.Data[rest.List[TeamResource]](s.Call(ada, "GET "+path+"/resources?limit=2&page=2"))
	s.Equal("resources", fmt.Sprint(owned.Total, len(owned.Items), owned.Items[0].Name), "3 1web-3")

	s.Equal("taken", apitest.Data[rest.Deleted](s.Call(ada, "DELETE "+path+"/resources/"+s.ids[2])).ID, s.ids[2])
	s.Equal("left", apitest.Data[rest.Deleted](s.Call(ada, "DELETE "+path+"/members/bob@example.com")).ID,
		apitest.Email("bob"))
	list := apitest.Data[rest.List[TeamListed]](s.Call(ada, "GET /teams"))
	s.Equal("listed",
		fmt.Sprint(list.Total, list.Items[0].Name, list.Items[0].MemberCount, list.Items[0].ResourceCount), "1Shop0 2")
	s.Equal("members listed", fmt.Sprint(list.Items[0].Members == nil, len(list.Items[0].Members)), "false 0")
	s.Equal("resources listed", fmt.Sprint(list.Items[0].Resources),
		fmt.Sprint(apitest.Data[Team](s.Call(ada, "GET "+path)).Resources))

	s.Equal("deleted", apitest.Data[rest.Deleted](s.Call(ada, "DELETE "+path)).ID, made.ID)
	s.Call(ada, "GET "+path).Want(http.StatusNotFound, made.ID)
	s.Equal("listed after the end", apitest.Data[rest.List[TeamListed]](s.Call(ada, "GET /teams")).Total, 0)
	s.newTeam("shop", "") // its name is free
}

func TestRefusals(t *testing.T) {
	s := newFixture(t)
	web := s.newTeam("Web", "")
	s.newTeam("Other", "")
	path, nobody := "/teams/"+web.ID, id.New("res", apitest.Start)
	foreign := s.foreign
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
		{
			"a member whom nobody knows", "POST /teams", `{"name":"x","members":["nobody@example.com"]}`, 400,
			"nobody@example.com",
		},
		{
			"a member of another organization", "POST /teams", `{"name":"x","members":["eve@example.com"]}`, 400,
			"eve@example.com",
		},
		{"a member who is no address", "PUT " + path, `{"members":["bob"]}`, 400, "bob"},
		{"a resource that does not exist", "POST /teams", `{"name":"x","resources":["` + nobody + `"]}`, 400, nobody},
		{"a resource of another organization", "PUT " + path, `{"resources":["` + foreign + `"]}`, 400, foreign},
		{"a resource by its native id", "PUT " + path, `{"resources":["i-1"]}`, 400, "i-1"},
		{
			"giving what does not exist", "POST " + path + "/resources",
			`{"resourceIDs":["` + s.ids[0] + `","` + nobody + `"]}`, 404, nobody,
		},
		{
			"giving what is of another organization", "POST " + path + "/resources",
			`{"resourceIDs":["` + foreign + `"]}`,
			404, foreign,
		},
		{"giving nothing", "POST " + path + "/resources", `{"resourceIDs":[]}`, 400, "resourceIDs"},
		{"taking what is not owned", "DELETE " + path + "/resources/" + s.ids[0], "", 404, s.ids[0]},
		{
			"adding who is unknown", "POST " + path + "/members", `{"email":"nobody@example.com"}`, 404,
			"nobody@example.com",
		},
		{"adding who is elsewhere", "POST " + path + "/members", `{"email":"eve@example.com"}`, 404, "eve@example.com"},
		{"removing who is elsewhere", "DELETE " + path + "/members/eve@example.com", "", 404, "eve@example.com"},
		{
			"removing who is not in it", "DELETE " + path + "/members/bob@example.com", "", 404,
			"not a member of the team",
		},
		{"a team that does not exist", "GET /teams/" + id.New("team", apitest.Start), "", 404, "team"},
		{"what cannot be a team", "DELETE /teams/x", "", 404, "team"},
		{"an order that nobody knows", "GET /teams?sort_by=colour", "", 400, "sort_by"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.TB = t
			s.Call(ada, c.request, c.body).Want(c.status, c.says)
		})
	}
	s.TB = t
	s.Equal("after all that", s.readTeam(web.ID), web)
}

// TestAddressesOfOthersAreAnsweredAsThoseOfNobody: the two differ in nothing but the address.
func TestAddressesOfOthersAreAnsweredAsThoseOfNobody(t *testing.T) {
	s := newFixture(t)
	path := "/teams/" + s.newTeam("Web", "").ID
	for _, request := range []string{"POST " + path + "/members", "POST /teams", "DELETE " + path + "/members/%s"} {
		var bodies []string
		var trips []int
		for _, who := range []string{"eve@example.com", "abc@example.com"} {
			w := s.Call(ada, strings.ReplaceAll(request, "%s", who),
				fmt.Sprintf(`{"email":%q,"name":"x","members":[%q]}`, who, who))
			bodies, trips = append(bodies, fmt.Sprint(w.Status, strings.ReplaceAll(w.Body, who, "?"))),
				append(trips, w.Usage.RoundTrips)
		}
		if bodies[0] != bodies[1] || trips[0] != trips[1] {
			t.Errorf("%s: %v after %v round trips", request, bodies, trips)
		}
	}
}

func TestAnotherOrganizationHasNoneOfOurTeams(t *testing.T) {
	s := newFixture(t)
	web := s.newTeam("Web", fmt.Sprintf(`,"members":["bob@example.com"],"resources":[%q]`, s.ids[0]))
	path := "/teams/" + web.ID
	for _, request := range []string{
		"GET " + path, "PUT " + path, "DELETE " + path, "GET " + path + "/members", "POST " + path + "/members",
		"DELETE " + path + "/members/eve@example.com",
		"GET " + path + "/resources", "POST " + path + "/resources", "DELETE " + path + "/resources/" + s.ids[0],
	} {
		w := s.Call(eve, request,
			fmt.Sprintf(`{"name":"Theirs","email":"eve@example.com","resourceIDs":[%q]}`, s.foreign))
		w.Want(http.StatusNotFound, "does not exist")
	}
	if list := apitest.Data[rest.List[TeamListed]](s.Call(eve, "GET /teams")); list.Total != 0 {
		t.Errorf("listed: %+v", list)
	}
	s.Equal("after all that", s.readTeam(web.ID), web)
}

// TestWhoLeavesTheOrganizationLeavesItsTeams, and does not come back into them with coming back.
func TestWhoLeavesTheOrganizationLeavesItsTeams(t *testing.T) {
	s := newFixture(t)
	path := "/teams/" + s.newTeam("Web", `,"members":["ada@example.com","bob@example.com"]`).ID
	s.Must(s.People.RemoveMember(t.Context(), ours, s.Member(ours, "bob")))
	count := func(what string, n int) {
		t.Helper()
		people := apitest.Data[rest.List[TeamMember]](s.Call(ada, "GET "+path+"/members"))
		list := apitest.Data[rest.List[TeamListed]](s.Call(ada, "GET /teams")).Items[0]
		one := apitest.Data[Team](s.Call(ada, "GET "+path))
		s.Equal(what, fmt.Sprint(people.Total, len(people.Items), list.MemberCount, one.MemberCount, len(one.Members)),
			fmt.Sprint(n, n, n, n, n))
	}
	count("after bob has left", 1)
	s.Call(ada, "DELETE "+path+"/members/bob@example.com").Want(http.StatusNotFound, apitest.Email("bob"))
	s.Clock.Advance(time.Minute)
	s.Join(ours, "bob", grant.Viewer)
	count("after bob has come back", 1)
	apitest.Data[TeamListed](s.Call(ada, "POST "+path+"/members", `{"email":"bob@example.com"}`))
	count("after bob was added again", 2)
}

func TestATeamOnWhichRolesAreHeldIsNotDeleted(t *testing.T) {
	s := newFixture(t)
	web := s.newTeam("Web", "")
	s.assignRole("bob", grant.Operator, web.ID)
	m := s.Member(ours, "bob")
	s.Call(ada, "DELETE /teams/"+web.ID).Want(http.StatusConflict, m.Grants[1].ID)
	s.Must(s.People.ReplaceGrants(t.Context(), ours, m, m.Grants[:1]))
	apitest.Data[rest.Deleted](s.Call(ada, "DELETE /teams/"+web.ID))
}

// TestNobodyMakesRolesReachFurtherThanTheirOwn: a caller who may only change teams cannot give resources that they
// may not operate to a team with an operator.
func TestNobodyMakesRolesReachFurtherThanTheirOwn(t *testing.T) { // check 43
	s := newFixture(t)
	web := s.newTeam("Web", fmt.Sprintf(`,"resources":[%q]`, s.ids[0]))
	keeper := identity.Caller{
		Org: ours, User: "usr_bob", Email: apitest.Email("bob"), Session: "s",
		Grants: grant.ResolveGrants([]grant.Grant{
			{
				Role: "role_keeper", Policies: []string{"teams:read", "teams:write", "resources:read"},
				Scope: grant.OrgScope,
			},
			{Role: grant.Operator, Scope: grant.TeamScope + web.ID},
		}),
	}
	path := "/teams/" + web.ID
	// no user has a role on the team
	apitest.Data[TeamListed](s.Call(keeper, "POST "+path+"/resources", fmt.Sprintf(`{"resourceID":%q}`, s.ids[1])))
	s.assignRole("bob", grant.Operator, web.ID)
	for request, body := range map[string]string{
		"POST " + path + "/resources": fmt.Sprintf(`{"resourceIDs":[%q]}`, s.ids[2]),
		"PUT " + path:                 fmt.Sprintf(`{"resources":[%q]}`, s.ids[2]),
	} {
		s.Call(keeper, request, body).Want(http.StatusForbidden, "holds more than you do")
	}
	s.Equal("owned", s.readTeam(web.ID).ResourceCount, 2)
	apitest.Data[Team](s.Call(keeper, "PUT "+path, fmt.Sprintf(`{"resources":[%q]}`, s.ids[1])))
	apitest.Data[TeamListed](s.Call(ada, "POST "+path+"/resources", fmt.Sprintf(`{"resourceIDs":[%q]}`, s.ids[2])))
}

func TestAGrantOnATeamShowsThatTeam(t *testing.T) { // check 42
	s := newFixture(t)
	web, db := s.newTeam("Web", fmt.Sprintf(`,"resources":[%q,%q]`, s.ids[0], s.ids[1])),
		s.newTeam("DB", fmt.Sprintf(`,"resources":[%q]`, s.ids[2]))
	c := apitest.Caller(ours, "bob", "admin team:"+web.ID)
	list := apitest.Data[rest.List[TeamListed]](s.Call(c, "GET /teams"))
	s.Equal("listed", fmt.Sprint(list.Total, list.Items[0].ID, list.Items[0].ResourceCount), fmt.Sprint(1, web.ID, 2))
	s.Equal("read", apitest.Data[Team](s.Call(c, "GET /teams/"+web.ID)), web)
	s.Equal("its resources", apitest.Data[rest.List[TeamResource]](s.Call(c, "GET /teams/"+web.ID+"/resources")).Total,
		2)
	unknown := s.Call(c, "GET /teams/"+strings.Replace(db.ID, db.ID[len(db.ID)-1:], "0", 1)).Status
	for _, path := range []string{"", "/members", "/resources"} {
		w := s.Call(c, "GET /teams/"+db.ID+path)
		w.Want(unknown, "does not exist")
	}
	for _, request := range []string{
		"POST /teams", "PUT /teams/" + web.ID, "DELETE /teams/" + web.ID, "POST /teams/" + web.ID + "/members",
		"DELETE /teams/" + web.ID + "/members/bob@example.com",
		"POST /teams/" + web.ID + "/resources", "DELETE /teams/" + web.ID + "/resources/" + s.ids[0],
	} { // who could give a team resources could act on any
		s.Call(c, request,
			fmt.Sprintf(`{"name":"x","email":"bob@example.com","resourceIDs":[%q]}`,
				s.ids[5])).Want(http.StatusForbidden, "teams:write")
	}
	if list = apitest.Data[rest.List[TeamListed]](s.Call(apitest.Caller(ours, "bob", "viewer resource:"+s.ids[0]),
		"GET /teams")); list.Total != 0 {
		t.Errorf("a grant on a resource shows %d teams", list.Total)
	}
	s.Call(identity.Caller{Org: ours, User: "usr_x"}, "GET /teams").Want(http.StatusForbidden, "teams:read")
}

func TestChangesAtTheSameTimeAreAllThere(t *testing.T) {
	s := newFixture(t)
	web := s.newTeam("Web", "")
	var wg sync.WaitGroup
	for n, resource := range s.ids {
		s.Join(ours, fmt.Sprint("user", n), grant.Viewer)
		for request, body := range map[string]string{
			"/resources": fmt.Sprintf(`{"resourceIDs":[%q]}`, resource),
			"/members":   fmt.Sprintf(`{"email":"user%d@example.com"}`, n),
		} {
			wg.Go(func() {
				for range 10 { // more rivals than the service itself tries again for
					if s.Call(ada, "POST /teams/"+web.ID+request, body).Status == http.StatusOK {
						return
					}
				}
				t.Errorf("%s never got in", body)
			})
		}
	}
	wg.Wait()
	got := s.readTeam(web.ID)
	s.Equal("in the end", fmt.Sprint(got.MemberCount, got.ResourceCount), "6 6")
}

func TestListsArePagedAndOrdered(t *testing.T) {
	s := newFixture(t)
	for _, name := range []string{"beta", "Alpha", "gamma"} {
		s.newTeam(name, "")
		s.Clock.Advance(time.Second)
	}
	for query, want := range map[string]string{
		"": "Alpha beta gamma", "?sort_order=desc": "gamma beta Alpha", "?sort_by=createdAt": "beta Alpha gamma",
		"?limit=2&page=2": "gamma", "?page=9": "",
	} {
		list := apitest.Data[rest.List[TeamListed]](s.Call(ada, "GET /teams"+query))
		var names []string
		for _, one := range list.Items {
			names = append(names, one.Name)
		}
		s.Equal(query, fmt.Sprint(strings.Join(names, " "), list.Total), fmt.Sprint(want, 3))
	}
}

func TestEveryChangeIsOnRecord(t *testing.T) {
	s := newFixture(t)
	web := s.newTeam("Web", `,"members":["bob@example.com"]`)
	path := "/teams/" + web.ID
	for _, c := range []struct{ request, body, before, after string }{
		{"PUT " + path, `{"name":"Shop"}`, `"name":"Web"`, `"name":"Shop"`},
		{"POST " + path + "/members", `{"email":"ada@example.com"}`, "", "ada@example.com"},
		{"DELETE " + path + "/members/bob@example.com", "", "bob@example.com", ""},
		{"POST " + path + "/resources", `{"resourceIDs":["` + s.ids[0] + `"]}`, "", s.ids[0]},
		{"DELETE " + path + "/resources/" + s.ids[0], "", s.ids[0], ""},
		{"DELETE " + path, "", `"name":"Shop"`, ""},
	} {
		if w := s.Call(ada, c.request, c.body); w.Status != http.StatusOK {
			t.Fatalf("%s: %d %s", c.request, w.Status, w.Body)
		}
		row := s.LastAudited(ours)
		before, _ := json.Marshal(row.Changes.Before)
		after, _ := json.Marshal(row.Changes.After)
		if row.Target != web.ID || !strings.Contains(string(before), c.before) ||
			!strings.Contains(string(after), c.after) {
			t.Errorf("%s: %s before %s after %s", c.request, row.Target, before, after)
		}
	}
}

func TestListTeams_SearchesNameAndDescription(t *testing.T) {
	s := newFixture(t)
	s.newTeam("Web shop", `,"description":"The front"`)
	s.newTeam("Batch", `,"description":"Nightly, for the SHOP"`)
	hidden := s.newTeam("Shopping list", "")
	usual := s.Call(ada, "GET /teams").Usage.RoundTrips
	for search, want := range map[string]string{
		"shop": "Batch Shopping list Web shop", "WEB": "Web shop", "front": "Web shop", "none": "",
		"shop&sort_order=desc&limit=1": "Web shop",
	} {
		var got []string
		page := apitest.Data[rest.List[TeamListed]](s.Call(ada, "GET /teams?search="+search).AtMost(usual))
		for _, team := range page.Items {
			got = append(got, team.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", search, got, want)
		}
	}
	narrow := apitest.Caller(ours, "bob", "viewer team:"+hidden.ID)
	if got := apitest.Data[rest.List[TeamListed]](s.Call(narrow, "GET /teams?search=shop")); got.Total != 1 ||
		got.Items[0].ID != hidden.ID {
		t.Errorf("a grant on a team finds %+v", got)
	}
}
