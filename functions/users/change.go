package users

import (
	"context"
	"slices"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
)

// ChangedUser is the body of PATCH /users/{email}.
type ChangedUser struct {
	Role   rest.Patch[string] `json:"role,omitzero" minLength:"1" maxLength:"64" doc:"The name of a system role, or the id of one of the organization's (role_…)"`
	Status rest.Patch[string] `json:"status,omitzero" enum:"active,disabled" doc:"Of members only"`
	Name   rest.Patch[string] `json:"name,omitzero" minLength:"1" maxLength:"100" doc:"While the user is invited"`
}

// checkNull refuses null: every user has all of these fields.
func (c ChangedUser) checkNull() error {
	for name, null := range map[string]bool{"role": c.Role.Null, "status": c.Status.Null, "name": c.Name.Null} {
		if null {
			return fault.New(fault.Invalid, "%s: it cannot be null", name)
		}
	}
	return nil
}

type changeInput struct {
	EmailInput
	Body ChangedUser
}

func (s service) changeUser(ctx context.Context, in *changeInput) (User, error) {
	if err := in.Body.checkNull(); err != nil {
		return User{}, err
	}
	f, err := s.findUser(ctx, in.Email)
	if err != nil {
		return User{}, err
	}
	a, err := s.readAccess(ctx)
	if err != nil {
		return User{}, err
	}
	now := f
	if f.invitation.ID != "" {
		now.invitation, err = s.changeInvitation(ctx, a, f.invitation, in.Body)
	} else {
		now.member, err = s.changeMember(ctx, a, f.member, in.Body)
	}
	if err != nil {
		return User{}, err
	}
	noteUserChange(ctx, f, now)
	return now.userRecord(), nil
}

// changeInvitation changes an invitation. A caller who changes its role becomes its inviter.
func (s service) changeInvitation(
	ctx context.Context, a identity.Access, inv membership.Invitation, c ChangedUser,
) (membership.Invitation, error) {
	next := inv
	if c.Status.Sent {
		return next, fault.New(
			fault.Invalid, "status: %s has not joined yet; DELETE withdraws the invitation", inv.Email)
	}
	if err := mayTouch(ctx, a, inv); err != nil {
		return next, err
	}
	if c.Name.Sent {
		var err error
		if next.Name, err = displayname.CleanName("name", c.Name.Value, 100); err != nil {
			return next, err
		}
	}
	if c.Role.Sent {
		if err := mayGive(ctx, a, c.Role.Value); err != nil {
			return next, err
		}
		next.Role, next.Inviter = c.Role.Value, identity.CallerFrom(ctx).User
	}
	return s.AmendInvitation(ctx, identity.CallerOrg(ctx), inv, next)
}

// changeMember changes a member.
func (s service) changeMember(
	ctx context.Context, a identity.Access, m identity.Member, c ChangedUser,
) (identity.Member, error) {
	if c.Name.Sent {
		return m, fault.New(fault.Invalid, "name: %s has an account, whose name they change themselves", m.Email)
	}
	if err := membership.MayChange(identity.CallerFrom(ctx), a, m); err != nil {
		return m, err
	}
	next := m
	if c.Status.Sent {
		next.Disabled = c.Status.Value == disabled
	}
	if c.Role.Sent {
		if err := mayGive(ctx, a, c.Role.Value); err != nil {
			return m, err
		}
		next.Grants = replaceOrgRole(m.Grants, c.Role.Value)
	}
	return s.ChangeMember(ctx, identity.CallerOrg(ctx), membership.MemberChange{Old: m, New: next, Judged: a})
}

// replaceOrgRole returns grants with the role as the only one on the whole organization. An existing grant of the
// role stays the same assignment.
func replaceOrgRole(grants []grant.Grant, role string) []grant.Grant {
	out := slices.DeleteFunc(slices.Clone(grants), func(g grant.Grant) bool {
		return g.Scope == grant.OrgScope && g.Role != role
	})
	if slices.ContainsFunc(out, func(g grant.Grant) bool { return g.Scope == grant.OrgScope }) {
		return out
	}
	return append([]grant.Grant{{Role: role, Scope: grant.OrgScope}}, out...)
}

func (s service) removeUser(ctx context.Context, in *EmailInput) (rest.Deleted, error) {
	f, err := s.findUser(ctx, in.Email)
	if err != nil {
		return rest.Deleted{}, err
	}
	if f.member.User == identity.CallerFrom(ctx).User {
		return s.removeMember(ctx, f)
	}
	a, err := s.readAccess(ctx)
	if err != nil {
		return rest.Deleted{}, err
	}
	if f.invitation.ID == "" {
		if err = membership.MayChange(identity.CallerFrom(ctx), a, f.member); err != nil {
			return rest.Deleted{}, err
		}
		return s.removeMember(ctx, f)
	}
	if err = mayTouch(ctx, a, f.invitation); err != nil {
		return rest.Deleted{}, err
	}
	if err = s.WithdrawInvitation(ctx, identity.CallerOrg(ctx), f.invitation); err != nil {
		return rest.Deleted{}, err
	}
	noteUserChange(ctx, f, found{})
	return rest.Deleted{ID: f.invitation.Email}, nil
}

// removeMember ends the membership of f.
func (s service) removeMember(ctx context.Context, f found) (rest.Deleted, error) {
	if err := s.RemoveMember(ctx, identity.CallerOrg(ctx), f.member); err != nil {
		return rest.Deleted{}, err
	}
	noteUserChange(ctx, f, found{})
	return rest.Deleted{ID: f.member.Email}, nil
}
