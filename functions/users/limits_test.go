package users

import (
	"testing"

	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestInviting_SeveralAtOnceAreNoMoreThanTheMost(t *testing.T) {
	s := newFixture(t)
	ada := s.Authorized(here, "ada")
	s.CheckLimit(apitest.Addition{
		PK: membership.InvitationKey(nil, here, "").PK, Limit: membership.MaxInvitations,
		Send: func(name string) apitest.Answer {
			return s.Call(ada, "POST /users", map[string]string{"email": name + "@example.com"})
		},
	}, Operations)
}
