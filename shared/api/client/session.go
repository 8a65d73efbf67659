package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Tokens are the credentials of a session: an access token with its refresh token, or a personal access token alone.
type Tokens struct {
	Access  string `json:"accessToken"`
	Refresh string `json:"refreshToken,omitempty"`
}

// TokenStore keeps the tokens of a session.
type TokenStore interface {
	// Load returns the tokens; they are empty if nobody is signed in.
	Load() (Tokens, error)
	// Update replaces the tokens by those that change returns. No other process reads tokens to change them meanwhile.
	// If change returns an error, the tokens stay as they are.
	Update(ctx context.Context, change func(Tokens) (Tokens, error)) error
}

// Static is a token that cannot be renewed, such as a personal access token of the environment.
type Static string

// Load returns the token.
func (s Static) Load() (Tokens, error) { return Tokens{Access: string(s)}, nil }

// Update refuses: there is nowhere to keep another token.
func (Static) Update(context.Context, func(Tokens) (Tokens, error)) error {
	return errors.New("the token is given from outside and cannot be renewed")
}

// ErrSignedOut is returned when a request needs a user and the session is missing, has ended or was refused.
var ErrSignedOut = errors.New("you are not signed in")

// Credentials are the address and password of a person.
type Credentials struct {
	Email        string `json:"email"`
	Password     string `json:"password"`
	Code         string `json:"otp,omitempty"`      // of the second factor
	Organisation string `json:"tenantID,omitempty"` // the organization to work in; "" is the user's first
}

// Session is the answer to a sign-in.
type Session struct {
	AccessToken  string         `json:"accessToken"`
	RefreshToken string         `json:"refreshToken"`
	Tenants      []Organisation `json:"tenants"`
	User         User           `json:"user"`
}

// Organisation is an organization of a user.
type Organisation struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// User is the user who signed in.
type User struct {
	Email string `json:"email"`
	Name  string `json:"name"`
}

// Tokens returns the tokens of the session.
func (s Session) Tokens() Tokens { return Tokens{Access: s.AccessToken, Refresh: s.RefreshToken} }

// refreshOrder is the body of a refresh.
type refreshOrder struct {
	RefreshToken string `json:"refreshToken"`
	Organisation string `json:"tenantID,omitempty"`
}

// LogIn signs in with a password. It keeps no token: the caller stores the session's.
func (c *Client) LogIn(ctx context.Context, who Credentials) (Session, error) {
	var s Session
	err := c.Call(ctx, Request{Method: http.MethodPost, Path: "/auth/login", Body: who, Public: true}, &s)
	return s, err
}

// NeedsCode reports whether a sign-in was refused only because it lacks the code of the second factor.
func NeedsCode(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == http.StatusForbidden && strings.Contains(e.Message, "second factor")
}

// Refresh exchanges a refresh token, which dies by it. An organization moves the session there.
func (c *Client) Refresh(ctx context.Context, refreshToken, organisation string) (Session, error) {
	var s Session
	err := c.Call(ctx, Request{
		Method: http.MethodPost, Path: "/auth/refresh", Public: true,
		Body: refreshOrder{RefreshToken: refreshToken, Organisation: organisation},
	}, &s)
	return s, err
}

// LogOut ends the session of the access token, and with it the refresh token.
func (c *Client) LogOut(ctx context.Context) error {
	return c.Call(ctx, Request{Method: http.MethodPost, Path: "/auth/logout"}, nil)
}

// renew replaces the refused access token. If another process has renewed it meanwhile, its token is taken.
func (c *Client) renew(ctx context.Context, refused string) error {
	if refused == "" {
		return ErrSignedOut
	}
	if t, err := c.o.Tokens.Load(); err != nil || t.Refresh == "" {
		return errors.Join(fmt.Errorf("%w: the service refused the token", ErrSignedOut), err)
	}
	return c.o.Tokens.Update(ctx, func(t Tokens) (Tokens, error) {
		if t.Access != refused {
			return t, nil
		}
		s, err := c.Refresh(ctx, t.Refresh, "")
		if IsStatus(err, http.StatusUnauthorized) {
			return t, fmt.Errorf("%w: the session has ended", ErrSignedOut)
		}
		return s.Tokens(), err
	})
}
