package evaluator

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

// simDay is one random day of one organization.
type simDay struct {
	Start     time.Time
	Second    int           // of each minute, at which the evaluator runs
	Lag       time.Duration // from an order to its beginning
	Resources int
	Groups    [][]int // resources
	Calendars []simCalendar
	Schedules []simSchedule
	Outages   []simOutage
	Events    []simEvent
	Acts      []simAct
}

type simCalendar struct {
	Effect, Zone string // without a zone, that of the schedule
	Entries      []simEntry
}

type simEntry struct {
	From, To string
	Yearly   bool
}

type simSchedule struct {
	Zone              string
	Crons             []simCron
	Calendars         []int
	Enforce           bool
	Grace             int
	Resources, Groups []int
}

type simCron struct{ Verb, Expression string }

// simOutage is a range of minutes of the day without an evaluator.
type simOutage struct{ From, To int }

// simEvent is an event readiness plan: the resources that it raises, and its begin and end since the start of the
// day. No resource is in two plans.
type simEvent struct {
	Targets  []int
	Up, Down time.Duration
}

// simAct is something that a person or the cloud does.
type simAct struct {
	At   time.Duration // since the start
	Kind string
	ID   int // of the override
	// On one resource, or when Group is not -1, on a group.
	Resource, Group int
	Verb            string
	For             time.Duration
	Force           bool
}

// The kinds of acts.
const (
	actCloud  = "in the cloud"      // somebody starts or stops it at its provider
	actScan   = "a scan"            // reads the state of all resources
	actByHand = "by hand"           // an action of our own
	actBegin  = "begin an override" // which wants Verb for a time
	actEnd    = "end an override"   // before its time
)

const (
	simHours    = 24
	simLookBack = 9 // days before the day; in them every schedule has a firing that no calendar closes
)

// simZones have clock changes at different hours, by half an hour, at midnight, or none.
var simZones = []string{
	"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Africa/Cairo",
	"Asia/Kathmandu", "Pacific/Chatham",
	"America/St_Johns", "Asia/Tokyo", "Africa/Casablanca", "Atlantic/Azores", "America/Havana", "Asia/Beirut",
	"Antarctica/Troll",
}

// newSimDay makes a day. Half of the days have a clock change in the zone of the first schedule.
func newSimDay(r *rand.Rand) *simDay {
	d := &simDay{
		Second: r.IntN(60), Resources: 2 + r.IntN(4),
		Lag: pick(r, []time.Duration{0, 0, 17 * time.Second, 90 * time.Second}) + 500*time.Millisecond,
	}
	zones := []string{pick(r, simZones), pick(r, simZones)}
	d.Start = simStart(r, zones[0])
	for range r.IntN(3) {
		d.Groups = append(d.Groups, simSome(r, d.Resources, true))
	}
	for range r.IntN(3) {
		d.Calendars = append(d.Calendars, d.newCalendar(r, zones))
	}
	for range 1 + r.IntN(3) {
		d.Schedules = append(d.Schedules, d.newSchedule(r, zones))
	}
	if r.IntN(3) == 0 {
		from := r.IntN(simHours * 60)
		d.Outages = append(d.Outages, simOutage{from, from + 1 + r.IntN(1+r.IntN(8*60))})
	}
	d.addEvents(r)
	d.addActs(r)
	return d
}

// simStart returns the hour at which a day starts. Clock changes of the zone are sought hour by hour.
func simStart(r *rand.Rand, zone string) time.Time {
	place, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	day := time.Date(2025+r.IntN(3), time.January, 15+r.IntN(330), 0, 0, 0, 0, time.UTC)
	if r.IntN(2) == 0 {
		return day.Add(time.Duration(r.IntN(24)) * time.Hour)
	}
	_, before := day.In(place).Zone()
	for h := range 366 * 24 {
		at := day.Add(time.Duration(h) * time.Hour)
		if _, after := at.In(place).Zone(); after != before {
			return at.Add(-time.Duration(1+r.IntN(20)) * time.Hour)
		}
	}
	return day
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// simSome returns some of the numbers below n, at least one of them where some is true.
func simSome(r *rand.Rand, n int, some bool) []int {
	var out []int
	for i := range n {
		if r.IntN(2) == 0 {
			out = append(out, i)
		}
	}
	if some && len(out) == 0 {
		out = append(out, r.IntN(n))
	}
	return out
}

func (d *simDay) newCalendar(r *rand.Rand, zones []string) simCalendar {
	c := simCalendar{
		Effect: pick(r, []string{"stay_stopped", "stay_running", "no_action"}),
		Zone:   pick(r, []string{"", zones[1]}),
	}
	for range 1 + r.IntN(2) {
		from := d.Start.Add(time.Duration(r.IntN(36*60)-6*60) * time.Minute)
		e, form := simEntry{}, "2006-01-02"
		to := from.Add(time.Duration(r.IntN(2)) * 24 * time.Hour)
		if r.IntN(2) == 0 {
			form, to = "2006-01-02T15:04", from.Add(time.Duration(1+r.IntN(10*60))*time.Minute)
		}
		if r.IntN(4) == 0 {
			e.Yearly, from, to = true, from.AddDate(-1, 0, 0), to.AddDate(-1, 0, 0)
		}
		e.From, e.To = from.Format(form), to.Format(form)
		c.Entries = append(c.Entries, e)
	}
	return c
}

func (d *simDay) newSchedule(r *rand.Rand, zones []string) simSchedule {
	s := simSchedule{Zone: pick(r, zones), Enforce: r.IntN(2) == 0, Grace: r.IntN(3) * 20}
	if len(d.Calendars) > 0 {
		s.Calendars = simSome(r, len(d.Calendars), false)
	}
	for range 1 + r.IntN(4) {
		s.Crons = append(s.Crons, simCron{pick(r, []string{"start", "stop"}), simExpression(r)})
	}
	s.Resources = simSome(r, d.Resources, len(d.Groups) == 0)
	for g := range d.Groups {
		if len(s.Resources) == 0 || r.IntN(2) == 0 {
			s.Groups = append(s.Groups, g)
		}
	}
	return s
}

// simExpression returns a cron that fires at least once a week.
func simExpression(r *rand.Rand) string {
	minute := pick(r, []string{"0", "30", strconv.Itoa(r.IntN(60)), "*/20", "5,35", "10-50/15"})
	hour := pick(r, []string{
		strconv.Itoa(r.IntN(24)), strconv.Itoa(r.IntN(4)), "8-18", "*/3", "1,2,3", "22-23,0-4", "*",
	})
	days := pick(r, []string{
		"* * *", "* * *", "* * MON-FRI", "* * 6,7", "*/3 * *", "1,15 * MON,THU", "* JAN-DEC 0-6", "13 * 5",
	})
	return minute + " " + hour + " " + days
}

// addEvents adds event readiness plans to half of the days. They raise and give back at an eighth of a second, when
// nothing else happens.
func (d *simDay) addEvents(r *rand.Rand) {
	free := simSome(r, d.Resources, true)
	for range r.IntN(3) {
		if len(free) == 0 {
			return
		}
		n := 1 + r.IntN(len(free))
		e := simEvent{Targets: free[:n], Up: time.Duration(60+r.IntN(20*3600))*time.Second + time.Second/8}
		e.Down = e.Up + time.Duration(600+r.IntN(1+r.IntN(12*3600)))*time.Second
		d.Events, free = append(d.Events, e), free[n:]
	}
}

// addActs adds the acts of the day, each at a second of its own at which no evaluator runs.
func (d *simDay) addActs(r *rand.Rand) {
	taken := map[int]bool{}
	at := func() time.Duration {
		for {
			if s := 120 + r.IntN(simHours*3600-240); s%60 != d.Second && !taken[s] {
				taken[s] = true
				return time.Duration(s) * time.Second
			}
		}
	}
	verbs := []string{"start", "stop"}
	for range r.IntN(9) {
		d.Acts = append(d.Acts,
			simAct{
				At: at(), Kind: pick(r, []string{actCloud, actByHand}), Resource: r.IntN(d.Resources), Group: -1,
				Verb: pick(r, verbs), Force: r.IntN(4) == 0,
			})
	}
	for range r.IntN(simHours) {
		d.Acts = append(d.Acts, simAct{At: at(), Kind: actScan, Group: -1})
	}
	for id := range r.IntN(5) {
		a := simAct{
			At: at(), Kind: actBegin, ID: id, Resource: r.IntN(d.Resources), Group: -1, Verb: pick(r, verbs),
			Force: r.IntN(4) == 0,
		}
		a.For = time.Duration(1+r.IntN(1+r.IntN(8*3600))) * time.Second
		if len(d.Groups) > 0 && r.IntN(2) == 0 {
			a.Group = r.IntN(len(d.Groups))
		}
		d.Acts = append(d.Acts, a)
		if r.IntN(3) == 0 {
			d.Acts = append(d.Acts,
				simAct{
					At: a.At + time.Duration(r.Int64N(int64(a.For))) + 250*time.Millisecond, Kind: actEnd, ID: id,
					Group: -1,
				})
		}
	}
	slices.SortStableFunc(d.Acts, func(a, b simAct) int { return int(a.At - b.At) })
}
