package measurement

import (
	"math"
	"time"

	"lamplighter.dev/shared/cloud"
)

// hours is how many hours a day has.
const hours = 24

// Series is a measure of a resource over a day: the value of each hour, NaN for an hour that the provider has no value
// for. A series of NaN alone says that the provider was asked.
type Series struct {
	UID     string
	Measure cloud.Measure
	Hours   [hours]float32
}

// NewSeries returns the hourly series of points of the day that begins at day.
func NewSeries(uid string, m cloud.Measure, day time.Time, p cloud.Points) Series {
	s := Series{UID: uid, Measure: m}
	for h := range s.Hours {
		s.Hours[h] = float32(math.NaN())
	}
	for i, at := range p.Times {
		if h := int(at.Sub(day) / time.Hour); h >= 0 && h < hours && !at.Before(day) {
			s.Hours[h] = round(p.Values[i])
		}
	}
	return s
}

// round keeps 12 of the 24 bits of a number's precision, one part in 4,000. That halves the compressed size.
func round(v float64) float32 {
	const dropped = 12
	bits := math.Float32bits(float32(v))
	return math.Float32frombits((bits + 1<<(dropped-1)) &^ (1<<dropped - 1))
}

// Sketch sums a series up.
type Sketch struct {
	Min, Max, Sum float64
	Count         int // number of hours with a value
}

// Sketch returns the minimum, maximum, sum and number of the hours.
func (s Series) Sketch() Sketch {
	k := Sketch{Min: math.Inf(1), Max: math.Inf(-1)}
	for _, v := range s.Hours {
		if f := float64(v); !math.IsNaN(f) {
			k.Min, k.Max, k.Sum, k.Count = min(k.Min, f), max(k.Max, f), k.Sum+f, k.Count+1
		}
	}
	return k
}
