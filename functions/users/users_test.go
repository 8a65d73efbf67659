package users

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestInvitingAndJoining(t *testing.T) {
	s := newFixture(t)
	got := apitest.Data[User](s.as("ada", "POST /users", "",
		`{"email":" Eve@Example.com","name":"Eve","role":"editor"}`))
	if got.Email != apitest.Email("eve") || got.Status != invited ||
		got.Roles[0] != (HeldRole{RoleID: "editor", Scope: "org"}) || got.EmailVerified || got.JoinedAt != nil ||
		!got.ExpiresAt.Equal(s.Clock.Now().Add(7*24*time.Hour)) {
		t.Errorf("invited %+v", got)
	}
	posts := s.Mails()
	if len(posts) != 1 || posts[0].Template != mail.Invitation || posts[0].To != apitest.Email("eve") ||
		posts[0].Data["organisation"] != "Engines" || posts[0].Data["inviter"] != apitest.Email("ada") {
		t.Errorf("mails %+v", posts)
	}
	if row := s.LastAudited(here); row.Action != "inviteUser" || row.Target != apitest.Email("eve") ||
		row.Changes.Before != nil || row.Changes.After == nil {
		t.Errorf("record %+v", row)
	}
	s.acceptInvitation("eve")
	got = apitest.Data[User](s.as("ada", "GET /users/{}", apitest.Email("eve"), ""))
	if got.Status != active || got.Name != "EVE" || !got.EmailVerified || got.JoinedAt == nil || got.InvitedAt != nil ||
		got.Roles[0].RoleID != "editor" || got.Roles[0].AssignmentID == nil {
		t.Errorf("joined %+v", got)
	}
	s.as("ada", "POST /users", "", `{"email":"eve@example.com"}`).Want(http.StatusConflict, "member already")
}

func TestInvitingAgainReplaces(t *testing.T) {
	s := newFixture(t)
	s.as("ada", "POST /users", "", `{"email":"eve@example.com","role":"admin"}`)
	s.Clock.Advance(6 * 24 * time.Hour)
	apitest.Data[User](s.as("ada", "POST /users", "", `{"email":"eve@example.com"}`))
	s.Clock.Advance(6 * 24 * time.Hour)
	got := apitest.Data[rest.List[User]](s.as("ada", "GET /users", "", ""))
	if got.Total != 2 || got.Items[1].Roles[0].RoleID != "viewer" || got.Items[1].Name != "eve" {
		t.Errorf("%+v", got)
	}
	s.Clock.Advance(2 * 24 * time.Hour)
	if got = apitest.Data[rest.List[User]](s.as("ada", "GET /users", "", "")); got.Total != 1 {
		t.Errorf("after its end: %+v", got)
	}
}

func TestWhatCannotBeInvited(t *testing.T) {
	s := newFixture(t)
	for _, c := range []struct {
		name, body, about string
		status            int
	}{
		{"no address", `{}`, "email", 400},
		{"no real address", `{"email":"eve"}`, "email", 400},
		{"a header", `{"email":"eve@example.com\r\nBcc: x@example.com"}`, "email", 400},
		{"an unknown role", `{"email":"eve@example.com","role":"emperor"}`, "emperor", 400},
		{
			"a role of somebody else", `{"email":"eve@example.com","role":"role_01k8z3v5y0e6m9x2q4t7r1c8bd"}`, "role_",
			400,
		},
		{"a name of two lines", `{"email":"eve@example.com","name":"a\nb"}`, "name", 400},
		{"a name too long", `{"email":"eve@example.com","name":"` + strings.Repeat("x", 101) + `"}`, "name", 400},
		{"oneself", `{"email":"ada@example.com"}`, "member already", 409},
	} {
		t.Run(c.name, func(t *testing.T) { s.as("ada", "POST /users", "", c.body).Want(c.status, c.about) })
	}
	if posts := s.Mails(); len(posts) != 0 {
		t.Errorf("mails %+v", posts)
	}
}

// check 40, check 20: unknown fields in a request have no effect.
func TestWhatNobodyAskedForIsIgnored(t *testing.T) {
	s := newFixture(t)
	s.Organization("org_2", "Looms")
	smuggled := `"org":"org_2","orgId":"org_2","organisation":"org_2","id":"usr_x","status":"active",` +
		`"emailVerified":true,"isAdmin":true,` +
		`"roles":[{"roleID":"owner","scope":"org"}],"createdAt":"2001-01-01T00:00:00Z",` +
		`"joinedAt":"2001-01-01T00:00:00Z","inviter":"usr_x","expiresAt":"2099-01-01T00:00:00Z"`
	got := apitest.Data[User](s.as("ada", "POST /users?orgId=org_2", "", `{"email":"eve@example.com",`+smuggled+`}`))
	if got.Status != invited || got.EmailVerified || got.JoinedAt != nil || got.Roles[0].RoleID != "viewer" ||
		got.ExpiresAt.After(s.Clock.Now().Add(membership.InvitationTTL)) {
		t.Errorf("invited %+v", got)
	}
	if all, err := s.People.ListInvitations(s.Context(), "org_2"); err != nil || len(all) != 0 {
		t.Errorf("in another organization: %+v, %v", all, err)
	}
	s.Join(here, "bob", grant.Viewer)
	before := apitest.Data[Profile](s.as("bob", "GET /users/me", "", ""))
	s.Clock.Advance(time.Second)
	smuggled = strings.Replace(smuggled, `"roles"`,
		`"email":"eve@example.com","ownerId":"usr_x","role":"owner","epoch":9,"password":"x",`+
			`"disabled":true,"verified":false,"roles"`, 1)
	after := apitest.Data[Profile](s.as("bob", "PATCH /users/me?orgId=org_2", "", `{"name":"Bob",`+smuggled+`}`))
	before.Name, before.UpdatedAt = "Bob", s.Clock.Now()
	if after != before || apitest.Data[Profile](s.as("bob", "GET /users/me", "", "")) != before {
		t.Errorf("became %+v, was %+v", after, before)
	}
	if m := apitest.Data[User](s.as("ada", "GET /users/{}", apitest.Email("bob"), "")); m.Roles[0].RoleID != "viewer" ||
		m.Status != active {
		t.Errorf("became %+v", m)
	}
}

// check 43: a caller cannot promote themselves, give permissions that they do not hold, or change a user who holds
// more.
func TestWhoMayChangeWhom(t *testing.T) {
	s := newFixture(t)
	s.Join(here, "adam", grant.Admin)
	s.Join(here, "vic", grant.Viewer)
	s.Join(here, "other", grant.Owner)
	s.as("ada", "POST /users", "", `{"email":"boss@example.com","role":"owner"}`)
	for _, c := range []struct {
		name, who, request, whom, body string
		status                         int
	}{
		{"a viewer sees no users", "vic", "GET /users", "", "", 403},
		{"a viewer invites nobody", "vic", "POST /users", "", `{"email":"x@example.com"}`, 403},
		{"a viewer promotes nobody", "vic", "PATCH /users/{}", apitest.Email("vic"), `{"role":"owner"}`, 403},
		{
			"an admin does not promote themselves", "adam", "PATCH /users/{}", apitest.Email("adam"),
			`{"role":"owner"}`,
			403,
		},
		{
			"nor give themselves what they have", "adam", "PATCH /users/{}", apitest.Email("adam"), `{"role":"admin"}`,
			403,
		},
		{"nor lock themselves out", "adam", "PATCH /users/{}", apitest.Email("adam"), `{"status":"disabled"}`, 403},
		{
			"an owner does not demote themselves", "ada", "PATCH /users/{}", apitest.Email("ada"), `{"role":"viewer"}`,
			403,
		},
		{"an admin makes no owner", "adam", "PATCH /users/{}", apitest.Email("vic"), `{"role":"owner"}`, 403},
		{"an admin invites no owner", "adam", "POST /users", "", `{"email":"x@example.com","role":"owner"}`, 403},
		{
			"an admin does not demote an owner", "adam", "PATCH /users/{}", apitest.Email("ada"), `{"role":"viewer"}`,
			403,
		},
		{
			"an admin does not lock an owner out", "adam", "PATCH /users/{}", apitest.Email("ada"),
			`{"status":"disabled"}`, 403,
		},
		{"an admin does not remove an owner", "adam", "DELETE /users/{}", apitest.Email("ada"), "", 403},
		{
			"an admin does not withdraw an owner's invitation", "adam", "DELETE /users/{}", apitest.Email("boss"), "",
			403,
		},
		{
			"an admin does not change an owner's invitation", "adam", "PATCH /users/{}", apitest.Email("boss"),
			`{"role":"viewer"}`, 403,
		},
		{
			"an admin does not replace an owner's invitation", "adam", "POST /users", "",
			`{"email":"boss@example.com","role":"viewer"}`, 403,
		},
		{"an admin makes an editor", "adam", "PATCH /users/{}", apitest.Email("vic"), `{"role":"editor"}`, 200},
		{"an owner makes an owner", "ada", "PATCH /users/{}", apitest.Email("vic"), `{"role":"owner"}`, 200},
		{"an owner demotes an owner", "ada", "PATCH /users/{}", apitest.Email("other"), `{"role":"viewer"}`, 200},
	} {
		t.Run(c.name, func(t *testing.T) { s.as(c.who, c.request, c.whom, c.body).Want(c.status) })
	}
	if a := apitest.Read[identity.Access](s.Fixture, identity.AccessKey(here)); a.Owners != 2 || a.Members != 4 {
		t.Errorf("counted %+v", a)
	}
	if row := s.LastAudited(here); row.Action != "updateUser" || row.Target != apitest.Email("other") ||
		!strings.Contains(fmt.Sprintf("%s", row.Changes.Before), "owner") ||
		!strings.Contains(fmt.Sprintf("%s", row.Changes.After), "viewer") {
		t.Errorf("record %+v", row)
	}
}

func TestChangingAMember(t *testing.T) {
	s := newFixture(t)
	s.Join(here, "bob", grant.Editor)
	m := s.Member(here, "bob")
	s.Must(s.People.ReplaceGrants(s.Context(), here, m,
		append(m.Grants, grant.Grant{Role: grant.Operator, Scope: "team:team_1"})))
	old := apitest.Data[User](s.as("ada", "GET /users/{}", apitest.Email("bob"), ""))
	got := apitest.Data[User](s.as("ada", "PATCH /users/{}", apitest.Email("bob"),
		`{"role":"finops","status":"disabled"}`))
	if got.Status != disabled || len(got.Roles) != 2 || got.Roles[0].RoleID != "finops" ||
		*got.Roles[0].AssignmentID == *old.Roles[0].AssignmentID ||
		*got.Roles[1].AssignmentID != *old.Roles[1].AssignmentID {
		t.Errorf("%+v, was %+v", got, old)
	}
	if again := apitest.Data[User](s.as("ada", "PATCH /users/{}", apitest.Email("bob"),
		`{"role":"finops","status":"active"}`)); again.Roles[0].RoleID != "finops" ||
		*again.Roles[0].AssignmentID != *got.Roles[0].AssignmentID || again.Status != active {
		t.Errorf("given again what they had: %+v, was %+v", again, got)
	}
	for body, about := range map[string]string{
		`{"name":"Robert"}`: "name", `{"role":null}`: "role", `{"status":null}`: "status",
		`{"status":"invited"}`: "status", `{"role":"emperor"}`: "emperor", `{"role":7}`: "role",
	} {
		s.as("ada", "PATCH /users/{}", apitest.Email("bob"), body).Want(400, about)
	}
}

func TestChangingAnInvitation(t *testing.T) {
	s := newFixture(t)
	s.Join(here, "adam", grant.Admin)
	s.as("adam", "POST /users", "", `{"email":"eve@example.com"}`)
	got := apitest.Data[User](s.as("ada", "PATCH /users/{}", apitest.Email("eve"), `{"role":"owner","name":"Eve E."}`))
	if got.Name != "Eve E." || got.Roles[0].RoleID != "owner" || got.Status != invited {
		t.Errorf("%+v", got)
	}
	s.as("ada", "PATCH /users/{}", apitest.Email("eve"), `{"status":"active"}`).Want(400, "not joined")
	s.acceptInvitation("eve") // it holds: ada gave the role, not adam
	if a := apitest.Read[identity.Access](s.Fixture, identity.AccessKey(here)); a.Owners != 2 {
		t.Errorf("counted %+v", a)
	}
	s.as("ada", "POST /users", "", `{"email":"joe@example.com"}`)
	if gone := apitest.Data[rest.Deleted](s.as("ada", "DELETE /users/{}", apitest.Email("joe"),
		"")); gone.ID != apitest.Email("joe") {
		t.Errorf("%+v", gone)
	}
	if row := s.LastAudited(here); row.Action != "removeUser" || row.Target != apitest.Email("joe") ||
		row.Changes.Before == nil || row.Changes.After != nil {
		t.Errorf("record %+v", row)
	}
	if all := s.invitationsOf("joe"); all.Total != 0 {
		t.Errorf("withdrawn and still there: %+v", all)
	}
	s.as("ada", "GET /users/{}", apitest.Email("joe"), "").Want(404)
}

func TestLeavingAndBeingRemoved(t *testing.T) {
	s := newFixture(t)
	s.Join(here, "vic", grant.Viewer)
	s.Join(here, "bob", grant.Viewer)
	apitest.Data[rest.Deleted](s.as("vic", "DELETE /users/me", "", ""))
	apitest.Data[rest.Deleted](s.as("ada", "DELETE /users/{}", apitest.Email("bob"), ""))
	for _, name := range []string{"vic", "bob", "nobody"} {
		s.as("ada", "GET /users/{}", apitest.Email(name), "").Want(404, "belongs to this organization")
		s.as("ada", "PATCH /users/{}", apitest.Email(name), `{"role":"viewer"}`).Want(404,
			"belongs to this organization")
		s.as("ada", "DELETE /users/{}", apitest.Email(name), "").Want(404, "belongs to this organization")
	}
	s.as("vic", "DELETE /users/me", "", "").Want(403, "no organization")
	s.as("ada", "DELETE /users/me", "", "").Want(409, "last owner")
	s.as("ada", "DELETE /users/{}", apitest.Email("ada"), "").Want(409, "last owner")
	s.as("ada", "PATCH /users/{}", apitest.Email("ada"), `{"role":"viewer"}`).Want(409, "last owner")
	s.as("ada", "PATCH /users/{}", apitest.Email("ada"), `{"status":"disabled"}`).Want(409, "last owner")
	if a := apitest.Read[identity.Access](s.Fixture, identity.AccessKey(here)); a.Members != 1 || a.Owners != 1 {
		t.Errorf("counted %+v", a)
	}
}

func TestAUserOfAnotherOrganizationIsNobody(t *testing.T) {
	s := newFixture(t)
	s.Organization("org_2", "Looms")
	s.Join("org_2", "eve", grant.Owner)
	apitest.Value(s.People.StoreInvitation(s.Context(), "org_2", membership.Invitation{},
		membership.Invitation{Email: apitest.Email("joe"), Role: "viewer", Inviter: "usr_eve"}))(s)
	want := s.as("ada", "GET /users/{}", apitest.Email("xxx"), "")
	for _, name := range []string{"eve", "joe"} {
		got := s.as("ada", "GET /users/{}", apitest.Email(name), "")
		if got.Status != 404 || strings.ReplaceAll(got.Body, name, "xxx") != want.Body {
			t.Errorf("%s: %d %s; nobody: %s", name, got.Status, got.Body, want.Body)
		}
	}
	if all := apitest.Data[rest.List[User]](s.as("ada", "GET /users", "", "")); all.Total != 1 {
		t.Errorf("%+v", all)
	}
}

// check 46: me is never an address.
func TestMeComesBeforeAddresses(t *testing.T) {
	s := newFixture(t)
	if got := apitest.Data[Profile](s.as("ada", "GET /users/me", "", "")); got.ID != "usr_ada" ||
		got.Email != apitest.Email("ada") || !got.EmailVerified {
		t.Errorf("%+v", got)
	}
	s.as("ada", "GET /users/{}", "ME", "").Want(404)
	s.as("ada", "PATCH /users/me", "", `{"name":" "}`).Want(400, "name")
	s.as("ada", "PATCH /users/me", "", `{"name":null}`).Want(400, "name")
	before := apitest.Data[Profile](s.as("ada", "GET /users/me", "", ""))
	if got := apitest.Data[Profile](s.as("ada", "PATCH /users/me", "", `{}`)); got != before {
		t.Errorf("nothing sent, became %+v", got)
	}
}

func TestPagesOfUsers(t *testing.T) {
	s := newFixture(t)
	for i := range 24 {
		s.Join(here, fmt.Sprintf("m%02d", i), grant.Viewer)
	}
	for i := range 12 {
		apitest.Value(s.People.StoreInvitation(s.Context(), here, membership.Invitation{},
			membership.Invitation{
				Email: apitest.Email(fmt.Sprintf("i%02d", i)), Role: "viewer",
				Inviter: "usr_ada",
			}))(s)
	}
	var seen []string
	for page := 1; page <= 5; page++ {
		got := apitest.Data[rest.List[User]](s.as("ada", fmt.Sprintf("GET /users?limit=10&page=%d", page), "",
			"").AtMost(3))
		if got.Total != 37 {
			t.Errorf("page %d: total %d", page, got.Total)
		}
		for _, u := range got.Items {
			seen = append(seen, u.Email)
		}
	}
	if len(seen) != 37 || seen[0] != apitest.Email("ada") || seen[1] != apitest.Email("m00") ||
		seen[24] != apitest.Email("m23") || seen[25] != apitest.Email("i00") || seen[36] != apitest.Email("i11") {
		t.Errorf("%d: %v", len(seen), seen)
	}
	got := apitest.Data[rest.List[User]](s.as("ada", "GET /users?search=0&limit=15&page=2", "", ""))
	if got.Total != 23 || len(got.Items) != 8 || got.Items[0].Email != apitest.Email("i03") {
		t.Errorf("search: %+v", got)
	}
	if got = apitest.Data[rest.List[User]](s.as("ada", "GET /users?search=M07@", "", "")); got.Total != 1 ||
		got.Items[0].Name != "M07" {
		t.Errorf("search: %+v", got)
	}
}

func userNames(users []User) string {
	var out []string
	for _, u := range users {
		out = append(out, u.Name)
	}
	return strings.Join(out, " ")
}

func TestListUsers_SearchesAndSorts(t *testing.T) {
	s := newFixture(t) // ADA
	s.Clock.Advance(time.Second)
	s.Join(here, "zoe", grant.Viewer)
	s.Clock.Advance(time.Second)
	s.Join(here, "bob", grant.Viewer)
	s.as("ada", "PATCH /users/{}", apitest.Email("bob"), `{"status":"disabled"}`).Want(200)
	s.as("ada", "POST /users", "", `{"email":"mia@example.com","name":"Carl"}`).Want(200)
	for query, want := range map[string]string{
		"":                                 "ADA BOB ZOE Carl",
		"sort_order=desc":                  "Carl ZOE BOB ADA",
		"sort_by=name":                     "ADA BOB Carl ZOE",
		"sort_by=name&sort_order=desc":     "ZOE Carl BOB ADA",
		"sort_by=email":                    "ADA BOB Carl ZOE",
		"sort_by=joinedAt":                 "Carl ADA ZOE BOB",
		"sort_by=status":                   "ADA ZOE BOB Carl",
		"sort_by=name&limit=2&page=2":      "Carl ZOE",
		"search=arl":                       "Carl",
		"search=MIA":                       "Carl",
		"search=B":                         "BOB",
		"search=example.com&sort_by=email": "ADA BOB Carl ZOE",
		"search=nobody":                    "",
	} {
		got := apitest.Data[rest.List[User]](s.as("ada", "GET /users?"+query, "", "").AtMost(3))
		if userNames(got.Items) != want {
			t.Errorf("%s: %s, want %s", query, userNames(got.Items), want)
		}
	}
	s.as("ada", "GET /users?sort_by=password", "", "").Want(400, "email, name, status, joinedAt")
	s.as("zoe", "PATCH /users/me", "", `{"name":"Quentin"}`).Want(200)
	got := apitest.Data[rest.List[User]](s.as("ada", "GET /users?search=quent", "", "").AtMost(3))
	if userNames(got.Items) != "Quentin" || !got.Items[0].EmailVerified || len(got.Items[0].Roles) != 1 {
		t.Errorf("after a new name: %+v", got)
	}
	m := s.Member(here, "zoe")
	m.Name = "" // a row from before rows had names
	s.Put(identity.MemberKey(here, m.User), m)
	got = apitest.Data[rest.List[User]](s.as("ada", "GET /users?search=quent", "", "").AtMost(4))
	if userNames(got.Items) != "Quentin" {
		t.Errorf("without a copy of the name: %+v", got)
	}
}

// The limit is 5,000 members; the round trips of a search grow with the members, not with the page.
func TestListUsers_ReadsAThousandMembersInAStep(t *testing.T) {
	s := newFixture(t)
	const n = 2_400
	ws := make([]table.Write, 0, n)
	for i := range n {
		m := identity.Member{
			User: fmt.Sprintf("usr_x%04d", i), Email: fmt.Sprintf("x%04d@example.com", i),
			Name: fmt.Sprintf("X%04d", i), Joined: s.Clock.Now(), Version: 1,
		}
		it, err := table.NewItem(identity.MemberKey(here, m.User), m)
		s.Must(err)
		ws = append(ws, table.Put(it))
	}
	s.Must(table.NewPatientStore(s.Table).BatchWrite(s.Anywhere(), ws...))
	got := apitest.Data[rest.List[User]](s.as("ada", "GET /users?search=x&sort_by=name&sort_order=desc&limit=5&page=3",
		"", "").AtMost(5))
	if got.Total != n+1 || len(got.Items) != 5 || got.Items[0].Email != "x2389@example.com" {
		t.Errorf("%d: %+v", got.Total, got.Items)
	}
}

func TestInvitationsAreLimited(t *testing.T) {
	s := newFixture(t)
	body := func(i int) string { return fmt.Sprintf(`{"email":"e%d@example.com"}`, i) }
	for i := range 50 {
		apitest.Data[User](s.as("ada", "POST /users", "", body(i)))
	}
	s.as("ada", "POST /users", "", body(50)).Want(403, "try again at 2026-03-10T10:00:00Z")
	s.Clock.Advance(time.Hour)
	apitest.Data[User](s.as("ada", "POST /users", "", body(50)))
	for range 4 {
		apitest.Data[User](s.as("ada", "POST /users", "", body(50)))
	}
	before := len(s.Mails())
	s.as("ada", "POST /users", "", body(50)).Want(403, "try again at 2026-03-11T00:00:00Z")
	if after := len(s.Mails()); after != before {
		t.Error("refused and mailed")
	}
}

func TestInvitingTheSameAtOnceMakesOneInvitation(t *testing.T) {
	s := newFixture(t)
	var wg sync.WaitGroup
	results := make([]apitest.Answer, 5)
	for i := range results {
		wg.Go(func() {
			results[i] = s.as("ada", "POST /users", "", `{"email":"eve@example.com"}`)
		})
	}
	wg.Wait()
	sent := 0
	for _, a := range results {
		if a.Status == 200 {
			sent++
		} else if a.Status != 409 {
			t.Errorf("%d: %s", a.Status, a.Body)
		}
	}
	if all, err := s.People.ListInvitations(s.Context(), here); err != nil || len(all) != 1 || sent < 1 ||
		len(s.Mails()) != sent {
		t.Errorf("%d sent, %d mails, %+v, %v", sent, len(s.Mails()), all, err)
	}
}

// check 53: texts are stored unchanged, also if they contain the separators of keys.
func TestNamesKeepWhatSeparatesKeys(t *testing.T) {
	s := newFixture(t)
	const name = "a#b:c|d%2Fe ORG#org_2#"
	odd := "o'neill#1|x=y@example.com"
	got := apitest.Data[User](s.as("ada", "POST /users", "", `{"email":"`+odd+`","name":"`+name+`"}`))
	if got.Name != name || got.Email != odd {
		t.Errorf("%+v", got)
	}
	if got = apitest.Data[User](s.as("ada", "GET /users/{}", odd, "")); got.Name != name || got.Email != odd {
		t.Errorf("read back %+v", got)
	}
	if own := apitest.Data[Profile](s.as("ada", "PATCH /users/me", "", `{"name":"`+name+`"}`)); own.Name != name {
		t.Errorf("%+v", own)
	}
	apitest.Data[rest.Deleted](s.as("ada", "DELETE /users/{}", odd, ""))
}

// Each but the reading ones counts the round trip of its audit entry, unless that goes with the change.
func TestRoundTrips(t *testing.T) {
	s := newFixture(t)
	s.Join(here, "bob", grant.Viewer)
	for _, c := range []struct {
		request, whom, body string
		most                int
	}{
		{"POST /users", "", `{"email":"eve@example.com"}`, 11},
		{"GET /users/{}", apitest.Email("bob"), "", 2},
		{"GET /users/{}", apitest.Email("eve"), "", 3},
		{"GET /users/{}", apitest.Email("nobody"), "", 3},
		{"PATCH /users/{}", apitest.Email("bob"), `{"role":"editor","status":"disabled"}`, 5},
		{"PATCH /users/{}", apitest.Email("eve"), `{"role":"editor"}`, 6},
		{"DELETE /users/{}", apitest.Email("bob"), "", 5},
		{"DELETE /users/{}", apitest.Email("eve"), "", 6},
		{"GET /users", "", "", 3},
		{"GET /users/me", "", "", 1},
		{"PATCH /users/me", "", `{"name":"Ada"}`, 4},
		{"GET /invitations", "", "", 2},
	} {
		got := s.as("ada", c.request, c.whom, c.body).AtMost(c.most)
		if got.Status != 200 && c.whom != apitest.Email("nobody") {
			t.Errorf("%s %s: %d %s", c.request, c.whom, got.Status, got.Body)
		}
	}
}
