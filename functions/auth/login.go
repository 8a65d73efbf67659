package auth

import (
	"context"
	"errors"
	"fmt"

	"lamplighter.dev/functions/auth/oauthlogin"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/accounts"
	"lamplighter.dev/shared/people/sessions"
)

// LogInRequest is the body of POST /auth/login.
type LogInRequest struct {
	Email    string `json:"email,omitempty" maxLength:"254" doc:"The address; for provider email" example:"ada@example.com"`
	Password string `json:"password,omitempty" maxLength:"1024" doc:"The password; for provider email"`
	Provider string `json:"provider,omitempty" enum:"email,google,github" default:"email" doc:"The identity provider; github works only by GET /auth/github/url"`
	Token    string `json:"token,omitempty" maxLength:"8192" doc:"The id token; for provider google"`
	TenantID string `json:"tenantID,omitempty" maxLength:"64" doc:"The organization to work in; default: the user's first"`
	OTP      string `json:"otp,omitempty" maxLength:"32" doc:"For a user with a second factor: a code of the authenticator app, or a recovery code" example:"042137"`
}

type logInInput struct{ Body LogInRequest }

func (s *service) logIn(ctx context.Context, in *logInInput) (sessions.LoggedIn, error) {
	switch in.Body.Provider {
	case oauthlogin.Google:
		return s.logInByToken(ctx, in)
	case oauthlogin.GitHub:
		return sessions.LoggedIn{},
			fault.New(fault.Invalid, "provider: github gives no id tokens; begin with GET /auth/github/url")
	}
	if in.Body.Email == "" || in.Body.Password == "" {
		return sessions.LoggedIn{}, fault.New(fault.Invalid, "email and password are required for provider email")
	}
	address, err := identity.NormalizeAddress(in.Body.Email)
	if err != nil {
		return sessions.LoggedIn{}, err
	}
	ctx = withAuthPartitions(ctx)
	u, err := s.logInByPassword(ctx, address, in.Body.Password)
	if err != nil {
		return sessions.LoggedIn{}, err
	}
	how := sessions.Options{Org: in.Body.TenantID, Method: identity.LoginEmail}
	return s.beginSession(ctx, u, logInProof{how: how, otp: in.Body.OTP})
}

// logInByToken logs in a person by a Google ID token that the client has obtained.
func (s *service) logInByToken(ctx context.Context, in *logInInput) (sessions.LoggedIn, error) {
	if in.Body.Token == "" {
		return sessions.LoggedIn{}, fault.New(fault.Invalid, "token: it is required for provider google")
	}
	if err := s.takeRateLimit(ctx, oauthLoginsPerSource, requestSource(ctx)); err != nil {
		return sessions.LoggedIn{}, err
	}
	claim, err := s.providers.VerifyIDToken(ctx, in.Body.Token)
	if err != nil {
		return sessions.LoggedIn{}, err
	}
	how := sessions.Options{Org: in.Body.TenantID, Method: identity.LoginGoogle}
	return s.logInByClaim(ctx, claim, logInProof{how: how, otp: in.Body.OTP})
}

// logInByClaim logs in a person whose identity a provider confirms.
func (s *service) logInByClaim(ctx context.Context, c accounts.Claim, p logInProof) (sessions.LoggedIn, error) {
	u, err := s.accounts.FindOrCreateByIdentity(ctx, c)
	if err != nil {
		return sessions.LoggedIn{}, err
	}
	return s.beginSession(ctx, u, p)
}

// authenticate checks the password of an account, or of none. It reveals problems of an account only to a caller who
// knows its password.
func (s *service) authenticate(ctx context.Context, u identity.User, password string) (identity.User, error) {
	right, weak, err := s.passwords.verifyPassword(ctx, password, u.Password)
	switch {
	case err != nil:
		return u, fmt.Errorf("check password of %s: %w", u.ID, err)
	case !right:
		return u, fault.New(fault.Unauthenticated, "wrong e-mail address or password")
	case !u.Verified:
		return u, fault.New(fault.Denied, "the address is not verified yet: ask for a code with POST "+
			"/auth/email/verify and send it to PATCH /auth/otp/validate")
	case u.Disabled:
		return u, fault.New(fault.Denied, "this account is disabled: ask an administrator of the organization")
	case weak:
		return u, s.rehashPassword(ctx, u, password)
	}
	return u, nil
}

// rehashPassword replaces the hash of a password by one with the present cost, unless the password was changed
// meanwhile.
func (s *service) rehashPassword(ctx context.Context, u identity.User, password string) error {
	hash, err := s.passwords.hashPassword(ctx, password)
	if err != nil {
		return err
	}
	err = s.Table.Transact(ctx, table.Update(identity.UserKey(u.ID),
		[]table.Change{table.Set("password", hash)}, table.Equal("password", u.Password)))
	if _, changed := errors.AsType[*table.ConditionError](err); changed {
		return nil
	}
	return fault.Wrap("strengthen password of "+u.ID, err)
}
