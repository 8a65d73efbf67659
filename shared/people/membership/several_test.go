package membership_test

import (
	"fmt"
	"testing"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

func TestSeveralAreReadAsOneWouldBe(t *testing.T) {
	s := newStage(t)
	s.organisation("org_2")
	ada, bob := s.member("ada", grant.Owner), s.member("bob")
	s.must(s.Join(t.Context(), "org_2", s.user("eve"), nil))

	got, err := s.Have(s.ctx, org, []string{"BOB@example.com", "ada@example.com", "bob@example.com"})
	s.must(err)
	var users []string
	for _, m := range got {
		users = append(users, m.User)
	}
	if fmt.Sprint(users) != fmt.Sprint([]string{bob.User, ada.User, bob.User}) {
		t.Errorf("have %v", users)
	}
	var trips []int
	for _, email := range []string{"eve@example.com", "nil@example.com"} { // elsewhere, and nowhere
		ctx, meter := table.WithMeter(s.ctx)
		_, err = s.Have(ctx, org, []string{"ada@example.com", email})
		s.want(fault.NotFound, err)
		_, _, alone := s.Find(s.ctx, org, email)
		if fault.Message(err) != fault.Message(alone) {
			t.Errorf("%q, and of one alone %q", fault.Message(err), fault.Message(alone))
		}
		trips = append(trips, meter.Usage().RoundTrips)
	}
	if trips[0] != trips[1] {
		t.Errorf("round trips tell who has an account: %v", trips)
	}
	_, err = s.Have(s.ctx, org, []string{"bob"})
	s.want(fault.NotFound, err)

	members, err := s.Several(s.ctx, org, []string{ada.User, "usr_eve", "usr_nobody"})
	s.must(err)
	names, err := s.Names(s.ctx, []string{ada.User, "usr_eve", "usr_nobody"})
	s.must(err)
	if len(members) != 1 || members[ada.User].Email != ada.Email || len(names) != 2 || names["usr_eve"] != "eve" {
		t.Errorf("members %v, names %v", members, names)
	}
}
