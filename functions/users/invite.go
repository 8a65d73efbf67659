package users

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/accounts"
	"lamplighter.dev/shared/people/membership"
)

// These limits apply to invitations. The limit to an address of one inviter protects the invited person; that of all
// inviters is higher, so that one inviter cannot use up another's.
var (
	byOrganisation       = ratelimit.Rule{Name: "invitations", Max: 50, Per: time.Hour}
	byInviterToAddress   = ratelimit.Rule{Name: "invited-by", Max: 5, Per: 24 * time.Hour}
	byEverybodyToAddress = ratelimit.Rule{Name: "invited", Max: 50, Per: 24 * time.Hour}
)

// NewUser is the body of POST /users.
type NewUser struct {
	Email string `json:"email" maxLength:"254" doc:"Where the invitation goes" example:"ada@example.com"`
	Name  string `json:"name,omitempty" maxLength:"100" doc:"Their name until they have an account; default: the part of the address before the @"`
	Role  string `json:"role,omitempty" maxLength:"64" default:"viewer" doc:"The name of a system role, or the id of one of the organization's (role_…)"`
}

type inviteInput struct{ Body NewUser }

func (s service) inviteUser(ctx context.Context, in *inviteInput) (User, error) {
	inv, err := newInvitation(ctx, in)
	if err != nil {
		return User{}, err
	}
	a, err := s.readAccess(ctx)
	if err != nil {
		return User{}, err
	}
	if err = mayGive(ctx, a, inv.Role); err != nil {
		return User{}, err
	}
	var out User
	counted := false // against the allowance, which a further turn does not take again
	err = membership.LimitedInvitations(identity.CallerOrg(ctx)).Add(ctx, s.Table, func(take table.Write) error {
		old, err := s.pendingInvitation(ctx, a, inv.Email)
		if err == nil && !counted {
			counted, err = true, s.countInvitation(ctx, inv.Email)
		}
		if err == nil {
			out, err = s.sendInvitation(ctx, old, inv, take)
		}
		return err
	})
	return out, err
}

// newInvitation returns the invitation that the request describes.
func newInvitation(ctx context.Context, in *inviteInput) (membership.Invitation, error) {
	address, err := identity.NormalizeAddress(in.Body.Email)
	if err != nil {
		return membership.Invitation{}, err
	}
	name, err := accounts.PersonName(in.Body.Name, address)
	return membership.Invitation{
		Email: address, Name: name, Role: in.Body.Role,
		Inviter: identity.CallerFrom(ctx).User,
	}, err
}

// pendingInvitation returns the existing invitation of the address, or the zero invitation. It refuses to invite a
// member, and to replace an invitation that the caller could not have given.
func (s service) pendingInvitation(ctx context.Context, a identity.Access, address string) (membership.Invitation,
	error,
) {
	_, _, err := s.FindMember(ctx, identity.CallerOrg(ctx), address)
	if err == nil {
		return membership.Invitation{},
			fault.New(fault.Conflict, "email: %s is a member already; PATCH /users/{email} changes the role",
				address)
	}
	if !fault.Is(err, fault.NotFound) {
		return membership.Invitation{}, err
	}
	all, err := s.ListInvitations(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return membership.Invitation{}, err
	}
	for _, inv := range all {
		if inv.Email == address {
			return inv, mayTouch(ctx, a, inv)
		}
	}
	if len(all) >= membership.MaxInvitations {
		return membership.Invitation{},
			fault.New(fault.Conflict,
				"%d invitations are waiting, which is the most: withdraw some, or wait until they end", len(all))
	}
	return membership.Invitation{}, nil
}

// countInvitation counts the invitation, and refuses it above the limits. A failing counter refuses no invitation.
func (s service) countInvitation(ctx context.Context, address string) error {
	now := s.Clock.Now()
	for _, l := range []struct {
		ratelimit.Rule
		who, of string
	}{
		{byOrganisation, identity.CallerOrg(ctx), "of this organization"},
		{byInviterToAddress, s.inviteeDigest(address, identity.CallerFrom(ctx).User), "of this address by you"},
		{byEverybodyToAddress, s.inviteeDigest(address), "of this address"},
	} {
		ok, err := ratelimit.TakeUse(ctx, s.Table, now, l.Rule, l.who)
		if err != nil {
			s.Log.ErrorContext(ctx, "invitation not counted", "org", identity.CallerOrg(ctx), "error", err)
		}
		if !ok {
			again := now.Truncate(l.Per).Add(l.Per)
			return fault.New(fault.Denied, "too many invitations %s: try again at %s", l.of, again.Format(time.RFC3339))
		}
	}
	return nil
}

// inviteeDigest returns the name of an address in a counter, for one inviter or for all.
func (s service) inviteeDigest(address string, inviter ...string) string {
	return identity.Digest(s.Settings.Pepper, append([]string{"invited", address}, inviter...)...)
}

// sendInvitation stores the invitation and its turn, and queues its mail, in one transaction.
func (s service) sendInvitation(ctx context.Context, old, inv membership.Invitation, take table.Write) (User, error) {
	o, err := table.Read[identity.Organisation](ctx, s.Table, identity.OrganisationKey(identity.CallerOrg(ctx)))
	if err != nil {
		return User{}, fault.Wrap("read organization "+identity.CallerOrg(ctx), err)
	}
	post, err := mail.QueueMail(ctx, s.Sealer, s.Clock.Now(), mail.Mail{
		Template: mail.Invitation, To: inv.Email, Org: identity.CallerOrg(ctx),
		Data: map[string]string{"organisation": o.Name, "inviter": identity.CallerFrom(ctx).Email},
	})
	if err != nil {
		return User{}, err
	}
	inv, err = s.StoreInvitation(table.Within(ctx, mail.Prefix), identity.CallerOrg(ctx), old, inv, post, take)
	if err != nil {
		return User{}, err
	}
	noteUserChange(ctx, found{invitation: old}, found{invitation: inv})
	return newInvitedUser(inv), nil
}

// noteUserChange records a user before and after a change for the audit row.
func noteUserChange(ctx context.Context, before, after found) {
	c := audit.Change{}
	if before.exists() {
		u := before.userRecord()
		c.Target, c.Before = u.Email, u
	}
	if after.exists() {
		u := after.userRecord()
		c.Target, c.After = u.Email, u
	}
	audit.NoteChange(ctx, c)
}

// exists reports whether a member or an invitation was found.
func (f found) exists() bool { return f.invitation.ID != "" || f.member.User != "" }
