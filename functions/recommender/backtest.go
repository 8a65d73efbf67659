package recommender

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/foundation/money"
)

// A backtest evaluates the rules of a change on earlier days, with the metrics that are stored, and reads the bills of
// the resources that they match now. Facts of earlier days are not stored: a resource that has changed since is
// unknown on the day.
const (
	backtestedDays   = 35 // as long as metrics are stored
	backtestedMonths = 13
)

// backtestAgo are the evaluated days, in days before today.
var backtestAgo = []int{28, 21, 14, 7}

// pastRules evaluates rules of one type as of an earlier day.
type pastRules struct {
	*evaluator
	day string
	at  time.Time
}

// pastOf returns the evaluators of the earlier days for a type.
func (r *planRun) pastOf(kind string) ([]*pastRules, error) {
	if out, known := r.past[kind]; known {
		return out, nil
	}
	rules, err := r.rules[withChange].rulesOf(kind)
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	var out []*pastRules
	for _, ago := range backtestAgo {
		in := *r.in
		in.now, in.end = r.in.now.AddDate(0, 0, -ago), r.in.end.AddDate(0, 0, -ago)
		e, err := in.evaluatorFor(r.rules[withChange], kind, rules)
		if err != nil {
			return nil, err
		}
		out = append(out, &pastRules{e, dayOf(in.now), in.now})
	}
	r.past[kind] = out
	return out, nil
}

// backtest evaluates the rules of the change for a resource on earlier days.
func (r *planRun) backtest(rec *record, stored []byte) error {
	of := r.pairs[rec.Type]
	if of.seen >= recommendation.MaxBacktested {
		return nil
	}
	past, err := r.pastOf(rec.Type)
	if err != nil || len(past) == 0 {
		return err
	}
	of.seen++
	r.plan.Backtest.Resources++
	for _, p := range past {
		s, err := p.begin(rec, stored, r.measuredUsage)
		if err != nil {
			return err
		}
		if s.Since().After(p.at) {
			continue // it did not exist
		}
		for i := range p.rules {
			if err = r.tallies[p.rules[i].ID].addPast(p, &p.rules[i], s, r.changed[rec.UID].After(p.at)); err != nil {
				return err
			}
		}
	}
	return nil
}

// measuredUsage returns the measurements of a resource, and notes the first measured day.
func (r *planRun) measuredUsage(uid string) measurement.Use {
	use := r.usage(uid)
	day, first := use.FirstDay(), &r.plan.Backtest.Measured
	if *first == "" || day != "" && day < *first {
		*first = day
	}
	return use
}

// addPast counts the outcome of a rule for a resource on an earlier day. changed says that the resource has changed
// since, so that its facts of the day are not known.
func (t *ruleTally) addPast(p *pastRules, r *compiledRule, s *subject, changed bool) error {
	d := t.days[p.day]
	if d == nil {
		d = &recommendation.PlanDay{Day: p.day}
		t.days[p.day] = d
	}
	if changed {
		d.Unknown++
		return nil
	}
	as, err := p.settingOf(r, s)
	if err != nil {
		return err
	}
	switch outcome, _ := p.decide(r, as); {
	case outcome == recommendation.Unknown:
		d.Unknown++
	case outcome == recommendation.True && (!r.Category.IsCost() || !p.skips(s)):
		d.Matches++
	}
	return nil
}

// backtestBills reads the bills of the resources that the rules match now, month by month.
func (r *planRun) backtestBills(ctx context.Context) error {
	for _, ago := range backtestAgo {
		r.plan.Backtest.Days = append(r.plan.Backtest.Days, dayOf(r.in.now.AddDate(0, 0, -ago)))
	}
	wanted := false
	for _, t := range r.tallies {
		t.Billed = len(t.billed)
		wanted = wanted || t.Billed > 0
	}
	if !wanted {
		return nil
	}
	last := cost.MonthOf(r.in.now)
	periods, err := r.costs.PeriodsBetween(ctx, r.org, last.Add(1-backtestedMonths), last)
	if err != nil {
		return fmt.Errorf("read the billing periods of %s: %w", r.org, err)
	}
	for _, m := range billedMonths(periods) {
		if err = r.backtestMonth(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// billedMonths returns the months with a bill, in order.
func billedMonths(periods []cost.Period) []cost.Month {
	var out []cost.Month
	for i := range periods {
		if p := &periods[i]; !p.Estimated {
			out = append(out, p.Month)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// backtestMonth adds the cost of the matches in a month, and the share of it that the rules save now.
func (r *planRun) backtestMonth(ctx context.Context, m cost.Month) error {
	a, err := r.costs.Ask(ctx, r.org, cost.Question{
		From: m.Start(), To: m.End(), Metric: cost.Effective, UsageOnly: true, BillsOnly: true,
		Dims: []string{cost.ResourceDim},
	})
	if err != nil {
		return fmt.Errorf("read the costs of %s of %s: %w", m, r.org, err)
	}
	r.plan.Backtest.Months = append(r.plan.Backtest.Months, m.String())
	sums := map[*ruleTally]*recommendation.PlanMonth{}
	for _, t := range r.tallies {
		if t.Billed > 0 {
			sums[t] = &recommendation.PlanMonth{Month: m.String()}
		}
	}
	for i := range a.Rows {
		row := &a.Rows[i]
		for t, sum := range sums {
			if match, is := t.billed[row.Keys[0]]; is {
				sum.Cost = sum.Cost.Add(row.Amount)
				sum.Saving = sum.Saving.Add(match.shareOf(row.Amount))
			}
		}
	}
	for t, sum := range sums {
		sum.Cost, sum.Saving = sum.Cost.Round(4), sum.Saving.Round(4)
		t.Months = append(t.Months, *sum)
	}
	return nil
}

// shareOf returns the share of an amount that the match saves: at most all of it.
func (b billedMatch) shareOf(amount money.Amount) money.Amount {
	switch {
	case b.costs.Sign() <= 0 || amount.Sign() <= 0:
		return money.Amount{}
	case b.saves.Cmp(b.costs) >= 0:
		return amount
	}
	return amount.MulDiv(b.saves, b.costs)
}
