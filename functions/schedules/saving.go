package schedules

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/money"
)

// Notes on the saving of a preview.
const (
	pricesUnknown = "expectedSavingUSD is null: no public price is known of its resources"
	somePriced    = "expectedSavingUSD leaves out %d of %d resources, whose price is not known"
)

// addSaving adds what the stops of a preview are expected to save, at public prices.
func (s *service) addSaving(ctx context.Context, out *Preview, foretold []scheduling.Foretold,
	targets []scheduling.Target,
) error {
	rates, err := s.ratesOf(ctx, targets)
	if err != nil {
		return fmt.Errorf("read the prices of the resources of schedule %s: %w", *out.ScheduleID, err)
	}
	e := newExpectation(targets, rates)
	out.WithoutRate = e.unpriced
	switch {
	case e.unpriced == len(targets) && len(targets) > 0:
		out.SavingNote = pricesUnknown
		return nil
	case e.unpriced > 0:
		out.SavingNote = fmt.Sprintf(somePriced, e.unpriced, len(targets))
	}
	e.expect(foretold, out.To)
	total := money.Amount{}
	for i := range foretold {
		if foretold[i].Cron.Action == cloud.Stop {
			out.Firings[i].ExpectedSavingUSD = rest.Optional(e.saved[i].Fixed(2))
			total = total.Add(e.saved[i])
		}
	}
	out.ExpectedSavingUSD = rest.Optional(total.Fixed(2))
	return nil
}

// ratesOf reads the prices of targets. It makes no round trip for a schedule without resources.
func (s *service) ratesOf(ctx context.Context, targets []scheduling.Target) (map[string]pricing.HourlyRate, error) {
	if len(targets) == 0 {
		return map[string]pricing.HourlyRate{}, nil
	}
	uids := make([]string, len(targets))
	for i := range targets {
		uids[i] = targets[i].Member.UID
	}
	return pricing.ReadRates(ctx, s.p.Table, s.inventory, identity.CallerOrg(ctx), uids...)
}

// expectation computes what the firings of a schedule save. A stop saves, until the next start, the price of an hour of
// the running resource less that of the stopped one. The stop of a resource that is stopped already saves nothing.
type expectation struct {
	hourly    []money.Amount // by target; 0 if its price is not known
	unpriced  int
	stoppedBy []int          // by target: the firing that stopped it
	saved     []money.Amount // by firing
}

// The states of targets that no firing has stopped.
const (
	runs     = -1
	idleFrom = -2 // stopped before the preview begins
)

func newExpectation(targets []scheduling.Target, rates map[string]pricing.HourlyRate) *expectation {
	e := &expectation{hourly: make([]money.Amount, len(targets)), stoppedBy: make([]int, len(targets))}
	for i := range targets {
		m := &targets[i].Member
		if e.stoppedBy[i] = runs; m.Status == cloud.Stopped {
			e.stoppedBy[i] = idleFrom
		}
		r, known := rates[m.UID]
		if !known || r.Reason != "" {
			e.unpriced++
			continue
		}
		e.hourly[i] = r.Running.Sub(r.Off)
	}
	return e
}

// expect computes the savings of firings, in the order of their times, until the end.
func (e *expectation) expect(foretold []scheduling.Foretold, end time.Time) {
	e.saved = make([]money.Amount, len(foretold))
	for i := range foretold {
		f := &foretold[i]
		e.end(foretold, f.At, func(target int) bool {
			return f.Cron.Action == cloud.Start && f.Skips[target].Reason == scheduling.Acts
		})
		for target, by := range e.stoppedBy {
			if by == runs && f.Cron.Action == cloud.Stop && f.Skips[target].Reason == scheduling.Acts {
				e.stoppedBy[target] = i
			}
		}
	}
	e.end(foretold, end, func(int) bool { return true })
}

// end adds the savings of the stops that end at a time: of the targets that start then.
func (e *expectation) end(foretold []scheduling.Foretold, at time.Time, starts func(target int) bool) {
	hourly := map[int]money.Amount{} // by the firing that stopped the targets
	for target, by := range e.stoppedBy {
		if by == runs || !starts(target) {
			continue
		}
		if e.stoppedBy[target] = runs; by >= 0 {
			hourly[by] = hourly[by].Add(e.hourly[target])
		}
	}
	for by, usd := range hourly {
		seconds := int64(at.Sub(foretold[by].At) / time.Second)
		e.saved[by] = e.saved[by].Add(usd.MulDiv(money.FromInt(seconds), money.FromInt(int64(time.Hour/time.Second))))
	}
}
