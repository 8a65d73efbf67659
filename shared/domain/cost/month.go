package cost

import (
	"encoding/json"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// Month is a calendar month in UTC: the number of months since the beginning of year 0.
type Month int32

const monthLayout = "2006-01"

// MonthOf returns the month of t.
func MonthOf(t time.Time) Month {
	t = t.UTC()
	return Month(t.Year()*12 + int(t.Month()) - 1)
}

// ParseMonth parses a month like "2026-03"; other texts are fault.Invalid.
func ParseMonth(s string) (Month, error) {
	t, err := time.Parse(monthLayout, s)
	if err != nil {
		return 0, fault.NewWithCause(fault.Invalid, err, "%.32q is no month; one looks like 2026-03", s)
	}
	return MonthOf(t), nil
}

// String returns m as "2026-03".
func (m Month) String() string { return m.Start().Format(monthLayout) }

// Start returns the first moment of m.
func (m Month) Start() time.Time {
	return time.Date(int(m)/12, time.Month(int(m)%12+1), 1, 0, 0, 0, 0, time.UTC)
}

// End returns the first moment after m.
func (m Month) End() time.Time { return m.Add(1).Start() }

// Add returns the month n months later.
func (m Month) Add(n int) Month { return m + Month(n) }

// Days returns the number of days in m.
func (m Month) Days() int { return daysBetween(m.Start(), m.End()) }

// MarshalJSON encodes m as String does.
func (m Month) MarshalJSON() ([]byte, error) { return json.Marshal(m.String()) }

// UnmarshalJSON decodes the form of MarshalJSON.
func (m *Month) UnmarshalJSON(b []byte) error {
	var s string
	err := json.Unmarshal(b, &s)
	if err == nil {
		*m, err = ParseMonth(s)
	}
	return err
}

const day = 24 * time.Hour

// daysBetween counts the days from one midnight in UTC to another.
func daysBetween(from, to time.Time) int { return int(to.Sub(from) / day) }

// midnight returns the beginning of the day of t in UTC.
func midnight(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}
