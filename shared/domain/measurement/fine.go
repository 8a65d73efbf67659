package measurement

import (
	"math"
	"time"

	"lamplighter.dev/shared/cloud"
)

// FinePeriod is the length of the buckets in which metrics are confirmed: hourly means hide peaks.
const FinePeriod = 5 * time.Minute

// Fine computes metrics of one resource from points of 5 minutes.
type Fine struct {
	From, To time.Time // of the points
	buckets  map[cloud.Measure][]float64
}

// Add adds the points of a measure. Points outside the time range are left out.
func (f *Fine) Add(m cloud.Measure, p cloud.Points) {
	if f.buckets == nil {
		f.buckets = map[cloud.Measure][]float64{}
	}
	all := f.buckets[m]
	if all == nil {
		all = make([]float64, int(f.To.Sub(f.From)/FinePeriod))
		for i := range all {
			all[i] = math.NaN()
		}
		f.buckets[m] = all
	}
	for i, at := range p.Times {
		if n := int(at.Sub(f.From) / FinePeriod); !at.Before(f.From) && n < len(all) {
			all[n] = p.Values[i]
		}
	}
}

// Answer returns the value of a metric, in its unit, over the last days of its window before To. It returns false if
// fewer than 70 % of the points exist, or a measure was not read: that is not added. For a count that was, a bucket
// without a point is 0.
func (f *Fine) Answer(m cloud.Metric) (float64, bool) {
	points := m.Days * int(24*time.Hour/FinePeriod)
	values := make([]float64, 0, points)
	for n := range points {
		if v, ok := f.sumOf(m, n-points); ok {
			values = append(values, v)
		}
	}
	if len(values) == 0 || float64(len(values)) < enough*float64(points) {
		return 0, false
	}
	return rollUp(m.RollUp, values) * fineFactor(m), true
}

// sumOf returns the sum of a metric's measures in a bucket, counted backwards from To: -1 is the last one.
func (f *Fine) sumOf(m cloud.Metric, n int) (sum float64, ok bool) {
	for _, of := range m.Of {
		all := f.buckets[of]
		if len(all)+n < 0 || len(all) == 0 {
			return 0, false // nobody has asked for it
		}
		v := all[len(all)+n]
		if math.IsNaN(v) {
			if !of.IsCount() {
				return 0, false
			}
			v = 0
		}
		sum += v
	}
	return sum, true
}

// fineFactor returns the factor of a metric for points of 5 minutes. That of a count turns the count of an hour into a
// rate a second.
func fineFactor(m cloud.Metric) float64 {
	if m.Of[0].IsCount() {
		return m.Factor * float64(time.Hour/FinePeriod)
	}
	return m.Factor
}

// CanConfirm reports whether a metric can be computed from points of 5 minutes: one of single hours, not of whole days,
// sums or newest values.
func CanConfirm(m cloud.Metric) bool {
	return len(m.Of) > 0 && len(m.Over) == 0 && !m.Daily && m.RollUp != "sum" && m.RollUp != "last"
}
