package cost

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Costs are attributed to teams and groups by stamps, which an import takes from the inventory. When teams or groups
// change, open months are stamped again at once, and closed months in the background, the newest first. The setting
// attributionMonths of an organization limits how old these months are.

// definitions are the teams and groups of an organization at a moment.
type definitions struct {
	*inventory.Directory
	version string
	at      time.Time // when they were read, or earlier
	oldest  Month     // the oldest closed month that follows them
}

// readDefinitions reads the teams and groups. It reads how old the closed months are that follow them only if closed
// is set, in one more round trip.
func (s *Store) readDefinitions(ctx context.Context, org string, closed bool) (*definitions, error) {
	out := &definitions{at: s.clock.Now().UTC()}
	var err error
	if out.Directory, err = s.inventory.OpenDirectory(ctx, org); err != nil {
		return nil, err
	}
	out.version = out.Definitions()
	if closed {
		out.oldest, err = s.oldestAttributed(ctx, org)
	}
	return out, err
}

// oldestAttributed returns the oldest month that follows the present teams and groups after it is closed.
func (s *Store) oldestAttributed(ctx context.Context, org string) (Month, error) {
	o, err := table.Read[identity.OrganisationRecord](ctx, s.table, identity.OrganisationKey(org))
	if fault.Is(err, fault.NotFound) {
		err = nil
	}
	return MonthOf(s.clock.Now()).Add(-o.Preferences().AttributionMonths),
		fault.Wrap("read the setting attributionMonths of "+org, err)
}

// applyTo reports whether a period follows the definitions.
func (d *definitions) applyTo(p *pointer) bool { return !p.Final || p.Month >= d.oldest }

// isBehind reports whether a period should follow the definitions, but follows others.
func (d *definitions) isBehind(p *pointer) bool { return d.applyTo(p) && p.Definitions != d.version }

// attributedAt returns the moment whose teams and groups own the costs of a period. Periods of earlier versions do not
// say so: they were stamped by each import until they were closed, which was after the end of the month.
func (p *Period) attributedAt() time.Time {
	switch {
	case !p.AttributedAt.IsZero():
		return p.AttributedAt
	case p.Final:
		return p.Month.End()
	}
	return p.ImportedAt
}

// catchUp attributes a period that was just imported if teams or groups have changed since its import read them: the
// rebuild that followed the change may have been too early to find the period.
func (s *Store) catchUp(ctx context.Context, org string, p *pointer) error {
	if p.Estimated {
		return nil // made anew each night
	}
	d, err := s.readDefinitions(ctx, org, p.Final)
	if err != nil || !d.isBehind(p) {
		return err
	}
	return s.change(ctx, org, p, func() error { return s.attribute(ctx, org, p, d) })
}

// ClosedMonths returns the closed months that follow the present teams and groups, newest first.
func (s *Store) ClosedMonths(ctx context.Context, org string) ([]Month, error) {
	oldest, err := s.oldestAttributed(ctx, org)
	if err != nil {
		return nil, err
	}
	pointers, err := s.readPointers(ctx, org, oldest, lastMonth)
	var out []Month
	for i := range pointers {
		if pointers[i].Final {
			out = append(out, pointers[i].Month)
		}
	}
	slices.SortFunc(out, func(a, b Month) int { return cmp.Compare(b, a) })
	return slices.Compact(out), err
}

// AttributeMonth makes the closed periods of a month follow the present teams and groups. It begins no period from the
// time until on, and reports whether it reached the last one: a further call continues, because periods that follow
// the present ones are skipped without reading their costs. It is idempotent and safe to kill at any time. A period
// that fails does not prevent the others.
func (s *Store) AttributeMonth(ctx context.Context, org string, m Month, until time.Time) (done bool, err error) {
	d, err := s.readDefinitions(ctx, org, true)
	if err != nil {
		return false, err
	}
	pointers, err := s.readPointers(ctx, org, m, m)
	if err != nil {
		return false, err
	}
	var errs []error
	for i := range pointers {
		p := &pointers[i]
		if !p.Final || !d.isBehind(p) {
			continue
		}
		if !s.clock.Now().Before(until) {
			return false, errors.Join(append(errs, s.finishRebuild(ctx, org, []Month{m}))...)
		}
		errs = append(errs, s.change(ctx, org, p, func() error { return s.attribute(ctx, org, p, d) }))
	}
	return true, errors.Join(append(errs, s.finishRebuild(ctx, org, []Month{m}))...)
}

// noteAttribution updates the time of attribution in the summary of a month. A stale summary has none.
func (s *Store) noteAttribution(ctx context.Context, org string, m Month) error {
	row, err := table.Read[summaryItem](ctx, s.table, summaryKey(org, m))
	if fault.Is(err, fault.NotFound) || err == nil && row.Of != row.Seq {
		return nil
	}
	if err != nil {
		return fault.Wrap("read the summary of "+m.String(), err)
	}
	pointers, err := s.readPointers(ctx, org, m, m)
	if err != nil {
		return err
	}
	spans, err := spansOf(pointers, &Question{From: m.Start(), To: m.End()})
	if err != nil {
		return err
	}
	at := newAttribution(spans)[m]
	if at.Equal(row.AttributedAt) {
		return nil
	}
	_, err = s.table.Write(ctx, table.Update(summaryKey(org, m),
		[]table.Change{table.Set("attributedAt", at)}, table.Equal("seq", row.Seq)))
	if _, moved := errors.AsType[*table.ConditionError](err); moved {
		return nil // the writer of the change makes the summary anew
	}
	return fault.Wrap("write the summary of "+m.String(), err)
}

// fillAttribution sets the times of attribution in summaries of an earlier version, which do not have them.
func (s *Store) fillAttribution(ctx context.Context, org string, sums []Summary) error {
	missing := func(m Summary) bool { return m.AttributedAt.IsZero() }
	if !slices.ContainsFunc(sums, missing) {
		return nil
	}
	first, last := sums[0].Month, sums[len(sums)-1].Month
	pointers, err := s.readPointers(ctx, org, first, last)
	if err != nil {
		return err
	}
	spans, err := spansOf(pointers, &Question{From: first.Start(), To: last.End()})
	at := newAttribution(spans)
	for i := range sums {
		if missing(sums[i]) {
			sums[i].AttributedAt = at[sums[i].Month]
		}
	}
	return err
}

// Attribution is, by month with costs, the moment whose teams and groups own the costs. Of several bills, it is the
// earliest.
type Attribution map[Month]time.Time

func newAttribution(spans []span) Attribution {
	out := Attribution{}
	for i := range spans {
		out.note(&spans[i].pointer.Period)
	}
	return out
}

// NewAttribution returns the attribution of the bills of the months that begin in the days from … to, to exclusive.
func NewAttribution(periods []Period, from, to time.Time) Attribution {
	out := Attribution{}
	for i := range periods {
		p := &periods[i]
		if !p.Estimated && !p.Whole && !p.Month.Start().Before(from) && p.Month.Start().Before(to) {
			out.note(p)
		}
	}
	return out
}

func (a Attribution) note(p *Period) {
	if at, had := a[p.Month]; !had || p.attributedAt().Before(at) {
		a[p.Month] = p.attributedAt()
	}
}

// Covered returns the first month with costs, and the end of the last; zero times if there is none.
func (a Attribution) Covered() (from, to time.Time) {
	for m := range a {
		if from.IsZero() || m.Start().Before(from) {
			from = m.Start()
		}
		if m.End().After(to) {
			to = m.End()
		}
	}
	return from, to
}

// From returns the first day from which on all costs are attributed by a definition of a team or group that was
// changed last at the time changed. It is the zero time if all costs are.
func (a Attribution) From(changed time.Time) time.Time {
	var out time.Time
	for m, at := range a {
		if at.Before(changed) && m.End().After(out) {
			out = m.End()
		}
	}
	return out
}
