package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
)

// userOrganisations is a user with the organizations that a session may work in.
type userOrganisations struct {
	identity.User
	organisations []identity.OrganisationRecord
}

// listOrganisations reads the organizations that a session of u may work in. If the identity provider of the
// organization sso vouched for u, it is only that one: a provider that an organization has chosen must not open other
// organizations.
func (s Sessions) listOrganisations(ctx context.Context, u identity.User, sso string) (userOrganisations, error) {
	organisations, err := identity.ListOrganisations(ctx, s.Table, u.ID)
	if err == nil {
		s.noteOrganisations(ctx, u, len(organisations))
	}
	if sso != "" {
		organisations = slices.DeleteFunc(organisations, func(o identity.OrganisationRecord) bool {
			return o.ID != sso
		})
	}
	return userOrganisations{u, organisations}, err
}

// noteOrganisations stores how many organizations u belongs to, if that has changed by an earlier version of the
// service, or because an organization was left or deleted. The next log-in or refresh repeats a failure, so it is only
// logged. Someone who joins an organization at the same time stores the number too, and goes first.
func (s Sessions) noteOrganisations(ctx context.Context, u identity.User, n int) {
	if u.Organisations == int64(n) {
		return
	}
	w := membership.CountOrganisations(u.ID, n)
	unchanged := table.Equal("organisations", u.Organisations)
	if u.Organisations == 0 {
		unchanged = table.Lacks("organisations")
	}
	w.If = append(w.If, unchanged)
	_, err := s.Table.Write(table.WithoutAttachment(ctx), w)
	if _, joined := errors.AsType[*table.ConditionError](err); err != nil && !joined {
		s.Log.WarnContext(ctx, "the number of organizations was not stored", "user", u.ID, "error", err.Error())
	}
}

// includes reports whether org is one of the account's organizations.
func (a userOrganisations) includes(org string) bool {
	return slices.ContainsFunc(a.organisations, func(o identity.OrganisationRecord) bool { return o.ID == org })
}

// orgChoice are the IDs of organizations that decide where a session works. Each of them may be empty.
type orgChoice struct {
	wanted  string // the organization that the client asks for
	current string // the organization that the session works in
	sso     string // the organization whose identity provider vouched for the user
	proved  bool   // the session meets the demand of a second factor
	pending bool   // the session waits for a second factor, so that it is checked later
}

// chooseOrganisation returns the organization of the session: the wanted one, or else the current one, or else the
// first one that admits the user. It returns "" if there is none, or if the user has left the current one.
//
// An organization that demands a second factor, which the session has not proved, is refused if the client wants it. It
// is returned if it is the current one or none else admits the user: the authorizer then bars the session from it, and
// the user can set up a second factor.
func (s Sessions) chooseOrganisation(ctx context.Context, a userOrganisations, c orgChoice) (string, error) {
	wanted, barred := cmp.Or(c.wanted, c.current), ""
	for _, o := range a.organisations {
		if wanted != "" && o.ID != wanted {
			continue
		}
		err := s.checkOrgAdmits(ctx, o, a.User, c.sso)
		if err == nil && c.lacksFactor(o) {
			if c.wanted != "" {
				return "", errOrgNeedsFactor(o)
			}
			barred = cmp.Or(barred, o.ID)
			continue
		}
		if err == nil || wanted != "" || !fault.Is(err, fault.Denied) {
			return o.ID, err
		}
	}
	if wanted != "" && wanted != c.current {
		return "", fault.New(fault.Denied, "tenantID: you do not belong to an organization %.64q", wanted)
	}
	return barred, nil
}

// lacksFactor reports whether o demands a second factor that the session has not proved.
func (c orgChoice) lacksFactor(o identity.OrganisationRecord) bool {
	return o.Preferences().RequireMFA && o.ID != c.sso && !c.proved && !c.pending
}

func errOrgNeedsFactor(o identity.OrganisationRecord) error {
	return identity.ErrSecondFactor(fmt.Sprintf("organization %s (%s) admits only log-ins with one: send otp, "+
		"or log in "+
		"with a passkey; if you have neither, log in without tenantID and set one up with POST /auth/mfa/totp or POST "+
		"/auth/mfa/passkeys", o.ID, o.Name))
}

// checkOrgAdmits returns an error if the organization does not admit the user: if the member is disabled, because all
// requests of the session would be refused, or if the organization demands single sign-on and the session began
// otherwise. Owners are exempt from single sign-on, so that they can repair a broken identity provider.
func (s Sessions) checkOrgAdmits(ctx context.Context, o identity.OrganisationRecord, u identity.User,
	sso string,
) error {
	k := identity.MemberKey(o.ID, u.ID)
	m, err := table.Read[identity.Member](table.Within(ctx, k.PK), s.Table, k)
	switch {
	case err != nil && !fault.Is(err, fault.NotFound):
		return fmt.Errorf("read member %s of %s: %w", u.ID, o.ID, err)
	case m.Disabled:
		return fault.New(fault.Denied, "you are disabled in organization %s (%s): ask an administrator of it", o.ID,
			o.Name)
	case o.ID != sso && o.DemandsSSO(u.Email) && !m.Owns():
		return fault.New(fault.Denied,
			"organization %s (%s) demands single sign-on: POST /auth/saml/initiate with your address", o.ID, o.Name)
	}
	return nil
}
