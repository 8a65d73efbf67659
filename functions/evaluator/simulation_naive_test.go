package evaluator

import (
	"slices"
	"sync"
	"time"
)

// This file says which resources should run, from contract.md sections 5 and 6, docs/operations/evaluator.md, decision 022 and the descriptions of
// the operations. It uses no code of the product, and loops over minutes.

// naive is an organization.
type naive struct {
	*simDay
	fires     []map[int64]map[string]bool // of each schedule, by minute: the verbs
	zones     map[string]*zoneMinutes
	running   []bool
	seen      []bool // whether the inventory says that it runs
	overrides []naiveOverride
	orders    []naiveOrder
	evaluated int64        // the last minute
	drift     []naiveDrift // by resource
	either    []bool       // the documentation leaves open in this minute whether it runs
}

type naiveOverride struct {
	simAct
	from, to time.Time
	ended    bool
}

// naiveOrder is a start or stop that begins later.
type naiveOrder struct {
	begins    time.Time
	cause     string // schedule, drift, override, end, hand
	resource  int
	verb      string
	schedules []int // that ask for it
}

var naiveZones sync.Map // of zone and start: what clocks show does not depend on the day's other numbers

func newNaive(d *simDay) *naive {
	n := &naive{simDay: d, zones: map[string]*zoneMinutes{}, evaluated: minuteAt(d.Start) - 1}
	for range d.Resources {
		n.running, n.seen = append(n.running, true), append(n.seen, true)
	}
	n.drift, n.either = make([]naiveDrift, d.Resources), make([]bool, d.Resources)
	for _, s := range d.Schedules {
		z, fires := n.zone(s.Zone), map[int64]map[string]bool{}
		for _, c := range s.Crons {
			cron := readNaiveCron(c.Expression)
			for i, shown := range z.shown {
				for _, w := range shown {
					if m := z.from + int64(i); cron.matches(w) {
						if fires[m] == nil {
							fires[m] = map[string]bool{}
						}
						fires[m][c.Verb] = true
					}
				}
			}
		}
		n.fires = append(n.fires, fires)
	}
	return n
}

func minuteAt(t time.Time) int64 { return t.Unix() / 60 }

// zone returns the minutes of a zone from the look-back to the end of the day.
func (n *naive) zone(name string) *zoneMinutes {
	if n.zones[name] == nil {
		from := minuteAt(n.Start)
		n.zones[name] = newZoneMinutes(name, from-simLookBack*24*60, from+(simHours+2)*60)
	}
	return n.zones[name]
}

// reaches reports whether a schedule is attached to a resource, or to a group of it.
func (n *naive) reaches(schedule, resource int) bool {
	s := n.Schedules[schedule]
	return slices.Contains(s.Resources, resource) || slices.ContainsFunc(s.Groups, func(g int) bool { return slices.Contains(n.Groups[g], resource) })
}

// closed reports whether a calendar of a schedule keeps it from a verb in a minute.
func (n *naive) closed(schedule int, verb string, minute int64) bool {
	s := n.Schedules[schedule]
	return slices.ContainsFunc(s.Calendars, func(i int) bool {
		c := n.Calendars[i]
		zone := c.Zone
		if zone == "" {
			zone = s.Zone
		}
		z := n.zone(zone)
		return c.closes(verb) && c.covers(z.text[minute-z.from])
	})
}

// asked returns what the schedules of a resource ask of it in a minute and which of them do: of a start and a stop, the start. What their calendars
// close in that minute, or in the minute in which it would be done, is not asked.
func (n *naive) asked(resource int, minute, done int64) (verb string, schedules []int) {
	for _, verb := range []string{"start", "stop"} {
		for i := range n.Schedules {
			if n.reaches(i, resource) && n.fires[i][minute][verb] && !n.closed(i, verb, minute) && !n.closed(i, verb, done) {
				schedules = append(schedules, i)
			}
		}
		if len(schedules) > 0 {
			return verb, schedules
		}
	}
	return "", nil
}

// wanted returns what the schedules of a resource want of it at a moment, from which minute and schedules: their last firing that acted.
func (n *naive) wanted(resource int, at time.Time) (verb string, minute int64, schedules []int) {
	for m := minuteAt(at); m >= minuteAt(n.Start)-simLookBack*24*60; m-- {
		if verb, schedules = n.asked(resource, m, m); verb != "" {
			return verb, m, schedules
		}
	}
	return "", 0, nil
}

// held returns what the newest override on a resource wants of it at a moment; "" when there is none.
func (n *naive) held(resource int, at time.Time) string {
	verb, newest := "", time.Time{}
	for _, o := range n.overrides {
		if !o.ended && slices.Contains(n.on(o.simAct), resource) && !at.Before(o.from) && at.Before(o.to) && o.from.After(newest) {
			verb, newest = o.Verb, o.from
		}
	}
	return verb
}

// on returns the resources of an act.
func (d *simDay) on(a simAct) []int {
	if a.Group >= 0 {
		return d.Groups[a.Group]
	}
	return []int{a.Resource}
}

// do does what a person or the cloud does.
func (n *naive) do(a simAct, at time.Time) {
	switch a.Kind {
	case actCloud:
		n.running[a.Resource] = a.Verb == "start"
	case actScan:
		copy(n.seen, n.running)
	case actByHand:
		n.begin(naiveOrder{at, "hand", a.Resource, a.Verb, nil})
	case actBegin:
		n.overrides = append(n.overrides, naiveOverride{simAct: a, from: at, to: at.Add(a.For)})
		for _, r := range n.on(a) {
			n.order(at, naiveOrder{cause: "override", resource: r, verb: a.Verb})
		}
	case actEnd:
		for i := range n.overrides {
			if n.overrides[i].ID == a.ID && !n.overrides[i].ended {
				n.end(&n.overrides[i], at)
			}
		}
	}
}

// end ends an override: its resources are brought where another one holds them, else where their schedules want them.
func (n *naive) end(o *naiveOverride, at time.Time) {
	o.ended = true
	for _, r := range n.on(o.simAct) {
		verb := n.held(r, at)
		if verb == "" {
			verb, _, _ = n.wanted(r, at)
		}
		if verb != "" {
			n.order(at, naiveOrder{cause: "end", resource: r, verb: verb})
		}
	}
}

func (n *naive) order(at time.Time, o naiveOrder) {
	o.begins = at.Add(n.Lag)
	n.orders = append(n.orders, o)
}

// evaluate is a run of the evaluator: it ends the overrides whose time is over, and then does what schedules have asked for since the last
// run, at most a day ago, of each resource the last action alone.
func (n *naive) evaluate(at time.Time) {
	for i := range n.overrides {
		if o := &n.overrides[i]; !o.ended && !at.Before(o.to) {
			n.end(o, at)
		}
	}
	for r := range n.running {
		var last naiveOrder
		for m := max(n.evaluated, minuteAt(at)-24*60) + 1; m <= minuteAt(at); m++ {
			if verb, by := n.asked(r, m, minuteAt(at)); verb != "" && n.held(r, at) == "" {
				last = naiveOrder{cause: "schedule", resource: r, verb: verb, schedules: by}
			}
		}
		if last.verb != "" {
			n.order(at, last)
		}
	}
	n.evaluated = minuteAt(at)
	n.lookAtDrift(at)
}

// beginOrders begins the orders whose time has come.
func (n *naive) beginOrders(at time.Time) {
	for len(n.orders) > 0 && !n.orders[0].begins.After(at) {
		n.begin(n.orders[0])
		n.orders = n.orders[1:]
	}
}

// begin carries an order out, if it still may act: an override beats schedules and whatever wants the opposite.
func (n *naive) begin(o naiveOrder) {
	held := n.held(o.resource, o.begins)
	switch o.cause {
	case "schedule", "drift":
		if held != "" {
			return
		}
	case "override":
		if held != o.verb {
			return
		}
	default:
		if held != "" && held != o.verb {
			return
		}
	}
	open := 0
	for _, s := range o.schedules {
		if !n.closed(s, o.verb, minuteAt(o.begins)) {
			open++
		}
	}
	switch {
	case o.schedules != nil && open == 0:
	case o.cause == "drift" || open < len(o.schedules): // one of several that ask is still open: either will do
		n.either[o.resource] = true
	default:
		n.running[o.resource], n.seen[o.resource], n.either[o.resource] = o.verb == "start", o.verb == "start", false
	}
}
