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
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestARoleFromItsCreationToItsEnd(t *testing.T) {
	s := newFixture(t)
	r := apitest.Data[Role](s.as("olga",
		`POST /roles {"name":" Night shift ","description":"At night","policies":["actions:execute","*:read"],`+
			`"system":true,"id":"role_mine"}`))
	if r.Name != "Night shift" || r.System || !slices.Equal(r.Policies, []string{"actions:execute", "*:read"}) ||
		r.CreatedAt == nil || !r.CreatedAt.Equal(apitest.Start) {
		t.Errorf("created %+v", r)
	}
	if got := apitest.Data[Role](s.as("olga", "GET /roles/"+r.ID)); apitest.JSON(got) != apitest.JSON(r) {
		t.Errorf("read %+v", got)
	}
	s.Clock.Advance(time.Minute)
	was := r
	r = apitest.Data[Role](s.as("olga", "PUT /roles/"+r.ID+` {"policies":["budgets:*"]}`))
	if r.Name != was.Name || r.Description != was.Description || !slices.Equal(r.Policies, []string{"budgets:*"}) ||
		!r.CreatedAt.Equal(*was.CreatedAt) || !r.UpdatedAt.Equal(s.Clock.Now()) {
		t.Errorf("changed to %+v", r)
	}
	if r = apitest.Data[Role](s.as("olga",
		"PUT /roles/"+r.ID+` {"name":"NIGHT SHIFT","description":null}`)); r.Name != "NIGHT SHIFT" ||
		r.Description != "" || len(r.Policies) != 1 {
		t.Errorf("renamed to %+v", r)
	}
	if got := apitest.Data[rest.Deleted](s.as("olga", "DELETE /roles/"+r.ID)); got.ID != r.ID {
		t.Errorf("deleted %+v", got)
	}
	s.as("olga", "GET /roles/"+r.ID).Want(404, r.ID)
	s.as("olga", "DELETE /roles/"+r.ID).Want(404, r.ID)
}

func TestTheListOfRoles(t *testing.T) {
	s := newFixture(t)
	for _, name := range []string{"beta", "Alpha", "gamma"} {
		s.newRole(name, "actions:read")
	}
	want := []string{"viewer", "operator", "editor", "finops", "admin", "owner", "Alpha", "beta", "gamma"}
	list := apitest.Data[rest.List[Role]](s.as("olga", "GET /roles"))
	var got []string
	for i, r := range list.Items {
		got = append(got, r.Name)
		if r.System != (i < 6) || r.System != (r.CreatedAt == nil) || r.System != (r.ID == r.Name) ||
			len(r.Policies) == 0 || r.System && r.Description == "" {
			t.Errorf("role %+v", r)
		}
	}
	if !slices.Equal(got, want) || list.Total != len(want) {
		t.Errorf("%d: %v", list.Total, got)
	}
	if page := apitest.Data[rest.List[Role]](s.as("olga", "GET /roles?page=3&limit=4")); len(page.Items) != 1 ||
		page.Items[0].Name != "gamma" || page.Total != 9 {
		t.Errorf("the third page: %+v", page)
	}
	if page := apitest.Data[rest.List[Role]](s.as("olga", "GET /roles?page=9")); page.Items == nil ||
		len(page.Items) != 0 || page.Total != 9 {
		t.Errorf("a page beyond: %+v", page)
	}
	if viewer := apitest.Data[Role](s.as("olga", "GET /roles/viewer")); viewer.ID != "viewer" || !viewer.System {
		t.Errorf("viewer: %+v", viewer)
	}
	if list = apitest.Data[rest.List[Role]](s.Call(s.Authorized(theirs, "olga"), "GET /roles")); list.Total != 6 {
		t.Errorf("another organization has %d", list.Total)
	}
}

func TestWhatNoRoleCanBe(t *testing.T) {
	s := newFixture(t)
	r := s.newRole("Night shift", "actions:execute")
	s.newRole("Other", "actions:execute")
	many := make([]string, 129)
	for i := range many {
		many[i] = fmt.Sprintf("actions:%d", i)
	}
	for name, c := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"a name that is taken":      {`{"name":"other","policies":["actions:read"]}`, 409, `\"Other\" already`},
		"the name of a system role": {`{"name":"Owner","policies":["actions:read"]}`, 409, "system role"},
		"a blank name":              {`{"name":"  ","policies":["actions:read"]}`, 400, "name"},
		"a name that is too long": {
			`{"name":"` + strings.Repeat("x", 65) + `","policies":["actions:read"]}`,
			400, "name",
		},
		"a name with a line break": {`{"name":"a\nb","policies":["actions:read"]}`, 400, "name"},
		"a description that is too long": {`{"name":"x","description":"` + strings.Repeat("x", 201) +
			`","policies":["actions:read"]}`, 400, "description"},
		"no policies": {`{"name":"x","policies":[]}`, 400, "policies"},
		"a policy that is none": {
			`{"name":"x","policies":["actions:read","unicorns:read"]}`, 400,
			"unicorns:read",
		},
		"a wildcard that is none":   {`{"name":"x","policies":["*:write"]}`, 400, "*:write"},
		"a wildcard of no resource": {`{"name":"x","policies":["unicorns:*"]}`, 400, "unicorns:*"},
		"a star":                    {`{"name":"x","policies":["*"]}`, 400, "policies"},
		"an empty policy":           {`{"name":"x","policies":[""]}`, 400, "policies"},
		"a policy in capitals":      {`{"name":"x","policies":["ACTIONS:READ"]}`, 400, "ACTIONS:READ"},
		"a policy twice": {
			`{"name":"x","policies":["actions:read","*:read","actions:read"]}`, 400,
			"actions:read\\\" is named twice",
		},
		"too many policies":         {`{"name":"x","policies":` + apitest.JSON(many) + `}`, 400, "policies"},
		"policies that are no list": {`{"name":"x","policies":"*:*"}`, 400, "policies"},
	} {
		t.Run(name, func(t *testing.T) {
			s.TB = t
			s.as("olga", "POST /roles "+c.body).Want(c.status, c.says)
			s.as("olga", "PUT /roles/"+r.ID+" "+c.body).Want(c.status, c.says)
		})
	}
	s.TB = t
	for name, body := range map[string]string{
		"a role without a name":   `{"policies":["actions:read"]}`,
		"a role without policies": `{"name":"x"}`,
	} {
		if got := s.as("olga", "POST /roles "+body); got.Status != 400 {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
	s.as("olga", "PUT /roles/"+r.ID+` {"name":null}`).Want(400, "name")
	s.as("olga", "PUT /roles/"+r.ID+` {"policies":null}`).Want(400, "policies")
	if now := apitest.Data[Role](s.as("olga", "GET /roles/"+r.ID)); apitest.JSON(now) != apitest.JSON(r) {
		t.Errorf("it became %+v", now)
	}
}

func TestEveryPolicyAndWildcardCanBeInARole(t *testing.T) {
	s := newFixture(t)
	policies := []string{"*:*", "*:read"}
	for _, p := range grant.Policies() {
		policies = append(policies, p.ID)
		if resource, _, _ := strings.Cut(p.ID, ":"); !slices.Contains(policies, resource+":*") {
			policies = append(policies, resource+":*")
		}
	}
	if got := s.newRole("Everything", policies...); !slices.Equal(got.Policies, policies) {
		t.Errorf("%+v", got)
	}
}

func TestSystemRolesDoNotChange(t *testing.T) {
	s := newFixture(t)
	for _, r := range grant.SystemRoles() {
		s.as("olga", "PUT /roles/"+r.Name+` {"policies":["*:*"]}`).Want(403, r.Name+" is a system role")
		s.as("olga", "DELETE /roles/"+r.Name).Want(403, r.Name+" is a system role")
	}
}

// check 43: a caller cannot create or change a role so that it contains policies that they do not hold.
func TestNobodyMakesARoleOfWhatTheyDoNotHold(t *testing.T) {
	s := newFixture(t)
	s.addMember("adam", grant.Admin)
	keeper := s.newRole("Keeper", "roles:*", "actions:read")
	s.addMember("kay", keeper.ID)
	s.addMember("tim")
	s.assignRole("tim", keeper.ID, grant.OrgScope)
	s.assignRole("tim", grant.Owner, "team:"+s.teams[ours]) // everything, but there only
	high, low := s.newRole("High", "organisation:delete"), s.newRole("Low", "actions:read")
	for name, c := range map[string]struct{ who, request, lacks string }{
		"an admin, everything": {
			"adam", `POST /roles {"name":"x","policies":["*:*"]}`,
			"organisation:delete",
		},
		"an admin, all of a resource": {
			"adam", `POST /roles {"name":"x","policies":["organisation:*"]}`,
			"organisation:delete",
		},
		"who reads one thing, all reading": {
			"kay", `POST /roles {"name":"x","policies":["actions:read","*:read"]}`,
			"organisation:read",
		},
		"a change to more": {
			"kay", "PUT /roles/" + low.ID + ` {"policies":["actions:execute"]}`,
			"actions:execute",
		},
		"a change of a role that has more": {
			"kay", "PUT /roles/" + high.ID + ` {"description":"harmless"}`,
			"organisation:delete",
		},
		"a change that takes from such a one": {
			"adam", "PUT /roles/" + high.ID + ` {"policies":["actions:read"]}`,
			"organisation:delete",
		},
		"the end of such a one": {"adam", "DELETE /roles/" + high.ID, "organisation:delete"},
		"what one holds on a team only": {
			"tim", `POST /roles {"name":"x","policies":["actions:execute"]}`,
			"actions:execute",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.TB = t
			s.as(c.who, c.request).Want(403, "permission denied", c.lacks)
		})
	}
	s.TB = t
	s.as("kay", `POST /roles {"name":"Reader","policies":["actions:read","roles:*"]}`).Want(200)
	s.as("kay", "PUT /roles/"+low.ID+` {"policies":["actions:read","roles:read"]}`).Want(200)
	s.as("kay", "DELETE /roles/"+low.ID).Want(200)
	s.as("kay", "GET /roles/"+high.ID).Want(200)
}

// check 43: a caller cannot promote themselves by changing a role that they have.
func TestNobodyChangesARoleThatTheyHave(t *testing.T) {
	s := newFixture(t)
	keeper := s.newRole("Keeper", "roles:*", "actions:read")
	s.addMember("kay", keeper.ID)
	for _, body := range []string{`{"policies":["roles:*"]}`, `{"name":"x"}`, `{}`} {
		s.as("kay", "PUT /roles/"+keeper.ID+" "+body).Want(403, "cannot change your own roles")
	}
	s.as("olga", "PUT /roles/"+keeper.ID+` {"policies":["roles:*","users:read"]}`).Want(200)
}

// check 41: a changed role acts on the next request of everybody who has it.
func TestAChangedRoleActsAtOnce(t *testing.T) {
	s := newFixture(t)
	r := s.newRole("Looker", "roles:read")
	s.addMember("lou", r.ID)
	s.as("lou", "GET /roles").Want(200)
	s.as("olga", "PUT /roles/"+r.ID+` {"policies":["actions:read"]}`).Want(200)
	s.as("lou", "GET /roles").Want(403, "roles:read")
	s.as("olga", "PUT /roles/"+r.ID+` {"policies":["roles:read"]}`).Want(200)
	s.as("lou", "GET /roles").Want(200)
}

func TestARoleThatIsInUseStays(t *testing.T) {
	s := newFixture(t)
	r := s.newRole("Looker", "roles:read")
	for _, name := range []string{"ann", "bob", "cid", "dan"} {
		s.addMember(name, r.ID)
	}
	s.as("olga", "DELETE /roles/"+r.ID).Want(409, s.only("ann"), "ann@example.com", s.only("dan"), "dan@example.com",
		"delete them first")
	for _, name := range []string{"ann", "bob", "cid", "dan"} {
		s.as("olga", "DELETE /assignments/"+s.only(name)).Want(200)
	}
	inv := apitest.Value(s.People.StoreInvitation(s.Context(), ours, membership.Invitation{},
		membership.Invitation{Email: "zoe@example.com", Role: r.ID, Inviter: "usr_olga"}))(s)
	s.as("olga", "DELETE /roles/"+r.ID).Want(409, "invitation "+inv.ID+" (zoe@example.com)")
	s.Must(s.People.WithdrawInvitation(s.Context(), ours, inv))
	s.Put(identity.SSOKey(ours), map[string]string{"defaultRole": r.ID})
	s.as("olga", "DELETE /roles/"+r.ID).Want(409, "single sign-on")
	s.Put(identity.SSOKey(ours), map[string]string{"defaultRole": grant.Viewer})
	s.as("olga", "DELETE /roles/"+r.ID).Want(200)
}

// only returns the id of the one assignment of a member.
func (s *fixture) only(name string) string {
	s.Helper()
	_, m, err := s.People.ReadMember(s.Context(), ours, "usr_"+name)
	s.Must(err)
	if len(m.Grants) != 1 {
		s.Fatalf("%s has %+v", name, m.Grants)
	}
	return m.Grants[0].ID
}

func TestSoManyRolesAndNoMore(t *testing.T) {
	s := newFixture(t)
	var last Role
	for n := range identity.MaxRoles {
		last = s.newRole(fmt.Sprintf("Role %d", n), "actions:read")
	}
	s.as("olga", `POST /roles {"name":"One more","policies":["actions:read"]}`).Want(409, "50 roles")
	s.as("olga", "DELETE /roles/"+last.ID).Want(200)
	s.as("olga", `POST /roles {"name":"One more","policies":["actions:read"]}`).Want(200)
}

func TestRolesMadeAtOnce(t *testing.T) {
	s := newFixture(t)
	var wg sync.WaitGroup
	c := s.Authorized(ours, "olga")
	statuses := make([]int, 10)
	for n := range statuses {
		wg.Go(func() {
			statuses[n] = s.Call(c,
				fmt.Sprintf(`POST /roles {"name":"Role %d","policies":["actions:read"]}`, n/2)).Status
		})
	}
	wg.Wait()
	made := 0
	for _, status := range statuses {
		if status == http.StatusOK {
			made++
		} else if status != http.StatusConflict {
			t.Errorf("status %d", status)
		}
	}
	list := apitest.Data[rest.List[Role]](s.as("olga", "GET /roles"))
	if list.Total != 6+made || made > 5 || made < 4 {
		t.Errorf("%d made, %d listed: of two with one name one is made", made, list.Total)
	}
}

// A role is assigned while it is being deleted: either it is assigned, and stays, or it goes, and is not assigned.
func TestARoleIsNotDeletedWhileItIsAssigned(t *testing.T) {
	s := newFixture(t)
	s.addMember("lou")
	for range 10 {
		r := s.newRole("Looker", "roles:read")
		c := s.Authorized(ours, "olga")
		var given, gone apitest.Answer
		var wg sync.WaitGroup
		wg.Go(func() { given = s.Call(c, assignRequest("lou", r.ID, grant.OrgScope)) })
		wg.Go(func() { gone = s.Call(c, "DELETE /roles/"+r.ID) })
		wg.Wait()
		switch {
		case given.Status == 200 && gone.Status == 409:
			s.as("olga", "DELETE /assignments/"+apitest.Data[Assignment](given).ID).Want(200)
			s.as("olga", "DELETE /roles/"+r.ID).Want(200)
		case given.Status == 400 && gone.Status == 200:
		default:
			t.Fatalf("assigned: %d %s\ndeleted: %d %s", given.Status, given.Body, gone.Status, gone.Body)
		}
	}
}

func TestNothingIsChangedInAnOrganizationThatEnds(t *testing.T) {
	s := newFixture(t)
	c := s.Authorized(ours, "olga")
	s.Write(table.Update(identity.AccessKey(ours), []table.Change{table.Set("ended", true)}))
	s.Call(c, `POST /roles {"name":"x","policies":["actions:read"]}`).Want(404, "being deleted")
	s.Call(c, assignRequest("olga", "viewer", "org")).Want(404, "being deleted")
}

func TestListRoles_SortsByAField(t *testing.T) {
	s := newFixture(t)
	s.newRole("Night shift", "actions:read")
	s.Clock.Advance(time.Second)
	s.newRole("auditor", "audit-logs:read")
	names := func(query string) string {
		var out []string
		for _, r := range apitest.Data[rest.List[Role]](s.as("olga", "GET /roles"+query).AtMost(1)).Items {
			out = append(out, r.Name)
		}
		return strings.Join(out, " ")
	}
	for query, want := range map[string]string{
		"":                                  "viewer operator editor finops admin owner auditor Night shift",
		"?sort_order=desc":                  "Night shift auditor owner admin finops editor operator viewer",
		"?sort_by=name":                     "admin auditor editor finops Night shift operator owner viewer",
		"?sort_by=name&limit=2&page=2":      "editor finops",
		"?sort_by=createdAt&limit=7&page=2": "auditor",
		"?sort_by=updatedAt&sort_order=desc&limit=2": "auditor Night shift",
	} {
		if got := names(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	s.as("olga", "GET /roles?sort_by=policies").Want(400, "name, createdAt, updatedAt")
}
