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
	r := reader{ctx, costs, org, now, LastSettled(periods, now)}
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

// LastSettled returns the last day with complete bills: two days ago, or the last billed day if that is earlier.
func LastSettled(periods []cost.Period, now time.Time) time.Time {
	now = now.UTC()
	latest := time.Date(now.Year(), now.Month(), now.Day()-Settling, 0, 0, 0, 0, time.UTC)
	var billed time.Time
	for _, p := range periods {
		if !p.Estimated && p.SettledThrough.After(billed) {
			billed = p.SettledThrough
		}
	}
	if !billed.IsZero() && billed.Before(latest) {
		return time.Date(billed.Year(), billed.Month(), billed.Day(), 0, 0, 0, 0, time.UTC)
	}
	return latest
}

// reader reads histories for one answer.
type reader struct {
	ctx     context.Context //nolint:containedctx // of one call
	costs   *cost.Store
	org     string
	now     time.Time
	settled time.Time
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
		out[i] = budgets[i].Stand(&History{First: from, Billed: billed[value], Usage: usage[value], Settled: r.settled},
			r.now)
	}
	return nil
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
		out[row.Keys[0]] = row.Days
	}
	return out, fault.Wrap("read the costs of budgets", err)
}

func dayAfter(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, time.UTC)
}
