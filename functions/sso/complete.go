package sso

import (
	"context"
	"errors"

	"lamplighter.dev/functions/sso/saml"
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/accounts"
	"lamplighter.dev/shared/people/sessions"
)

// seenPrefix is the prefix of the keys of used assertions.
const seenPrefix = "SAMLSEEN#"

type completeInput struct {
	Kind    string `header:"Content-Type" hidden:"true"`
	RawBody []byte `contentType:"application/x-www-form-urlencoded"`
}

// verified is a response that was accepted: what the identity provider says, and the request that it answers.
type verified struct {
	request
	setup   setup
	subject saml.Subject
}

func (s service) completeLogin(ctx context.Context, in *completeInput) (rest.Browsed[sessions.LoggedIn], error) {
	var out rest.Browsed[sessions.LoggedIn]
	doc, err := readForm(in.Kind, in.RawBody)
	if err != nil {
		return out, err
	}
	r, err := saml.ParseResponse(doc)
	if err != nil {
		return out, addStartAgain(err)
	}
	v, err := s.acceptResponse(ctx, r)
	if err == nil && v.Browser != "" {
		out.Page, err = s.enterConsole(ctx, v)
	} else if err == nil {
		out.Data, err = s.beginSession(ctx, v)
	}
	if err != nil && isConsoleRequest(r.RequestID()) {
		out.Page, err = s.showFailure(err), nil
	}
	return out, err
}

// beginSession begins the session of a person whom the identity provider vouches for.
func (s service) beginSession(ctx context.Context, v verified) (sessions.LoggedIn, error) {
	u, err := s.findOrCreateUser(ctx, v.Org, v.setup, v.subject)
	if err != nil {
		return sessions.LoggedIn{}, err
	}
	audit.NoteActor(ctx, v.Org, u.ID, u.Email)
	return s.sessions.Begin(ctx, u, sessions.Options{Org: v.Org, SSO: v.Org, Method: identity.LoginSAML})
}

// acceptResponse checks a response against the request that it claims to answer, and marks both as used.
func (s service) acceptResponse(ctx context.Context, r *saml.Response) (verified, error) {
	v, a, err := s.verifyResponse(ctx, r)
	if err != nil {
		return v, err
	}
	v.subject, err = a.Subject()
	audit.NoteActor(ctx, v.Org, "", v.subject.Email) // from here on the organization's own audit log records the result
	return v, addStartAgain(err)
}

// verifyResponse checks a response against the request that it claims to answer, and marks both as used. It returns
// them with the provider's assertion.
func (s service) verifyResponse(ctx context.Context, r *saml.Response) (verified, *saml.Assertion, error) {
	id := r.RequestID()
	open, err := s.findRequest(ctx, id)
	if err != nil {
		return verified{}, nil, err
	}
	have, err := s.readOpenSetup(ctx, open.Org)
	if err != nil {
		return verified{}, nil, err
	}
	a, err := r.Verify(saml.Expected{
		Provider: have.Provider, Service: s.serviceProvider(), RequestID: id,
		Now: s.Clock.Now(),
	})
	if err != nil {
		return verified{}, nil, addStartAgain(err)
	}
	return verified{request: open, setup: have}, a, s.useOnce(ctx, open.Org, id, a)
}

// readOpenSetup reads the setup of an organization that somebody signs in to.
func (s service) readOpenSetup(ctx context.Context, org string) (setup, error) {
	have, err := s.readSetup(ctx, org)
	if fault.Is(err, fault.NotFound) {
		err = refuseLogin("the organization has ended its single sign-on")
	}
	return have, err
}

// findRequest returns the request that a response answers.
func (s service) findRequest(ctx context.Context, id string) (request, error) {
	r, err := table.Read[request](table.Within(ctx, requestPrefix), s.Table, s.requestKey(id))
	if fault.Is(err, fault.NotFound) {
		return r, refuseUnknownRequest()
	}
	return r, fault.Wrap("read a request for single sign-on", err)
}

// staleRequest is the cause of refuseUnknownRequest, for the console, which tells people of it in other words.
type staleRequest struct{}

// Error returns the reason.
func (staleRequest) Error() string { return "the response answers no open request" }

// refuseUnknownRequest returns the error of a response to a request that was never made, was already answered, or is
// too old.
func refuseUnknownRequest() error {
	return fault.NewWithCause(fault.Unauthenticated, staleRequest{}, "SAMLResponse: it answers no request that is "+
		"open: none was made, or it was answered already, or it is older than ten minutes"+startAgain)
}

// seenKey returns the key of a used assertion.
func (s service) seenKey(org, assertion string) table.Key {
	return table.Key{PK: seenPrefix + identity.Digest(s.Settings.Pepper, "saml-assertion", org, assertion), SK: "A"}
}

// useOnce makes sure that the request is answered once and the assertion used once, also with concurrent calls.
func (s service) useOnce(ctx context.Context, org, id string, a *saml.Assertion) error {
	seen, err := table.NewItem(s.seenKey(org, a.ID), request{Org: org})
	if err != nil {
		return err
	}
	seen.Expires = a.Expires
	err = s.Table.Transact(table.Within(ctx, requestPrefix, seenPrefix),
		table.Delete(s.requestKey(id), table.Exists()), table.Put(seen, table.Absent()))
	if _, again := errors.AsType[*table.ConditionError](err); again {
		return refuseUnknownRequest()
	}
	return fault.Wrap("use an assertion for "+org, err)
}

// findOrCreateUser returns the account of a person, as a member of the organization. A provider is trusted only about
// the domains that the organization has proven: otherwise it could name any person.
func (s service) findOrCreateUser(ctx context.Context, org string, have setup, who saml.Subject) (identity.User,
	error,
) {
	if err := checkEmailDomain(have, who.Email); err != nil {
		return identity.User{}, err
	}
	u, err := s.accounts.FindOrCreateByIdentity(ctx, accounts.Claim{
		Issuer: "saml " + org + " " + have.EntityID, Subject: who.ID, Email: who.Email, Name: who.Name,
		Authoritative: true,
	})
	if err != nil {
		return u, err
	}
	// an older account, with an address that belonged to the organization then
	if err = checkEmailDomain(have, u.Email); err != nil {
		return u, err
	}
	return u, s.ensureMember(ctx, org, have.DefaultRole, u)
}

// checkEmailDomain refuses an address whose domain the organization has not proven.
func checkEmailDomain(have setup, email string) error {
	name, err := emailDomain(email)
	if err != nil {
		return refuseLogin("the identity provider tells an e-mail address that is none")
	}
	if !have.hasVerified(name) {
		return fault.New(fault.Denied,
			"the organization has not proven %s to be its domain, so its identity provider is not believed about it",
			name)
	}
	return nil
}

// ensureMember lets a member in. A person who is not a member yet becomes one, with the role of an invitation or else
// the default role.
func (s service) ensureMember(ctx context.Context, org, role string, u identity.User) error {
	m, err := s.readMember(ctx, org, u)
	if fault.Is(err, fault.NotFound) {
		if err = s.people.AcceptForProvider(ctx, u, org); err == nil {
			m, err = s.readMember(ctx, org, u)
		}
	}
	switch {
	case fault.Is(err, fault.NotFound):
		return s.addMember(ctx, org, role, u)
	case err != nil:
		return err
	case m.Disabled:
		return fault.New(fault.Denied, "you are disabled in this organization: ask an administrator of it")
	}
	return nil
}

func (s service) readMember(ctx context.Context, org string, u identity.User) (identity.Member, error) {
	k := identity.MemberKey(org, u.ID)
	m, err := table.Read[identity.Member](table.Within(ctx, k.PK), s.Table, k)
	return m, fault.Wrap("read member "+u.ID+" of "+org, err)
}

// addMember creates a member with the default role.
func (s service) addMember(ctx context.Context, org, role string, u identity.User) error {
	_, err := s.defaultRolePolicies(ctx, org, role)
	if fault.Is(err, fault.Invalid) {
		err = fault.NewWithCause(fault.Denied, err,
			"the organization's default role is no more: an administrator has to set another with PUT "+
				"/organisation/saml")
	}
	if err != nil {
		return err
	}
	err = s.people.JoinOrganisation(ctx, org, u, []grant.Grant{{Role: role, Scope: grant.OrgScope}})
	if fault.Is(err, fault.NotFound) {
		err = fault.NewWithCause(fault.Denied, err, "the organization is being deleted")
	}
	return err
}
