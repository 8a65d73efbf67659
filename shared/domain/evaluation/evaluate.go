package evaluation

import (
	"context"
	"errors"
	"slices"
	"time"

	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// longestOutage is how many minutes are caught up at most.
const longestOutage = 24 * 60

// Done tells what an evaluation did.
type Done struct {
	Ended  int `json:"ended"`  // overrides whose time was over
	Fired  int `json:"fired"`  // crons that were due
	Orders int `json:"orders"` // that were queued for schedules
}

// Evaluate does what is due in an organization up to the minute that has begun, because of rows of the list, which it then takes off it. It
// may be called twice at once, and be killed at any moment: what it did not come to, the next call does, and nothing twice.
func (s *Store) Evaluate(ctx context.Context, org string, now time.Time, rows []scheduling.Due) (done Done, err error) { //nolint:revive // what, when and why
	ctx = table.WithOrg(ctx, org)
	st, there, err := s.begin(ctx, org)
	if err != nil {
		return done, err
	}
	if !there {
		return done, s.forget(ctx, rows)
	}
	if st.Round != "" { // whoever decided it was killed, or is at it
		if done.Orders, err = s.carryOut(ctx, org, st); err != nil {
			return done, err
		}
		if st, err = s.readState(ctx, org); err != nil || st.Round != "" { // another evaluator has gone on meanwhile
			return done, err
		}
	}
	if done.Ended, err = s.endOverrides(ctx, org); err != nil {
		return done, err
	}
	if err = s.endEvents(ctx, org); err != nil {
		return done, err
	}
	ahead, err := s.fire(ctx, org, at{st, now.Unix() / 60, rows}, &done)
	if err != nil || !ahead {
		return done, err
	}
	return done, s.forget(ctx, rows)
}

// at is where an evaluation stands: how far the organization is, how far it is to be, and why it is looked at.
type at struct {
	state
	minute int64
	rows   []scheduling.Due
}

// span returns the minutes that are to be evaluated: those since the last one, a day of them at most; of an organization that was never
// evaluated, those since it was due.
func (a at) span() scheduling.Span {
	from := a.Until + 1
	if a.Change == 0 {
		from = a.rows[0].Minute.Unix() / 60
	}
	return scheduling.Span{From: startOf(max(from, a.minute-longestOutage+1)), To: startOf(a.minute + 1)}
}

// fire decides what the schedules of the span want, and has it done; false when another evaluator is at it.
func (s *Store) fire(ctx context.Context, org string, a at, done *Done) (bool, error) { //nolint:revive // the last one is the answer, too
	if a.Until >= a.minute && a.Change > 0 {
		return true, nil // another row of the same minute
	}
	p, err := s.plan(ctx, org, a)
	if err != nil {
		return false, err
	}
	first, err := s.decide(ctx, org, a.state, *p.next, p.plan)
	if err != nil || !first {
		return false, err
	}
	done.Fired += p.fired
	if p.open != nil {
		if err = s.storeDrifts(ctx, org, *p.open); err != nil {
			return false, err
		}
	}
	if len(p.entries) == 0 {
		return true, nil
	}
	decided, err := s.readState(ctx, org)
	if err != nil || decided.Round != p.next.Round { // another evaluator has carried it out
		return err == nil, err
	}
	queued, err := s.carryOut(ctx, org, decided)
	done.Orders += queued
	return err == nil, err
}

// plan finds out what is to be done up to the minute, and has the organization be looked at again when something is due next.
func (s *Store) plan(ctx context.Context, org string, a at) (planned, error) {
	b, err := s.openBook(ctx, org, a.span())
	if err != nil {
		return planned{}, err
	}
	if err = s.readReach(ctx, org, b, b.toRead(a)); err != nil {
		return planned{}, err
	}
	p := planned{book: b, plan: b.fire(a.span()), next: &state{Until: a.minute, Round: id.New("rnd", s.p.Clock.Now()), DriftAt: a.DriftAt}}
	if err = s.lookAtDrift(ctx, org, a, &p); err != nil {
		return p, err
	}
	return p, s.remind(ctx, org, b, *p.next)
}

// planned is a plan in the making, and what is remembered with it: how far the organization is then, and what drifts, when that was looked at.
type planned struct {
	*book
	*plan
	next *state
	open *drifts
}

// looks reports whether it is time to look at drift.
func (b *book) looks(a at) bool { return b.canDrift() && a.DriftAt <= a.minute }

// toRead returns the schedules of which has to be known what they reach: those that fire in the span, and to look at drift all.
func (b *book) toRead(a at) []*scheduling.Timetable {
	return slices.DeleteFunc(slices.Clone(b.timetables), func(t *scheduling.Timetable) bool {
		return !t.Schedule.Enabled || !b.looks(a) && len(due(t, a.span())) == 0
	})
}

// lookAtDrift looks at drift when it is time to, and says when it is again.
func (s *Store) lookAtDrift(ctx context.Context, org string, a at, p *planned) error { //nolint:revive // where, when, into what
	if !p.canDrift() {
		p.next.DriftAt = 0
	}
	if !p.looks(a) {
		return nil
	}
	was, err := s.readDrifts(ctx, org)
	if err != nil {
		return err
	}
	var open drifts
	open, p.next.DriftAt = p.look(p.book, was, startOf(a.minute))
	p.open = &open
	return nil
}

// remind has the organization be looked at when something of it is due next: a cron, or drift.
func (s *Store) remind(ctx context.Context, org string, b *book, next state) error {
	soonest := startOf(next.DriftAt)
	if next.DriftAt == 0 {
		soonest = time.Time{}
	}
	for _, t := range b.timetables {
		if f := t.NextFiring(startOf(next.Until)); t.Schedule.Enabled && !f.IsZero() && (soonest.IsZero() || f.Before(soonest)) {
			soonest = f
		}
	}
	if soonest.IsZero() {
		return nil
	}
	w, err := scheduling.AddDue(org, soonest)
	if err != nil {
		return err
	}
	_, err = s.p.Table.Write(within(ctx), w)
	return fault.Wrap("note when "+org+" is due", err)
}

// endOverrides ends the overrides whose time is over. One that cannot be ended does not keep the others from being.
func (s *Store) endOverrides(ctx context.Context, org string) (n int, err error) {
	live, err := override.ReadLive(ctx, s.p.Table, org)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, h := range live.Expired(s.p.Clock.Now()) {
		_, err = s.EndOverride(ctx, org, h.ID, "")
		switch {
		case err == nil:
			n++
		case fault.Is(err, fault.NotFound):
			err = s.unlist(ctx, org, h.ID)
		case fault.Is(err, fault.Conflict): // another evaluator, or somebody, ends it
			err = nil
		}
		errs = append(errs, err)
	}
	return n, errors.Join(errs...)
}

// unlist takes an override off the list of those that live whose record is gone.
func (s *Store) unlist(ctx context.Context, org, overrideID string) error {
	return override.Change(ctx, s.p.Table, org, func(l override.Live) (override.Live, []table.Write, error) {
		return l.Without(overrideID), nil, nil
	})
}

// startOf returns when a minute begins.
func startOf(minute int64) time.Time { return time.Unix(minute*60, 0).UTC() }
