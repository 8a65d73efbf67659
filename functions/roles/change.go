package roles

import (
	"context"
	"errors"
	"maps"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
)

// ChangedRole is the body of PUT /roles/{roleID}.
type ChangedRole struct {
	Name        rest.Patch[string]   `json:"name,omitzero" minLength:"1" maxLength:"64"`
	Description rest.Patch[string]   `json:"description,omitzero" maxLength:"200"`
	Policies    rest.Patch[[]string] `json:"policies,omitzero" minItems:"1" maxItems:"128"`
}

type updateInput struct {
	RoleInput
	Body ChangedRole
}

func (s *service) updateRole(ctx context.Context, in *updateInput) (Role, error) {
	if err := in.Body.checkFields(); err != nil {
		return Role{}, err
	}
	var was, r identity.CustomRole
	err := s.changeOwnRole(ctx, in.RoleID, func(a identity.Access, old identity.CustomRole) error {
		was, r = old, old
		in.Body.Name.Apply(&r.Name)
		in.Body.Description.Apply(&r.Description)
		in.Body.Policies.Apply(&r.Policies)
		r.UpdatedAt = s.p.Clock.Now()
		if err := mayChange(ctx, was, r); err != nil {
			return err
		}
		audit.NoteChange(ctx,
			audit.Change{Target: r.ID, Before: newCustomRole(was), After: newCustomRole(r), Final: true})
		return putRole(a, r)
	})
	return newCustomRole(r), err
}

// checkFields checks the sent fields of a role: neither name nor policies can be cleared.
func (c *ChangedRole) checkFields() error {
	var err error
	if c.Name.Sent {
		c.Name.Value, err = displayname.CleanName("name", c.Name.Value, maxName)
	}
	if err == nil && c.Policies.Sent {
		err = checkGrantable(c.Policies.Value)
	}
	return err
}

func (s *service) deleteRole(ctx context.Context, in *RoleInput) (rest.Deleted, error) {
	err := s.changeOwnRole(ctx, in.RoleID, func(a identity.Access, r identity.CustomRole) error {
		if err := mayMake(ctx, r); err != nil {
			return err
		}
		if err := s.checkUnused(ctx, r); err != nil {
			return err
		}
		delete(a.Roles, r.ID)
		audit.NoteChange(ctx, audit.Change{Target: r.ID, Before: newCustomRole(r), Final: true})
		return nil
	})
	return rest.Deleted{ID: in.RoleID}, err
}

// changeOwnRole changes a role of the organization. System roles are refused.
func (s *service) changeOwnRole(ctx context.Context, ref string,
	how func(identity.Access, identity.CustomRole) error,
) error {
	if r, ok := grant.SystemRole(ref); ok {
		return fault.New(fault.Denied,
			"permission denied: %s is a system role, which cannot be changed; create a role with POST /roles", r.Name)
	}
	return s.changeRoles(ctx, func(a identity.Access) error {
		r, err := findRole(a, ref)
		if err != nil {
			return err
		}
		return how(a, r)
	})
}

// mayMake refuses a role with policies that the caller does not hold on the whole organization.
func mayMake(ctx context.Context, r identity.CustomRole) error {
	return membership.MayGrant(identity.CallerFrom(ctx), r.Policies, grant.OrgScope)
}

// mayChange refuses a change of a role that the caller has, or that contains, before or after, policies that the
// caller does not hold.
func mayChange(ctx context.Context, was, r identity.CustomRole) error {
	for _, g := range identity.CallerFrom(ctx).Grants {
		if g.Role == r.ID {
			return fault.New(fault.Denied,
				"permission denied: you have the role %q and cannot change your own roles: ask another user who may",
				was.Name)
		}
	}
	if err := mayMake(ctx, was); err != nil {
		return err
	}
	return mayMake(ctx, r)
}

// maxChangeTries is how often a change is retried because another request was faster.
const maxChangeTries = 8

// changeRoles changes the organization's roles with how.
func (s *service) changeRoles(ctx context.Context, how func(identity.Access) error) error {
	for range maxChangeTries {
		err := s.changeOnce(ctx, how)
		if _, raced := errors.AsType[*table.ConditionError](err); !raced {
			return err
		}
	}
	return fault.New(fault.Conflict, "the roles are being changed by others at the same time: repeat")
}

func (s *service) changeOnce(ctx context.Context, how func(identity.Access) error) error {
	a, err := s.readAccess(ctx)
	if err != nil {
		return err
	}
	if a.Roles = maps.Clone(a.Roles); a.Roles == nil {
		a.Roles = map[string]identity.CustomRole{}
	}
	if err = how(a); err != nil {
		return err
	}
	review, err := membership.AddReview(membership.Review{
		Org: identity.CallerOrg(ctx), User: membership.Everybody,
		At: s.p.Clock.Now(),
	})
	if err != nil {
		return err
	}
	err = s.p.Table.Transact(table.Within(ctx, membership.ReviewPrefix),
		table.Update(identity.AccessKey(identity.CallerOrg(ctx)),
			[]table.Change{table.Set("roles", a.Roles), table.Add("generation", 1)},
			table.Equal("generation", a.Generation), table.NotEqual("ended", true)), review)
	return fault.Wrap("change roles of "+identity.CallerOrg(ctx), err)
}

// readAccess reads the organization's roles.
func (s *service) readAccess(ctx context.Context) (identity.Access, error) {
	a, err := table.Read[identity.Access](ctx, s.p.Table, identity.AccessKey(identity.CallerOrg(ctx)))
	if fault.Is(err, fault.NotFound) || err == nil && a.Ended {
		return a, fault.New(fault.NotFound, "the organization is being deleted")
	}
	return a, fault.Wrap("read roles of "+identity.CallerOrg(ctx), err)
}
