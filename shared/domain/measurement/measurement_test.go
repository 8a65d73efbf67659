package measurement

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/seed"
	"lamplighter.dev/shared/testkit/tabletest"
)

var (
	midnight = time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC)
	cpu      = cloud.Measure{Namespace: "AWS/EC2", Metric: "CPUUtilization", Statistic: "Maximum"}
	requests = cloud.Measure{Namespace: "AWS/Lambda", Metric: "Invocations", Statistic: "Sum"}
)

const (
	org     = "org_1"
	account = "ca_1"
)

func newStore(tb testing.TB) (*Store, context.Context) {
	tb.Helper()
	clk := clock.NewManual(midnight.Add(2 * time.Hour))
	return &Store{tabletest.NewAt(tb, clk), clk}, table.WithOrg(context.Background(), org)
}

// points returns the points of a day; value returns the value of an hour, or NaN for none.
func points(day time.Time, value func(hour int) float64) cloud.Points {
	var p cloud.Points
	for h := range hours {
		if v := value(h); !math.IsNaN(v) {
			p.Times, p.Values = append(p.Times, day.Add(time.Duration(h)*time.Hour)), append(p.Values, v)
		}
	}
	return p
}

// history is of a measure on the n days before midnight.
func history(m cloud.Measure, n int, value func(day, hour int) float64) History {
	h := History{m: {}}
	for d := range n {
		day := midnight.AddDate(0, 0, d-n)
		h[m][DayOf(day)] = NewSeries("i-1", m, day, points(day, func(hour int) float64 { return value(d, hour) })).Hours
	}
	return h
}

func metric(of cloud.Measure, roll string, days int) cloud.Metric {
	return cloud.Metric{Of: []cloud.Measure{of}, RollUp: roll, Days: days, Factor: 1}
}

var old = Window{End: midnight, Since: midnight.AddDate(-1, 0, 0)}

func TestAnswer_RollsHoursAndDaysUp(t *testing.T) {
	h := history(cpu, 14, func(day, hour int) float64 { return float64(day*24 + hour) }) // 0 to 335
	daily := metric(cpu, "avg", 14)
	daily.Daily = true
	for _, tt := range []struct {
		metric cloud.Metric
		want   float64
	}{
		{metric(cpu, "max", 14), 335},
		{metric(cpu, "min", 14), 0},
		{metric(cpu, "avg", 14), 167.5},
		{metric(cpu, "sum", 14), 56280},
		{metric(cpu, "p95", 14), 319},
		{metric(cpu, "p99", 14), 332},
		{metric(cpu, "p99.5", 14), 334},
		{metric(cpu, "min", 7), 168},
		{daily, 179}, // the mean of each day's greatest
	} {
		got, ok := h.Answer(tt.metric, old)
		if !ok || math.Abs(got-tt.want) > tt.want/2000 {
			t.Errorf("%s of %d days (daily %v) = %v, %v; want %v", tt.metric.RollUp, tt.metric.Days, tt.metric.Daily,
				got, ok, tt.want)
		}
	}
}

func TestAnswer_WithoutPointsACountIsZeroAndAnythingElseUnknown(t *testing.T) {
	none := func(int, int) float64 { return math.NaN() }
	if got, ok := history(requests, 14, none).Answer(metric(requests, "sum", 14), old); !ok || got != 0 {
		t.Errorf("a sum that was asked for and has no points: %v, %v; want 0", got, ok)
	}
	young := Window{End: midnight, Since: midnight.AddDate(0, 0, -13)}
	for what, known := range map[string]func() (float64, bool){
		"a maximum without points": func() (float64, bool) {
			return history(cpu, 14, none).Answer(metric(cpu, "max", 14), old)
		},
		"a sum that was not asked for": func() (float64, bool) {
			return History{}.Answer(metric(requests, "sum", 14), old)
		},
		"of what is younger than the window": func() (float64, bool) {
			return history(requests, 14, none).Answer(metric(requests, "sum", 14), young)
		},
		"a maximum of 9 days of 14": func() (float64, bool) {
			return history(cpu, 9, func(int, int) float64 { return 1 }).Answer(metric(cpu, "max", 14), old)
		},
	} {
		if got, ok := known(); ok {
			t.Errorf("%s is %v; want it unknown", what, got)
		}
	}
	if _, ok := history(cpu, 10, func(int, int) float64 { return 1 }).Answer(metric(cpu, "max", 14), old); !ok {
		t.Error("10 days of 14 are unknown; want them to be enough")
	}
}

func TestAnswer_TimeWhileStoppedIsCutOut(t *testing.T) {
	h := history(cpu, 14, func(_, hour int) float64 {
		if hour < 12 {
			return math.NaN()
		}
		return 50
	})
	if _, ok := h.Answer(metric(cpu, "avg", 14), old); ok {
		t.Error("half of the points are enough; want that to be unknown")
	}
	w := old
	for d := range 14 {
		day := midnight.AddDate(0, 0, d-14)
		w.Off = append(w.Off, Interval{day, day.Add(12 * time.Hour)})
	}
	if got, ok := h.Answer(metric(cpu, "avg", 14), w); !ok || got != 50 {
		t.Errorf("of what was stopped each night: %v, %v; want 50", got, ok)
	}
}

func TestAnswer_IsInTheUnitOfTheMetricAndSumsItsMeasures(t *testing.T) {
	out := cloud.Measure{Namespace: "AWS/EC2", Metric: "NetworkOut", Statistic: "Sum"}
	h := history(requests, 14, func(int, int) float64 { return 1000 })
	h[out] = history(out, 14, func(int, int) float64 { return 2000 })[out]
	m := cloud.Metric{Of: []cloud.Measure{requests, out}, RollUp: "max", Days: 14, Daily: true, Factor: 0.001}
	if got, ok := h.Answer(m, old); !ok || math.Abs(got-72) > 0.1 {
		t.Errorf("%v, %v; want 72", got, ok)
	}
}

func TestStore_KeepsDaysOfAResource(t *testing.T) {
	s, ctx := newStore(t)
	for d := range 30 {
		day := midnight.AddDate(0, 0, d-30)
		var all []Series
		for i := range 200 {
			all = append(all, NewSeries(fmt.Sprint("i-", i), cpu, day, points(day, func(h int) float64 {
				return float64(i + h)
			})))
		}
		for range 2 { // the same part again
			if err := s.WriteDay(ctx, org, account, Day{day, 0}, all); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := s.Read(ctx, Of{org, account, "i-7"}, midnight.AddDate(0, 0, -14), midnight)
	if err != nil || len(got[cpu]) != 14 {
		t.Fatalf("%d days, %v; want 14", len(got[cpu]), err)
	}
	if v, ok := got.Answer(metric(cpu, "max", 14), old); !ok || v != 30 {
		t.Errorf("%v, %v; want 30", v, ok)
	}
	other, err := s.Read(ctx, Of{org, "ca_2", "i-7"}, midnight.AddDate(0, 0, -14), midnight)
	if err != nil || len(other) != 0 {
		t.Errorf("of another account: %v, %v", other, err)
	}
	s.clock.(*clock.Manual).Advance(kept)
	if got, err = s.Read(ctx, Of{org, account, "i-7"}, midnight.AddDate(0, 0, -30), midnight); err != nil ||
		len(got) != 0 {
		t.Errorf("after %v: %d measures, %v; want all expired", kept, len(got), err)
	}
}

// A day of 10,000 instances: how many items and units it takes.
func TestStore_ADayOfTenThousandTakesFewUnits(t *testing.T) {
	s, ctx := newStore(t)
	r := seed.Fixed(t, 1, 2)
	var all []Series
	for i := range 10_000 {
		for _, m := range cloud.MeasuresOf("aws-ec2") {
			level := math.Pow(10, r.Float64()*4)
			all = append(all,
				NewSeries(fmt.Sprintf("i-%017x", uint64(i)*2654435761), m, midnight,
					points(midnight, func(int) float64 {
						return level * (1 + r.Float64())
					})))
		}
	}
	ctx, meter := table.WithMeter(ctx)
	if err := s.WriteDay(ctx, org, account, Day{midnight, 0}, all); err != nil {
		t.Fatal(err)
	}
	used := meter.Usage()
	t.Logf("%d series: %.0f write units, %d round trips", len(all), used.WriteUnits, used.RoundTrips)
	if used.WriteUnits > 6000 {
		t.Errorf("%.0f write units; want 6,000 at most", used.WriteUnits)
	}
}

func TestDecode_RefusesWhatItDidNotWrite(t *testing.T) {
	good := encode([]Series{NewSeries("i-1", cpu, midnight, points(midnight, func(h int) float64 {
		return float64(h)
	}))})
	if all, err := decode(good); err != nil || all[0].UID != "i-1" || all[0].Measure != cpu ||
		all[0].Sketch() != (Sketch{0, 23, 276, 24}) {
		t.Fatalf("%+v, %v", all, err)
	}
	plain, err := decompressor.Unpack(good)
	if err != nil {
		t.Fatal(err)
	}
	for n := range plain {
		if _, err := decode(compressor.Append(nil, plain[:n])); !errors.Is(err, errSeries) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	if _, err := decode([]byte("nonsense")); !errors.Is(err, errSeries) {
		t.Errorf("nonsense: %v", err)
	}
}

func TestAnswer_TheLastSizeMayComeTwoDaysLate(t *testing.T) {
	end := time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)
	m := cloud.MetricsOf("aws-s3")[0]
	for ago, known := range map[int]bool{1: true, 3: true, 4: false} {
		day := end.AddDate(0, 0, -ago)
		s := NewSeries("b", m.Of[0], day, cloud.Points{Times: []time.Time{day}, Values: []float64{5e9}})
		h := History{m.Of[0]: {DayOf(day): s.Hours}}
		v, ok := h.Answer(m, Window{End: end})
		if ok != known || known && (v < 4.99 || v > 5.01) {
			t.Errorf("a size of %d days ago is %g, %v; want 5 GB: %v", ago, v, ok, known)
		}
	}
}

// A ratio divides the sums of a window, and not hour by hour: an hour of one failed request is no hour of failure.
func TestHistory_Answer_RatioOfTwoSums(t *testing.T) {
	failed := cloud.Measure{Namespace: "n", Metric: "Errors", Statistic: "Sum"}
	all := cloud.Measure{Namespace: "n", Metric: "Requests", Statistic: "Sum"}
	m := cloud.Metric{
		Of: []cloud.Measure{failed}, Over: []cloud.Measure{all}, RollUp: "ratio", Days: 1, Factor: 100,
	}
	end := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	hours := func(values ...float64) map[string][24]float32 {
		var out [24]float32
		for h := range out {
			out[h] = float32(math.NaN())
		}
		for h, v := range values {
			out[h] = float32(v)
		}
		return map[string][24]float32{"2026-03-01": out}
	}
	for name, tt := range map[string]struct {
		failed, all map[string][24]float32
		want        float64
		known       bool
	}{
		"5 of 100 requests failed":      {hours(1, 4), hours(1, 99), 5, true},
		"none failed":                   {hours(), hours(10), 0, true},
		"nothing happened":              {hours(), hours(), 0, true},
		"errors of no request":          {hours(3), hours(), 0, false},
		"the requests were not counted": {hours(3), nil, 0, false},
	} {
		h := History{failed: tt.failed, all: tt.all}
		if tt.all == nil {
			delete(h, all)
		}
		if got, known := h.Answer(m, Window{End: end}); known != tt.known || got != tt.want {
			t.Errorf("%s: %g, %v; want %g, %v", name, got, known, tt.want, tt.known)
		}
	}
}
