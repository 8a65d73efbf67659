// Package auth authenticates people: accounts with e-mail and password, one-time codes, sessions, and the tokens that
// the authorizer verifies.
package auth

import (
	"context"
	"net/http"

	"lamplighter.dev/functions/auth/oauthlogin"
	"lamplighter.dev/functions/auth/secondfactor"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/people/accounts"
	"lamplighter.dev/shared/people/sessions"
)

// Operations returns the group "Authentication".
func Operations(p *platform.Platform) *rest.Group { return mountOperations(newService(p)) }

func mountOperations(s *service) *rest.Group {
	g := rest.NewGroup("Authentication")
	registerSignUp(g, s)
	registerPasswords(g, s)
	registerLinks(g, s)
	registerLogin(g, s)
	registerOAuth(g, s)
	registerSecondFactors(g, s)
	registerPasskeys(g, s)
	registerSessions(g, s)
	registerPasswordChange(g, s)
	registerAccountEnd(g, s)
	return g
}

// service answers the operations. Between them it keeps only the published data of providers.
type service struct {
	*platform.Platform
	passwords *passwordHasher
	accounts  accounts.Accounts
	sessions  sessions.Sessions
	providers oauthlogin.Providers
	factors   secondfactor.Factors
}

func newService(p *platform.Platform) *service {
	return &service{
		p, newPasswordHasher(), accounts.New(p), sessions.New(p), oauthlogin.New(p), secondfactor.New(p),
	}
}

// refusalStatuses are the documented statuses of public operations, besides 400 and 500.
var refusalStatuses = []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden}

// publicOp declares an operation that issues credentials or helps to issue them.
func publicOp(id, method, path, summary string) rest.Op {
	return rest.Op{ID: id, Method: method, Path: path, Summary: summary, Public: true, Statuses: refusalStatuses}
}

// Message is an answer for a person to read.
type Message struct {
	Message string `json:"message" doc:"The result, or the next step"`
}

const mailLimits = "From one place, one mail a minute and five an hour go to one address at most, from all places " +
	"ten an hour. A mail has a code, and a link to a page that sets a new password, which wrong and newer codes do " +
	"not invalidate."

func registerSignUp(g *rest.Group, s *service) {
	op := publicOp("signUp", http.MethodPost, "/auth/signup", "Create an account")
	op.Description = "A code is mailed to the address; validate it with PATCH /auth/otp/validate, then log in. An " +
		"address that has an account already gets the same answer, and another mail. Signing up again before the " +
		"code was used replaces the first attempt; within a day, and with another password, the account begins " +
		"without one: reset it when the address is verified."
	rest.Handle(g, op, s.signUp)

	op = publicOp("requestVerification", http.MethodPost, "/auth/email/verify",
		"Ask for a code that verifies an e-mail address")
	op.Description = "The answer is the same whether or not the address is known. " + mailLimits
	rest.Handle(g, op, s.requestVerification)

	op = publicOp("validateCode", http.MethodPatch, "/auth/otp/validate", "Use a one-time code")
	op.Description = "A code has 6 digits, is good for 10 minutes and dies at the fifth try. A newer code replaces " +
		"it. After 15 wrong codes of an address in a day, or 30 in a year, its mails have a link alone, which sets a " +
		"password and verifies the address; devices and sources that have logged in to the account before have " +
		"counts of their own."
	rest.Handle(g, op, s.validateCodeCounted)
}

func registerPasswords(g *rest.Group, s *service) {
	op := publicOp("forgetPassword", http.MethodPost, "/auth/password/forget",
		"Ask for a code that resets the password")
	op.Description = "The answer is always the same. " + mailLimits
	rest.Handle(g, op, s.requestPasswordReset)

	op = publicOp("resetPassword", http.MethodPatch, "/auth/password/reset", "Set a new password")
	op.Description = "With the resetToken that PATCH /auth/otp/validate gave, with the end of the link in a mail as " +
		"resetToken, or with e-mail and code. Every session of the user ends."
	rest.Handle(g, op, s.resetPasswordCounted)
}

// consoleNote is added to the descriptions of operations that the web console uses.
const consoleNote = "With the header X-Lamplighter-Console: 1, from a page of the service's own origin (else 403), " +
	"the refresh token is in an HttpOnly cookie instead of the body."

func registerLogin(g *rest.Group, s *service) {
	op := publicOp("logIn", http.MethodPost, "/auth/login", "Log in")
	op.Description = "Begins a session in the organization tenantID, or in the first one of the user. A user " +
		"without an organization creates one with POST /organisations, then refreshes. 403: the password is right, " +
		"but the address is not verified yet, or the organization is not one of the user's, or wants single " +
		"sign-on; or too many log-ins failed, of this address or from where the request comes; or a second factor is " +
		"needed: send otp, a code of the authenticator app or a recovery code, or log in with a passkey. A " +
		"log-in sets a " +
		"cookie, which lets this device log in while the log-ins of others fail. " + consoleNote
	op.Credentials = true
	rest.Handle(g, op, remembering(s, inCookie(s, s.logInCounted)))

	op = publicOp("refresh", http.MethodPost, "/auth/refresh", "Exchange a refresh token for new tokens")
	op.Description = "The refresh token dies by this. Using it again within 10 seconds is 401 and nothing more, so " +
		"that two tabs may race; using it later, or using an older one, ends the session. tenantID moves the " +
		"session to another organization of the user. otp or assertion proves the second factor in this " +
		"session: for an " +
		"organization with requireMFA, for sensitive operations (x-step-up), and after a sign-in at Google or " +
		"GitHub. 403: it is wrong, or needed and missing; the refresh token stays valid. " + consoleNote +
		" Without the cookie the answer is 200 with user null and empty tokens."
	op.Credentials = true
	rest.Handle(g, op, inCookie(s, s.refreshSession))

	rest.Handle(g, rest.Op{
		ID: "logOut", Method: http.MethodPost, Path: "/auth/logout", Summary: "End the session",
		Description: "The access token and the session's refresh token are invalid from then on. " +
			"A personal access token, which has no session, is ended by DELETE /personal-access-tokens/{tokenID}. " +
			"With the header X-Lamplighter-Console: 1 the cookie of the web console ends too.",
		SignedIn: true, Session: true, Statuses: []int{http.StatusBadRequest},
	}, s.logOut)

	rest.Handle(g, rest.Op{
		ID: "getSigningKeys", Method: http.MethodGet, Path: "/.well-known/jwks.json",
		Summary: "Get the keys that verify access tokens", Description: "A JSON Web Key Set (RFC 7517).",
		Public: true, Produces: "application/json",
	}, s.getSigningKeys)
}

// registerOAuth registers the sign-ins at providers.
func registerOAuth(g *rest.Group, s *service) {
	rest.Handle(g, rest.Op{
		ID: "listSignInWays", Method: http.MethodGet, Path: "/auth/providers", Public: true,
		Summary: "List the ways to sign in besides e-mail and password",
		Description: "The providers that the operator has configured. Single sign-on depends on the domain of an " +
			"address, so whether it works for one is the answer to POST /auth/saml/initiate.",
	}, s.listSignInWays)
	rest.Handle(g, rest.Op{
		ID: "beginSignIn", Method: http.MethodGet, Path: "/auth/{provider}/url",
		Summary: "Begin a sign-in at Google or GitHub",
		Description: "Send the browser to url. It comes back to GET /auth/{provider}/callback with a code and the " +
			"state. 404: the provider does not exist, or the operator has not configured it. With for=console, which " +
			"only a page of the service's own origin can send (else 403), a cookie binds the sign-in to the browser; " +
			"the callback then sets the cookie of the web console and redirects to it.",
		Public: true, Statuses: []int{http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound},
	}, s.beginOAuth)

	rest.Handle(g, rest.Op{
		ID: "finishSignIn", Method: http.MethodGet, Path: "/auth/{provider}/callback",
		Summary: "Finish the sign-in at Google or GitHub",
		Description: "Answers like POST /auth/login. A new person gets an account. If an account with the same " +
			"e-mail address exists, the sign-in joins it only if the provider runs that address's mailboxes, as " +
			"Google does for gmail.com and Workspace domains; else 403: log in with the password. For a user with a " +
			"second factor the tokens are good for one thing only: POST /auth/refresh with otp or assertion; " +
			"tenants is " +
			"empty until then. 401: the state " +
			"or the code is unknown, used, expired or of another provider, or the person did not agree. 303: the web " +
			"console began (for=console); the browser then has its cookie, or the console tells why not.",
		Public: true, Writes: true, Statuses: []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound},
	}, s.finishOAuth)
}

func (s *service) getSigningKeys(ctx context.Context, _ *struct{}) (rest.Raw, error) {
	keys, err := s.Tokens.JWKS(ctx)
	if err != nil {
		return rest.Raw{}, err
	}
	return rest.Raw{
		Header: http.Header{"Cache-Control": {"public, max-age=300"}},
		Body:   keys,
	}, nil
}
