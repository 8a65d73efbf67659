// Package auth proves who somebody is: accounts by e-mail and password, one-time codes, sessions, and the tokens that the
// authorizer verifies.
package auth

import (
	"context"
	"net/http"

	"lamplighter.dev/shared/accounts"
	"lamplighter.dev/shared/platform"
	"lamplighter.dev/shared/rest"
	"lamplighter.dev/shared/sessions"
)

// Operations is the group "Authentication".
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Authentication")
	s := newService(p)
	signUps(g, s)
	passwords(g, s)
	logins(g, s)
	return g
}

// service answers the operations. It remembers nothing between them.
type service struct {
	*platform.Platform
	passwords *hasher
	accounts  accounts.Accounts
	sessions  sessions.Sessions
}

func newService(p *platform.Platform) *service {
	return &service{p, newHasher(), accounts.Of(p), sessions.Of(p)}
}

// refusals are the statuses that the interface documents for public operations, besides 400 and 500.
var refusals = []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden}

// public declares an operation that issues or helps to issue credentials.
func public(id, method, path, summary string) rest.Op {
	return rest.Op{ID: id, Method: method, Path: path, Summary: summary, Public: true, Statuses: refusals}
}

// Message is an answer to be read by a person.
type Message struct {
	Message string `json:"message" doc:"What happened, or what to do next"`
}

func signUps(g *rest.Group, s *service) {
	op := public("signUp", http.MethodPost, "/auth/signup", "Create an account")
	op.Description = "A code is mailed to the address; validate it with PATCH /auth/otp/validate, then log in. " +
		"An address that has an account already gets the same answer, and another mail. " +
		"Signing up again before the code was used replaces the first attempt."
	rest.Handle(g, op, s.signUp)

	op = public("requestVerification", http.MethodPost, "/auth/email/verify", "Ask for a code that verifies an e-mail address")
	op.Description = "The answer is the same whether or not the address is known. At most five codes an hour are mailed to one address."
	rest.Handle(g, op, s.requestVerification)

	op = public("validateCode", http.MethodPatch, "/auth/otp/validate", "Use a one-time code")
	op.Description = "A code has 6 digits, is good for 10 minutes and dies at the fifth try. A newer code replaces it."
	rest.Handle(g, op, s.validate)
}

func passwords(g *rest.Group, s *service) {
	op := public("forgetPassword", http.MethodPost, "/auth/password/forget", "Ask for a code that resets the password")
	op.Description = "The answer is always the same. At most five codes an hour are mailed to one address."
	rest.Handle(g, op, s.forget)

	op = public("resetPassword", http.MethodPatch, "/auth/password/reset", "Set a new password")
	op.Description = "With the resetToken that PATCH /auth/otp/validate gave, or with e-mail and code. Every session of the user ends."
	rest.Handle(g, op, s.reset)
}

func logins(g *rest.Group, s *service) {
	op := public("logIn", http.MethodPost, "/auth/login", "Log in")
	op.Description = "Begins a session in the organization tenantID, or in the first one of the user. " +
		"A user without an organization creates one with POST /organisations, then refreshes. " +
		"403: the password is right, but the address is not verified yet, or the organization is not one of the user's."
	rest.Handle(g, op, s.logIn)

	op = public("refresh", http.MethodPost, "/auth/refresh", "Exchange a refresh token for new tokens")
	op.Description = "The refresh token dies by this, and using it again later ends the session. " +
		"tenantID moves the session to another organization of the user."
	rest.Handle(g, op, s.refresh)

	rest.Handle(g, rest.Op{
		ID: "logOut", Method: http.MethodPost, Path: "/auth/logout", Summary: "End the session",
		Description: "The access token and the session's refresh token are refused from now on.",
		SignedIn:    true, Statuses: []int{http.StatusBadRequest},
	}, s.logOut)

	rest.Handle(g, rest.Op{
		ID: "getSigningKeys", Method: http.MethodGet, Path: "/.well-known/jwks.json",
		Summary: "The keys that access tokens are signed with", Description: "A JSON Web Key Set (RFC 7517).",
		Public: true, Produces: "application/json",
	}, s.signingKeys)
}

func (s *service) signingKeys(ctx context.Context, _ *struct{}) (rest.Raw, error) {
	keys, err := s.Tokens.JWKS(ctx)
	if err != nil {
		return rest.Raw{}, err
	}
	return rest.Raw{
		Header: http.Header{"Cache-Control": {"public, max-age=300"}},
		Body:   keys,
	}, nil
}
