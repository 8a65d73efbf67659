package measurement

import (
	"math"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
)

// enough is the minimum share of the points of a window. With fewer points a metric is unknown.
const enough = 0.7

// Window is the time range of a metric: the days before End, which is the first moment of a day. Since is when the
// resource was created, or else first seen. Off are the times when it was stopped. They are excluded, and do not count
// as idle.
type Window struct {
	End, Since time.Time
	Off        []Interval
}

// Interval is the time from From until before To.
type Interval struct{ From, To time.Time }

func (w Window) isOff(at time.Time) bool {
	return slices.ContainsFunc(w.Off, func(i Interval) bool { return !at.Before(i.From) && at.Before(i.To) })
}

// Answer returns the value of a metric, in its unit. It returns false if the value is unknown: the resource is younger
// than the window, or fewer than 70 % of the points exist. For a count, an hour without points on a collected day is
// 0.
func (h History) Answer(m cloud.Metric, w Window) (float64, bool) {
	if m.RollUp == "last" {
		return h.last(m, w.End)
	}
	start := w.End.AddDate(0, 0, -m.Days)
	if w.Since.After(start) {
		return 0, false
	}
	var values []float64
	expected, have := 0, 0
	for day := start; day.Before(w.End); day = day.AddDate(0, 0, 1) {
		var ofDay []float64
		for hour := range hours {
			if w.isOff(day.Add(time.Duration(hour) * time.Hour)) {
				continue
			}
			expected++
			if v, ok := h.at(m, DayOf(day), hour); ok {
				have++
				ofDay = append(ofDay, v)
			}
		}
		if m.Daily && len(ofDay) > 0 {
			ofDay = []float64{foldDay(m.Of[0].Statistic, ofDay)}
		}
		values = append(values, ofDay...)
	}
	if len(values) == 0 || float64(have) < enough*float64(expected) {
		return 0, false
	}
	return rollUp(m.RollUp, values) * m.Factor, true
}

// late is how many days the last value of a day may be late. Bucket sizes are reported for the day before, and some a
// day later.
const late = 2

// last returns the newest value of a measure that providers report once a day, such as a size.
func (h History) last(m cloud.Metric, end time.Time) (float64, bool) {
	for day := end.AddDate(0, 0, -1); !day.Before(end.AddDate(0, 0, -m.Days-late)); day = day.AddDate(0, 0, -1) {
		for hour := hours - 1; hour >= 0; hour-- {
			if v, ok := h.at(m, DayOf(day), hour); ok {
				return v * m.Factor, true
			}
		}
	}
	return 0, false
}

// at returns the value of an hour: the sum of the metric's measures.
func (h History) at(m cloud.Metric, day string, hour int) (float64, bool) {
	sum := 0.0
	for _, of := range m.Of {
		values, asked := h[of][day]
		v := float64(values[hour])
		switch {
		case !asked, math.IsNaN(v) && !of.IsCount():
			return 0, false
		case !math.IsNaN(v):
			sum += v
		}
	}
	return sum, true
}

// foldDay computes the value of a day from its hours, like the provider's statistic of a day.
func foldDay(statistic string, values []float64) float64 {
	switch statistic {
	case "Maximum", "ALIGN_MAX", "ALIGN_PERCENTILE_99", "max", "p99":
		return slices.Max(values)
	case "Minimum", "ALIGN_MIN", "min":
		return slices.Min(values)
	case "Average", "ALIGN_MEAN", "avg":
		return total(values) / float64(len(values))
	}
	return total(values)
}

func rollUp(how string, values []float64) float64 {
	switch how {
	case "max":
		return slices.Max(values)
	case "min":
		return slices.Min(values)
	case "avg":
		return total(values) / float64(len(values))
	case "p95":
		return percentile(values, 0.95)
	case "p99":
		return percentile(values, 0.99)
	case "p99.5":
		return percentile(values, 0.995)
	}
	return total(values)
}

func total(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum
}

// percentile returns the smallest value that at least the share of the values do not exceed: the nearest rank.
func percentile(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(int(math.Ceil(share*float64(len(sorted))))-1, 0)]
}
