package billingsync

import (
	"context"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/cost"
)

// period is a billing period under construction: its sums by day, and its line items.
type period struct {
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
	return &period{b, billfile.NewLineItemWriter(w.p.Lines, b)}, nil
}

func (p *period) add(ctx context.Context, c *bill.Charge) error {
	if err := p.sums.Add(c); err != nil {
		return err
	}
	return p.lines.Add(ctx, c)
}

func (p *period) commit(ctx context.Context) error {
	if err := p.lines.Close(ctx); err != nil {
		return err
	}
	_, err := p.sums.Commit(ctx)
	return err
}
