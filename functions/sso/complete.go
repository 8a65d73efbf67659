package sso

import (
	"context"
	"errors"

	"lamplighter.dev/functions/sso/saml"
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
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

func (s service) completeLogin(ctx context.Context, in *completeInput) (sessions.LoggedIn, error) {
	doc, err := readForm(in.Kind, in.RawBody)
	if err != nil {
		return sessions.LoggedIn{}, err
	}
	r, err := saml.ParseResponse(doc)
	if err != nil {
		return sessions.LoggedIn{}, addStartAgain(err)
	}
	org, have, a, err := s.verifyResponse(ctx, r)
	if err != nil {
		return sessions.LoggedIn{}, err
	}
	who, err := a.Subject()
	audit.NoteActor(ctx, org, "", who.Email) // from here on the organization's own audit log records the result
	if err != nil {
		return sessions.LoggedIn{}, addStartAgain(err)
	}
	u, err := s.findOrCreateUser(ctx, org, have, who)
	if err != nil {
		return sessions.LoggedIn{}, err
	}
	audit.NoteActor(ctx, org, u.ID, u.Email)
	return s.sessions.Begin(ctx, u, sessions.Options{Org: org, SSO: org, Method: identity.LoginSAML})
}

// verifyResponse checks a response against the request that it claims to answer, and marks both as used. It returns
// the organization whose provider sent it, and the provider's assertion.
func (s service) verifyResponse(ctx context.Context, r *saml.Response) (string, setup, *saml.Assertion, error) {
	id := r.RequestID()
	org, err := s.findRequest(ctx, id)
	if err != nil {
		return "", setup{}, nil, err
	}
	have, err := s.readSetup(ctx, org)
	if fault.Is(err, fault.NotFound) {
		err = refuseLogin("the organization has ended its single sign-on")
	}
	if err != nil {
		return "", setup{}, nil, err
	}
	a, err := r.Verify(saml.Expected{
		Provider: have.Provider, Service: s.serviceProvider(), RequestID: id,
		Now: s.Clock.Now(),
	})
	if err != nil {
		return "", setup{}, nil, addStartAgain(err)
	}
	return org, have, a, s.useOnce(ctx, org, id, a)
}

// findRequest returns the organization that waits for the response to a request.
func (s service) findRequest(ctx context.Context, id string) (string, error) {
	r, err := table.Read[request](table.Within(ctx, requestPrefix), s.Table, s.requestKey(id))
	if fault.Is(err, fault.NotFound) {
		return "", refuseUnknownRequest()
	}
	return r.Org, fault.Wrap("read a request for single sign-on", err)
}

// refuseUnknownRequest returns the error of a response to a request that was never made, was already answered, or is
// too old.
func refuseUnknownRequest() error {
	return refuseLogin("it answers no request that is open: none was made, or it was answered already, or it is " +
		"older than ten minutes")
}

// seenKey returns the key of a used assertion.
func (s service) seenKey(org, assertion string) table.Key {
	return table.Key{PK: seenPrefix + identity.Digest(s.Settings.Pepper, "saml-assertion", org, assertion), SK: "A"}
}

// useOnce makes sure that the request is answered once and the assertion used once, also with concurrent calls.
func (s service) useOnce(ctx context.Context, org, id string, a *saml.Assertion) error {
	seen, err := table.NewItem(s.seenKey(org, a.ID), request{org})
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
