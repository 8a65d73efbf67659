package report

import (
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/money"
)

const day = 24 * time.Hour

// longestStop is how long a stop counts as saving: what stands still for longer is not being saved on, it is not needed.
const longestStop = 31 * day

// stop is a time in which something stood still because we had stopped it.
type stop struct {
	change   execution.StateChange
	from, to time.Time
}

// stopsOf returns the stops that changes, which are in their order, tell of, as far as they lie between two times.
func stopsOf(changes []execution.StateChange, from, to time.Time) []stop {
	var out []stop
	open := map[string]execution.StateChange{}
	end := func(uid string, at time.Time) {
		c, stopped := open[uid]
		delete(open, uid)
		if last := c.ChangedAt.Add(longestStop); at.After(last) {
			at = last
		}
		if one := (stop{c, clock.Latest(c.ChangedAt, from), clock.Earliest(at, to)}); stopped &&
			one.from.Before(one.to) {
			out = append(out, one)
		}
	}
	for _, c := range changes {
		switch c.State {
		case string(cloud.Stopped):
			if _, stopped := open[c.ResourceUID]; !stopped {
				open[c.ResourceUID] = c
			}
		case string(cloud.Running):
			end(c.ResourceUID, c.ChangedAt)
		}
	}
	for uid := range open {
		end(uid, to)
	}
	slices.SortFunc(out, func(a, b stop) int { return compareStops(&a, &b) })
	return out
}

// compareStops orders stops by their beginning, the last first, and then by the change that began them.
func compareStops(a, b *stop) int {
	if c := b.from.Compare(a.from); c != 0 {
		return c
	}
	if a.change.ID < b.change.ID {
		return -1
	}
	return 1
}

// saved returns what a rate saves in a time: what an hour costs less while it stands still.
func saved(rate *pricing.HourlyRate, d time.Duration) money.Amount {
	return rate.Running.Sub(rate.Off).MulDiv(money.FromInt(int64(d/time.Second)), money.FromInt(3600))
}

// addByDay adds what a stop saves to days from a first one on, each what lies in it.
func (st *stop) addByDay(days []money.Amount, first time.Time, rate *pricing.HourlyRate) {
	for d := range days {
		begin := first.AddDate(0, 0, d)
		from, to := clock.Latest(st.from, begin), clock.Earliest(st.to, begin.Add(day))
		if from.Before(to) {
			part := saved(rate, to.Sub(from))
			days[d].Increase(&part)
		}
	}
}
