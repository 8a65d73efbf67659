package billingsync

import (
	"context"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/cost"
)

// period is a billing period under construction: its sums by day, and its line items.
type period struct {
	month cost.Month
	sums  *cost.Builder
	lines *billfile.LineItemWriter
}

// beginPeriod begins a billing period, with the errors of cost.Store.Begin.
func (w *worker) beginPeriod(ctx context.Context,
	in cost.Import, //nolint:gocritic // as Begin takes it
) (*period, error) {
	in.Lines = true
	b, err := w.costs.Begin(ctx, in)
	if err != nil {
		return nil, err
	}
	return &period{in.Month, b, billfile.NewLineItemWriter(w.p.Lines, b)}, nil
}

// add adds a charge. A charge of a billing period that reaches into the month, such as February 15 to March 14 in an
// export of March, counts in the month.
func (p *period) add(ctx context.Context, c *bill.Charge) error {
	if reachesInto(c.BillingPeriodStart, p.month) {
		own := *c
		own.BillingPeriodStart = p.month.Start()
		c = &own
	}
	if err := p.sums.Add(c); err != nil {
		return err
	}
	return p.lines.Add(ctx, c)
}

// reachesInto reports whether a billing period begins within the month before, after its first day.
func reachesInto(start time.Time, month cost.Month) bool {
	return cost.MonthOf(start)+1 == month && start.UTC().Day() > 1
}

func (p *period) commit(ctx context.Context) (cost.Period, error) {
	if err := p.lines.Close(ctx); err != nil {
		return cost.Period{}, err
	}
	return p.sums.Commit(ctx)
}
