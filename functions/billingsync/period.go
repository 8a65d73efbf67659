package billingsync

import (
	"context"
	"errors"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// How a call divides its 15 minutes. stretch is how long it begins months and files, partStretch how long it reads on
// in a file that is begun, and longestStretch how long it reads at all: the rest is for the commit.
const (
	stretch        = 4 * time.Minute
	partStretch    = 10 * time.Minute
	longestStretch = 12 * time.Minute
)

// savedEvery is the least time between two checkpoints, which is the work that a killed process loses. A month that
// takes less has none.
const savedEvery = 15 * time.Second

// clockEvery is the number of charges between two looks at the clock.
const clockEvery = 64 << 10

// errPaused is the error of an import that the next call continues from its checkpoint.
var errPaused = errors.New("the next call continues the import")

// pace decides when the imports of a call save a checkpoint, and when they pause.
type pace struct {
	clock clock.Clock
	began time.Time // of the call
	// progressed reports whether this call saved a checkpoint.
	progressed bool
}

func newPace(c clock.Clock) *pace { return &pace{clock: c, began: c.Now()} }

// isOver reports whether the call has taken so long.
func (p *pace) isOver(limit time.Duration) bool { return p.clock.Now().Sub(p.began) >= limit }

// period is a billing period under construction: its sums by day, its line items, and how far it is read. Its file and
// its charges are counted from the beginning of the delivery, also if it continues from a checkpoint.
type period struct {
	month cost.Month
	sums  *cost.Builder
	lines *billfile.LineItemWriter
	pace  *pace
	name  string // of the present file
	// isStable reports whether the present file is the same when it is read again, so that a call can continue within
	// it. The rows of an answer to a query may come in another order.
	isStable bool
	at       cost.Position // of the last possible checkpoint
	seen     cost.Position // of the present file
	savedAt  time.Time     // of the last checkpoint, or the beginning of the period
	saved    func(context.Context) error
}

// beginPeriod begins a billing period or continues it from its checkpoint, with the errors of cost.Store.Begin.
func (w *worker) beginPeriod(ctx context.Context,
	in cost.Import, //nolint:gocritic // as Begin takes it
	at *pace,
) (*period, error) {
	in.Lines = true
	b, err := w.costs.Begin(ctx, in)
	if err != nil {
		return nil, err
	}
	return &period{
		month: in.Month, sums: b, lines: billfile.NewLineItemWriterOf(w.p.Lines, b, w.limits.partLines), pace: at,
		at:      b.Position(),
		savedAt: w.p.Clock.Now(),
		saved:   func(context.Context) error { return nil },
	}, nil
}

// beginFile begins to read the file at the position. Its size is -1 if it is an answer to a query.
func (p *period) beginFile(name string, size int64) {
	p.name, p.isStable, p.seen = name, size >= 0, cost.Position{File: p.at.File}
}

// add adds a charge, unless the checkpoint contains it. A charge of a billing period that reaches into the month, such
// as February 15 to March 14 in an export of March, counts in the month.
func (p *period) add(ctx context.Context, c *bill.Charge) error {
	p.seen.Charges++
	p.seen.Billed.Increase(&c.BilledCost)
	switch {
	case p.seen.Charges < p.at.Charges:
		return nil
	case p.seen.Charges == p.at.Charges:
		return p.checkUnchanged(ctx)
	}
	if reachesInto(c.BillingPeriodStart, p.month) {
		own := *c
		own.BillingPeriodStart = p.month.Start()
		c = &own
	}
	if err := p.sums.Add(c); err != nil {
		return err
	}
	if err := p.lines.Add(ctx, c); err != nil || !p.lines.IsBetweenFiles() || !p.isStable {
		return err
	}
	return p.endPart(ctx)
}

// reachesInto reports whether a billing period begins within the month before, after its first day.
func reachesInto(start time.Time, month cost.Month) bool {
	return cost.MonthOf(start)+1 == month && start.UTC().Day() > 1
}

// checkUnchanged returns an error if the charges before the checkpoint differ from those that it contains.
func (p *period) checkUnchanged(ctx context.Context) error {
	if p.seen.Charges == p.at.Charges && p.seen.Billed == p.at.Billed {
		return nil
	}
	if err := p.sums.Restart(ctx); err != nil {
		return err
	}
	return fault.New(fault.Unavailable, "%s was replaced while it was imported; it is read again", p.name)
}

// endPart ends a file of line items within a file of the bill: a checkpoint is possible here.
func (p *period) endPart(ctx context.Context) error {
	p.at.Charges, p.at.Billed = p.seen.Charges, p.seen.Billed
	if err := p.checkRows(); err != nil {
		return err
	}
	if !p.pace.isOver(partStretch) {
		return p.saveInTime(ctx)
	}
	return p.pause(ctx)
}

// endFile ends a file of the bill with its number of rows.
func (p *period) endFile(ctx context.Context, rows int64) error {
	if p.seen.Charges < p.at.Charges {
		return p.checkUnchanged(ctx)
	}
	if err := p.lines.EndFile(); err != nil {
		return err
	}
	p.at = cost.Position{File: p.at.File + 1, Rows: p.at.Rows + rows}
	return p.checkRows()
}

// saveInTime saves a checkpoint if the last one is long ago.
func (p *period) saveInTime(ctx context.Context) error {
	if p.pace.clock.Now().Sub(p.savedAt) < savedEvery {
		return nil
	}
	return p.save(ctx)
}

func (p *period) save(ctx context.Context) error {
	if err := p.lines.Checkpoint(ctx, p.at); err != nil {
		return err
	}
	p.savedAt, p.pace.progressed = p.pace.clock.Now(), true
	return p.saved(ctx)
}

// pause saves a checkpoint and returns errPaused.
func (p *period) pause(ctx context.Context) error {
	if p.at != p.sums.Position() {
		if err := p.save(ctx); err != nil {
			return err
		}
	}
	return errPaused
}

func (p *period) commit(ctx context.Context) error {
	if err := p.lines.Close(ctx); err != nil {
		return err
	}
	_, err := p.sums.Commit(ctx)
	return err
}
