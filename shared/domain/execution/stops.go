package execution

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
)

// ChangesOf names the state changes of a resource between two times.
type ChangesOf struct {
	ResourceUID string
	From, To    time.Time
}

// ReadChangesOf returns the state changes of a resource, oldest first. It takes one round trip for a thousand.
func ReadChangesOf(ctx context.Context, s table.Store, org string, of ChangesOf) ([]StateChange, error) {
	items, err := readAll(ctx, s, table.Query{
		PK: HistoryResourcePK(org, of.ResourceUID), From: id.LowestAt("sh", of.From), To: id.LowestAt("sh", of.To),
	})
	if err != nil {
		return nil, fmt.Errorf("read the state changes of %s: %w", of.ResourceUID, err)
	}
	return table.DecodeAll[StateChange](items)
}

// LongestStop is the longest stop that counts as a saving. A resource that is stopped for longer is not needed.
const LongestStop = 31 * 24 * time.Hour

// Stop is a time during which a resource was stopped by us.
type Stop struct {
	Change   StateChange // the change that began it
	From, To time.Time
}

// StopsOf returns the stops in changes, which must be ordered, restricted to the time between from and to. The last
// stop is first.
func StopsOf(changes []StateChange, from, to time.Time) []Stop {
	var out []Stop
	open := map[string]StateChange{}
	end := func(uid string, at time.Time) {
		c, stopped := open[uid]
		delete(open, uid)
		if last := c.ChangedAt.Add(LongestStop); at.After(last) {
			at = last
		}
		if one := (Stop{c, clock.Latest(c.ChangedAt, from), clock.Earliest(at, to)}); stopped &&
			one.From.Before(one.To) {
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
	slices.SortFunc(out, func(a, b Stop) int { return compareStops(&a, &b) })
	return out
}

// compareStops orders stops by their beginning, the last first, and then by their state change.
func compareStops(a, b *Stop) int {
	if c := b.From.Compare(a.From); c != 0 {
		return c
	}
	if a.Change.ID < b.Change.ID {
		return -1
	}
	return 1
}
