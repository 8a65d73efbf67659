package reports

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/teams"
)

// attribute sets the day from which on a report follows the present definitions of its teams and groups. It takes one
// round trip if the question names teams, and one if it names groups.
func (s *service) attribute(ctx context.Context, b *Basis, q *cost.Question, at cost.Attribution) error {
	changed, err := s.definedAt(ctx, q)
	if err == nil {
		b.attribute(q, at, changed)
	}
	return err
}

// attribute sets AttributedFrom for teams and groups whose definitions were changed last at the time changed.
func (b *Basis) attribute(q *cost.Question, at cost.Attribution, changed time.Time) {
	if from := clock.Earliest(at.From(changed), q.To); from.After(q.From) {
		text := from.Format(time.DateOnly)
		b.AttributedFrom = &text
	}
}

// definedAt returns when the definitions of the teams and groups of a question were changed last: the zero time if it
// names none.
func (s *service) definedAt(ctx context.Context, q *cost.Question) (changed time.Time, err error) {
	if names(q, cost.TeamDim) {
		all, err := s.teams.List(ctx, identity.CallerOrg(ctx))
		if err != nil {
			return changed, err
		}
		changed = teamsDefinedAt(all, q)
	}
	if !names(q, cost.GroupDim) {
		return changed, nil
	}
	groups, err := s.Inventory.ListGroups(ctx, identity.CallerOrg(ctx))
	for i := range groups {
		if matches(q.Filter[cost.GroupDim], groups[i].ID) {
			changed = clock.Latest(changed, groups[i].DefinedAt())
		}
	}
	return changed, fault.Wrap("read when groups were changed", err)
}

// teamsDefinedAt returns when the resources of the teams of a question were changed last. A caller with a limited
// scope learns nothing of other teams.
func teamsDefinedAt(all []teams.Team, q *cost.Question) (changed time.Time) {
	for i := range all {
		if matches(q.Filter[cost.TeamDim], all[i].ID) && sees(q.Within, all[i].ID) {
			changed = clock.Latest(changed, all[i].DefinedAt())
		}
	}
	return changed
}

// names reports whether a question splits or filters costs by a dimension.
func names(q *cost.Question, dim string) bool {
	return slices.Contains(q.Dims, dim) || len(q.Filter[dim]) > 0
}

// matches reports whether a filter concerns a team or group. A filter for costs without one concerns all.
func matches(filter []string, id string) bool {
	return len(filter) == 0 || slices.Contains(filter, id) || slices.Contains(filter, "")
}
