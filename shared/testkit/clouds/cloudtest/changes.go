package cloudtest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/seed"
)

// changeRounds is how often a group is stopped, changed and started.
const changeRounds = 12

// changes is the property that a stop, changes by hand and a start come to the same size as the changes alone. One
// group is stopped and started, the other one is changed alone.
type changes struct {
	trial
	r                *rand.Rand
	acted, untouched string
	memory           []byte // the executor's snapshot of the group; nil when there is none, or after its use
	done             []string
}

// testChanges holds the property, for each two groups of the fixture that are alike.
func (g trial) testChanges(t *testing.T) {
	r := seed.Random(t)
	pairs := g.pairs(t)
	if len(pairs) == 0 {
		t.Fatal("the fixture has no two groups alike")
	}
	for _, pair := range pairs {
		c := changes{trial: g, r: r, acted: pair[0], untouched: pair[1]}
		for range changeRounds {
			c.round(t)
		}
	}
}

// pairs returns two resources of each shape that several of the fixture have.
func (g trial) pairs(t *testing.T) (out [][2]string) {
	t.Helper()
	first := map[string]string{}
	for _, uid := range g.Free {
		shape := fmt.Sprint(slices.Sorted(maps.Keys(sizes(g.capacity(t, uid)))))
		other, ok := first[shape]
		if first[shape] = uid; ok && other != "" {
			out = append(out, [2]string{other, uid})
			first[shape] = ""
		}
	}
	return out
}

// round stops, changes and starts once.
func (c *changes) round(t *testing.T) {
	t.Helper()
	c.done = nil
	c.startSize(t)
	c.do(t, cloud.Stop)
	if c.r.IntN(4) == 0 {
		c.do(t, cloud.Stop)
	}
	for range c.r.IntN(4) {
		c.change(t)
	}
	c.do(t, cloud.Start)
	if c.check(t); t.Failed() {
		t.Fatalf("what was done:\n%s", strings.Join(c.done, "\n"))
	}
}

// startSize gives both the same size: running, or sometimes off for good.
func (c *changes) startSize(t *testing.T) {
	t.Helper()
	least, n := int64(c.r.IntN(3)), int64(1+c.r.IntN(4))
	if c.r.IntN(4) == 0 {
		least, n = 0, 0
	}
	want := cloud.Capacity{Desired: &n}
	if c.bounded(t, c.acted) && c.bounded(t, c.untouched) {
		limit := max(n, least) + int64(1+c.r.IntN(3))
		n = max(n, min(least, n*least))
		least = min(least, n)
		want.Min, want.Max = &least, &limit
	}
	if !c.scaleBoth(t, want) && want.Max != nil {
		c.scaleBoth(t, cloud.Capacity{Min: want.Min, Max: want.Max}) // an autoscaler sets the size itself
	}
}

// bounded reports whether the resource has a minimum and a maximum.
func (c *changes) bounded(t *testing.T, uid string) bool {
	t.Helper()
	_, has := c.capacity(t, uid)["max"]
	return has
}

// change changes both by hand: the size, or the size and its bounds.
func (c *changes) change(t *testing.T) {
	t.Helper()
	n := int64(1 + c.r.IntN(4))
	want, live := cloud.Capacity{Desired: &n}, c.capacity(t, c.acted)
	if top, has := live["max"]; has && c.bounded(t, c.untouched) {
		least, limit := min(n, int64(1+c.r.IntN(2))), n+int64(c.r.IntN(4))
		switch c.r.IntN(3) {
		case 0: // the maximum alone
			limit = max(limit, top, c.capacity(t, c.untouched)["desired"])
			want = cloud.Capacity{Max: &limit}
		case 1:
			want.Min, want.Max = &least, &limit
		default:
			want.Max = &limit
		}
	}
	c.scaleBoth(t, want)
}

// scaleBoth sets a size by hand, and reports whether both took it. A size that one of them does not take, the other
// one does not get.
func (c *changes) scaleBoth(t *testing.T, want cloud.Capacity) bool {
	t.Helper()
	was := c.capacity(t, c.untouched)
	if err := c.conn.Scale(t.Context(), c.Kind, c.Region, c.untouched, want); err != nil {
		c.note("%s is refused: %v", wanted(want), err)
		return false
	}
	c.moveOn()
	if err := c.conn.Scale(t.Context(), c.Kind, c.Region, c.acted, want); err != nil {
		c.note("%s is refused by the one that is acted on: %v", wanted(want), err)
		if err := c.conn.Scale(t.Context(), c.Kind, c.Region, c.untouched, capacityOf(was)); err != nil {
			t.Fatalf("set %v again: %v", was, err)
		}
		c.moveOn()
		return false
	}
	c.moveOn()
	c.note("%s by hand", wanted(want))
	return true
}

// capacityOf is the size of a resource, as it is set.
func capacityOf(sizes map[string]int64) cloud.Capacity {
	var out cloud.Capacity
	for name, to := range map[string]**int64{"min": &out.Min, "max": &out.Max, "desired": &out.Desired} {
		if n, has := sizes[name]; has {
			*to = &n
		}
	}
	return out
}

func wanted(c cloud.Capacity) string {
	var out strings.Builder
	for _, f := range []struct {
		name string
		n    *int64
	}{{"min", c.Min}, {"max", c.Max}, {"desired", c.Desired}} {
		if f.n != nil {
			fmt.Fprintf(&out, "%s %d ", f.name, *f.n)
		}
	}
	return out.String()
}

func (c *changes) note(format string, args ...any) {
	c.done = append(c.done, fmt.Sprintf(format, args...))
}

// do acts as the executor does: a stop remembers the size, or that it has found the group off where nothing is
// remembered. A start gives the size back, and nothing of it is remembered any more.
func (c *changes) do(t *testing.T, v cloud.Verb) {
	t.Helper()
	s := c.settled(t, c.acted)
	c.note("%s of what is %s (%s), remembered: %s", v, s.Status, s.Native, c.memory)
	if v == cloud.Stop {
		c.stop(t, s)
		return
	}
	leftOff := s.Status == cloud.Stopped && !s.Marked && cloud.IsOff(c.memory)
	alreadyOn := s.Status == cloud.Running && (c.memory == nil || cloud.IsOff(c.memory))
	if !leftOff && !alreadyOn {
		c.act(t, cloud.Start)
	}
	c.memory = nil
}

func (c *changes) stop(t *testing.T, s cloud.State) {
	t.Helper()
	switch {
	case s.Unschedulable != "":
		return
	case s.Status == cloud.Stopped:
		if c.memory == nil && !s.Marked {
			c.memory = cloud.WasOff
		}
		return
	case s.Snapshot != nil:
		c.memory = s.Snapshot
	}
	c.act(t, cloud.Stop)
}

func (c *changes) act(t *testing.T, v cloud.Verb) {
	t.Helper()
	for range polls {
		err := c.conn.Act(t.Context(), v, c.Kind, c.Region, []cloud.Target{{UID: c.acted, Snapshot: c.memory}})[0].Err
		if c.moveOn(); err == nil {
			if s := c.settled(t, c.acted); s.Status != v.WantedStatus() {
				t.Fatalf("after a %s it is %s (%s):\n%s", v, s.Status, s.Native, strings.Join(c.done, "\n"))
			}
			return
		}
		if cloud.ClassOf(err) != cloud.Moving {
			t.Fatalf("%s: %v\n%s", v, err, strings.Join(c.done, "\n"))
		}
	}
	t.Fatalf("%s does not end", v)
}

// settled waits until the resource stands still. One that stays pending is done in part: either verb acts on it.
func (c *changes) settled(t *testing.T, uid string) cloud.State {
	t.Helper()
	var s cloud.State
	for n := range polls {
		s = c.states(t, []string{uid})[uid]
		if s.Status == cloud.Running || s.Status == cloud.Stopped || s.Status == cloud.Pending && n > 5 {
			return s
		}
		c.moveOn()
	}
	t.Fatalf("%s stays %s (%s):\n%s", uid, s.Status, s.Native, strings.Join(c.done, "\n"))
	return s
}

// check wants both to have the same size.
func (c *changes) check(t *testing.T) {
	t.Helper()
	c.settled(t, c.acted)
	c.settled(t, c.untouched)
	a, b := sizes(c.capacity(t, c.acted)), sizes(c.capacity(t, c.untouched))
	if !maps.Equal(a, b) {
		t.Errorf("the size is %v; want %v, as by the changes alone", a, b)
	}
}
