package sessions

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
)

// renewal is a session that is refreshed.
type renewal struct {
	Refreshing

	session identity.Session
	user    userOrganisations
	current bool // the client sent the session's valid refresh token
}

// renewed is a session after a refresh.
type renewed struct {
	session identity.Session
	proof   []table.Change // stores the second factor that the client has proved by the refresh
}

// renewSession returns the session after a refresh: with the second factor that the client proves, in the organization
// that it asks for. It verifies no second factor for a token that is not the current one.
func (s Sessions) renewSession(ctx context.Context, r renewal) (renewed, error) {
	out := renewed{session: r.session}
	if r.current && r.Prove != nil {
		factor, err := r.Prove(ctx, r.user.User)
		if err != nil {
			return out, err
		}
		out.proof = out.session.AddProof(factor, s.Clock.Now())
	}
	if out.session.Pending {
		return out, identity.ErrSecondFactor("send it to POST /auth/refresh as otp, a code of your app or a recovery " +
			"code, or log in with a passkey")
	}
	org, err := s.chooseOrganisation(ctx, r.user, orgChoice{
		wanted: r.Org, current: r.session.Org, sso: r.session.SSO, proved: out.session.MeetsMFA(r.user.User),
	})
	out.session.Org = org
	return out, err
}
