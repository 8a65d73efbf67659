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

// Knowledge says whether the value of a metric is known, and if not, why.
type Knowledge uint8

// Known and the reasons why a value is unknown.
const (
	Known        Knowledge = iota
	NotCollected           // no day of the window was collected
	NoPoints               // days were collected, and have no points
	TooFewPoints           // fewer than 70 % of the points exist
	TooYoung               // the resource is younger than the window
)

// Answer returns the value of a metric, in its unit. It returns false if the value is unknown: the resource is younger
// than the window, or fewer than 70 % of the points exist. For a count, an hour without points on a collected day is
// 0.
func (h History) Answer(m cloud.Metric, w Window) (float64, bool) {
	var r Recent
	r.Reset(w.End)
	for measure, days := range h {
		r.AddDays(measure, days, func(name string) time.Time {
			day, _ := time.Parse(time.DateOnly, name) // another name is long ago
			return day
		})
	}
	v, known := r.Answer(m, w)
	return v, known == Known
}

// Answer returns the value of a metric, in its unit, as of the end given to Reset and Rewind, and whether it is known.
// For a count, an hour without points on a collected day is 0. w.End is not read.
func (r *Recent) Answer(m cloud.Metric, w Window) (float64, Knowledge) {
	if len(m.Over) > 0 {
		return r.ratio(m, w)
	}
	rows, collected := r.rowsOf(m)
	switch {
	case !collected:
		return 0, NotCollected
	case m.RollUp == "last":
		return r.last(m, rows)
	case w.Since.After(r.dayAgo(m.Days)):
		return 0, TooYoung
	}
	t := r.gather(m, w, rows)
	switch {
	case t.asked == 0:
		return 0, NotCollected
	case len(r.values) == 0 && float64(t.asked) >= enough*float64(t.expected):
		return 0, NoPoints
	case len(r.values) == 0 || float64(t.have) < enough*float64(t.expected):
		return 0, TooFewPoints
	}
	return rollUp(m.RollUp, r.values) * m.Factor, Known
}

// dayAgo returns when a day began, some days before the end. Days are in UTC, so each has 24 hours.
func (r *Recent) dayAgo(days int) time.Time {
	return r.until.Add(-time.Duration(days) * hours * time.Hour)
}

// ratio returns the sum of a metric's measures, divided by the sum of those that it is over. It is 0 if nothing of both
// happened, and unknown if the sum below is 0 alone.
func (r *Recent) ratio(m cloud.Metric, w Window) (float64, Knowledge) {
	part := cloud.Metric{Of: m.Of, RollUp: "sum", Days: m.Days, Factor: 1}
	whole := part
	whole.Of = m.Over
	above, known := r.Answer(part, w)
	if known != Known {
		return 0, known
	}
	below, known := r.Answer(whole, w)
	switch {
	case known != Known:
		return 0, known
	case below > 0:
		return above / below * m.Factor, Known
	case above > 0:
		return 0, NoPoints
	}
	return 0, Known
}

// tally counts the hours of a window that were not off.
type tally struct {
	expected int // all
	asked    int // on days that were collected
	have     int // with a value
}

// gather puts the values of a window into r.values: those of hours, or of days.
func (r *Recent) gather(m cloud.Metric, w Window, rows []*row) tally {
	var t tally
	r.values = r.values[:0]
	for ago := min(m.Days, maxDays-r.back); ago >= 1; ago-- {
		start := len(r.values)
		r.gatherDay(&t, w, rows, ago)
		if m.Daily && len(r.values) > start {
			r.values = append(r.values[:start], foldDay(m.Of[0].Statistic, r.values[start:]))
		}
	}
	t.expected += max(m.Days-maxDays+r.back, 0) * hours
	return t
}

// gatherDay appends the values of the hours of a day that were not off.
func (r *Recent) gatherDay(t *tally, w Window, rows []*row, ago int) {
	asked := isCollected(rows, ago+r.back)
	if len(w.Off) == 0 && (!asked || len(rows) == 1) {
		r.gatherWhole(t, rows[0], ago+r.back, asked)
		return
	}
	for hour := range hours {
		if len(w.Off) > 0 && w.isOff(r.dayAgo(ago).Add(time.Duration(hour)*time.Hour)) {
			continue
		}
		t.expected++
		if !asked {
			continue
		}
		t.asked++
		if v, ok := sumOf(rows, ago+r.back, hour); ok {
			t.have++
			r.values = append(r.values, v)
		}
	}
}

// gatherWhole is gatherDay for a day on which the resource was never off, and one measure. Most days are so.
func (r *Recent) gatherWhole(t *tally, one *row, ago int, asked bool) {
	t.expected += hours
	if !asked {
		return
	}
	t.asked += hours
	before := len(r.values)
	for _, v := range &one.hours[ago-1] {
		switch {
		case v == v: //nolint:gocritic // NaN is no value, and this is the fastest test for it
			r.values = append(r.values, float64(v))
		case one.isCount:
			r.values = append(r.values, 0)
		}
	}
	t.have += len(r.values) - before
}

// late is how many days the last value of a day may be late. Bucket sizes are reported for the day before, and some a
// day later.
const late = 2

// last returns the newest value of a measure that providers report once a day, such as a size.
func (r *Recent) last(m cloud.Metric, rows []*row) (float64, Knowledge) {
	known := NotCollected
	for ago := 1 + r.back; ago <= min(m.Days+late+r.back, maxDays); ago++ {
		if !isCollected(rows, ago) {
			continue
		}
		known = NoPoints
		for hour := hours - 1; hour >= 0; hour-- {
			if v, ok := sumOf(rows, ago, hour); ok {
				return v * m.Factor, Known
			}
		}
	}
	return 0, known
}

// isCollected reports whether a day was collected for all measures.
func isCollected(rows []*row, ago int) bool {
	for _, one := range rows {
		if one.days>>ago&1 == 0 {
			return false
		}
	}
	return true
}

// sumOf returns the value of an hour of a collected day: the sum of the measures. An hour without points is 0 for a
// count, and has no value for another measure.
func sumOf(rows []*row, ago, hour int) (sum float64, ok bool) {
	for _, one := range rows {
		v := float64(one.hours[ago-1][hour])
		switch {
		case !math.IsNaN(v):
			sum += v
		case !one.isCount:
			return 0, false
		}
	}
	return sum, true
}

// foldDay computes the value of a day from its hours, like the provider's statistic of a day.
func foldDay(statistic string, values []float64) float64 {
	switch statistic {
	case "Maximum", "ALIGN_MAX", "ALIGN_PERCENTILE_99", "max", "gauge", "p99":
		return slices.Max(values)
	case "Minimum", "ALIGN_MIN", "min":
		return slices.Min(values)
	case "Average", "ALIGN_MEAN", "avg":
		return total(values) / float64(len(values))
	}
	return total(values)
}
