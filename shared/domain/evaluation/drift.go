package evaluation

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

const (
	// driftEvery is the interval of drift checks, in minutes, for an organization with schedules that can find drift.
	driftEvery = 60
	// settling is how long after a due stop a running resource is not yet drift. Slow kinds, and retries, take that
	// long.
	settling = 30 * time.Minute
	// enforceAgain is the interval of repeated stops of a drifting resource, in minutes.
	enforceAgain = 60
	// mostDrifts limits the open drifts of an organization. Further drifts are found when some of these have ended.
	mostDrifts = 5000
)

// drift is a resource that runs although its schedules have stopped it and have not started it since: the minute when
// it was found, of the stop that it was found after, and of the last repeated stop.
type drift struct {
	Since    int64 `json:"s"`           // minutes
	Stop     int64 `json:"o,omitempty"` // minutes; 0 in a record of an earlier version
	Enforced int64 `json:"e,omitempty"`
	Untold   bool  `json:"u,omitempty"` // it may be the provider's maintenance (cloud.Kind.Wakes)
}

// drifts are the open drifts of an organization, by the ids of the resources.
type drifts struct {
	Open map[string]drift `json:"open"`
}

func driftKey(org string) table.Key { return table.Key{PK: statePK(org), SK: "DRIFT"} }

// readDrifts reads the known drifts of an organization.
func (s *Store) readDrifts(ctx context.Context, org string) (drifts, error) {
	d, err := table.Read[drifts](ctx, s.p.Table, driftKey(org))
	if fault.Is(err, fault.NotFound) {
		return drifts{}, nil
	}
	return d, fault.Wrap("read what drifts in "+org, err)
}

// write returns the write that stores the drifts, for the transaction that decides about their enforcement.
func (d drifts) write(org string) (table.Write, error) {
	it, err := table.NewItem(driftKey(org), d)
	return table.Put(it), err
}

// drifting returns the desired state of a resource that runs although its schedules want a lasting stop. It returns
// false if the resource does not drift, or if something keeps the schedule from stopping it now.
func (s *subject) drifting(at time.Time) (scheduling.Want, bool) {
	if s.Status != cloud.Running {
		return scheduling.Want{}, false
	}
	if _, held := s.EventAt(at); held {
		return scheduling.Want{}, false
	}
	w, some := scheduling.Wanted(at, s.timetables())
	if !some || !w.Lasting || w.Cron.Action != cloud.Stop || at.Sub(w.At) < settling || !s.reachedAt(w.Firing) {
		return w, false
	}
	stop := scheduling.Intent{Verb: cloud.Stop, Cause: scheduling.BySchedule, At: at, Timetable: w.Timetable}
	return w, s.MayAct(stop).Reason == scheduling.Acts
}

// reachedAt reports whether the firing has reached the resource. A firing from before the resource was attached to the
// schedule, or from before the schedule was created, has not.
func (s *subject) reachedAt(f scheduling.Firing) bool {
	for _, r := range s.by {
		if r.timetable == f.Timetable {
			return !f.At.Before(r.since.Truncate(time.Minute)) &&
				!f.At.Before(r.timetable.Schedule.CreatedAt.Truncate(time.Minute))
		}
	}
	return false
}

// canDrift reports whether schedules may keep a resource stopped between their crons: some start and some stop.
func (b *book) canDrift() bool {
	does := map[cloud.Verb]bool{}
	for _, t := range b.timetables {
		for _, c := range t.Schedule.Crons {
			does[c.Action] = does[c.Action] || t.Schedule.Enabled
		}
	}
	return does[cloud.Start] && does[cloud.Stop]
}

// look plans the reactions to drift at a time. It logs new drift. If a schedule enforces, it stops a resource again
// after the schedule's grace. It returns the drifts from then on, and the minute of the next check.
func (p *plan) look(b *book, was drifts, at time.Time) (now drifts, again int64) {
	minute := at.Unix() / 60
	now, again = drifts{Open: map[string]drift{}}, minute+driftEvery
	for _, s := range b.subjects {
		w, is := s.drifting(at)
		if !is || len(now.Open) >= mostDrifts {
			continue
		}
		d, known := was.Open[s.ResourceID]
		if !known {
			d = drift{Since: minute, Untold: true}
		}
		d = d.after(w.At, minute)
		if wakes := d.Since + wakesFor(s.Type); d.Untold && minute < wakes {
			now.Open[s.ResourceID], again = d, min(again, wakes)
			continue
		}
		if d.Untold {
			d.Untold = false
			p.told(DriftFound, s, w, at).Acted++
		}
		if t := w.Timetable.Schedule; t.Drift == scheduling.EnforceDrift {
			due := max(d.Since+int64(t.GraceMinutes), d.Enforced+enforceAgain)
			if d.Enforced == 0 {
				due = d.Since + int64(t.GraceMinutes)
			}
			if due <= minute {
				p.enforce(b, s, w, at)
				d.Enforced, due = minute, minute+enforceAgain
			}
			again = min(again, due)
		}
		now.Open[s.ResourceID] = d
	}
	return now, again
}

// after returns the drift as it is after the stop of a firing. The grace starts anew after a later stop than the one
// that the resource was found after: the resource was stopped in between, so it has drifted only since.
func (d drift) after(stop time.Time, minute int64) drift {
	of := stop.Unix() / 60
	if d.Stop != 0 && d.Stop != of {
		d.Since = minute
	}
	d.Stop = of
	return d
}

// wakesFor returns for how many minutes the provider may run a stopped resource of a type before that counts as drift.
func wakesFor(kind string) int64 {
	k, _ := cloud.KindOf(kind)
	return int64(k.Wakes / time.Minute)
}

// told returns the log line for the drift of one cron at one minute, and adds the resource to it.
func (p *plan) told(kind string, s *subject, w scheduling.Want, at time.Time) *Entry {
	k := entryKey{w.Timetable.Schedule.ID, w.Cron.ID + "#" + kind, at.Unix() / 60}
	e := p.entries[k]
	if e == nil {
		e = &Entry{
			Kind: kind, ScheduleID: k.scheduleID, CronID: w.Cron.ID, Action: w.Cron.Action,
			At: startOf(k.minute),
		}
		p.entries[k] = e
	}
	if len(e.Skipped) < namedSkips {
		e.Skipped = append(e.Skipped,
			Skipped{
				s.ResourceID, s.UID, DriftFound,
				fmt.Sprintf("it runs, and was to be stopped since %s", w.At.UTC().Format(time.RFC3339)),
			})
	}
	return e
}

// enforce adds the resource to the order that repeats the stop of the cron.
func (p *plan) enforce(b *book, s *subject, w scheduling.Want, at time.Time) {
	t := w.Timetable.Schedule
	k := orderKey{t.ID, w.Cron.ID + "#" + DriftEnded, s.through(w.Timetable), at.Unix() / 60}
	p.addToOrder(k, s, func() *execution.Order { return newOrder(t, w.Cron, b.groups[k.groupID]) })
	p.told(DriftEnded, s, w, at).Acted++
}
