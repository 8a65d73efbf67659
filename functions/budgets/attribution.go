package budgets

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/teams"
)

// attribute sets the day from which on budgets of teams and groups follow the present resources of these; shown[i] is
// the standing of states[i]. It takes one round trip if there are budgets of teams, and one if there are budgets of
// groups.
func (s *service) attribute(ctx context.Context, states []budgeting.State, shown []*BudgetStanding) error {
	changed, err := s.definedAt(ctx, states)
	if err != nil {
		return err
	}
	for i := range states {
		st := &states[i]
		from := clock.Earliest(st.Attribution.From(changed[st.Budget.ScopeID]), st.To)
		if from.After(st.From) {
			text := from.Format(time.DateOnly)
			shown[i].AttributedFrom = &text //nolint:gosec // one for each state
		}
	}
	return nil
}

// definedAt returns when the resources of the teams and groups of budgets were changed last, by ID.
func (s *service) definedAt(ctx context.Context, states []budgeting.State) (map[string]time.Time, error) {
	out := map[string]time.Time{}
	scoped := func(t budgeting.ScopeType) bool {
		return slices.ContainsFunc(states, func(st budgeting.State) bool { return st.Budget.ScopeType == t })
	}
	if scoped(budgeting.Team) {
		all, err := teams.New(s.p.Table).List(ctx, identity.CallerOrg(ctx))
		if err != nil {
			return nil, fault.Wrap("read when teams were changed", err)
		}
		for i := range all {
			out[all[i].ID] = all[i].DefinedAt()
		}
	}
	if scoped(budgeting.ResourceGroup) {
		all, err := s.inventory.ListGroups(ctx, identity.CallerOrg(ctx))
		if err != nil {
			return nil, fault.Wrap("read when groups were changed", err)
		}
		for i := range all {
			out[all[i].ID] = all[i].DefinedAt()
		}
	}
	return out, nil
}
