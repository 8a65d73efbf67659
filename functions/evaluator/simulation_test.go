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

// Of days at random, a naive implementation written from the documentation says which resources run in each minute, and the product agrees.
func TestSimulation_WhatRunsIsWhatTheDocumentationSays(t *testing.T) {
	race.SkipSequential(t)
	days := 600
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

// The naive implementation imports nothing but the standard library, so that it cannot agree with the product by sharing its code.
func TestSimulation_TheNaiveImplementationSharesNoCode(t *testing.T) {
	for _, name := range []string{"simulation_clock_test.go", "simulation_day_test.go", "simulation_drift_test.go", "simulation_naive_test.go"} {
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
func simulate(t *testing.T, base *platform.Platform, d *simDay) (differs string) {
	t.Helper()
	a, n := newSimReal(t, base, d), newNaive(d)
	acts := d.Acts
	for minute := range simHours * 60 {
		begin := d.Start.Add(time.Duration(minute) * time.Minute)
		tick, end := begin.Add(time.Duration(d.Second)*time.Second), begin.Add(time.Minute-time.Millisecond)
		for ; len(acts) > 0 && d.Start.Add(acts[0].At).Before(tick); acts = acts[1:] {
			both(a, n, acts[0])
		}
		orders(a, n, tick)
		a.moveTo(tick)
		if !slices.ContainsFunc(d.Outages, func(o simOutage) bool { return o.From <= minute && minute < o.To }) {
			a.evaluate()
			n.evaluate(tick)
		}
		for ; len(acts) > 0 && d.Start.Add(acts[0].At).Before(end); acts = acts[1:] {
			both(a, n, acts[0])
		}
		orders(a, n, end)
		a.moveTo(end)
		should := slices.Clone(n.running)
		if differ := n.settle(a.running, end); differ != nil {
			return fmt.Sprintf("at %s, minute %d, resources %v differ: running %v, should be %v", end.Format(time.RFC3339), minute, differ, a.running, should)
		}
	}
	return ""
}

// both has an act happen in both, after the orders that begin before it.
func both(a *simReal, n *naive, act simAct) {
	at := n.Start.Add(act.At)
	orders(a, n, at)
	a.moveTo(at)
	a.do(act)
	n.do(act, at)
}

// orders begins the orders of both that begin up to a time, each at its own.
func orders(a *simReal, n *naive, until time.Time) {
	for len(a.queue.orders) > 0 && !a.queue.orders[0].begins.After(until) {
		at := a.queue.orders[0].begins
		a.moveTo(at)
		n.beginOrders(at)
		a.begin()
	}
	n.beginOrders(until)
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
	fmt.Fprintf(&out, "starts %s, evaluated at second %d, orders begin after %s, %d resources, groups %v, outages (minutes) %v\n",
		d.Start.Format(time.RFC3339), d.Second, d.Lag, d.Resources, d.Groups, d.Outages)
	for i, c := range d.Calendars {
		fmt.Fprintf(&out, "calendar %d: %+v\n", i, c)
	}
	for i, s := range d.Schedules {
		fmt.Fprintf(&out, "schedule %d: %+v\n", i, s)
	}
	for _, a := range d.Acts {
		fmt.Fprintf(&out, "%s %+v\n", d.Start.Add(a.At).Format("2006-01-02T15:04:05.000"), a)
	}
	return out.String()
}
