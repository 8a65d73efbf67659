package budgeting

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Settling is the number of days after which the bills of a day are complete.
const Settling = 2

// ReadStates returns the present states of budgets, in their order. It asks the cost store for its periods, and twice
// for each group and each other kind of scope, not for each budget.
func ReadStates(ctx context.Context, costs *cost.Store, org string, budgets []Budget, now time.Time) ([]State, error) {
	periods, err := costs.Periods(ctx, org)
	if err != nil {
		return nil, fmt.Errorf("read which bills there are: %w", err)
	}
	r := reader{ctx, costs, org, now, periods}
	byDim := map[string][]int{}
	for i := range budgets {
		dim, _ := budgets[i].Dimension()
		byDim[dim] = append(byDim[dim], i)
	}
	out := make([]State, len(budgets))
	for dim, which := range byDim {
		if err = r.stand(dim, budgets, which, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// lateAccount is how far the bills of an account may lie behind the newest ones. An account that lies further behind
// counts as removed.
const lateAccount = 10 * 24 * time.Hour

// LastSettled returns the last day with complete bills of all accounts, by the last one of each account: two days ago,
// or the last billed day of the slowest account if that is earlier.
func LastSettled(settled map[string]time.Time, now time.Time) time.Time {
	latest := LatestSettled(now)
	var newest time.Time
	for _, through := range settled {
		if through.After(newest) {
			newest = through
		}
	}
	slowest := newest
	for _, through := range settled {
		if through.Before(slowest) && newest.Sub(through) < lateAccount {
			slowest = through
		}
	}
	if !slowest.IsZero() && slowest.Before(latest) {
		return slowest
	}
	return latest
}

// LatestSettled returns the last day whose bills can be complete.
func LatestSettled(now time.Time) time.Time {
	now = now.UTC()
	return time.Date(now.Year(), now.Month(), now.Day()-Settling, 0, 0, 0, 0, time.UTC)
}

// reader reads histories for one answer.
type reader struct {
	ctx     context.Context //nolint:containedctx // of one call
	costs   *cost.Store
	org     string
	now     time.Time
	periods []cost.Period
}

// stand sets the states of the budgets whose scope is of a dimension. which are their indexes in budgets and out.
func (r *reader) stand(dim string, budgets []Budget, which []int, out []State) error {
	var values []string
	from := r.now
	for _, i := range which {
		_, value := budgets[i].Dimension()
		values = append(values, value)
		if need := budgets[i].Needed(r.now); need.Before(from) {
			from = need
		}
	}
	slices.Sort(values)
	billed, err := r.series(dim, slices.Compact(values), from, false)
	if err != nil {
		return err
	}
	usage, err := r.series(dim, slices.Compact(values), from, true)
	if err != nil {
		return err
	}
	for _, i := range which {
		_, value := budgets[i].Dimension()
		out[i] = budgets[i].Stand(&History{
			First: from, Billed: billed[value], Usage: usage[value], Settled: r.settled(&budgets[i]),
		}, r.now)
		out[i].Attribution = cost.NewAttribution(r.periods, out[i].From, out[i].To)
	}
	return nil
}

// settled returns the last day with complete bills of a budget's scope: those of all accounts, or of the account that
// it is for.
func (r *reader) settled(b *Budget) time.Time {
	if b.ScopeType != CloudAccount {
		return LastSettled(cost.SettledByAccount(r.periods), r.now)
	}
	latest := LatestSettled(r.now)
	if own := cost.SettledByAccount(r.periods)[b.ScopeID]; !own.IsZero() && own.Before(latest) {
		return own
	}
	return latest
}

// series returns the daily costs of the values of a dimension up to today. It asks for each group separately, because
// a resource in several groups counts fully in each, while a split by group would divide its cost.
func (r *reader) series(dim string, values []string, from time.Time, usage bool) (map[string][]money.Amount, error) {
	q := cost.Question{From: from, To: dayAfter(r.now), Metric: cost.Billed, Daily: true, UsageOnly: usage}
	out := make(map[string][]money.Amount, len(values))
	if dim == "" || dim == cost.GroupDim {
		for _, v := range values {
			if dim != "" {
				q.Filter = map[string][]string{dim: {v}}
			}
			a, err := r.costs.Ask(r.ctx, r.org, q)
			if err != nil {
				return nil, fault.Wrap("read the costs of budgets", err)
			}
			out[v] = a.Days
		}
		return out, nil
	}
	q.Dims, q.Filter = []string{dim}, map[string][]string{dim: values}
	a, err := r.costs.Ask(r.ctx, r.org, q)
	for _, row := range a.Rows {
		out[row.Keys[0]] = row.Days.Amounts()
	}
	return out, fault.Wrap("read the costs of budgets", err)
}

func dayAfter(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, time.UTC)
}
