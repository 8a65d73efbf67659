package measurement

import (
	"math"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
)

// finePoints returns points of 5 minutes of two weeks before midnight; n counts them. NaN is no point.
func finePoints(of func(n int) float64) (p cloud.Points) {
	from := midnight.AddDate(0, 0, -14)
	for n := range 14 * 288 {
		if v := of(n); !math.IsNaN(v) {
			p.Times, p.Values = append(p.Times, from.Add(time.Duration(n)*FinePeriod)), append(p.Values, v)
		}
	}
	return p
}

func TestFine_ShowsPeaksThatHourlyMeansHide(t *testing.T) {
	rate := cloud.Metric{Name: "iops", Of: []cloud.Measure{requests}, RollUp: "max", Days: 14, Factor: 1.0 / 3600}
	usage := cloud.Metric{Name: "cpu", Of: []cloud.Measure{cpu}, RollUp: "max", Days: 14, Factor: 1}
	const peak = 2000
	burst := func(base, high float64) func(int) float64 {
		return func(n int) float64 {
			if n == peak {
				return high
			}
			return base
		}
	}
	for name, tt := range map[string]struct {
		metric cloud.Metric
		of     func(n int) float64
		want   float64
		known  bool
	}{
		"a count of five minutes is a rate a second": {rate, burst(300, 900_000), 3000, true},
		"a percentage is as it is":                   {usage, burst(3, 97), 97, true},
		"a count without points is 0":                {rate, func(int) float64 { return math.NaN() }, 0, true},
		"a gauge without points is unknown":          {usage, func(int) float64 { return math.NaN() }, 0, false},
		"three of five points are too few": {
			usage,
			func(n int) float64 {
				if n%5 < 2 {
					return math.NaN()
				}
				return 1
			}, 0, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := Fine{From: midnight.AddDate(0, 0, -14), To: midnight}
			f.Add(tt.metric.Of[0], finePoints(tt.of))
			got, known := f.Answer(tt.metric)
			if math.Abs(got-tt.want) > 1e-9 || known != tt.known {
				t.Errorf("%v, known: %v; want %v, %v", got, known, tt.want, tt.known)
			}
		})
	}
}

func TestFine_AddsMeasuresUpAndReadsOnlyTheWindow(t *testing.T) {
	other := cloud.Measure{Namespace: "n", Metric: "b", Statistic: "Average"}
	m := cloud.Metric{Of: []cloud.Measure{cpu, other}, RollUp: "max", Days: 7, Factor: 2}
	f := Fine{From: midnight.AddDate(0, 0, -14), To: midnight}
	f.Add(m.Of[0], finePoints(func(n int) float64 {
		if n < 7*288 {
			return 1000 // before the window of a week
		}
		return 3
	}))
	if _, known := f.Answer(m); known {
		t.Error("it is known without one of its measures")
	}
	f.Add(m.Of[1], finePoints(func(int) float64 { return 4 }))
	if got, known := f.Answer(m); got != 14 || !known {
		t.Errorf("%v, known: %v; want twice 3 + 4", got, known)
	}
}

func TestFine_ACountThatNobodyReadIsNotZero(t *testing.T) {
	m := cloud.Metric{Of: []cloud.Measure{requests}, RollUp: "max", Days: 14, Factor: 1}
	f := Fine{From: midnight.AddDate(0, 0, -14), To: midnight}
	if v, known := f.Answer(m); known {
		t.Errorf("%v is known", v)
	}
	f.Add(requests, cloud.Points{})
	if v, known := f.Answer(m); v != 0 || !known {
		t.Errorf("%v, known: %v; want 0 of a count that was read and has no points", v, known)
	}
}

func TestFine_CanConfirmWhatIsComputedFromHours(t *testing.T) {
	for rollUp, want := range map[string]bool{"max": true, "p99": true, "avg": true, "sum": false, "last": false} {
		m := cloud.Metric{Of: []cloud.Measure{cpu}, RollUp: rollUp, Days: 14}
		if CanConfirm(m) != want {
			t.Errorf("%s: %v", rollUp, !want)
		}
		m.Daily = true
		if CanConfirm(m) {
			t.Errorf("%s of days", rollUp)
		}
	}
}
