package evaluator

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/seed"
)

// simDaysVariable is the environment variable that says how many days TestSimulation simulates.
const simDaysVariable = "LAMPLIGHTER_DAYS"

// simParts is how many parts the days are cut into, which run side by side.
const simParts = 20

// For random days, a naive implementation written from the documentation says which resources run in each minute, and
// the product agrees.
func TestSimulation_WhatRunsIsWhatTheDocumentationSays(t *testing.T) {
	race.SkipSequential(t)
	days := 200
	if v := os.Getenv(simDaysVariable); v != "" {
		var err error
		if days, err = strconv.Atoi(v); err != nil {
			t.Fatalf("%s is %q, and must be a number of days", simDaysVariable, v)
		}
	}
	whole := seed.Random(t)
	for part := range simParts {
		r := seed.Split(whole)
		t.Run(fmt.Sprint("part ", part), func(t *testing.T) {
			t.Parallel()
			base, _ := apitest.NewPlatform(t)
			for day := range days / simParts {
				d := newSimDay(r)
				if differs := simulate(t, base, d); differs != "" {
					d, differs = shrink(t, base, d, differs)
					t.Fatalf("day %d: %s\nthe smallest such day:\n%s", day, differs, d)
				}
			}
		})
	}
}

// The naive implementation imports only the standard library, so that it cannot agree with the product by sharing its
// code.
func TestSimulation_TheNaiveImplementationSharesNoCode(t *testing.T) {
	for _, part := range []string{"clock", "day", "drift", "event", "naive"} {
		name := "simulation_" + part + "_test.go"
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if strings.Contains(i.Path.Value, ".") {
				t.Errorf("%s imports %s; it may import the standard library alone", name, i.Path.Value)
			}
		}
	}
}

// simulate runs a day through the product and the naive implementation, and returns the first difference.
func simulate(t *testing.T, base *platform.Platform, d *simDay) string {
	t.Helper()
	run := &simulation{a: newSimReal(t, base, d), n: newNaive(d), acts: d.Acts}
	for minute := range simHours * 60 {
		if differs := run.minute(minute); differs != "" {
			return fmt.Sprintf("at %s, minute %d: %s", run.a.now.Now().Format(time.RFC3339), minute, differs)
		}
	}
	return ""
}

// simulation is a day in the product and in the naive implementation.
type simulation struct {
	a       *simReal
	n       *naive
	acts    []simAct // that are still to come
	differs string
}

// minute runs one minute, and returns the first difference.
func (s *simulation) minute(minute int) string {
	begin := s.n.Start.Add(time.Duration(minute) * time.Minute)
	tick, end := begin.Add(time.Duration(s.n.Second)*time.Second), begin.Add(time.Minute-time.Millisecond)
	s.runUntil(tick)
	if !slices.ContainsFunc(s.n.Outages, func(o simOutage) bool { return o.From <= minute && minute < o.To }) {
		s.a.evaluate()
		s.addDifference(s.n.evaluate(tick, s.unsettledEvents()))
	}
	s.runUntil(end)
	s.addDifference(s.n.lateEvent(end))
	should := slices.Clone(s.n.running)
	if r := s.n.compareRunning(s.a.running, end); r != nil {
		s.addDifference(fmt.Sprintf("resources %v differ: running %v, should be %v", r, s.a.running, should))
	}
	if len(s.n.Events) > 0 && minute%20 == 19 {
		s.addDifference(s.a.plans.misfit())
	}
	return s.differs
}

// unsettledEvents reports for each resource whether the end of an event is still to be handled. It returns nil if no
// event has ended.
func (s *simulation) unsettledEvents() []bool {
	if !slices.ContainsFunc(s.n.events, func(e naiveEvent) bool { return e.ended >= 0 }) {
		return nil
	}
	return s.a.plans.unsettledResources()
}

// addDifference records the first difference; "" means none.
func (s *simulation) addDifference(how string) {
	if s.differs == "" {
		s.differs = how
	}
}

// runUntil carries out all acts and events before end.
func (s *simulation) runUntil(end time.Time) {
	for ; len(s.acts) > 0 && s.n.Start.Add(s.acts[0].At).Before(end); s.acts = s.acts[1:] {
		at := s.n.Start.Add(s.acts[0].At)
		s.carryOut(at)
		s.a.moveTo(at)
		s.a.applyAct(s.acts[0])
		s.n.applyAct(s.acts[0], at)
	}
	s.carryOut(end)
	s.a.moveTo(end)
}

// carryOut begins the orders of both that begin up to a time, and takes the steps of plans, each at its own.
func (s *simulation) carryOut(until time.Time) {
	for {
		step, orders := s.a.plans.nextStep(), s.a.queue.orders
		switch {
		case len(orders) > 0 && !orders[0].begins.After(until) && (step == nil || orders[0].begins.Before(step.at)):
			s.a.moveTo(orders[0].begins)
			s.n.beginOrders(orders[0].begins)
			s.a.beginBulks()
		case step != nil && !step.at.After(until):
			at := step.at
			s.a.moveTo(at)
			s.n.beginOrders(at)
			s.a.plans.advancePlan(step)
			s.addDifference(s.n.observeHolds(s.a.plans.heldResources(), s.a.plans.started, at))
			s.a.plans.started = nil
		default:
			s.n.beginOrders(until)
			return
		}
	}
}

// shrink leaves things of a day out as long as the product and the naive implementation differ.
func shrink(t *testing.T, base *platform.Platform, d *simDay, differs string) (*simDay, string) {
	t.Helper()
	for i := 0; i < len(d.smaller()); {
		less := d.smaller()[i]
		if got := simulate(t, base, less); got != "" {
			d, differs = less, got
		} else {
			i++
		}
	}
	return d, differs
}

// smaller returns days with one thing less each.
func (d *simDay) smaller() []*simDay {
	var out []*simDay
	add := func(change func(*simDay)) {
		less := new(simDay)
		b, err := json.Marshal(d)
		if err == nil {
			err = json.Unmarshal(b, less)
		}
		if err != nil {
			panic(err)
		}
		change(less)
		out = append(out, less)
	}
	for i := range d.Acts {
		add(func(l *simDay) { l.Acts = slices.Delete(l.Acts, i, i+1) })
	}
	for i := range d.Outages {
		add(func(l *simDay) { l.Outages = slices.Delete(l.Outages, i, i+1) })
	}
	for e, event := range d.Events {
		add(func(l *simDay) { l.Events = slices.Delete(l.Events, e, e+1) })
		for i := range event.Targets {
			if len(event.Targets) > 1 {
				add(func(l *simDay) { l.Events[e].Targets = slices.Delete(l.Events[e].Targets, i, i+1) })
			}
		}
	}
	for s, schedule := range d.Schedules {
		for i := range schedule.Crons {
			add(func(l *simDay) { l.Schedules[s].Crons = slices.Delete(l.Schedules[s].Crons, i, i+1) })
		}
		for i := range schedule.Calendars {
			add(func(l *simDay) { l.Schedules[s].Calendars = slices.Delete(l.Schedules[s].Calendars, i, i+1) })
		}
		for i := range schedule.Resources {
			add(func(l *simDay) { l.Schedules[s].Resources = slices.Delete(l.Schedules[s].Resources, i, i+1) })
		}
		for i := range schedule.Groups {
			add(func(l *simDay) { l.Schedules[s].Groups = slices.Delete(l.Schedules[s].Groups, i, i+1) })
		}
		if schedule.Enforce {
			add(func(l *simDay) { l.Schedules[s].Enforce = false })
		}
	}
	for c, calendar := range d.Calendars {
		for i := range calendar.Entries {
			add(func(l *simDay) { l.Calendars[c].Entries = slices.Delete(l.Calendars[c].Entries, i, i+1) })
		}
	}
	if d.Lag > time.Second {
		add(func(l *simDay) { l.Lag = time.Millisecond })
	}
	return out
}

// String returns the day as a person reads it.
func (d *simDay) String() string {
	var out strings.Builder
	fmt.Fprintf(&out,
		"starts %s, evaluated at second %d, orders begin after %s, %d resources, groups %v, outages (minutes) %v\n",
		d.Start.Format(time.RFC3339), d.Second, d.Lag, d.Resources, d.Groups, d.Outages)
	for i, c := range d.Calendars {
		fmt.Fprintf(&out, "calendar %d: %+v\n", i, c)
	}
	for i, s := range d.Schedules {
		fmt.Fprintf(&out, "schedule %d: %+v\n", i, s)
	}
	for i, e := range d.Events {
		fmt.Fprintf(&out, "event %d on %v from %s to %s\n", i, e.Targets, d.Start.Add(e.Up).Format(time.RFC3339),
			d.Start.Add(e.Down).Format(time.RFC3339))
	}
	for _, a := range d.Acts {
		fmt.Fprintf(&out, "%s %+v\n", d.Start.Add(a.At).Format("2006-01-02T15:04:05.000"), a)
	}
	return out.String()
}
