package sessions

import (
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// userOrganisations is a user with the organizations to choose from.
type userOrganisations struct {
	identity.User
	organisations []identity.OrganisationRecord
}

// listOrganisations reads the organizations of u that a session may work in: all of them, but only sso when that organization's
// identity provider vouched for u. It knows its own people, and must not open what they can do elsewhere.
func (s Sessions) listOrganisations(ctx context.Context, u identity.User, sso string) (userOrganisations, error) {
	organisations, err := identity.ListOrganisations(ctx, s.Table, u.ID)
	if sso != "" {
		organisations = slices.DeleteFunc(organisations, func(o identity.OrganisationRecord) bool {
			return o.ID != sso
		})
	}
	return userOrganisations{u, organisations}, err
}

// includes reports whether org is one of the account's organizations.
func (a userOrganisations) includes(org string) bool {
	return slices.ContainsFunc(a.organisations, func(o identity.OrganisationRecord) bool { return o.ID == org })
}

// chooseOrganisation picks the organization wanted; without a wish, the current one or else the first that lets the user in.
func (s Sessions) chooseOrganisation(ctx context.Context, a userOrganisations, wanted, current, sso string) (string, error) { //nolint:revive // three organizations that mean three things
	if wanted == "" {
		wanted = current
	}
	for _, o := range a.organisations {
		if wanted != "" && o.ID != wanted {
			continue
		}
		err := s.checkOrgAdmits(ctx, o, a.User, sso)
		if err == nil || wanted != "" || !fault.Is(err, fault.Denied) {
			return o.ID, err
		}
	}
	if wanted != "" && wanted != current {
		return "", fault.New(fault.Denied, "tenantID: you do not belong to an organization %q", wanted)
	}
	return "", nil
}

// checkOrgAdmits refuses whom the organization has locked out: in a session there every request would be refused, so that one who
// belongs nowhere else could not even make an organization of their own. It refuses a session of a password where the
// organization demands its own sign-on. Its owners get in nevertheless: a broken identity provider must not lock out who
// can mend it.
func (s Sessions) checkOrgAdmits(ctx context.Context, o identity.OrganisationRecord, u identity.User,
	sso string) error {
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
