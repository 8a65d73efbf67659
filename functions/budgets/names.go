package budgets

import (
	"context"

	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/people/teams"
)

// namesOf reads the names of the scopes of budgets.
func (s *service) namesOf(ctx context.Context, all ...budgeting.Budget) (report.ScopeNames, error) {
	scopes := make([]event.Scope, len(all))
	for i := range all {
		scopes[i] = event.Scope{Type: string(all[i].ScopeType), ID: all[i].ScopeID}
	}
	return report.LabelReader{Inventory: s.inventory, Teams: teams.New(s.p.Table)}.ReadScopes(ctx, scopes)
}

// show returns the client's view of a budget.
func (s *service) show(ctx context.Context, b budgeting.Budget) (Budget, error) {
	names, err := s.namesOf(ctx, b)
	return newBudget(b, names), err
}
