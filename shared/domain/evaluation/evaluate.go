package evaluation

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// longestOutage is how many minutes are caught up at most after an outage.
const longestOutage = 24 * 60

// Done counts the work of one evaluation.
type Done struct {
	Ended  int `json:"ended"`  // overrides whose time was over
	Fired  int `json:"fired"`  // crons that were due
	Orders int `json:"orders"` // orders queued for schedules
}

// Evaluate evaluates an organization up to the current minute, because of rows of the due list. It deletes those rows
// when all due work is done, or recorded for another try.
//
// Evaluate is safe to call concurrently and to kill at any time: the next call completes the missing work, and nothing
// is done twice. An override, schedule or order that fails does not stop the others. Its error is among the returned
// errors, and it is tried again in a later minute.
func (s *Store) Evaluate(ctx context.Context, org string, now time.Time, rows []scheduling.Due) (Done, error) {
	ctx = table.WithOrg(ctx, org)
	st, there, err := s.begin(ctx, org)
	if err != nil {
		return Done{}, err
	}
	if !there {
		return Done{}, s.forget(ctx, rows)
	}
	e := &pass{Store: s, org: org, minute: now.Unix() / 60, rows: rows, state: st, troubles: st.Troubles}
	if e.run(ctx) && !e.broken {
		e.report(s.forget(ctx, rows))
	}
	return e.done, errors.Join(e.errs...)
}

// pass is one evaluation of an organization.
type pass struct {
	*Store
	org      string
	minute   int64 // the last minute to evaluate
	rows     []scheduling.Due
	state    state    // as it was read
	troubles troubles // as they are by now
	expiring int64    // the minute when the next override ends; 0 if there is none
	done     Done
	errs     []error
	broken   bool // something failed that could not be noted
}

func (e *pass) report(err error) {
	if err != nil {
		e.errs = append(e.errs, err)
	}
}

// run evaluates, and reports whether all work of the rows is done, or recorded for another try.
func (e *pass) run(ctx context.Context) bool {
	finished := e.finishRound(ctx)
	e.endOverrides(ctx)
	notEnded := e.endEvents(ctx, e.org) // a hold that cannot be ended does not keep schedules from firing
	e.report(notEnded)
	if !finished {
		return false
	}
	e.retryOrders(ctx)
	done, err := e.fire(ctx)
	e.report(err)
	return done && err == nil && notEnded == nil
}

// finishRound carries out the round of an earlier evaluation, which was killed or is still at work. It reports whether
// the next minutes may be decided now.
func (e *pass) finishRound(ctx context.Context) bool {
	if e.state.Round == "" {
		return true
	}
	round := e.state.Round
	err := e.carryOut(ctx, e.state)
	if err == nil {
		e.state, err = e.readState(ctx, e.org)
		e.troubles = e.state.Troubles
	}
	if err == nil {
		return e.state.Round == "" // else another evaluator has gone on meanwhile
	}
	e.fail(ctx, trouble{Kind: roundTrouble, ID: round}, err)
	e.report(e.noteFailedRound(ctx))
	return false
}

// noteFailedRound records that the round could not be carried out. After the last try it gives the round up.
func (e *pass) noteFailedRound(ctx context.Context) error {
	next := e.state
	next.Troubles = e.troubles
	if !e.broken && e.troubles.find(roundTrouble, e.state.Round) < 0 { // it was parked
		next.Round, next.Parts = "", 0
	}
	_, err := e.moveState(ctx, e.org, e.state, next)
	return err
}

// dueFiring is a firing of the evaluated minutes. A firing that an earlier evaluation decided only shows that an older
// firing does not act.
type dueFiring struct {
	scheduling.Firing
	decided bool
}

// span returns the minutes to evaluate: those since the last evaluation, extended back to the minute of a row or of a
// failed schedule, but at most a day. For an organization that was never evaluated they begin with the first row.
func (e *pass) span() scheduling.Span {
	last, from := e.last(), e.first()
	for _, t := range e.troubles {
		if t.Kind == scheduleTrouble && t.Next <= e.minute {
			from = min(from, t.Since)
		}
	}
	for _, r := range e.rows {
		if m := r.Minute.Unix() / 60; e.state.Change > 0 && m > last-recentMinutes {
			from = min(from, m)
		}
	}
	return scheduling.Span{From: startOf(max(from, last-longestOutage+1)), To: startOf(last + 1)}
}

// first returns the first minute that no evaluation has decided.
func (e *pass) first() int64 {
	if e.state.Change == 0 {
		return FirstDue(e.rows).Unix() / 60
	}
	return e.state.Until + 1
}

// last returns the last minute that is evaluated. Another evaluator's clock may be ahead.
func (e *pass) last() int64 { return max(e.minute, e.state.Until) }

// fire decides the actions of the schedules in the minutes of the span, and carries them out. It returns false if
// another evaluator was faster.
func (e *pass) fire(ctx context.Context) (bool, error) {
	p, err := e.plan(ctx)
	if err != nil {
		return false, err
	}
	e.dropOvertaken(ctx, p.plan)
	p.next.Troubles = e.troubles
	if err = e.remind(ctx, p); err != nil {
		return false, err
	}
	if p.next.equals(e.state) && len(p.entries) == 0 && p.open == nil {
		return true, nil // the minute was evaluated before, and nothing has changed
	}
	first, err := e.decide(ctx, p)
	if err != nil || !first {
		return false, err
	}
	e.done.Fired += p.fired
	if len(p.entries) == 0 {
		return true, nil
	}
	decided, err := e.readState(ctx, e.org)
	if err != nil || decided.Round != p.next.Round { // another evaluator has carried it out
		return err == nil, err
	}
	err = e.carryOut(ctx, decided)
	return err == nil, err
}

// planned is a plan under construction with the values stored beside it: the next state of the organization, and the
// drifts if they were checked.
type planned struct {
	*book
	*plan
	next *state
	open *drifts
}

// plan computes the work up to the current minute.
func (e *pass) plan(ctx context.Context) (planned, error) {
	span := e.span()
	b, err := e.openBook(ctx, e.org, span)
	if err != nil {
		return planned{}, err
	}
	firings := e.due(b, span)
	if err = e.readReach(ctx, e.org, b, e.toRead(b, firings)); err != nil {
		return planned{}, err
	}
	e.noteFailed(ctx, b)
	maps.DeleteFunc(firings, func(t *scheduling.Timetable, _ []dueFiring) bool {
		return b.failed[t.Schedule.ID] != nil
	})
	p := planned{book: b, plan: b.fire(firings, e.p.Clock.Now()), next: &state{
		Until: e.last(), Change: e.state.Change, Round: id.New("rnd", e.p.Clock.Now()), DriftAt: e.state.DriftAt,
	}}
	e.remember(p.next, firings)
	return p, e.lookAtDrift(ctx, &p)
}

// due returns the firings of the span by schedule, or none if an earlier evaluation has decided all of them. Schedules
// that failed and wait for a later minute are left out.
func (e *pass) due(b *book, span scheduling.Span) map[*scheduling.Timetable][]dueFiring {
	out, fresh := map[*scheduling.Timetable][]dueFiring{}, false
	for _, t := range slices.Clone(b.timetables) {
		if e.troubles.waits(scheduleTrouble, t.Schedule.ID, e.minute) {
			b.leaveOut(t)
			continue
		}
		for _, f := range due(t, span) {
			d := dueFiring{f, e.isDecided(f)}
			out[t], fresh = append(out[t], d), fresh || !d.decided
		}
	}
	if !fresh {
		clear(out)
	}
	return out
}

// looks reports whether a drift check is due.
func (e *pass) looks(b *book) bool { return b.canDrift() && e.state.DriftAt <= e.minute }

// toRead returns the schedules whose resources are needed: those that fire in the span, or all if drift is checked.
func (e *pass) toRead(b *book, firings map[*scheduling.Timetable][]dueFiring) []*scheduling.Timetable {
	return slices.DeleteFunc(slices.Clone(b.timetables), func(t *scheduling.Timetable) bool {
		return b.failed[t.Schedule.ID] != nil || !t.Schedule.Enabled || !e.looks(b) && len(firings[t]) == 0
	})
}

// noteFailed records the schedules that could not be read, and clears those that can be read again.
func (e *pass) noteFailed(ctx context.Context, b *book) {
	for _, scheduleID := range slices.Sorted(maps.Keys(b.failed)) {
		if !e.troubles.waits(scheduleTrouble, scheduleID, e.minute) {
			e.fail(ctx, trouble{Kind: scheduleTrouble, ID: scheduleID, Since: e.first()}, b.failed[scheduleID])
		}
	}
	e.troubles = e.troubles.keep(scheduleTrouble, func(id string) bool {
		return b.failed[id] != nil || e.troubles.waits(scheduleTrouble, id, e.minute) && b.has(id)
	})
}

// lookAtDrift checks drift if a check is due, and sets the time of the next check.
func (e *pass) lookAtDrift(ctx context.Context, p *planned) error {
	if !p.canDrift() {
		p.next.DriftAt = 0
	}
	if !e.looks(p.book) {
		return nil
	}
	was, err := e.readDrifts(ctx, e.org)
	if err != nil {
		return err
	}
	var open drifts
	open, p.next.DriftAt = p.look(p.book, was, e.p.Clock.Now())
	p.open = &open
	return nil
}

// remind adds a row to the due list for the next event of the organization: a cron, a drift check, the end of an
// override, or the next try of a trouble.
func (e *pass) remind(ctx context.Context, p planned) error {
	soonest := startOf(p.next.DriftAt)
	if p.next.DriftAt == 0 {
		soonest = time.Time{}
	}
	note := func(at time.Time) {
		if !at.IsZero() && (soonest.IsZero() || at.Before(soonest)) {
			soonest = at
		}
	}
	for _, t := range p.timetables {
		if t.Schedule.Enabled {
			note(t.NextFiring(startOf(p.next.Until)))
		}
	}
	for _, minute := range []int64{e.troubles.soonest(), e.expiring} {
		if minute > 0 {
			note(startOf(max(minute, p.next.Until+1)))
		}
	}
	return e.remindAt(ctx, e.org, soonest)
}

// remindAt adds a row to the due list for a minute. It adds none for the zero time.
func (s *Store) remindAt(ctx context.Context, org string, minute time.Time) error {
	if minute.IsZero() {
		return nil
	}
	w, err := scheduling.AddDue(org, minute)
	if err != nil {
		return err
	}
	_, err = s.p.Table.Write(within(ctx), w)
	return fault.Wrap("note when "+org+" is due", err)
}

// startOf returns when a minute begins.
func startOf(minute int64) time.Time { return time.Unix(minute*60, 0).UTC() }
