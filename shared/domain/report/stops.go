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

// longestStop is the longest stop that counts as a saving. A resource that is stopped for longer is not needed.
const longestStop = 31 * day

// stop is a time during which a resource was stopped by us.
type stop struct {
	change   execution.StateChange
	from, to time.Time
}

// stopsOf returns the stops in changes, which must be ordered, restricted to the time between from and to.
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

// compareStops orders stops by their beginning, the last first, and then by their state change.
func compareStops(a, b *stop) int {
	if c := b.from.Compare(a.from); c != 0 {
		return c
	}
	if a.change.ID < b.change.ID {
		return -1
	}
	return 1
}

// saved returns the saving of a duration: the difference between the running and the stopped rate.
func saved(rate *pricing.HourlyRate, d time.Duration) money.Amount {
	return rate.Running.Sub(rate.Off).MulDiv(money.FromInt(int64(d/time.Second)), money.FromInt(3600))
}

// addByDay adds the saving of a stop to the days that it covers; first is the day of index 0.
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
