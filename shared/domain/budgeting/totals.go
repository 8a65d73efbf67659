package budgeting

import (
	"cmp"
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/money"
)

// Total adds up the budgets of one period so that each cost counts once. Of budgets that share costs only the one with
// the widest scope counts.
type Total struct {
	Period        Period
	From, To      time.Time    // To exclusive
	Amount, Spent money.Amount // of the budgets that count; Spent is the sum of cents
	Counted       []string     // IDs, the widest scope first
	LeftOut       []LeftOut
}

// LeftOut is a budget that does not count, and the budget that counts and shares costs with it.
type LeftOut struct{ BudgetID, SharesCostsWith string }

// ReadTotals adds up the states of budgets, the shortest period first. Periods without budgets are left out. The widest
// scope is the organization, then the scope that cost most since the first day of the history. Two scopes share costs
// if there is a cost of both since that day, or since the first day of the longest period if that is earlier.
func ReadTotals(ctx context.Context, costs *cost.Store, org string, states []State, now time.Time) ([]Total, error) {
	byPeriod := map[Period][]*State{}
	for i := range states {
		p := states[i].Budget.Period
		byPeriod[p] = append(byPeriod[p], &states[i])
	}
	r := sharedCostReader{
		ctx: ctx, costs: costs, org: org, values: map[string][]string{},
		q:     cost.Question{From: HistoryFrom(now.UTC()), To: dayAfter(now), Metric: cost.Billed},
		found: sharedCosts{map[[2]scope]bool{}, map[string]bool{}},
	}
	if err := r.find(byPeriod); err != nil {
		return nil, err
	}
	var out []Total
	for _, p := range []Period{Month, Quarter, Year} {
		if len(byPeriod[p]) > 0 {
			out = append(out, newTotal(byPeriod[p], &r.found))
		}
	}
	return out, nil
}

// newTotal adds up the budgets of a period.
func newTotal(states []*State, shared *sharedCosts) Total {
	states = slices.Clone(states)
	slices.SortFunc(states, compareWidth)
	out := Total{Period: states[0].Budget.Period, From: states[0].From, To: states[0].To}
	var counted []*State
	for _, st := range states {
		at := slices.IndexFunc(counted, func(c *State) bool { return shared.between(&c.Budget, &st.Budget) })
		if at >= 0 {
			out.LeftOut = append(out.LeftOut, LeftOut{st.Budget.ID, counted[at].Budget.ID})
			continue
		}
		counted = append(counted, st)
		out.Counted = append(out.Counted, st.Budget.ID)
		out.Amount, out.Spent = out.Amount.Add(st.Budget.Amount), out.Spent.Add(st.Spent.Round(2))
	}
	return out
}

// compareWidth orders states by the width of their scopes, the widest first. Of equal scopes the budget with the
// higher amount is first, then the older one.
func compareWidth(a, b *State) int {
	if isOrg := a.Budget.ScopeType == Org; isOrg != (b.Budget.ScopeType == Org) {
		if isOrg {
			return -1
		}
		return 1
	}
	return cmp.Or(b.Recent.Cmp(a.Recent), b.Budget.Amount.Cmp(a.Budget.Amount),
		a.Budget.CreatedAt.Compare(b.Budget.CreatedAt), cmp.Compare(a.Budget.ID, b.Budget.ID))
}
