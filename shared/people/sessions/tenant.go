package sessions

import (
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// account is a user with the organizations to choose from.
type account struct {
	identity.User
	tenants []identity.TenantRow
}

// account reads the organizations of u that a session may work in: all of them, but only sso when that organization's
// identity provider vouched for u. It knows its own people, and must not open what they can do elsewhere.
func (s Sessions) account(ctx context.Context, u identity.User, sso string) (account, error) {
	tenants, err := identity.OrganisationsOf(ctx, s.Table, u.ID)
	if sso != "" {
		tenants = slices.DeleteFunc(tenants, func(o identity.TenantRow) bool { return o.ID != sso })
	}
	return account{u, tenants}, err
}

// belongs tells whether org is one of the account's organizations.
func (a account) belongs(org string) bool {
	return slices.ContainsFunc(a.tenants, func(o identity.TenantRow) bool { return o.ID == org })
}

// choose picks the organization wanted; without a wish, the current one or else the first that lets the user in.
func (s Sessions) choose(ctx context.Context, a account, wanted, current, sso string) (string, error) { //nolint:revive // three organizations that mean three things
	if wanted == "" {
		wanted = current
	}
	for _, o := range a.tenants {
		if wanted != "" && o.ID != wanted {
			continue
		}
		err := s.admits(ctx, o, a.User, sso)
		if err == nil || wanted != "" || !fault.Is(err, fault.Denied) {
			return o.ID, err
		}
	}
	if wanted != "" && wanted != current {
		return "", fault.New(fault.Denied, "tenantID: you do not belong to an organization %q", wanted)
	}
	return "", nil
}

// admits refuses whom the organization has locked out: in a session there every request would be refused, so that one who
// belongs nowhere else could not even make an organization of their own. It refuses a session of a password where the
// organization demands its own sign-on. Its owners get in nevertheless: a broken identity provider must not lock out who
// can mend it.
func (s Sessions) admits(ctx context.Context, o identity.TenantRow, u identity.User, sso string) error {
	k := identity.MemberKey(o.ID, u.ID)
	m, err := table.Read[identity.Member](table.Within(ctx, k.PK), s.Table, k)
	switch {
	case err != nil && !fault.Is(err, fault.NotFound):
		return fmt.Errorf("read member %s of %s: %w", u.ID, o.ID, err)
	case m.Disabled:
		return fault.New(fault.Denied, "you are disabled in organization %s (%s): ask an administrator of it", o.ID, o.Name)
	case o.ID != sso && o.DemandsSSO(u.Email) && !m.Owns():
		return fault.New(fault.Denied, "organization %s (%s) demands single sign-on: POST /auth/saml/initiate with your address", o.ID, o.Name)
	}
	return nil
}
