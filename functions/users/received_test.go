package users

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/testkit/apitest"
)

const elsewhere = apitest.OtherOrg

// seenByInviter returns all answers that could tell the inviter of eve.
func (s *fixture) seenByInviter() string {
	s.Helper()
	var b strings.Builder
	for _, request := range []string{"GET /users", "GET /users/{}", "GET /users?search=eve"} {
		b.WriteString(s.as("ada", request, apitest.Email("eve"), "").Body)
	}
	for _, row := range s.Audited(here) {
		fmt.Fprintf(&b, "%s %s %s\n", row.Action, row.Actor, row.Target)
	}
	return b.String()
}

// check 1 of issue 21: before an invitation is accepted its organization learns nothing of the invited person.
func TestInvitation_TellsTheInviterNothingBeforeItIsAccepted(t *testing.T) {
	s := newFixture(t)
	s.Join(elsewhere, "eve", grant.Owner)
	known := s.as("ada", "POST /users", "", `{"email":"eve@example.com","role":"operator"}`)
	unknown := s.as("ada", "POST /users", "", `{"email":"xyz@example.com","role":"operator"}`)
	if known.Status != 200 || strings.ReplaceAll(known.Body, "eve", "xyz") != unknown.Body ||
		known.Usage.RoundTrips != unknown.Usage.RoundTrips {
		t.Errorf("an address with an account: %s\nwithout: %s", known.Body, unknown.Body)
	}
	apitest.Data[rest.Deleted](s.as("ada", "DELETE /users/{}", apitest.Email("xyz"), ""))
	before := s.seenByInviter()
	for _, declines := range []bool{false, true} {
		s.Clock.Advance(time.Minute)
		eve := s.Authorized(elsewhere, "eve")
		all := apitest.Data[rest.List[ReceivedInvitation]](s.Call(eve, "GET /invitations").AtMost(3))
		if all.Total != 1 || all.Items[0].Organisation != (InvitingOrganisation{here, "Engines"}) ||
			all.Items[0].Role != "operator" || all.Items[0].RoleName != "operator" ||
			all.Items[0].InvitedBy != apitest.Email("ada") ||
			!all.Items[0].ExpiresAt.Equal(apitest.Data[User](known).ExpiresAt.UTC()) {
			t.Fatalf("eve sees %+v", all)
		}
		if declines {
			apitest.Data[ReceivedInvitation](s.Call(eve, "POST /invitations/"+all.Items[0].ID+"/decline").AtMost(6))
		}
		if after := s.seenByInviter(); after != before {
			t.Errorf("declined %v: the inviter sees\n%s\nand saw\n%s", declines, after, before)
		}
	}
	if all := s.invitationsOf("eve"); all.Total != 0 {
		t.Errorf("declined and still there: %+v", all)
	}
}

func TestInvitation_IsAcceptedByTheInvitedPersonAlone(t *testing.T) {
	s := newFixture(t)
	s.Join(elsewhere, "eve", grant.Owner)
	s.Join(elsewhere, "bob", grant.Owner)
	s.as("ada", "POST /users", "", `{"email":"eve@example.com","name":"Evelyn","role":"operator"}`)
	eve := s.Authorized(elsewhere, "eve")
	id := apitest.Data[rest.List[ReceivedInvitation]](s.Call(eve, "GET /invitations")).Items[0].ID
	program, vouched := eve, eve
	program.Session, program.Method, vouched.SSO = "", identity.MethodPAT, true
	if all := apitest.Data[rest.List[ReceivedInvitation]](s.Call(vouched, "GET /invitations")); all.Total != 0 {
		t.Errorf("a session of single sign-on sees %+v", all)
	}
	for name, c := range map[string]struct {
		caller identity.Caller
		status int
		says   string
	}{
		"a program":                   {program, 403, "personal access token"},
		"a session of single sign-on": {vouched, 403, "single sign-on"},
		"another person":              {s.Authorized(elsewhere, "bob"), 404, "GET /invitations"},
		"the inviter":                 {s.Authorized(here, "ada"), 404, "GET /invitations"},
	} {
		for _, answer := range []string{"accept", "decline"} {
			if got := s.Call(c.caller, "POST /invitations/"+id+"/"+answer); got.Status != c.status ||
				!strings.Contains(got.Body, c.says) {
				t.Errorf("%s of %s: %s", answer, name, got)
			}
		}
	}
	s.Clock.Advance(time.Hour)
	joined := s.Clock.Now()
	got := apitest.Data[ReceivedInvitation](s.Call(eve, "POST /invitations/"+id+"/accept").AtMost(10))
	if got.ID != id || got.Organisation.ID != here {
		t.Errorf("accepted %+v", got)
	}
	if u := apitest.Data[User](s.as("ada", "GET /users/{}", eve.Email, "")); u.Status != active || u.Name != "EVE" ||
		u.JoinedAt == nil || !u.JoinedAt.Equal(joined) || u.Roles[0].RoleID != "operator" {
		t.Errorf("the inviter sees %+v", u)
	}
	if row := s.LastAudited(here); row.Action != "acceptInvitation" || row.Actor != eve.Email ||
		row.Target != eve.Email {
		t.Errorf("audited %+v", row)
	}
	s.Call(eve, "POST /invitations/"+id+"/accept").Want(404)
	s.Call(eve, "POST /invitations/"+id+"/decline").Want(404)
}

// An organization learns nothing of the invitations that its members get from others.
func TestInvitation_LeavesNoRowInTheLogOfTheOrganizationThatOneWorksIn(t *testing.T) {
	s := newFixture(t)
	s.Join(elsewhere, "eve", grant.Owner)
	s.as("ada", "POST /users", "", `{"email":"eve@example.com"}`)
	eve := s.Authorized(elsewhere, "eve")
	id := apitest.Data[rest.List[ReceivedInvitation]](s.Call(eve, "GET /invitations")).Items[0].ID
	s.Call(eve, "POST /invitations/inv_01k8z3v5y0e6m9x2q4t7r1c8bd/accept").Want(404)
	s.Call(eve, "POST /invitations/"+id+"/decline").Want(200)
	s.as("ada", "POST /users", "", `{"email":"eve@example.com"}`)
	id = apitest.Data[rest.List[ReceivedInvitation]](s.Call(eve, "GET /invitations")).Items[0].ID
	s.Call(eve, "POST /invitations/"+id+"/accept").Want(200)
	if rows := s.Audited(elsewhere); len(rows) != 0 {
		t.Errorf("the other organization's log has %+v", rows)
	}
	rows := 0
	for _, at := range audit.SystemPlaces() {
		apitest.LinkAudit(s, s.Platform, at)
		rows += len(apitest.Rows[audit.Row](s.Fixture, at.PK))
	}
	if rows < 2 {
		t.Errorf("the installation's log has %d rows", rows)
	}
}

// An invitation changes the organization that a user works in by default only if they had none.
func TestInvitation_LeavesTheDefaultOrganization(t *testing.T) {
	s := newFixture(t)
	s.as("ada", "POST /users", "", `{"email":"eve@example.com"}`)
	s.Clock.Advance(time.Hour)
	s.Join(elsewhere, "eve", grant.Owner)
	s.Clock.Advance(time.Hour)
	s.acceptInvitation("eve")
	first, err := identity.FirstOrganisation(context.Background(), s.Table, "usr_eve")
	if err != nil || first != elsewhere {
		t.Errorf("works in %s, %v", first, err)
	}
}

// check 1 of issue 21: each inviter has a count of their own for an address, and a stranger uses up only theirs.
func TestInviting_CountsAnAddressPerInviter(t *testing.T) {
	s := newFixture(t)
	const body = `{"email":"eve@example.com"}`
	for i := range 9 {
		org, name := fmt.Sprintf("org_%d", i), fmt.Sprintf("mallory%d", i)
		s.Organization(org, "Spam")
		s.Join(org, name, grant.Owner)
		for range 5 {
			s.Call(s.Authorized(org, name), "POST /users", body).Want(http.StatusOK)
		}
		s.Call(s.Authorized(org, name), "POST /users", body).Want(403, "by you", "try again at 2026-03-11T00:00:00Z")
	}
	s.Join(elsewhere, "ada", grant.Owner)
	for i := range 5 {
		org := []string{here, elsewhere}[i%2] // one inviter, two organizations
		s.Call(s.Authorized(org, "ada"), "POST /users", body).Want(http.StatusOK)
	}
	s.as("ada", "POST /users", "", body).Want(403, "by you")
	s.Join(here, "adam", grant.Admin)
	s.as("adam", "POST /users", "", body).Want(403, "of this address:", "try again at 2026-03-11T00:00:00Z")
	s.Clock.Advance(24 * time.Hour)
	s.as("adam", "POST /users", "", body).Want(http.StatusOK)
}
