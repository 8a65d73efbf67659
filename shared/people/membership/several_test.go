package membership_test

import (
	"fmt"
	"testing"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestSeveralAreReadAsOneWouldBe(t *testing.T) {
	s := newFixture(t)
	s.Organization("org_2", "Engines")
	ada, bob := s.Join(org, "ada", grant.Owner), s.Join(org, "bob")
	s.Must(s.People.JoinOrganisation(t.Context(), "org_2", s.User("eve"), nil))

	got, err := s.People.MembersByEmail(s.Context(), org,
		[]string{"BOB@example.com", "ada@example.com", "bob@example.com"})
	s.Must(err)
	var users []string
	for _, m := range got {
		users = append(users, m.User)
	}
	if fmt.Sprint(users) != fmt.Sprint([]string{bob.User, ada.User, bob.User}) {
		t.Errorf("have %v", users)
	}
	var trips []int
	// a member of another organization, and an address without an account
	for _, email := range []string{"eve@example.com", "nil@example.com"} {
		ctx, meter := table.WithMeter(s.Context())
		_, err = s.People.MembersByEmail(ctx, org, []string{"ada@example.com", email})
		s.wantKind(fault.NotFound, err)
		_, _, alone := s.People.FindMember(s.Context(), org, email)
		if fault.Message(err) != fault.Message(alone) {
			t.Errorf("%q, and of one alone %q", fault.Message(err), fault.Message(alone))
		}
		trips = append(trips, meter.Usage().RoundTrips)
	}
	if trips[0] != trips[1] {
		t.Errorf("round trips tell who has an account: %v", trips)
	}
	_, err = s.People.MembersByEmail(s.Context(), org, []string{"bob"})
	s.wantKind(fault.NotFound, err)

	members := apitest.Value(s.People.ReadMembers(s.Context(), org, []string{ada.User, "usr_eve", "usr_nobody"}))(s)
	names := apitest.Value(s.People.UserNames(s.Context(), []string{ada.User, "usr_eve", "usr_nobody"}))(s)
	if len(members) != 1 || members[ada.User].Email != ada.Email || len(names) != 2 || names["usr_eve"] != "EVE" {
		t.Errorf("members %v, names %v", members, names)
	}
}
