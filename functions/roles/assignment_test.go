package roles

import (
	"fmt"
	"net/http"
	"slices"
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

func TestAnAssignmentFromItsCreationToItsEnd(t *testing.T) {
	s := newFixture(t)
	s.addMember("lou")
	if c := s.Authorized(ours, "lou"); identity.Holds(c, "actions:read") {
		t.Fatal("somebody without a role may do something")
	}
	r := s.newRole("Looker", "actions:read")
	a := s.assignRole("lou", r.ID, "team:"+s.teams[ours])
	want := Assignment{
		a.ID, "lou@example.com", r.ID, "Looker", "team:" + s.teams[ours], s.Clock.Now(),
		"olga@example.com",
	}
	if a != want || !id.IsValid("asgn", a.ID) {
		t.Errorf("got  %+v\nwant %+v", a, want)
	}
	c := s.Authorized(ours, "lou")
	if !identity.Allows(c, "actions:read", a.Scope) || identity.Allows(c, "actions:read") ||
		identity.Holds(c, "actions:execute") {
		t.Errorf("grants %+v", c.Grants)
	}
	list := apitest.Data[rest.List[Assignment]](s.as("olga", "GET /assignments?email=LOU@example.com"))
	if list.Total != 1 || list.Items[0] != a {
		t.Errorf("listed %+v", list)
	}
	if got := apitest.Data[rest.Deleted](s.as("olga", "DELETE /assignments/"+a.ID)); got.ID != a.ID {
		t.Errorf("deleted %+v", got)
	}
	if c = s.Authorized(ours, "lou"); len(c.Grants) != 0 {
		t.Errorf("grants %+v", c.Grants)
	}
	s.as("olga", "DELETE /assignments/"+a.ID).Want(404, a.ID)
	if list = apitest.Data[rest.List[Assignment]](s.as("olga",
		"GET /assignments?email=lou@example.com")); list.Total != 0 || list.Items == nil {
		t.Errorf("listed %+v", list)
	}
}

func TestTheListOfAssignments(t *testing.T) {
	s := newFixture(t)
	s.addMember("ann", grant.Viewer)
	s.addMember("bob")
	r := s.newRole("Looker", "actions:read")
	team := "team:" + s.teams[ours]
	s.assignRole("ann", r.ID, team)
	s.assignRole("bob", r.ID, "resource:"+s.resources[ours])
	s.assignRole("bob", grant.Viewer, team)
	all := "olga owner org, ann viewer org, ann Looker team, bob Looker resource, bob viewer team"
	for query, want := range map[string]string{
		"":                                   all,
		"?email=bob@example.com":             "bob Looker resource, bob viewer team",
		"?roleID=viewer":                     "ann viewer org, bob viewer team",
		"?scope=org":                         "olga owner org, ann viewer org",
		"?scope=" + team:                     "ann Looker team, bob viewer team",
		"?scope=" + team + "&roleID=" + r.ID: "ann Looker team",
		"?email=nobody@example.com":          "",
		"?email=nonsense":                    "",
		"?roleID=role_none":                  "",
		"?scope=team:" + s.teams[theirs]:     "",
	} {
		list := apitest.Data[rest.List[Assignment]](s.as("olga", "GET /assignments"+query))
		if got := briefAssignments(list.Items); got != want || list.Total != len(list.Items) || list.Items == nil {
			t.Errorf("%q: %d: %s", query, list.Total, got)
		}
	}
	var paged []Assignment
	for page := 1; page <= 3; page++ {
		list := apitest.Data[rest.List[Assignment]](s.as("olga", fmt.Sprintf("GET /assignments?limit=2&page=%d", page)))
		if list.Total != 5 {
			t.Errorf("page %d: total %d", page, list.Total)
		}
		paged = append(paged, list.Items...)
	}
	if got := briefAssignments(paged); got != all {
		t.Errorf("page by page: %s", got)
	}
	if list := apitest.Data[rest.List[Assignment]](s.Call(s.Authorized(theirs, "olga"),
		"GET /assignments")); briefAssignments(list.Items) != "olga owner org" {
		t.Errorf("another organization's: %+v", list)
	}
}

func briefAssignments(all []Assignment) string {
	var out []string
	for _, a := range all {
		who, _, _ := strings.Cut(a.Email, "@")
		kind, _ := grant.CutScope(a.Scope)
		out = append(out, who+" "+a.RoleName+" "+kind)
	}
	return strings.Join(out, ", ")
}

// check 39: a record of another organization is answered like one that does not exist.
func TestWhatCannotBeAssigned(t *testing.T) {
	s := newFixture(t)
	s.addMember("lou", grant.Viewer)
	theirRole := apitest.Data[Role](s.Call(s.Authorized(theirs, "olga"),
		`POST /roles {"name":"Theirs","policies":["actions:read"]}`))
	s.User("foreign")
	noTeam, noResource, noRole := id.New("team", s.Clock.Now()), id.New("res", s.Clock.Now()),
		id.New("role", s.Clock.Now())
	for name, c := range map[string]struct {
		who, role, scope string
		status           int
		says             string
	}{
		"a team of another organization": {"lou", "viewer", "team:" + s.teams[theirs], 400, "does not exist"},
		"a team that nobody has":         {"lou", "viewer", "team:" + noTeam, 400, "does not exist"},
		"a resource of another organization": {
			"lou", "viewer", "resource:" + s.resources[theirs], 400,
			"does not exist",
		},
		"a resource that nobody has":            {"lou", "viewer", "resource:" + noResource, 400, "does not exist"},
		"a role of another organization":        {"lou", theirRole.ID, "org", 400, "does not exist"},
		"a role that nobody has":                {"lou", noRole, "org", 400, "does not exist"},
		"a role by its title":                   {"lou", "Owner", "org", 400, "does not exist"},
		"somebody who has an account elsewhere": {"foreign", "viewer", "org", 400, "belongs to this organization"},
		"somebody who has none":                 {"nobody", "viewer", "org", 400, "belongs to this organization"},
		"a scope that is none": {
			"lou", "viewer", "galaxy", 400,
			`scope: \"galaxy\" is not a kind of scope`,
		},
		"a scope of another kind": {
			"lou", "viewer", "cloud-account:ca_1", 400,
			`scope: \"cloud-account\" is not a kind of scope`,
		},
		"a team without an id": {"lou", "viewer", "team:", 400, "is not the id of a team"},
		"a team by a resource's id": {
			"lou", "viewer", "team:" + s.resources[ours], 400,
			"is not the id of a team",
		},
		"a team of another form": {
			"lou", "viewer", "team:latest", 400,
			`scope: \"latest\" is not the id of a team`,
		},
		"the organization by its id":  {"lou", "viewer", "org:" + ours, 400, "org takes no id"},
		"an organization in capitals": {"lou", "viewer", "ORG", 400, `scope: \"ORG\" is not a kind of scope`},
		"a resource by its native id": {"lou", "viewer", "resource:i-0abc", 400, "not our id of a resource"},
		"what they have already":      {"lou", "viewer", "org", 409, "already"},
	} {
		t.Run(name, func(t *testing.T) {
			s.TB = t
			s.as("olga", assignRequest(c.who, c.role, c.scope)).Want(c.status, c.says)
		})
	}
	s.TB = t
	for _, pair := range [][2]string{
		{assignRequest("lou", "viewer", "team:"+s.teams[theirs]), assignRequest("lou", "viewer", "team:"+noTeam)},
		{
			assignRequest("lou", "viewer", "resource:"+s.resources[theirs]),
			assignRequest("lou", "viewer", "resource:"+noResource),
		},
		{assignRequest("lou", theirRole.ID, "org"), assignRequest("lou", noRole, "org")},
		{assignRequest("foreign", "viewer", "org"), assignRequest("nobody0", "viewer", "org")},
	} {
		foreign, none := s.as("olga", pair[0]), s.as("olga", pair[1])
		if foreign.Status != none.Status || len(foreign.Body) != len(none.Body) {
			t.Errorf("%d %s\n%d %s", foreign.Status, foreign.Body, none.Status, none.Body)
		}
	}
	for _, body := range []string{
		`{}`, `{"email":"lou@example.com","roleID":"viewer"}`,
		`{"email":"lou@example.com","scope":"org"}`, `{"roleID":"viewer","scope":"org"}`,
	} {
		s.as("olga", "POST /assignments "+body).Want(400)
	}
	if got := s.Authorized(ours, "lou").Grants; len(got) != 1 {
		t.Errorf("grants %+v", got)
	}
	theirAssignment := apitest.Data[rest.List[Assignment]](s.Call(s.Authorized(theirs, "olga"),
		"GET /assignments")).Items[0]
	s.as("olga", "DELETE /assignments/"+theirAssignment.ID).Want(404, "does not exist")
	s.as("olga", "DELETE /assignments/latest").Want(404, "does not exist")
}

// check 43: a caller cannot give a role that they do not hold at that scope, change their own roles, or revoke roles
// of a user who holds more.
func TestNobodyRaisesAnybodyAboveThemselves(t *testing.T) {
	s := newFixture(t)
	team := "team:" + s.teams[ours]
	s.addMember("adam", grant.Admin)
	s.addMember("lou", grant.Viewer)
	keeper := s.newRole("Keeper", "roles:*", "actions:read")
	s.addMember("kay", keeper.ID)
	s.assignRole("kay", grant.Operator, team)
	acting := s.newRole("Acting", "actions:execute")
	s.as("olga", "DELETE /assignments/"+s.only("olga")).Want(409, "last owner")
	s.addMember("otto", grant.Owner)
	for name, c := range map[string]struct{ who, request, says string }{
		"an admin makes an owner":           {"adam", assignRequest("lou", "owner", "org"), "organisation:delete"},
		"an admin makes an owner of a team": {"adam", assignRequest("lou", "owner", team), "organisation:delete"},
		"an admin makes themselves one": {
			"adam", assignRequest("adam", "owner", "org"),
			"cannot change your own roles",
		},
		"an owner gives to themselves": {
			"olga", assignRequest("olga", "viewer", "org"),
			"cannot change your own roles",
		},
		"somebody raises themselves": {
			"kay", assignRequest("kay", keeper.ID, team),
			"cannot change your own roles",
		},
		"somebody raises themselves, spelled so": {
			"kay",
			strings.Replace(assignRequest("kay", "viewer", "org"), "kay@", "KAY@", 1), "cannot change your own roles",
		},
		"somebody gives what they lack": {"kay", assignRequest("lou", acting.ID, "org"), "actions:execute"},
		"somebody gives what they have elsewhere": {
			"kay",
			assignRequest("lou", acting.ID, "resource:"+s.resources[ours]),
			"actions:execute",
		},
		"an admin takes from the owner": {"adam", "DELETE /assignments/" + s.only("olga"), "holds more"},
		"an owner takes from themselves": {
			"otto", "DELETE /assignments/" + s.only("otto"), "cannot change or remove yourself",
		},
		"who may little takes from who may more": {"kay", "DELETE /assignments/" + s.only("adam"), "holds more"},
		"who may not change roles gives":         {"lou", assignRequest("kay", "viewer", "org"), "roles:write"},
		"who may not change roles takes":         {"lou", "DELETE /assignments/" + s.only("adam"), "roles:write"},
	} {
		t.Run(name, func(t *testing.T) {
			s.TB = t
			s.as(c.who, c.request).Want(403, "permission denied", c.says)
		})
	}
	s.TB = t
	// a role that they have, on the scope where they have it
	s.as("kay", assignRequest("lou", acting.ID, team)).Want(200)
	s.as("kay", assignRequest("lou", keeper.ID, "resource:"+s.resources[ours])).Want(200)
	s.as("adam", assignRequest("lou", grant.Admin, "org")).Want(200)
}

// Who may write roles on a team only gets in nowhere: roles are not about resources.
func TestAScopedGrantIsNoWayToRoles(t *testing.T) {
	s := newFixture(t)
	s.addMember("tim")
	s.assignRole("tim", grant.Owner, "team:"+s.teams[ours])
	for _, request := range []string{
		"GET /roles", "GET /roles/viewer", `POST /roles {"name":"x","policies":["actions:read"]}`,
		`PUT /roles/role_x {}`, "DELETE /roles/role_x",
		"GET /assignments", assignRequest("tim", "viewer", "team:"+s.teams[ours]),
		"DELETE /assignments/" + s.only("tim"),
	} {
		s.as("tim", request).Want(403, "roles:")
	}
}

func TestSoManyAssignmentsAndNoMore(t *testing.T) {
	s := newFixture(t)
	s.addMember("lou")
	var last Assignment
	for n := range identity.MaxGrants {
		r := s.newRole(fmt.Sprintf("Role %d", n), "actions:read")
		last = s.assignRole("lou", r.ID, "org")
	}
	s.as("olga", assignRequest("lou", "viewer", "org")).Want(409, "40 grants")
	if c := s.Authorized(ours, "lou"); len(c.Grants) != identity.MaxGrants {
		t.Errorf("%d grants", len(c.Grants))
	}
	s.as("olga", "DELETE /assignments/"+last.ID).Want(200)
	s.as("olga", assignRequest("lou", "viewer", "org")).Want(200)
}

// check 43: two owners who each revoke the other, at the same time: one of them stays.
func TestTheLastOwnerStaysWhenOwnersRevokeEachOther(t *testing.T) {
	s := newFixture(t)
	s.addMember("ida")
	for range 10 {
		mine := s.only("olga")
		theirs := s.assignRole("ida", grant.Owner, "org").ID
		olga, ida := s.Authorized(ours, "olga"), s.Authorized(ours, "ida")
		var one, other apitest.Answer
		var wg sync.WaitGroup
		wg.Go(func() { one = s.Call(olga, "DELETE /assignments/"+theirs) })
		wg.Go(func() { other = s.Call(ida, "DELETE /assignments/"+mine) })
		wg.Wait()
		if got := []int{one.Status, other.Status}; !slices.Contains(got, 200) || !slices.Contains(got, 409) {
			t.Fatalf("%v: %s %s", got, one.Body, other.Body)
		}
		if other.Status == 200 { // Ida makes Olga an owner again, and goes
			s.Clock.Advance(time.Second)
			s.as("ida", assignRequest("olga", grant.Owner, "org")).Want(200)
			s.as("olga", "DELETE /assignments/"+s.only("ida")).Want(200)
		}
	}
	s.as("olga", assignRequest("ida", grant.Admin, "org")).Want(200)
	s.as("ida", "DELETE /assignments/"+s.only("olga")).Want(403)
}

// Many assign to one user at the same time: every one that is answered with success is there.
func TestAssignmentsAtOnce(t *testing.T) {
	s := newFixture(t)
	s.addMember("lou")
	var roles []Role
	for n := range 6 {
		roles = append(roles, s.newRole(fmt.Sprintf("Role %d", n), "actions:read"))
	}
	c := s.Authorized(ours, "olga")
	replies := make([]apitest.Answer, len(roles))
	var wg sync.WaitGroup
	for n := range roles {
		wg.Go(func() { replies[n] = s.Call(c, assignRequest("lou", roles[n].ID, "org")) })
	}
	wg.Wait()
	made := 0
	for _, r := range replies {
		if r.Status == http.StatusOK {
			made++
		} else if r.Status != http.StatusConflict {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	}
	if got := s.Authorized(ours, "lou").Grants; len(got) != made || made == 0 {
		t.Errorf("%d made, %d there", made, len(got))
	}
}
