package recommender

import (
	"math"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/rule/condition"
)

var patternEnd = time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)

// machineLoad returns the history of an EC2 instance for the days before patternEnd. The function of returns the
// value of an hour, NaN for none.
func machineLoad(kind string, days int, of func(at time.Time, m cloud.Measure) float64) measurement.History {
	out := measurement.History{}
	for _, m := range cloud.MeasuresOf(kind) {
		out[m] = map[string][24]float32{}
		for day := patternEnd.AddDate(0, 0, -days); day.Before(patternEnd); day = day.AddDate(0, 0, 1) {
			var hours [24]float32
			for n := range hours {
				hours[n] = float32(of(day.Add(time.Duration(n)*time.Hour), m))
			}
			out[m][measurement.DayOf(day)] = hours
		}
	}
	return out
}

// recentOf returns a history as the patterns read it.
func recentOf(h measurement.History) *measurement.Recent {
	var r measurement.Recent
	r.Reset(patternEnd)
	for m, days := range h {
		r.AddDays(m, days, dateOf)
	}
	return &r
}

// weekdayLoad is the load of a machine that works on weekdays from 8 to 18.
func weekdayLoad(at time.Time, m cloud.Measure) float64 {
	works := at.Weekday() != time.Saturday && at.Weekday() != time.Sunday && at.Hour() >= 8 && at.Hour() < 18
	switch {
	case m.IsCount() && !works:
		return math.NaN()
	case m.IsCount():
		return 1e6
	case works:
		return 60
	}
	return 1
}

func TestPatterns_OfAMachineThatWorksInOfficeHours(t *testing.T) {
	h, w := machineLoad("aws-ec2", 14, weekdayLoad), measurement.Window{End: patternEnd}
	want := patterns{idleHours: 168 - 50, lowDays: 4, known: true} // the days of two weekends
	if got := countPatterns("aws-ec2", recentOf(h), w); got != want {
		t.Errorf("%+v; want %+v", got, want)
	}
	if got, known := countRunningHours("aws-ec2", recentOf(h)); !known || got != 168 {
		t.Errorf("%v hours, known: %v; want all 168", got, known)
	}
}

func TestPatterns_AreUnknownWithoutEnoughPoints(t *testing.T) {
	for name, tt := range map[string]struct {
		days  int
		since time.Time
		known bool
	}{
		"all days":                     {14, time.Time{}, true},
		"nine of fourteen days":        {9, time.Time{}, false},
		"ten of fourteen days":         {10, time.Time{}, true},
		"the machine is a week old":    {14, patternEnd.AddDate(0, 0, -7), false},
		"no day has been collected":    {0, time.Time{}, false},
		"the machine is two weeks old": {14, patternEnd.AddDate(0, 0, -14), true},
	} {
		t.Run(name, func(t *testing.T) {
			h := machineLoad("aws-ec2", tt.days, weekdayLoad)
			w := measurement.Window{End: patternEnd, Since: tt.since}
			if got := countPatterns("aws-ec2", recentOf(h), w); got.known != tt.known {
				t.Errorf("known: %v", got.known)
			}
		})
	}
}

func TestPatterns_LeaveStoppedHoursOut(t *testing.T) {
	h := machineLoad("aws-ec2", 5, weekdayLoad)
	w := measurement.Window{
		End: patternEnd,
		Off: []measurement.Interval{{To: patternEnd.AddDate(0, 0, -5)}},
	}
	if got := countPatterns("aws-ec2", recentOf(h), w); !got.known || got.lowDays != 2 {
		t.Errorf("%+v; want one weekend of low use", got)
	}
}

func TestRunningHours_CountHoursWithAPointOfAGauge(t *testing.T) {
	at := func(hours int) func(time.Time, cloud.Measure) float64 {
		return func(at time.Time, m cloud.Measure) float64 {
			if at.Hour() < hours {
				return 50
			}
			return math.NaN()
		}
	}
	for name, tt := range map[string]struct {
		days, hours int
		want        float64
		known       bool
	}{
		"ten hours a day":                     {14, 10, 70, true},
		"five days stand for a week":          {5, 10, 70, true},
		"four days are too few":               {4, 10, 0, false},
		"a collected week without any points": {14, 0, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := machineLoad("aws-ec2", tt.days, at(tt.hours))
			if got, known := countRunningHours("aws-ec2", recentOf(h)); got != tt.want || known != tt.known {
				t.Errorf("%v, known: %v", got, known)
			}
		})
	}
}

func TestCoresP97_IsOfTheCoresInUse(t *testing.T) {
	h := machineLoad("gcp-compute", 14, func(at time.Time, _ cloud.Measure) float64 {
		if at.Day()%2 == 0 {
			return 0.5
		}
		return 0.1
	})
	if got, known := coresP97("gcp-compute", recentOf(h), measurement.Window{End: patternEnd}, 4); !known || got != 2 {
		t.Errorf("%v, known: %v; want half of 4 cores", got, known)
	}
}

func TestActiveHours_AreThoseWithAPointOfTheProcessor(t *testing.T) {
	active := func(hours int) func(time.Time, cloud.Measure) float64 {
		return func(at time.Time, m cloud.Measure) float64 {
			if m == databaseCPU && at.Hour() >= hours {
				return math.NaN()
			}
			return 1 // the storage of a paused database is measured, too
		}
	}
	for name, tt := range map[string]struct {
		days, hours int
		since       time.Time
		want        float64
		known       bool
	}{
		"ten hours a day":         {14, 10, time.Time{}, 10, true},
		"always paused":           {14, 0, time.Time{}, 0, true},
		"ten days are enough":     {10, 24, time.Time{}, 24, true},
		"nine days are too few":   {9, 24, time.Time{}, 0, false},
		"younger than the window": {14, 24, patternEnd.AddDate(0, 0, -3), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := machineLoad("azure-sql-database", tt.days, active(tt.hours))
			w := measurement.Window{End: patternEnd, Since: tt.since}
			got, known := countActiveHours(databaseCPU, recentOf(h), w)
			if got != tt.want || known != tt.known {
				t.Errorf("%v, known: %v; want %v, %v", got, known, tt.want, tt.known)
			}
		})
	}
}

func TestGatewayTraffic_IsGBOfADay(t *testing.T) {
	gateway := newSubjectOf(t, "aws-nat", "", nil)
	gateway.end = patternEnd
	gateway.CreatedAt, gateway.DiscoveredAt = patternEnd.AddDate(0, 0, -90), patternEnd.AddDate(0, 0, -90)
	gateway.usage = func(string) measurement.Use { return measurement.Use{} }
	if v, why := gateway.gatewayTraffic(); why != condition.NotCollected {
		t.Errorf("without measurements: %v (%q)", v, why)
	}
	gateway.read = false
	h := machineLoad("aws-nat", 14, func(time.Time, cloud.Measure) float64 { return 1e9 })
	gateway.usage = func(string) measurement.Use { return measurement.Use{History: h} }
	if v, why := gateway.gatewayTraffic(); v != 48 || why != "" {
		t.Errorf("1 GB an hour each way: %v (%q), want 48 GB a day", v, why)
	}
}
