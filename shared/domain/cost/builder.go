package cost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Builder adds up a billing period. Readers do not see it before Commit. It must be used by one goroutine. An
// abandoned Builder needs no cleanup.
type Builder struct {
	store   *Store
	in      Import
	old     pointer // the zero value for a new period
	lines   lines
	totals  map[string]*Totals
	own     map[string]ownRate // by currency
	shared  string             // the billing account, for charges without a sub-account
	through int                // the last day with usage, from 0; -1 if there is none

	late, corrections int64 // rows

	generation string     // "" before announce
	items      *LineItems // nil if none are stored

	saved    checkpoint // the present checkpoint of the period; the zero value if there is none
	until    time.Time  // the end of the time in which the import can be continued
	position Position   // of the checkpoint
	begun    *LineItems // at the checkpoint or at the beginning; nil before BeginItems
}

// Begin begins to import a billing period, or continues from its checkpoint: see Position. It takes one round trip, or
// two if it returns ErrSame or ErrOlder, and it reads the object of a checkpoint. ErrSame means that this delivery is
// already imported, ErrOlder that a later one is.
func (s *Store) Begin(ctx context.Context, in Import) (*Builder, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	old, saved, err := s.readPeriod(ctx, &in)
	if err != nil {
		return nil, err
	}
	if err = in.supersedes(&old); err != nil {
		return nil, s.settle(ctx, &in, &old, err)
	}
	b := &Builder{store: s, in: in, old: old, lines: newLines(), totals: map[string]*Totals{}, through: -1}
	return b, b.restore(ctx, &saved)
}

// CheckOrder returns ErrOlder if Begin would return it: one round trip.
func (s *Store) CheckOrder(ctx context.Context,
	in Import, //nolint:gocritic // as Begin takes it
) error {
	old, err := s.readPointer(ctx, &in)
	if err == nil && errors.Is(in.supersedes(&old), ErrOlder) {
		return ErrOlder
	}
	return err
}

// retriesEnd is the time after which no retry of an import is expected. It is shorter than the time between two nights.
const retriesEnd = 12 * time.Hour

// settle completes the commit of the imported delivery old, whose process may have died after the swap, and returns
// why, the reason that our import does not begin.
func (s *Store) settle(ctx context.Context, in *Import, old *pointer, why error) error {
	if in.Unsummarized {
		return why
	}
	var err error
	if s.clock.Now().Sub(old.ImportedAt) < retriesEnd {
		err = s.catchUp(ctx, in.Org, old)
	}
	return cmp.Or(err, s.summarize(ctx, in.Org, in.Month), why)
}

func (in *Import) check() error {
	if in.Org == "" || in.AccountID == "" || strings.Contains(in.AccountID, "#") {
		return fault.New(fault.Invalid, "an import of organization %.64q and account %.64q: both are needed, without #",
			in.Org, in.AccountID)
	}
	if in.Month < firstMonth || in.Month > lastMonth {
		return fault.New(fault.Invalid, "an import of month %d: months are counted from year 0, as MonthOf does",
			in.Month)
	}
	return nil
}

func (in *Import) key() table.Key { return periodKey(in.Org, in.Month, in.AccountID, in.Estimated) }

// supersedes returns the reason why the delivery does not replace the present one, or nil if it does.
func (in *Import) supersedes(old *pointer) error {
	switch {
	case old.Seq == 0:
		return nil
	// The same delivery replaces the present one only if the month is closed now, or to add line items.
	case old.Fingerprint == in.Fingerprint && (old.Final || !in.Final) && (old.LineItems || !in.Lines):
		return ErrSame
	case in.DeliveredAt.Before(old.DeliveredAt):
		return ErrOlder
	}
	return nil
}

// readPointer returns the pointer of the period, or the zero pointer.
func (s *Store) readPointer(ctx context.Context, in *Import) (pointer, error) {
	p, err := table.Read[pointer](ctx, s.table, in.key())
	if fault.Is(err, fault.NotFound) {
		return pointer{}, nil
	}
	return p, fault.Wrap(fmt.Sprintf("read period %s of %s", in.Month, in.AccountID), err)
}

// Add adds a charge, which the caller may reuse. It returns fault.Invalid for a charge of another billing period or
// without a currency.
func (b *Builder) Add(c *bill.Charge) error {
	at, err := b.place(c)
	if err != nil {
		return err
	}
	if c.BillingCurrency == "" {
		return fault.New(fault.Invalid, "a charge of %s names no currency", c.ChargePeriodStart.Format(time.DateOnly))
	}
	b.lines.add(c, at)
	b.countPlacement(c, at)
	if c.SubAccountID == "" && b.shared == "" {
		b.shared = strings.Clone(c.BillingAccountID)
	}
	t := b.totals[c.BillingCurrency]
	if t == nil {
		t = &Totals{}
		b.totals[strings.Clone(c.BillingCurrency)] = t
	}
	b.noteRate(c)
	t.Rows++
	t.Billed.Increase(&c.BilledCost)
	t.Effective.Increase(&c.EffectiveCost)
	t.List.Increase(&c.ListCost)
	return nil
}

// Lines returns the number of lines to which the charges are added up. A line takes about a kilobyte of memory.
func (b *Builder) Lines() int { return len(b.lines.all) }

// Replaced returns the period that Commit will replace, or the zero Period.
func (b *Builder) Replaced() Period { return b.old.Period }

// Totals returns the sums of the added charges, by currency.
func (b *Builder) Totals() map[string]Totals {
	out := make(map[string]Totals, len(b.totals))
	for currency, t := range b.totals {
		out[currency] = *t
	}
	return out
}

// period returns the Period of the import.
func (b *Builder) period(generation string) Period {
	in := &b.in
	p := Period{
		AccountID: in.AccountID, Provider: in.Provider, Month: in.Month, Estimated: in.Estimated,
		Generation:  generation,
		Fingerprint: in.Fingerprint, DeliveredAt: in.DeliveredAt.UTC(), ImportedAt: b.store.clock.Now().UTC(),
		Final:  in.Final,
		Source: in.Source, Export: in.Export, Lines: len(b.lines.all), Folded: b.lines.folded, ByCurrency: b.Totals(),
		Native: in.Native, Late: b.late, Corrections: b.corrections,
	}
	for _, t := range p.ByCurrency {
		p.Rows += t.Rows
	}
	if b.through >= 0 {
		p.BilledThrough = in.Month.Start().AddDate(0, 0, b.through)
	}
	p.SettledThrough = settled(in, p.BilledThrough)
	return p
}

// settlingDays is the number of days after which the usage of a day is complete.
const settlingDays = 2

// settled returns the last day whose charges are complete: in a closed month its last day.
func settled(in *Import, billed time.Time) time.Time {
	last := in.Month.End().Add(-day)
	if in.Final {
		return last
	}
	sure := midnight(in.DeliveredAt).AddDate(0, 0, -settlingDays)
	if sure.Before(billed) {
		billed = sure
	}
	if billed.Before(in.Month.Start()) {
		return time.Time{}
	}
	return billed
}
