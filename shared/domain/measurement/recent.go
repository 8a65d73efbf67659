package measurement

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

// maxDays is the greatest number of days before the end of a window that a Recent holds.
const maxDays = 35

// Recent holds the measurements of one resource on the last 35 days, so that metrics are rolled up without allocation.
// It is reused: Reset begins another resource. One goroutine uses it.
type Recent struct {
	end    time.Time // of the days that are held
	until  time.Time // the end that readers see, back days before end
	back   int
	rows   []*row // the first used ones are of the resource
	used   int
	found  []*row    // of the present metric
	values []float64 // of the present metric
}

// row is a measure of the resource.
type row struct {
	cloud.Measure
	isCount bool
	days    uint64 // bit n: the day n days before the end was collected
	hours   [maxDays][hours]float32
}

// Reset removes all measurements. End is the first moment of the day after the last one.
func (r *Recent) Reset(end time.Time) { r.end, r.until, r.back, r.used = end, end, 0, 0 }

// Rewind lets the measurements be read as of some days before the end given to Reset. Rewind(0) undoes it.
func (r *Recent) Rewind(days int) { r.back, r.until = days, r.end.AddDate(0, 0, -days) }

// Add adds a measure of the resource on the day that begins at day. A day outside the last 35 is left out.
func (r *Recent) Add(day time.Time, s Series) { r.rowOf(s.Measure).add(r.daysAgo(day), s.Hours) }

// AddDays adds a measure of the resource on days that are given by their names. DateOf returns the first moment of a
// day by its name.
func (r *Recent) AddDays(m cloud.Measure, days map[string][hours]float32, dateOf func(name string) time.Time) {
	one := r.rowOf(m)
	for name, values := range days {
		one.add(r.daysAgo(dateOf(name)), values)
	}
}

// daysAgo returns how many days before the end a day begins.
func (r *Recent) daysAgo(day time.Time) int {
	const halfDay = 12 * time.Hour
	return int((r.end.Sub(day) + halfDay) / (hours * time.Hour))
}

// add keeps the values of a day that is not too long ago.
func (w *row) add(ago int, values [hours]float32) {
	if ago < 1 || ago > maxDays {
		return
	}
	w.days |= 1 << ago
	w.hours[ago-1] = values
}

// Days are a measure of a resource on the last days. The zero value has none.
type Days struct {
	row  *row
	back int
}

// Days returns a measure of the resource. It is valid until the next Reset or Rewind.
func (r *Recent) Days(m cloud.Measure) Days { return Days{r.find(m), r.back} }

// Hours returns the values of the day that begins ago days before the end, NaN for an hour without a value. It returns
// nil if the day was not collected. The values must not be changed.
func (d Days) Hours(ago int) *[hours]float32 {
	ago += d.back
	if d.row == nil || ago < 1 || ago > maxDays || d.row.days>>ago&1 == 0 {
		return nil
	}
	return &d.row.hours[ago-1]
}

// rowOf returns the row of a measure, a new one if there is none.
func (r *Recent) rowOf(m cloud.Measure) *row {
	if one := r.find(m); one != nil {
		return one
	}
	if r.used == len(r.rows) {
		r.rows = append(r.rows, &row{})
	}
	one := r.rows[r.used]
	one.Measure, one.isCount, one.days = m, m.IsCount(), 0
	r.used++
	return one
}

func (r *Recent) find(m cloud.Measure) *row {
	for _, one := range r.rows[:r.used] {
		if one.Measure == m {
			return one
		}
	}
	return nil
}

// rowsOf returns the rows of a metric's measures, and whether all were collected.
func (r *Recent) rowsOf(m cloud.Metric) (rows []*row, collected bool) {
	r.found = r.found[:0]
	for _, of := range m.Of {
		one := r.find(of)
		if one == nil {
			return nil, false
		}
		r.found = append(r.found, one)
	}
	return r.found, len(r.found) > 0
}

// rollUp returns a statistic of values. It may change their order.
func rollUp(how string, values []float64) float64 {
	switch how {
	case "max":
		return slices.Max(values)
	case "min":
		return slices.Min(values)
	case "avg":
		return total(values) / float64(len(values))
	}
	if digits, ok := strings.CutPrefix(how, "p"); ok {
		if percent, err := strconv.ParseFloat(digits, 64); err == nil {
			return percentile(values, percent/100)
		}
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

// percentile returns the smallest value that at least the share of the values do not exceed: the nearest rank. It
// changes the order of the values.
func percentile(values []float64, share float64) float64 {
	return selectNth(values, max(int(math.Ceil(share*float64(len(values))))-1, 0))
}

// selectNth returns the value that would be at index n if the values were in order. It takes linear time on average.
func selectNth(values []float64, n int) float64 {
	for low, high := 0, len(values)-1; low < high; {
		i, j := partition(values, low, high)
		switch {
		case n <= j:
			high = j
		case n >= i:
			low = i
		default:
			return values[n]
		}
	}
	return values[n]
}

// partition moves the values from low to high that are at most a pivot before those that are at least the pivot. The
// former end at j and the latter begin at i.
func partition(values []float64, low, high int) (i, j int) {
	pivot := values[low+(high-low)/2]
	for i, j = low, high; i <= j; {
		for values[i] < pivot {
			i++
		}
		for values[j] > pivot {
			j--
		}
		if i <= j {
			values[i], values[j] = values[j], values[i]
			i, j = i+1, j-1
		}
	}
	return i, j
}
