package reports

import (
	"context"
	"maps"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/money"
)

// monthCosts are the costs of a month, restricted to the caller's scope.
type monthCosts struct {
	cost.Amounts
	accounts    map[string]bool // the accounts with charges
	unconverted []cost.CurrencyTotal
}

// windowMonths is the number of months in one question. The longest such window has 793 days; the limit is
// cost.MaxDays.
const windowMonths = 26

// scopedSnapshots returns the closed months, the newest first, with the costs in the caller's scope. It asks three
// questions for each 26 months, and one more for each month if some amounts cannot be converted.
func (s *service) scopedSnapshots(ctx context.Context, within *cost.Within, closed map[cost.Month]closing) ([]Snapshot,
	error,
) {
	months := make(map[cost.Month]*monthCosts, len(closed))
	for m := range closed {
		months[m] = &monthCosts{accounts: map[string]bool{}}
	}
	for _, q := range windowQuestions(closed) {
		q.Within = within
		if err := s.addWindow(ctx, months, q); err != nil {
			return nil, err
		}
	}
	out := make([]Snapshot, 0, len(months))
	for m, c := range months {
		out = append(out,
			newSnapshot(&cost.Summary{Month: m, Total: c.Amounts, Unconverted: c.unconverted},
				closing{accounts: len(c.accounts)}))
	}
	slices.SortFunc(out, func(a, b Snapshot) int { return strings.Compare(b.Period, a.Period) })
	return out, nil
}

// windowQuestions returns the questions, one for each kind of cost and window, that together cover all closed months.
func windowQuestions(closed map[cost.Month]closing) []cost.Question {
	sorted := slices.Sorted(maps.Keys(closed))
	var out []cost.Question
	for len(sorted) > 0 {
		from := sorted[0]
		n, _ := slices.BinarySearch(sorted, from.Add(windowMonths))
		to := sorted[n-1]
		sorted = sorted[n:]
		for _, metric := range cost.Metrics {
			out = append(out,
				cost.Question{
					From: from.Start(), To: to.End(), Metric: metric, Dims: []string{cost.AccountDim},
					Daily: true,
				})
		}
	}
	return out
}

// addWindow adds the answer to q to its months.
func (s *service) addWindow(ctx context.Context, months map[cost.Month]*monthCosts, q cost.Question) error {
	a, err := s.Ask(ctx, q)
	if err != nil {
		return err
	}
	for d := range a.Days {
		c := months[cost.MonthOf(q.From.AddDate(0, 0, d))]
		for i := 0; c != nil && i < len(a.Rows); i++ {
			r := &a.Rows[i]
			amount := r.Days.At(d)
			c.increase(q.Metric, &amount)
			if !amount.IsZero() {
				c.accounts[r.Keys[0]] = true
			}
		}
	}
	if len(a.Unconverted) == 0 || q.Metric != cost.Billed {
		return nil
	}
	return s.addUnconvertedByMonth(ctx, months, q)
}

// addUnconvertedByMonth asks for each month of q separately, because an answer gives amounts without a rate only for
// its whole window.
func (s *service) addUnconvertedByMonth(ctx context.Context, months map[cost.Month]*monthCosts, q cost.Question) error {
	window := q
	q.Dims, q.Daily = nil, false
	for m, c := range months {
		if q.From, q.To = m.Start(), m.End(); q.From.Before(window.From) || q.To.After(window.To) {
			continue
		}
		a, err := s.Ask(ctx, q)
		if err != nil {
			return err
		}
		c.unconverted = a.Unconverted
	}
	return nil
}

// increase adds an amount of one kind of cost.
func (c *monthCosts) increase(metric cost.Metric, amount *money.Amount) {
	switch metric {
	case cost.Billed:
		c.Billed.Increase(amount)
	case cost.Effective:
		c.Effective.Increase(amount)
	case cost.List:
		c.List.Increase(amount)
	}
}
