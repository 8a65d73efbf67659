package auth

import (
	"context"
	"net/http"
	"strings"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/sessions"
)

func registerPasskeys(g *rest.Group, s *service) {
	rest.Handle(g, rest.Op{
		ID: "beginPasskey", Method: http.MethodPost, Path: "/auth/mfa/passkeys", SignedIn: true, Session: true,
		StepUp: true, Credentials: true, Summary: "Begin to add a passkey",
		Description: "The answer is a PublicKeyCredentialCreationOptionsJSON of WebAuthn, for " +
			"PublicKeyCredential.parseCreationOptionsFromJSON in a page of this service's address. The " +
			"challenge is good " +
			"for one registration within 5 minutes. At most 20 passkeys. A session of single sign-on is refused; so " +
			"is one whose log-in is older than an hour, for a user without a second factor.",
	}, s.beginPasskey)
	rest.Handle(g, rest.Op{
		ID: "confirmPasskey", Method: http.MethodPost, Path: "/auth/mfa/passkeys/confirm", SignedIn: true,
		Session: true,
		StepUp:  true, Credentials: true, Summary: "Add a passkey",
		Description: "The body is the credential's RegistrationResponseJSON, as toJSON() returns it, with a " +
			"name beside " +
			"its members; or the credential in credential. The first second factor of a user comes with ten recovery " +
			"codes, shown once. The session has proved a second factor by this. 400: the credential does not " +
			"verify, or " +
			"its challenge is unknown, used or too old.",
	}, s.confirmPasskey)
	rest.Handle(g, rest.Op{
		ID: "removePasskey", Method: http.MethodDelete, Path: "/auth/mfa/passkeys/{passkeyID}", SignedIn: true,
		Session: true, Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary: "Remove a passkey",
		Description: "otp is a code of the authenticator app or a recovery code; assertion is one of any " +
			"passkey of the " +
			"caller, with the options of POST /auth/login/passkey. One of both is needed. 403: it is wrong or used.",
	}, s.removePasskey)

	op := publicOp("beginPasskeyLogIn", http.MethodPost, "/auth/login/passkey", "Begin to log in with a passkey")
	op.Description = "The answer is a PublicKeyCredentialRequestOptionsJSON of WebAuthn. It is the same for every " +
		"address: " +
		"it names no passkeys, the authenticator finds its own. The challenge is good once, for 5 minutes. With " +
		"email, only a passkey of that account is accepted."
	op.Credentials = true
	rest.Handle(g, op, s.beginPasskeyLogIn)

	op = publicOp("confirmPasskeyLogIn", http.MethodPost, "/auth/login/passkey/confirm", "Log in with a passkey")
	op.Description = "The body is the AuthenticationResponseJSON, as toJSON() returns it; or the same in credential. " +
		"A passkey counts as both factors. 401: it is not accepted."
	op.Credentials = true
	rest.Handle(g, op, remembering(s, s.confirmPasskeyCounted))
}

// passkeysPerSource limits log-ins with passkeys from one source.
var passkeysPerSource = ratelimit.Rule{Name: "passkey-source", Max: 300, Per: oauthLoginsPerSource.Per}

func (s *service) beginPasskey(ctx context.Context, _ *struct{}) (PasskeyCreationOptions, error) {
	c, err := s.beginSetup(ctx)
	if err != nil {
		return PasskeyCreationOptions{}, err
	}
	options, err := s.factors.BeginRegistration(ctx, c.User)
	if err != nil {
		return PasskeyCreationOptions{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: c.User.ID, After: factorEvent{"passkey begun"}})
	return newCreationOptions(options), nil
}

type confirmPasskeyInput struct{ Body PasskeyRegistration }

// AddedPasskey is the answer to a new passkey.
type AddedPasskey struct {
	PasskeyRecord

	RecoveryCodes []string `json:"recoveryCodes" doc:"Ten codes for a user who had none, not shown again; else []"`
}

func (s *service) confirmPasskey(ctx context.Context, in *confirmPasskeyInput) (AddedPasskey, error) {
	c, err := s.beginChange(ctx)
	if err != nil {
		return AddedPasskey{}, err
	}
	name := "Passkey"
	if strings.TrimSpace(in.Body.Name) != "" {
		if name, err = displayname.CleanName("name", in.Body.Name, 100); err != nil {
			return AddedPasskey{}, err
		}
	}
	audit.NoteChange(ctx, audit.Change{Target: c.User.ID, After: factorEvent{"passkey " + name}})
	k, codes, err := s.factors.Register(ctx, c, in.Body.newPasskey(name))
	return AddedPasskey{newPasskeyRecord(k), append([]string{}, codes...)}, err
}

// PasskeyRemoval is the body of DELETE /auth/mfa/passkeys/{passkeyID}.
type PasskeyRemoval struct {
	OTP       string            `json:"otp,omitempty" maxLength:"32" doc:"A code of the authenticator app, or a recovery code"`
	Assertion *PasskeyAssertion `json:"assertion,omitempty" doc:"In place of otp: an assertion of one of the caller's passkeys"`
}

type removePasskeyInput struct {
	PasskeyID string `path:"passkeyID" doc:"The passkey"`
	Body      PasskeyRemoval
}

func (s *service) removePasskey(ctx context.Context, in *removePasskeyInput) (rest.Deleted, error) {
	c, err := s.beginChange(ctx)
	if err != nil {
		return rest.Deleted{}, err
	}
	if _, err = s.factors.FindPasskey(ctx, c.User.ID, in.PasskeyID); err != nil {
		return rest.Deleted{}, err
	}
	if _, err = s.proveFactor(ctx, c.User, factorProof{in.Body.OTP, in.Body.Assertion}); err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: c.User.ID, Before: factorEvent{"passkey " + in.PasskeyID}})
	return rest.Deleted{ID: in.PasskeyID}, s.factors.RemovePasskey(ctx, c, in.PasskeyID)
}

// PasskeyLogIn is the body of POST /auth/login/passkey, which may be left out.
type PasskeyLogIn struct {
	Email string `json:"email,omitempty" maxLength:"254" doc:"The address of the account; without one, any passkey is accepted"`
}

type beginPasskeyLogInInput struct{ Body *PasskeyLogIn }

func (s *service) beginPasskeyLogIn(ctx context.Context, in *beginPasskeyLogInInput) (PasskeyRequestOptions, error) {
	address := ""
	if in.Body != nil && in.Body.Email != "" {
		var err error
		if address, err = identity.NormalizeAddress(in.Body.Email); err != nil {
			return PasskeyRequestOptions{}, err
		}
	}
	if err := s.takeRateLimit(ctx, passkeysPerSource, requestSource(ctx)); err != nil {
		return PasskeyRequestOptions{}, err
	}
	options, err := s.factors.BeginLogIn(ctx, address)
	if err != nil {
		return PasskeyRequestOptions{}, err
	}
	return newRequestOptions(options), nil
}

type confirmPasskeyLogInInput struct{ Body PasskeyLogInAssertion }

func (s *service) confirmPasskeyLogIn(ctx context.Context, in *confirmPasskeyLogInInput) (sessions.LoggedIn, error) {
	if err := s.takeRateLimit(ctx, passkeysPerSource, requestSource(ctx)); err != nil {
		return sessions.LoggedIn{}, err
	}
	u, err := s.factors.LogIn(ctx, in.Body.assertion())
	if err != nil {
		return sessions.LoggedIn{}, err
	}
	if u.Disabled {
		return sessions.LoggedIn{}, fault.New(fault.Denied,
			"this account is disabled: ask an administrator of the organization")
	}
	return s.sessions.Begin(ctx, u, sessions.Options{
		Org: in.Body.TenantID, Method: identity.LoginPasskey, Second: identity.FactorPasskey,
	})
}
