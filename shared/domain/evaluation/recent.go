package evaluation

import (
	"slices"

	"lamplighter.dev/shared/domain/scheduling"
)

// recentMinutes is how many minutes before the evaluated one are evaluated again if a hint points to them. So a
// schedule that is created in a minute that was evaluated already still fires in it, even if it is written late or the
// clocks of two processes differ.
const recentMinutes = 5

// recent is the schedules that were decided for one of the last minutes, because one of their crons was due.
type recent struct {
	Minute    int64    `json:"m"`
	Schedules []string `json:"s"`
}

// knows reports whether a schedule was decided for a minute.
func (st state) knows(scheduleID string, minute int64) bool {
	return slices.ContainsFunc(st.Recent, func(r recent) bool {
		return r.Minute == minute && slices.Contains(r.Schedules, scheduleID)
	})
}

// isDecided reports whether a firing was decided by an earlier evaluation.
func (e *pass) isDecided(f scheduling.Firing) bool {
	sch, minute := &f.Timetable.Schedule, f.At.Unix()/60
	if minute > e.state.Until || e.state.Change == 0 {
		return false
	}
	if since, failed := e.troubles.since(sch.ID); failed && minute >= since {
		return false
	}
	changed := sch.UpdatedAt.Unix() / 60
	return e.state.RecentFrom == 0 || minute < e.state.RecentFrom || minute < changed || e.state.knows(sch.ID, minute)
}

// remember records in next the schedules that are decided for the last minutes.
func (e *pass) remember(next *state, firings map[*scheduling.Timetable][]dueFiring) {
	from := next.Until - recentMinutes + 1
	first := e.state.Until + 1
	if e.state.RecentFrom > 0 {
		first = e.state.RecentFrom
	}
	next.RecentFrom = max(from, first)
	by := map[int64][]string{}
	for _, r := range e.state.Recent {
		by[r.Minute] = slices.Clone(r.Schedules)
	}
	for t, fs := range firings {
		for _, f := range fs {
			if m := f.At.Unix() / 60; !slices.Contains(by[m], t.Schedule.ID) {
				by[m] = append(by[m], t.Schedule.ID)
			}
		}
	}
	next.Recent = nil
	for m := next.RecentFrom; m <= next.Until; m++ {
		if len(by[m]) > 0 {
			slices.Sort(by[m])
			next.Recent = append(next.Recent, recent{m, by[m]})
		}
	}
}
