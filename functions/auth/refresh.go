package auth

import (
	"context"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/people/consolesession"
	"lamplighter.dev/shared/people/sessions"
)

// RefreshRequest is the body of POST /auth/refresh.
type RefreshRequest struct {
	RefreshToken *string `json:"refreshToken,omitempty" maxLength:"256" doc:"The newest refresh token of the session. It is required without X-Lamplighter-Console and ignored with it"`
	TenantID     string  `json:"tenantID,omitempty" maxLength:"64" doc:"The organization to move the session to"`
	OTP          string  `json:"otp,omitempty" maxLength:"32" doc:"Proves the second factor in this session: a code of the authenticator app, or a recovery code" example:"042137"`

	Assertion *PasskeyAssertion `json:"assertion,omitempty" doc:"Proves the second factor in this session by a passkey, with the options of POST /auth/login/passkey"`
}

type refreshInput struct{ Body RefreshRequest }

func (s *service) refreshSession(ctx context.Context, in *refreshInput) (sessions.LoggedIn, error) {
	token, signedIn, err := s.refreshTokenOf(ctx, in)
	if err != nil {
		return sessions.LoggedIn{}, err
	}
	if !signedIn {
		return sessions.LoggedIn{Tenants: []sessions.OrganisationChoice{}}, nil
	}
	if err := s.takeRateLimit(ctx, refreshesPerSource, requestSource(ctx)); err != nil {
		return sessions.LoggedIn{}, err
	}
	return s.sessions.Refresh(ctx, token, sessions.Refreshing{
		Org: in.Body.TenantID, Prove: s.proverOf(in.Body.OTP, in.Body.Assertion),
	})
}

// endedSession is the audit row of a log-out.
type endedSession struct {
	Session string `json:"sessionID"`
	User    string `json:"userID"`
}

// LogOutRequest is the body of POST /auth/logout, which may be left out.
type LogOutRequest struct {
	RefreshToken string `json:"refreshToken,omitempty" maxLength:"256" doc:"Also ends the session of this token, if it is another one of the caller"`
}

type logOutInput struct{ Body *LogOutRequest }

func (s *service) logOut(ctx context.Context, in *logOutInput) (Message, error) {
	if consolesession.IsFromConsole(ctx) {
		if err := s.cookies().CheckOwnOrigin(ctx); err != nil {
			return Message{}, err
		}
	}
	caller := identity.CallerFrom(ctx)
	if in.Body != nil && in.Body.RefreshToken != "" {
		if err := s.sessions.EndByRefreshToken(ctx, in.Body.RefreshToken, caller.User); err != nil {
			return Message{}, err
		}
	}
	if caller.Session != "" {
		if err := s.sessions.End(ctx, caller.User, caller.Session); err != nil {
			return Message{}, err
		}
	}
	s.endCookie(ctx)
	audit.NoteChange(ctx, audit.Change{Target: caller.User, Before: endedSession{caller.Session, caller.User}})
	return Message{"the session has ended"}, nil
}
