package auth

import (
	"context"
	"errors"
	"fmt"

	"lamplighter.dev/shared/fault"
	"lamplighter.dev/shared/identity"
	"lamplighter.dev/shared/table"
)

type logInInput struct {
	Body struct {
		Email    string `json:"email,omitempty" maxLength:"254" doc:"The address; for provider email" example:"ada@example.com"`
		Password string `json:"password,omitempty" maxLength:"1024" doc:"The password; for provider email"`
		Provider string `json:"provider,omitempty" enum:"email,google" default:"email" doc:"Who vouches for the caller"`
		Token    string `json:"token,omitempty" maxLength:"8192" doc:"The id token; for provider google"`
		TenantID string `json:"tenantID,omitempty" maxLength:"64" doc:"The organization to work in; without one, the user's first"`
	}
}

// LoggedIn is a session's tokens, and what its user can choose from.
type LoggedIn struct {
	AccessToken  string   `json:"accessToken" doc:"Send it as Authorization: Bearer …"`
	RefreshToken string   `json:"refreshToken" doc:"For POST /auth/refresh, once, within 7 days"`
	TokenType    string   `json:"tokenType" doc:"Always Bearer"`
	ExpiresIn    int      `json:"expiresIn" doc:"Seconds that the access token is good for" example:"900"`
	Tenants      []Tenant `json:"tenants" doc:"The organizations that the user belongs to"`
	User         Person   `json:"user" doc:"Who logged in"`
}

// Tenant is an organization to choose.
type Tenant struct {
	ID   string `json:"id" doc:"What to send as tenantID"`
	Name string `json:"name" doc:"Its name"`
}

// Person is the user of a session.
type Person struct {
	ID    string `json:"id" doc:"The user"`
	Email string `json:"email" doc:"The address"`
	Name  string `json:"name" doc:"The name"`
}

func (s *service) logIn(ctx context.Context, in *logInInput) (LoggedIn, error) {
	if in.Body.Provider == "google" {
		return LoggedIn{}, fault.New(fault.Invalid, "provider: google is not configured here; use email")
	}
	if in.Body.Email == "" || in.Body.Password == "" {
		return LoggedIn{}, fault.New(fault.Invalid, "email and password are required for provider email")
	}
	address, err := identity.Address(in.Body.Email)
	if err != nil {
		return LoggedIn{}, err
	}
	ctx = reach(ctx)
	u, err := s.authenticate(ctx, address, in.Body.Password)
	if err != nil {
		return LoggedIn{}, err
	}
	tenants, err := identity.OrganisationsOf(ctx, s.Table, u.ID)
	if err != nil {
		return LoggedIn{}, err
	}
	org, err := choose(tenants, in.Body.TenantID, "")
	if err != nil {
		return LoggedIn{}, err
	}
	sess, t, err := s.begin(ctx, u, org)
	if err != nil {
		return LoggedIn{}, err
	}
	return s.loggedIn(ctx, sess, t, account{u, tenants})
}

// authenticate checks address and password. What is wrong with an account is told only to who knows its password.
func (s *service) authenticate(ctx context.Context, address, password string) (identity.User, error) {
	u, err := s.find(ctx, address)
	if err != nil {
		return u, err
	}
	right, weak, err := s.passwords.verify(ctx, password, u.Password)
	switch {
	case err != nil:
		return u, fmt.Errorf("check password of %s: %w", u.ID, err)
	case !right:
		return u, fault.New(fault.Unauthenticated, "wrong e-mail address or password")
	case !u.Verified:
		return u, fault.New(fault.Denied, "the address is not verified yet: ask for a code with POST /auth/email/verify and send it to PATCH /auth/otp/validate")
	case u.Disabled:
		return u, fault.New(fault.Denied, "this account is disabled: ask an administrator of the organization")
	case weak:
		return u, s.strengthen(ctx, u, password)
	}
	return u, nil
}

// strengthen hashes a password anew that was hashed when less was asked for, unless it was changed meanwhile.
func (s *service) strengthen(ctx context.Context, u identity.User, password string) error {
	hash, err := s.passwords.hash(ctx, password)
	if err != nil {
		return err
	}
	_, err = s.Table.Write(ctx, table.Update(identity.UserKey(u.ID),
		[]table.Change{table.Set("password", hash)}, table.Equal("password", u.Password)))
	if _, changed := errors.AsType[*table.ConditionError](err); changed {
		return nil
	}
	return fault.Wrap("strengthen password of "+u.ID, err)
}

// choose picks the organization wanted, which must be one of tenants; without a wish, the current one or else the first.
func choose(tenants []identity.Organisation, wanted, current string) (string, error) {
	first := ""
	for _, t := range tenants {
		if t.ID == wanted || (wanted == "" && t.ID == current) {
			return t.ID, nil
		}
		if first == "" {
			first = t.ID
		}
	}
	if wanted != "" {
		return "", fault.New(fault.Denied, "tenantID: you do not belong to an organization %q", wanted)
	}
	return first, nil
}

// account is a user with the organizations to choose from.
type account struct {
	identity.User
	tenants []identity.Organisation
}

func (s *service) loggedIn(ctx context.Context, sess identity.Session, t refreshToken, a account) (LoggedIn, error) {
	access, err := s.sign(ctx, sess)
	if err != nil {
		return LoggedIn{}, err
	}
	out := LoggedIn{
		AccessToken: access, RefreshToken: t.text(s.Settings.Pepper), TokenType: "Bearer",
		ExpiresIn: int(identity.TokenTTL.Seconds()), Tenants: make([]Tenant, len(a.tenants)),
		User: Person{a.ID, a.Email, a.Name},
	}
	for i, o := range a.tenants {
		out.Tenants[i] = Tenant{o.ID, o.Name}
	}
	return out, nil
}
