package condition

import (
	"math"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/measurement"
)

// day is the end of the windows of the tests.
var day = time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC)

// hourly adds a value for each hour of the last days to all measures of a metric.
func hourly(r *measurement.Recent, kind, metric string, days int, value float64) {
	for _, m := range cloud.MetricsOf(kind) {
		if m.Name != metric {
			continue
		}
		for ago := 1; ago <= days; ago++ {
			start := day.AddDate(0, 0, -ago)
			var p cloud.Points
			for hour := range 24 {
				if !math.IsNaN(value) {
					p.Times = append(p.Times, start.Add(time.Duration(hour)*time.Hour))
					p.Values = append(p.Values, value)
				}
			}
			for _, of := range m.Of {
				r.Add(start, measurement.NewSeries("i-1", of, start, p))
			}
		}
	}
}

func TestRollups_SayWhyAMetricIsUnknown(t *testing.T) {
	none := math.NaN()
	for what, tt := range map[string]struct {
		metric string
		days   int
		value  float64
		since  time.Time
		want   Measured
	}{
		"a fortnight of points":     {"cpu_max_14d", 14, 40, time.Time{}, Measured{Value: 40}},
		"two measures are added up": {"net_bytes_day_max_14d", 14, 10, time.Time{}, Measured{Value: 480}},
		"nine days of fourteen":     {"cpu_max_14d", 9, 40, time.Time{}, Measured{Reason: TooFewPoints}},
		"ten days of fourteen":      {"cpu_max_14d", 10, 40, time.Time{}, Measured{Value: 40}},
		"queried, and no points":    {"cpu_max_14d", 14, none, time.Time{}, Measured{Reason: NoPoints}},
		"a count without points":    {"surplus_charged_sum_14d", 14, none, time.Time{}, Measured{}},
		"a count that was not queried": {
			"surplus_charged_sum_14d", 0, none, time.Time{}, Measured{Reason: NotCollected},
		},
		"younger than the window": {"cpu_max_14d", 14, 40, day.AddDate(0, 0, -13), Measured{Reason: TooYoung}},
		"an agent measures it": {
			"mem_max_14d", 0, none,
			time.Time{},
			Measured{Reason: NeedsAgent, Detail: "CWAgent mem_used_percent"},
		},
		"nothing collects it": {
			"status_failed_max_1d", 0, none,
			time.Time{},
			Measured{Reason: NotCollected, Detail: "AWS/EC2 StatusCheckFailed"},
		},
		"another source knows it": {"running_hours_7d", 0, none, time.Time{}, Measured{Value: 168}},
	} {
		r := Rollups{Kind: "aws-ec2", Since: tt.since, Others: Fixed{"running_hours_7d": {Value: 168}}}
		r.Recent.Reset(day)
		hourly(&r.Recent, r.Kind, tt.metric, tt.days, tt.value)
		if got := r.Statistic(tt.metric); got != tt.want {
			t.Errorf("%s: %+v; want %+v", what, got, tt.want)
		}
	}
}

// counted counts how often each metric is computed.
type counted struct {
	Source
	times map[string]int
}

func (c counted) Statistic(name string) Measured {
	c.times[name]++
	return c.Source.Statistic(name)
}

func TestMetrics_AreComputedOnceAndOnlyIfAConditionReadsThem(t *testing.T) {
	all := rules(t)
	s := all.subject(t, "aws-ec2")
	fill(t, s, machine(1), 1)
	source := counted{level(1), map[string]int{}}
	s.Metrics.Reset(source)
	if len(source.times) > 0 {
		t.Fatalf("computed before an evaluation: %v", source.times)
	}
	for range 2 {
		for _, c := range all.byType["aws-ec2"] {
			s.Evaluate(c, c.Default())
		}
	}
	for name, n := range source.times {
		if n != 1 {
			t.Errorf("%s was computed %d times; want once", name, n)
		}
	}
	if declared := len(s.Metrics.fields); len(source.times) == 0 || len(source.times) >= declared {
		t.Errorf("%d of %d metrics were computed; want those that conditions reached", len(source.times), declared)
	}
	s.Metrics.Reset(level(2))
	if got := s.Metrics.Value("cpu_max_14d"); got.Value != 2 {
		t.Errorf("the next resource has %v; want 2", got)
	}
}

var nan = math.NaN()
