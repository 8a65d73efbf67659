package roles

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
)

// checkUnused returns the error that lists the uses of a role: invitations, assignments and single sign-on. It reads
// invitations before assignments, so that an invitation accepted meanwhile is listed as one or the other.
func (s *service) checkUnused(ctx context.Context, r identity.CustomRole) error {
	uses, err := s.invitationUses(ctx, r.ID)
	if err != nil {
		return err
	}
	assigned, err := s.assignmentUses(ctx, r.ID)
	if err != nil {
		return err
	}
	uses = append(assigned, uses...)
	first, err := s.firstRole(ctx)
	if err != nil {
		return err
	}
	if first == r.ID {
		uses = append(uses, fault.Use{Kind: "single sign-on", ID: identity.CallerOrg(ctx), Name: "as the default role"})
	}
	return identity.InUse(ctx, fmt.Sprintf("role %s (%s)", r.ID, r.Name), uses,
		"delete them first, or give another role")
}

func (s *service) assignmentUses(ctx context.Context, roleID string) (uses []fault.Use, err error) {
	err = s.people.EachAssignment(ctx, identity.CallerOrg(ctx), func(a membership.Assignment) bool {
		if a.Role == roleID {
			uses = append(uses, fault.Use{Kind: "assignment", ID: a.ID, Name: a.Email, Policy: "roles:read"})
		}
		return true
	})
	return uses, err
}

func (s *service) invitationUses(ctx context.Context, roleID string) (uses []fault.Use, err error) {
	all, err := s.people.ListInvitations(ctx, identity.CallerOrg(ctx))
	for _, i := range all {
		if i.Role == roleID {
			uses = append(uses, fault.Use{Kind: "invitation", ID: i.ID, Name: i.Email, Policy: "users:read"})
		}
	}
	return uses, err
}

// firstRole returns the role of a first single sign-on, or "" if the organization has no single sign-on.
func (s *service) firstRole(ctx context.Context) (string, error) {
	setup, err := table.Read[struct {
		DefaultRole string `json:"defaultRole"`
	}](ctx, s.p.Table, identity.SSOKey(identity.CallerOrg(ctx)))
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	return setup.DefaultRole, fault.Wrap("read single sign-on of "+identity.CallerOrg(ctx), err)
}
