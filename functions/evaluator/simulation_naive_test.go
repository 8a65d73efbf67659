package evaluator

import (
	"slices"
	"time"
)

// This file says which resources should run, from contract.md sections 5 and 6, docs/operations/evaluator.md,
// decision 022 and the descriptions of the operations. It uses no product code, and loops over minutes.

// naive is an organization.
type naive struct {
	*simDay
	fires     [][]naiveFires // of each schedule, by minute from the look-back on
	reaches   [][]bool       // by schedule and resource
	last      []naiveWant    // by resource
	zones     map[string]*zoneMinutes
	running   []bool
	seen      []bool // whether the inventory says that it runs
	overrides []naiveOverride
	orders    []naiveOrder
	events    []naiveEvent // by resource
	evaluated int64        // the last minute
	drift     []naiveDrift // by resource
	either    []bool       // the documentation leaves open in this minute whether it runs
	// drift may have been enforced on a resource that was stopped unseen, so the inventory may know it
	unsure []bool
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
	force     bool
	open      bool // either will do
}

// naiveFires says which verbs a schedule has a cron for in a minute.
type naiveFires struct{ start, stop bool }

func (f naiveFires) has(verb string) bool {
	return verb == "start" && f.start || verb == "stop" && f.stop
}

// naiveWant is the last verb that schedules want for a resource, and its minute, as far as upTo.
type naiveWant struct {
	verb         string
	minute, upTo int64
	schedules    []int
}

func newNaive(d *simDay) *naive {
	n := &naive{
		simDay: d, events: newNaiveEvents(d), zones: map[string]*zoneMinutes{},
		evaluated: minuteAt(d.Start) - 1,
	}
	for range d.Resources {
		n.running, n.seen = append(n.running, true), append(n.seen, true)
	}
	n.drift, n.either, n.unsure = make([]naiveDrift, d.Resources), make([]bool, d.Resources), make([]bool, d.Resources)
	for range d.Resources {
		n.last = append(n.last, naiveWant{upTo: n.earliest() - 1})
	}
	for _, s := range d.Schedules {
		n.fires = append(n.fires, n.firesOf(s))
		var reaches []bool
		for r := range d.Resources {
			in := func(g int) bool { return slices.Contains(d.Groups[g], r) }
			reaches = append(reaches, slices.Contains(s.Resources, r) || slices.ContainsFunc(s.Groups, in))
		}
		n.reaches = append(n.reaches, reaches)
	}
	return n
}

// earliest is the first minute of the look-back.
func (n *naive) earliest() int64 { return minuteAt(n.Start) - simLookBack*24*60 }

func (n *naive) firesOf(s simSchedule) []naiveFires {
	z := n.zone(s.Zone)
	fires := make([]naiveFires, len(z.shown))
	for _, c := range s.Crons {
		cron := readNaiveCron(c.Expression)
		for i, shown := range z.shown {
			for _, w := range shown {
				if cron.matches(w) {
					fires[i].start = fires[i].start || c.Verb == "start"
					fires[i].stop = fires[i].stop || c.Verb == "stop"
				}
			}
		}
	}
	return fires
}

func minuteAt(t time.Time) int64 { return t.Unix() / 60 }

// zone returns the minutes of a zone from the look-back to the end of the day.
func (n *naive) zone(name string) *zoneMinutes {
	if n.zones[name] == nil {
		n.zones[name] = newZoneMinutes(name, n.earliest(), minuteAt(n.Start)+(simHours+2)*60)
	}
	return n.zones[name]
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
		return c.closes(verb) && c.covers(z.wall[minute-z.from].Format("2006-01-02T15:04"))
	})
}

// askedVerb returns the verb that the schedules of a resource ask in a minute, and those schedules. If both verbs are
// asked, it is the start. A firing that a calendar closes in that minute, or in the minute when it would be carried
// out, is not asked.
func (n *naive) askedVerb(resource int, minute, done int64) (verb string, schedules []int) {
	for _, verb := range [...]string{"start", "stop"} {
		for i := range n.Schedules {
			if n.reaches[i][resource] && n.fires[i][minute-n.earliest()].has(verb) && !n.closed(i, verb, minute) &&
				!n.closed(i, verb, done) {
				schedules = append(schedules, i)
			}
		}
		if len(schedules) > 0 {
			return verb, schedules
		}
	}
	return "", nil
}

// lastAsked returns the verb that the schedules of a resource want at a moment, with its minute and schedules: their
// last firing that acted.
func (n *naive) lastAsked(resource int, at time.Time) (verb string, minute int64, schedules []int) {
	w := &n.last[resource]
	for w.upTo < minuteAt(at) {
		w.upTo++
		if verb, by := n.askedVerb(resource, w.upTo, w.upTo); verb != "" {
			w.verb, w.minute, w.schedules = verb, w.upTo, by
		}
	}
	return w.verb, w.minute, w.schedules
}

// heldVerb returns the verb of the newest override on a resource at a moment, or "" if there is none.
func (n *naive) heldVerb(resource int, at time.Time) string {
	verb, newest := "", time.Time{}
	for _, o := range n.overrides {
		if !o.ended && slices.Contains(n.on(o.simAct), resource) && !at.Before(o.from) && at.Before(o.to) &&
			o.from.After(newest) {
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

// applyAct carries out an act of a person or of the cloud.
func (n *naive) applyAct(a simAct, at time.Time) {
	switch a.Kind {
	case actCloud:
		n.running[a.Resource] = a.Verb == "start"
	case actScan:
		copy(n.seen, n.running)
		clear(n.unsure)
	case actByHand:
		n.beginOrder(naiveOrder{begins: at, cause: "hand", resource: a.Resource, verb: a.Verb, force: a.Force})
	case actBegin:
		if n.refuses(a) {
			return
		}
		n.overrides = append(n.overrides, naiveOverride{simAct: a, from: at, to: at.Add(a.For)})
		for _, r := range n.on(a) {
			n.addOrder(at, naiveOrder{cause: "override", resource: r, verb: a.Verb, force: a.Force})
		}
	case actEnd:
		for i := range n.overrides {
			if n.overrides[i].ID == a.ID && !n.overrides[i].ended {
				n.endOverride(&n.overrides[i], at)
			}
		}
	}
}

// refuses reports whether an override is 409: without force it would stop a target of an event.
func (n *naive) refuses(a simAct) bool {
	held := func(r int) bool { return n.events[r].held }
	return !a.Force && a.Verb == "stop" && slices.ContainsFunc(n.on(a), held)
}

// endOverride ends an override: its resources are brought where another one holds them, else where their schedules
// want them.
func (n *naive) endOverride(o *naiveOverride, at time.Time) {
	o.ended = true
	for _, r := range n.on(o.simAct) {
		verb := n.heldVerb(r, at)
		if verb == "" {
			verb, _, _ = n.lastAsked(r, at)
		}
		if verb != "" {
			n.addOrder(at, naiveOrder{cause: "end", resource: r, verb: verb, force: o.Force})
		}
	}
}

func (n *naive) addOrder(at time.Time, o naiveOrder) {
	o.begins = at.Add(n.Lag)
	n.orders = append(n.orders, o)
}

// evaluate is a run of the evaluator. It ends the overrides that have expired. Then it carries out the last action of
// each resource that schedules have asked since the last run, at most a day ago. Events in unsettled have ended
// without having been handled.
func (n *naive) evaluate(at time.Time, unsettled []bool) (late string) {
	for i := range n.overrides {
		if o := &n.overrides[i]; !o.ended && !at.Before(o.to) {
			n.endOverride(o, at)
		}
	}
	late = n.endEvents(at, unsettled)
	for r := range n.running {
		var last naiveOrder
		for m := max(n.evaluated, minuteAt(at)-24*60) + 1; m <= minuteAt(at); m++ {
			if verb, by := n.askedVerb(r, m, minuteAt(at)); verb != "" && n.heldVerb(r, at) == "" && !n.events[r].held {
				last = naiveOrder{cause: "schedule", resource: r, verb: verb, schedules: by}
			}
		}
		if last.verb != "" {
			n.addOrder(at, last)
		}
	}
	n.evaluated = minuteAt(at)
	n.lookAtDrift(at)
	return late
}

// beginOrders begins the orders whose time has come.
func (n *naive) beginOrders(at time.Time) {
	for len(n.orders) > 0 && !n.orders[0].begins.After(at) {
		n.beginOrder(n.orders[0])
		n.orders = n.orders[1:]
	}
}

// prevents reports whether an override or an event prevents an order from being carried out. The precedence is:
// forced orders, events, overrides, schedules.
func (n *naive) prevents(o naiveOrder) bool {
	held, event := n.heldVerb(o.resource, o.begins), n.events[o.resource].held
	switch o.cause {
	case "schedule", "drift":
		return event || held != ""
	case "override":
		return event && o.verb == "stop" && !o.force || held != o.verb
	default:
		if o.force && o.cause == "hand" {
			return false
		}
		return event && o.verb == "stop" && !o.force || held != "" && held != o.verb
	}
}

// oweStop records that an event prevents an order from stopping its target; the stop follows at the event's end. A
// stop that a person asks for is not recorded.
func (n *naive) oweStop(o naiveOrder) {
	e := &n.events[o.resource]
	if !e.held || o.verb != "stop" || o.force || o.cause == "hand" {
		return
	}
	e.owed, e.mayOwe = e.owed || o.cause != "drift", true
}

// beginOrder carries an order out, if it still may act. A forced stop has an event let its target go.
func (n *naive) beginOrder(o naiveOrder) {
	n.oweStop(o)
	if n.prevents(o) {
		return
	}
	if o.verb == "stop" && n.events[o.resource].held {
		n.letGo(o.resource)
	}
	open := 0
	for _, s := range o.schedules {
		if !n.closed(s, o.verb, minuteAt(o.begins)) {
			open++
		}
	}
	switch {
	case o.schedules != nil && open == 0:
	case o.cause == "drift" || o.open || open < len(o.schedules): // one of its schedules is still open: both are right
		n.either[o.resource], n.unsure[o.resource] = true, !n.running[o.resource]
	default:
		n.unsure[o.resource] = false
		n.running[o.resource], n.seen[o.resource], n.either[o.resource] = o.verb == "start", o.verb == "start", false
	}
}
