package measurement

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/seed"
)

// reference rolls a metric up in the plainest way: all hours of the window in one list.
func reference(h History, m cloud.Metric, w Window) (float64, Knowledge) {
	if w.Since.After(w.End.AddDate(0, 0, -m.Days)) {
		return 0, TooYoung
	}
	var values []float64
	expected, collected, have := 0, 0, 0
	for at := w.End.AddDate(0, 0, -m.Days); at.Before(w.End); at = at.Add(time.Hour) {
		if w.isOff(at) {
			continue
		}
		expected++
		day, asked := h[m.Of[0]][DayOf(at)]
		v := float64(day[at.Hour()])
		if asked {
			collected++
		}
		if asked && math.IsNaN(v) && m.Of[0].IsCount() {
			v = 0
		}
		if asked && !math.IsNaN(v) {
			have++
			values = append(values, v)
		}
	}
	slices.Sort(values)
	switch {
	case collected == 0:
		return 0, NotCollected
	case len(values) == 0 && float64(collected) >= 0.7*float64(expected):
		return 0, NoPoints
	case len(values) == 0 || float64(have) < 0.7*float64(expected):
		return 0, TooFewPoints
	case m.RollUp == "max":
		return values[len(values)-1], Known
	}
	return values[int(math.Ceil(0.95*float64(len(values))))-1], Known
}

// randomHistory has days without a collection, hours without points, and equal values.
func randomHistory(r *rand.Rand, of cloud.Measure) History {
	h := History{of: {}}
	gaps, missing := r.Float64()*0.5, r.Float64()*0.6
	for d := range 20 {
		day := midnight.AddDate(0, 0, -1-d)
		if r.Float64() < gaps {
			continue
		}
		h[of][DayOf(day)] = NewSeries("i-1", of, day, points(day, func(int) float64 {
			if r.Float64() < missing {
				return math.NaN()
			}
			return float64(r.IntN(40))
		})).Hours
	}
	return h
}

func TestRecent_AgreesWithThePlainWay(t *testing.T) {
	r := seed.Fixed(t, 22, 1)
	seen := map[Knowledge]int{}
	for n := range 3000 {
		of := []cloud.Measure{cpu, requests}[n%2]
		h := randomHistory(r, of)
		switch n % 50 {
		case 0:
			h = History{of: {}}
		case 2:
			h = history(of, 20, func(int, int) float64 { return math.NaN() })
		}
		w := Window{End: midnight, Since: midnight.AddDate(0, 0, -10-r.IntN(200))}
		if n%3 == 0 {
			from := midnight.Add(-time.Duration(r.IntN(20*24)) * time.Hour)
			w.Off = []Interval{{from, from.Add(time.Duration(r.IntN(100)) * time.Hour)}}
		}
		m := metric(of, []string{"max", "p95"}[n/2%2], 1+r.IntN(16))
		var recent Recent
		recent.Reset(midnight)
		for day, values := range h[of] {
			start, err := time.Parse(time.DateOnly, day)
			if err != nil {
				t.Fatal(err)
			}
			recent.Add(start, Series{Measure: of, Hours: values})
		}
		got, known := recent.Answer(m, w)
		want, wantKnown := reference(h, m, w)
		if seen[known]++; got != want || known != wantKnown {
			if wantKnown == TooYoung && known == NotCollected && len(h[of]) == 0 {
				continue // both are true
			}
			t.Fatalf("%d: %s of %d days of %s = %v, %d; want %v, %d", n, m.RollUp, m.Days, of.Metric, got, known, want,
				wantKnown)
		}
	}
	for k := Known; k <= TooYoung; k++ {
		if seen[k] == 0 {
			t.Errorf("no case is of knowledge %d", k)
		}
	}
}

func TestRecent_SelectsTheNthValue(t *testing.T) {
	r := seed.Fixed(t, 22, 2)
	for n := range 2000 {
		values := make([]float64, 1+n%60)
		for i := range values {
			values[i] = float64(r.IntN(1 + n%25))
		}
		sorted := slices.Sorted(slices.Values(values))
		for i := range sorted {
			if got := selectNth(slices.Clone(values), i); got != sorted[i] {
				t.Fatalf("value %d of %v = %v; want %v", i, values, got, sorted[i])
			}
		}
	}
}

func TestRecent_IsReusedWithoutTheFormerResource(t *testing.T) {
	var r Recent
	r.Reset(midnight)
	day := midnight.AddDate(0, 0, -1)
	r.Add(day, NewSeries("i-1", cpu, day, points(day, func(int) float64 { return 9 })))
	if v, known := r.Answer(metric(cpu, "max", 1), old); v != 9 || known != Known {
		t.Fatalf("%v, %d; want 9", v, known)
	}
	r.Reset(midnight)
	if v, known := r.Answer(metric(cpu, "max", 1), old); known != NotCollected {
		t.Errorf("the next resource has %v, %d; want it not collected", v, known)
	}
	r.Add(midnight, NewSeries("i-2", cpu, midnight, points(midnight, func(int) float64 { return 1 })))
	early := midnight.AddDate(0, 0, -36)
	r.Add(early, NewSeries("i-2", cpu, early, points(early, func(int) float64 { return 1 })))
	if _, known := r.Answer(metric(cpu, "max", 1), old); known != NotCollected {
		t.Errorf("days outside the window count: %d", known)
	}
}

func TestRecent_RollsUpWithoutAllocation(t *testing.T) {
	var r Recent
	r.Reset(midnight)
	for ago := range 14 {
		day := midnight.AddDate(0, 0, -1-ago)
		r.Add(day, NewSeries("i-1", cpu, day, points(day, func(h int) float64 { return float64(h * ago % 17) })))
	}
	m := metric(cpu, "p99.5", 14)
	r.Answer(m, old)
	if n := testing.AllocsPerRun(100, func() { r.Answer(m, old) }); n != 0 {
		t.Errorf("%v allocations; want none", n)
	}
}

func BenchmarkRecent_PercentileOfAFortnight(b *testing.B) {
	var r Recent
	r.Reset(midnight)
	random := seed.Fixed(b, 22, 3)
	for ago := range 14 {
		day := midnight.AddDate(0, 0, -1-ago)
		r.Add(day, NewSeries("i-1", cpu, day, points(day, func(int) float64 { return random.Float64() * 100 })))
	}
	m := metric(cpu, "p95", 14)
	b.ReportAllocs()
	for b.Loop() {
		r.Answer(m, old)
	}
}
