package teams

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/reference"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/people/teams"
)

func (s *service) deleteTeam(ctx context.Context, in *TeamInput) (rest.Deleted, error) {
	t, err := s.readTeam(ctx, in.TeamID)
	if err != nil {
		return rest.Deleted{}, err
	}
	unshared, err := s.releaseUnused(ctx, t)
	if err != nil {
		return rest.Deleted{}, err
	}
	before, err := s.teamWithMembers(ctx, t)
	if err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: t.ID, Before: before})
	rebuilt, err := s.rebuildWrites(ctx, true)
	if err != nil {
		return rest.Deleted{}, err
	}
	gone := append(inventory.Disown(identity.CallerOrg(ctx), t.ID),
		table.Delete(rosterKey(identity.CallerOrg(ctx), t.ID)), unshared)
	return rest.Deleted{ID: t.ID},
		s.teams.Delete(table.Within(ctx, workqueue.Prefix), identity.CallerOrg(ctx), t, append(gone, rebuilt...)...)
}

// releaseUnused returns the write that completes the deletion of a team, or the error that lists its uses:
// assignments, showback rules, and records with the team as their scope. New such records count as changes of the
// team (teams.Hold). The write fails if a showback rule is changed meanwhile.
func (s *service) releaseUnused(ctx context.Context, t teams.Team) (table.Write, error) {
	var uses []fault.Use
	err := s.eachAssignment(ctx, t.ID, func(a membership.Assignment) {
		uses = append(uses, fault.Use{Kind: "assignment", ID: a.ID, Name: a.Email, Policy: "roles:read"})
	})
	if err != nil {
		return table.Write{}, err
	}
	shared, unshared, err := report.NewShowbackStore(s.p.Table).UsesOfTeam(ctx, identity.CallerOrg(ctx), t.ID)
	if err != nil {
		return table.Write{}, err
	}
	scoped, err := reference.ListUses(ctx, s.p.Table, identity.CallerOrg(ctx),
		event.Scope{Type: event.ScopeTeam, ID: t.ID})
	if err != nil {
		return table.Write{}, err
	}
	uses = append(append(uses, shared...), scoped...)
	named := fmt.Sprintf("team %s (%s)", t.ID, t.Name)
	return unshared, identity.InUse(ctx, named, uses, "delete them first, or have them name something else")
}

// eachAssignment returns each assignment of a role on the team.
func (s *service) eachAssignment(ctx context.Context, teamID string, take func(membership.Assignment)) error {
	return s.people.EachAssignment(ctx, identity.CallerOrg(ctx), func(a membership.Assignment) bool {
		if a.Scope == grant.TeamScope+teamID {
			take(a)
		}
		return true
	})
}
