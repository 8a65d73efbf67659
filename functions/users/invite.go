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

// The limits of inviting. The second one counts over all organizations: it protects who is invited.
var (
	byOrganisation = ratelimit.Rule{Name: "invitations", Max: 50, Per: time.Hour}
	toAddress      = ratelimit.Rule{Name: "invited", Max: 5, Per: 24 * time.Hour}
)

// NewUser is the body of POST /users.
type NewUser struct {
	Email string `json:"email" maxLength:"254" doc:"Where the invitation goes" example:"ada@example.com"`
	Name  string `json:"name,omitempty" maxLength:"100" doc:"What to call them until they have an account; without one, the part of the address before the @"`
	Role  string `json:"role,omitempty" maxLength:"64" default:"viewer" doc:"The name of a system role, or the id of one of the organization's (role_…)"`
}

type inviteInput struct{ Body NewUser }

func (s service) inviteUser(ctx context.Context, in *inviteInput) (User, error) {
	inv, err := invitation(ctx, in)
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
		old, err := s.waiting(ctx, a, inv.Email)
		if err == nil && !counted {
			counted, err = true, s.allowance(ctx, inv.Email)
		}
		if err == nil {
			out, err = s.send(ctx, old, inv, take)
		}
		return err
	})
	return out, err
}

// invitation returns what the request asks for.
func invitation(ctx context.Context, in *inviteInput) (membership.Invitation, error) {
	address, err := identity.NormalizeAddress(in.Body.Email)
	if err != nil {
		return membership.Invitation{}, err
	}
	name, err := accounts.PersonName(in.Body.Name, address)
	return membership.Invitation{Email: address, Name: name, Role: in.Body.Role,
		Inviter: identity.CallerFrom(ctx).User}, err
}

// waiting returns the invitation that the address has already, the zero one when it has none. It refuses to invite a member, and
// to replace what the caller could not have given.
func (s service) waiting(ctx context.Context, a identity.Access, address string) (membership.Invitation, error) {
	_, _, err := s.FindMember(ctx, identity.CallerOrg(ctx), address)
	if err == nil {
		return membership.Invitation{},
			fault.New(fault.Conflict, "email: %s is a member already; PATCH /users/{email} changes what they may do",
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

// allowance counts the invitation, and refuses it when there have been enough. A counter that cannot be reached does not
// keep people from being invited.
func (s service) allowance(ctx context.Context, address string) error {
	now := s.Clock.Now()
	for _, l := range []struct {
		ratelimit.Rule
		who, of string
	}{
		{byOrganisation, identity.CallerOrg(ctx), "of this organization"},
		{toAddress, identity.Digest(s.Settings.Pepper, "invited", address), "of this address"},
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

// send stores the invitation, queues its mail, and takes a turn: all or none.
func (s service) send(ctx context.Context, old, inv membership.Invitation, take table.Write) (User, error) {
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

// noteUserChange puts on record how a user was and is.
func noteUserChange(ctx context.Context, before, after found) {
	c := audit.Change{}
	if before.there() {
		u := before.userRecord()
		c.Target, c.Before = u.Email, u
	}
	if after.there() {
		u := after.userRecord()
		c.Target, c.After = u.Email, u
	}
	audit.NoteChange(ctx, c)
}

// there reports whether anybody was found.
func (f found) there() bool { return f.invitation.ID != "" || f.member.User != "" }
