package roles

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
)

// shown is how many of those who have a role a refusal names.
const shown = 3

// checkUnused refuses to delete a role that somebody has, or was promised. Invitations are read before assignments: one that is
// accepted meanwhile is seen as the one or as the other.
func (s *service) checkUnused(ctx context.Context, r identity.CustomRole) error {
	invited, err := s.invited(ctx, r.ID)
	if err != nil {
		return err
	}
	assigned, n, err := s.assigned(ctx, r.ID)
	if err != nil {
		return err
	}
	var uses []string
	if n > 0 {
		uses = append(uses, use(n, "assignment", assigned))
	}
	if len(invited) > 0 {
		uses = append(uses, use(len(invited), "invitation", invited))
	}
	if first, err := s.firstRole(ctx); err != nil {
		return err
	} else if first == r.ID {
		uses = append(uses, "single sign-on, as the default role")
	}
	if len(uses) == 0 {
		return nil
	}
	return fault.New(fault.Conflict, "role %q is in use by %s: end that first", r.Name, strings.Join(uses, " and "))
}

// assigned returns those who have the role, at least shown of them, and how many assignments there are of it.
func (s *service) assigned(ctx context.Context, roleID string) (who []string, n int, err error) {
	err = s.people.EachAssignment(ctx, callerOrg(ctx), func(a membership.Assignment) bool {
		if a.Role != roleID {
			return true
		}
		if n++; len(who) <= shown && !slices.Contains(who, a.Email) {
			who = append(who, a.Email)
		}
		return true
	})
	return who, n, err
}

func (s *service) invited(ctx context.Context, roleID string) ([]string, error) {
	all, err := s.people.ListInvitations(ctx, callerOrg(ctx))
	var who []string
	for _, i := range all {
		if i.Role == roleID {
			who = append(who, i.Email)
		}
	}
	return who, err
}

// firstRole returns the role of who signs on for the first time; "" when the organization has no single sign-on.
func (s *service) firstRole(ctx context.Context) (string, error) {
	setup, err := table.Read[struct {
		DefaultRole string `json:"defaultRole"`
	}](ctx, s.p.Table, identity.SSOKey(callerOrg(ctx)))
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	return setup.DefaultRole, fault.Wrap("read single sign-on of "+callerOrg(ctx), err)
}

// use says how many uses there are, and names the first of who has them.
func use(n int, what string, who []string) string {
	if n != 1 {
		what += "s"
	}
	if len(who) > shown {
		who = append(slices.Clone(who[:shown]), "…")
	}
	return fmt.Sprintf("%d %s (%s)", n, what, strings.Join(who, ", "))
}
