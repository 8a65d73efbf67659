package users

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/people/membership"
)

func TestInvitingAndJoining(t *testing.T) {
	s := newStage(t)
	got := gets[User](s, s.as("ada", "POST /users", "", `{"email":" Eve@Example.com","name":"Eve","role":"editor"}`))
	if got.Email != email("eve") || got.Status != invited || got.Roles[0] != (HeldRole{RoleID: "editor", Scope: "org"}) || got.EmailVerified || got.JoinedAt != nil ||
		!got.ExpiresAt.Equal(s.clock.Now().Add(7*24*time.Hour)) {
		t.Errorf("invited %+v", got)
	}
	posts := s.mails()
	if len(posts) != 1 || posts[0].Template != mail.Invitation || posts[0].To != email("eve") ||
		posts[0].Data["organisation"] != "Engines of org_1" || posts[0].Data["inviter"] != email("ada") {
		t.Errorf("mails %+v", posts)
	}
	if row := s.record(); row.Action != "inviteUser" || row.Target != email("eve") || row.Changes.Before != nil || row.Changes.After == nil {
		t.Errorf("record %+v", row)
	}
	eve := s.user("eve")
	s.must(s.Accept(s.ctx, eve, ""))
	got = gets[User](s, s.as("ada", "GET /users/{}", email("eve"), ""))
	if got.Status != active || got.Name != "EVE" || !got.EmailVerified || got.JoinedAt == nil || got.InvitedAt != nil ||
		got.Roles[0].RoleID != "editor" || got.Roles[0].AssignmentID == nil {
		t.Errorf("joined %+v", got)
	}
	s.refused(http.StatusConflict, "member already", s.as("ada", "POST /users", "", `{"email":"eve@example.com"}`))
}

func TestInvitingAgainReplaces(t *testing.T) {
	s := newStage(t)
	s.as("ada", "POST /users", "", `{"email":"eve@example.com","role":"admin"}`)
	s.clock.Advance(6 * 24 * time.Hour)
	gets[User](s, s.as("ada", "POST /users", "", `{"email":"eve@example.com"}`))
	s.clock.Advance(6 * 24 * time.Hour)
	got := gets[rest.List[User]](s, s.as("ada", "GET /users", "", ""))
	if got.Total != 2 || got.Items[1].Roles[0].RoleID != "viewer" || got.Items[1].Name != "eve" {
		t.Errorf("%+v", got)
	}
	s.clock.Advance(2 * 24 * time.Hour)
	if got = gets[rest.List[User]](s, s.as("ada", "GET /users", "", "")); got.Total != 1 {
		t.Errorf("after its end: %+v", got)
	}
}

func TestWhatCannotBeInvited(t *testing.T) {
	s := newStage(t)
	for _, c := range []struct {
		name, body, about string
		status            int
	}{
		{"no address", `{}`, "email", 400},
		{"no real address", `{"email":"eve"}`, "email", 400},
		{"a header", `{"email":"eve@example.com\r\nBcc: x@example.com"}`, "email", 400},
		{"an unknown role", `{"email":"eve@example.com","role":"emperor"}`, "emperor", 400},
		{"a role of somebody else", `{"email":"eve@example.com","role":"role_01k8z3v5y0e6m9x2q4t7r1c8bd"}`, "role_", 400},
		{"a name of two lines", `{"email":"eve@example.com","name":"a\nb"}`, "name", 400},
		{"a name too long", `{"email":"eve@example.com","name":"` + strings.Repeat("x", 101) + `"}`, "name", 400},
		{"oneself", `{"email":"ada@example.com"}`, "member already", 409},
	} {
		t.Run(c.name, func(t *testing.T) { s.refused(c.status, c.about, s.as("ada", "POST /users", "", c.body)) })
	}
	if posts := s.mails(); len(posts) != 0 {
		t.Errorf("mails %+v", posts)
	}
}

// check 40, check 20: what a client sends besides what may be sent has no effect.
func TestWhatNobodyAskedForIsIgnored(t *testing.T) {
	s := newStage(t)
	s.organisation("org_2")
	smuggled := `"org":"org_2","orgId":"org_2","organisation":"org_2","id":"usr_x","status":"active","emailVerified":true,"isAdmin":true,` +
		`"roles":[{"roleID":"owner","scope":"org"}],"createdAt":"2001-01-01T00:00:00Z","joinedAt":"2001-01-01T00:00:00Z","inviter":"usr_x","expiresAt":"2099-01-01T00:00:00Z"`
	got := gets[User](s, s.as("ada", "POST /users?orgId=org_2", "", `{"email":"eve@example.com",`+smuggled+`}`))
	if got.Status != invited || got.EmailVerified || got.JoinedAt != nil || got.Roles[0].RoleID != "viewer" || got.ExpiresAt.After(s.clock.Now().Add(membership.InvitationTTL)) {
		t.Errorf("invited %+v", got)
	}
	if all, err := s.Invitations(s.ctx, "org_2"); err != nil || len(all) != 0 {
		t.Errorf("in another organization: %+v, %v", all, err)
	}
	s.join(here, "bob", grant.Viewer)
	before := gets[Profile](s, s.as("bob", "GET /users/me", "", ""))
	s.clock.Advance(time.Second)
	smuggled = strings.Replace(smuggled, `"roles"`, `"email":"eve@example.com","ownerId":"usr_x","role":"owner","epoch":9,"password":"x","disabled":true,"verified":false,"roles"`, 1)
	after := gets[Profile](s, s.as("bob", "PATCH /users/me?orgId=org_2", "", `{"name":"Bob",`+smuggled+`}`))
	before.Name, before.UpdatedAt = "Bob", s.clock.Now()
	if after != before || gets[Profile](s, s.as("bob", "GET /users/me", "", "")) != before {
		t.Errorf("became %+v, was %+v", after, before)
	}
	if m := gets[User](s, s.as("ada", "GET /users/{}", email("bob"), "")); m.Roles[0].RoleID != "viewer" || m.Status != active {
		t.Errorf("became %+v", m)
	}
}

// check 43: nobody promotes themselves, gives what they do not hold, or touches who holds more.
func TestWhoMayChangeWhom(t *testing.T) {
	s := newStage(t)
	s.join(here, "adam", grant.Admin)
	s.join(here, "vic", grant.Viewer)
	s.join(here, "other", grant.Owner)
	s.as("ada", "POST /users", "", `{"email":"boss@example.com","role":"owner"}`)
	for _, c := range []struct {
		name, who, request, whom, body string
		status                         int
	}{
		{"a viewer sees no users", "vic", "GET /users", "", "", 403},
		{"a viewer invites nobody", "vic", "POST /users", "", `{"email":"x@example.com"}`, 403},
		{"a viewer promotes nobody", "vic", "PATCH /users/{}", email("vic"), `{"role":"owner"}`, 403},
		{"an admin does not promote themselves", "adam", "PATCH /users/{}", email("adam"), `{"role":"owner"}`, 403},
		{"nor give themselves what they have", "adam", "PATCH /users/{}", email("adam"), `{"role":"admin"}`, 403},
		{"nor lock themselves out", "adam", "PATCH /users/{}", email("adam"), `{"status":"disabled"}`, 403},
		{"an owner does not demote themselves", "ada", "PATCH /users/{}", email("ada"), `{"role":"viewer"}`, 403},
		{"an admin makes no owner", "adam", "PATCH /users/{}", email("vic"), `{"role":"owner"}`, 403},
		{"an admin invites no owner", "adam", "POST /users", "", `{"email":"x@example.com","role":"owner"}`, 403},
		{"an admin does not demote an owner", "adam", "PATCH /users/{}", email("ada"), `{"role":"viewer"}`, 403},
		{"an admin does not lock an owner out", "adam", "PATCH /users/{}", email("ada"), `{"status":"disabled"}`, 403},
		{"an admin does not remove an owner", "adam", "DELETE /users/{}", email("ada"), "", 403},
		{"an admin does not withdraw an owner's invitation", "adam", "DELETE /users/{}", email("boss"), "", 403},
		{"an admin does not change an owner's invitation", "adam", "PATCH /users/{}", email("boss"), `{"role":"viewer"}`, 403},
		{"an admin does not replace an owner's invitation", "adam", "POST /users", "", `{"email":"boss@example.com","role":"viewer"}`, 403},
		{"an admin makes an editor", "adam", "PATCH /users/{}", email("vic"), `{"role":"editor"}`, 200},
		{"an owner makes an owner", "ada", "PATCH /users/{}", email("vic"), `{"role":"owner"}`, 200},
		{"an owner demotes an owner", "ada", "PATCH /users/{}", email("other"), `{"role":"viewer"}`, 200},
	} {
		t.Run(c.name, func(t *testing.T) { s.refused(c.status, "", s.as(c.who, c.request, c.whom, c.body)) })
	}
	if a := s.access(); a.Owners != 2 || a.Members != 4 {
		t.Errorf("counted %+v", a)
	}
	if row := s.record(); row.Action != "updateUser" || row.Target != email("other") ||
		!strings.Contains(fmt.Sprintf("%s", row.Changes.Before), "owner") || !strings.Contains(fmt.Sprintf("%s", row.Changes.After), "viewer") {
		t.Errorf("record %+v", row)
	}
}

func TestChangingAMember(t *testing.T) {
	s := newStage(t)
	s.join(here, "bob", grant.Editor)
	_, m, err := s.Member(s.ctx, here, "usr_bob")
	s.must(err)
	s.must(s.Regrant(s.ctx, here, m, append(m.Grants, grant.Grant{Role: grant.Operator, Scope: "team:team_1"})))
	old := gets[User](s, s.as("ada", "GET /users/{}", email("bob"), ""))
	got := gets[User](s, s.as("ada", "PATCH /users/{}", email("bob"), `{"role":"finops","status":"disabled"}`))
	if got.Status != disabled || len(got.Roles) != 2 || got.Roles[0].RoleID != "finops" || *got.Roles[0].AssignmentID == *old.Roles[0].AssignmentID || *got.Roles[1].AssignmentID != *old.Roles[1].AssignmentID {
		t.Errorf("%+v, was %+v", got, old)
	}
	if again := gets[User](s, s.as("ada", "PATCH /users/{}", email("bob"), `{"role":"finops","status":"active"}`)); again.Roles[0].RoleID != "finops" || *again.Roles[0].AssignmentID != *got.Roles[0].AssignmentID || again.Status != active {
		t.Errorf("given again what they had: %+v, was %+v", again, got)
	}
	for body, about := range map[string]string{
		`{"name":"Robert"}`: "name", `{"role":null}`: "role", `{"status":null}`: "status", `{"status":"invited"}`: "status", `{"role":"emperor"}`: "emperor", `{"role":7}`: "role",
	} {
		s.refused(400, about, s.as("ada", "PATCH /users/{}", email("bob"), body))
	}
}

func TestChangingAnInvitation(t *testing.T) {
	s := newStage(t)
	s.join(here, "adam", grant.Admin)
	s.as("adam", "POST /users", "", `{"email":"eve@example.com"}`)
	got := gets[User](s, s.as("ada", "PATCH /users/{}", email("eve"), `{"role":"owner","name":"Eve E."}`))
	if got.Name != "Eve E." || got.Roles[0].RoleID != "owner" || got.Status != invited {
		t.Errorf("%+v", got)
	}
	s.refused(400, "not joined", s.as("ada", "PATCH /users/{}", email("eve"), `{"status":"active"}`))
	s.must(s.Accept(s.ctx, s.user("eve"), "")) // it holds: ada gave the role, not adam
	if a := s.access(); a.Owners != 2 {
		t.Errorf("counted %+v", a)
	}
	s.as("ada", "POST /users", "", `{"email":"joe@example.com"}`)
	if gone := gets[rest.Deleted](s, s.as("ada", "DELETE /users/{}", email("joe"), "")); gone.ID != email("joe") {
		t.Errorf("%+v", gone)
	}
	if row := s.record(); row.Action != "removeUser" || row.Target != email("joe") || row.Changes.Before == nil || row.Changes.After != nil {
		t.Errorf("record %+v", row)
	}
	s.must(s.Accept(s.ctx, s.user("joe"), ""))
	s.refused(404, "", s.as("ada", "GET /users/{}", email("joe"), ""))
}

func TestLeavingAndBeingRemoved(t *testing.T) {
	s := newStage(t)
	s.join(here, "vic", grant.Viewer)
	s.join(here, "bob", grant.Viewer)
	gets[rest.Deleted](s, s.as("vic", "DELETE /users/me", "", ""))
	gets[rest.Deleted](s, s.as("ada", "DELETE /users/{}", email("bob"), ""))
	for _, name := range []string{"vic", "bob", "nobody"} {
		s.refused(404, "belongs to this organization", s.as("ada", "GET /users/{}", email(name), ""))
		s.refused(404, "belongs to this organization", s.as("ada", "PATCH /users/{}", email(name), `{"role":"viewer"}`))
		s.refused(404, "belongs to this organization", s.as("ada", "DELETE /users/{}", email(name), ""))
	}
	s.refused(403, "no organization", s.as("vic", "DELETE /users/me", "", ""))
	s.refused(409, "last owner", s.as("ada", "DELETE /users/me", "", ""))
	s.refused(409, "last owner", s.as("ada", "DELETE /users/{}", email("ada"), ""))
	s.refused(409, "last owner", s.as("ada", "PATCH /users/{}", email("ada"), `{"role":"viewer"}`))
	s.refused(409, "last owner", s.as("ada", "PATCH /users/{}", email("ada"), `{"status":"disabled"}`))
	if a := s.access(); a.Members != 1 || a.Owners != 1 {
		t.Errorf("counted %+v", a)
	}
}

func TestAUserOfAnotherOrganizationIsNobody(t *testing.T) {
	s := newStage(t)
	s.organisation("org_2")
	s.join("org_2", "eve", grant.Owner)
	_, err := s.Invite(s.ctx, "org_2", membership.Invitation{}, membership.Invitation{Email: email("joe"), Role: "viewer", Inviter: "usr_eve"})
	s.must(err)
	want := s.as("ada", "GET /users/{}", email("xxx"), "")
	for _, name := range []string{"eve", "joe"} {
		got := s.as("ada", "GET /users/{}", email(name), "")
		if got.Status != 404 || strings.ReplaceAll(string(got.Error), name, "xxx") != string(want.Error) {
			t.Errorf("%s: %d %s; nobody: %s", name, got.Status, got.Error, want.Error)
		}
	}
	if all := gets[rest.List[User]](s, s.as("ada", "GET /users", "", "")); all.Total != 1 {
		t.Errorf("%+v", all)
	}
}

// check 46: me is never an address.
func TestMeComesBeforeAddresses(t *testing.T) {
	s := newStage(t)
	if got := gets[Profile](s, s.as("ada", "GET /users/me", "", "")); got.ID != "usr_ada" || got.Email != email("ada") || !got.EmailVerified {
		t.Errorf("%+v", got)
	}
	s.refused(404, "", s.as("ada", "GET /users/{}", "ME", ""))
	s.refused(400, "name", s.as("ada", "PATCH /users/me", "", `{"name":" "}`))
	s.refused(400, "name", s.as("ada", "PATCH /users/me", "", `{"name":null}`))
	before := gets[Profile](s, s.as("ada", "GET /users/me", "", ""))
	if got := gets[Profile](s, s.as("ada", "PATCH /users/me", "", `{}`)); got != before {
		t.Errorf("nothing sent, became %+v", got)
	}
}

func TestPagesOfUsers(t *testing.T) {
	s := newStage(t)
	for i := range 24 {
		s.join(here, fmt.Sprintf("m%02d", i), grant.Viewer)
	}
	for i := range 12 {
		_, err := s.Invite(s.ctx, here, membership.Invitation{}, membership.Invitation{Email: email(fmt.Sprintf("i%02d", i)), Role: "viewer", Inviter: "usr_ada"})
		s.must(err)
	}
	var seen []string
	for page := 1; page <= 5; page++ {
		got := gets[rest.List[User]](s, s.as("ada", fmt.Sprintf("GET /users?limit=10&page=%d", page), "", ""))
		if got.Total != 37 || s.trips > 3 {
			t.Errorf("page %d: total %d, %d round trips", page, got.Total, s.trips)
		}
		for _, u := range got.Items {
			seen = append(seen, u.Email)
		}
	}
	if len(seen) != 37 || seen[0] != email("ada") || seen[1] != email("m00") || seen[24] != email("m23") || seen[25] != email("i00") || seen[36] != email("i11") {
		t.Errorf("%d: %v", len(seen), seen)
	}
	got := gets[rest.List[User]](s, s.as("ada", "GET /users?search=0&limit=15&page=2", "", ""))
	if got.Total != 23 || len(got.Items) != 8 || got.Items[0].Email != email("i03") {
		t.Errorf("search: %+v", got)
	}
	if got = gets[rest.List[User]](s, s.as("ada", "GET /users?search=M07@", "", "")); got.Total != 1 || got.Items[0].Name != "M07" {
		t.Errorf("search: %+v", got)
	}
}

func TestInvitationsAreLimited(t *testing.T) {
	s := newStage(t)
	body := func(i int) string { return fmt.Sprintf(`{"email":"e%d@example.com"}`, i) }
	for i := range 50 {
		gets[User](s, s.as("ada", "POST /users", "", body(i)))
	}
	s.refused(403, "try again at 2026-03-10T10:00:00Z", s.as("ada", "POST /users", "", body(50)))
	s.clock.Advance(time.Hour)
	gets[User](s, s.as("ada", "POST /users", "", body(50)))
	for range 4 {
		gets[User](s, s.as("ada", "POST /users", "", body(50)))
	}
	before := len(s.mails())
	s.refused(403, "try again at 2026-03-11T00:00:00Z", s.as("ada", "POST /users", "", body(50)))
	if after := len(s.mails()); after != before {
		t.Error("refused and mailed")
	}
}

func TestInvitingTheSameAtOnceMakesOneInvitation(t *testing.T) {
	s := newStage(t)
	var wg sync.WaitGroup
	results := make([]answer, 5)
	for i := range results {
		wg.Go(func() {
			r := *s
			results[i] = r.as("ada", "POST /users", "", `{"email":"eve@example.com"}`)
		})
	}
	wg.Wait()
	sent := 0
	for _, a := range results {
		if a.Status == 200 {
			sent++
		} else if a.Status != 409 {
			t.Errorf("%d: %s", a.Status, a.Error)
		}
	}
	if all, err := s.Invitations(s.ctx, here); err != nil || len(all) != 1 || sent < 1 || len(s.mails()) != sent {
		t.Errorf("%d sent, %d mails, %+v, %v", sent, len(s.mails()), all, err)
	}
}

// check 53: what people write is stored as it is, whatever separates keys.
func TestNamesKeepWhatSeparatesKeys(t *testing.T) {
	s := newStage(t)
	const name = "a#b:c|d%2Fe ORG#org_2#"
	odd := "o'neill#1|x=y@example.com"
	got := gets[User](s, s.as("ada", "POST /users", "", `{"email":"`+odd+`","name":"`+name+`"}`))
	if got.Name != name || got.Email != odd {
		t.Errorf("%+v", got)
	}
	if got = gets[User](s, s.as("ada", "GET /users/{}", odd, "")); got.Name != name || got.Email != odd {
		t.Errorf("read back %+v", got)
	}
	if own := gets[Profile](s, s.as("ada", "PATCH /users/me", "", `{"name":"`+name+`"}`)); own.Name != name {
		t.Errorf("%+v", own)
	}
	gets[rest.Deleted](s, s.as("ada", "DELETE /users/{}", odd, ""))
}

// Each but the reading ones counts the round trip of its audit row.
func TestRoundTrips(t *testing.T) {
	s := newStage(t)
	s.join(here, "bob", grant.Viewer)
	for _, c := range []struct {
		request, whom, body string
		most                int
	}{
		{"POST /users", "", `{"email":"eve@example.com"}`, 9},
		{"GET /users/{}", email("bob"), "", 2},
		{"GET /users/{}", email("eve"), "", 3},
		{"GET /users/{}", email("nobody"), "", 3},
		{"PATCH /users/{}", email("bob"), `{"role":"editor","status":"disabled"}`, 5},
		{"PATCH /users/{}", email("eve"), `{"role":"editor"}`, 6},
		{"DELETE /users/{}", email("bob"), "", 5},
		{"DELETE /users/{}", email("eve"), "", 6},
		{"GET /users", "", "", 3},
		{"GET /users/me", "", "", 1},
		{"PATCH /users/me", "", `{"name":"Ada"}`, 3},
	} {
		if got := s.as("ada", c.request, c.whom, c.body); got.Status != 200 && c.whom != email("nobody") {
			t.Errorf("%s %s: %d %s", c.request, c.whom, got.Status, got.Error)
		}
		if s.trips > c.most {
			t.Errorf("%s %s took %d round trips, more than %d", c.request, c.whom, s.trips, c.most)
		}
	}
}
