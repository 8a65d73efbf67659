package billfile

import (
	"bytes"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/fault"
)

// slashedPeriod holds the dates with slashes of a row in FOCUS form. FOCUS demands dates of ISO 8601, but spreadsheets
// and examples have 4/1/2026, which is April 1 in some countries and January 4 in others. Such dates are read only if
// the row proves their order.
type slashedPeriod struct {
	start, end, chargeStart, chargeEnd string // empty for dates without slashes

	endTime time.Time // unused
}

func (p *slashedPeriod) used() bool {
	return p.start != "" || p.chargeStart != "" || p.chargeEnd != ""
}

// The shortest and the longest billing period of a month. Only one order of day and month gives such a period.
const (
	shortestMonth = 27 * 24 * time.Hour
	longestMonth  = 32 * 24 * time.Hour
)

// read sets the times of a charge. It returns an error unless all possible orders of day and month agree.
func (p *slashedPeriod) read(c *bill.Charge) error {
	us, american := p.inOrder(c, func(s string) string { return s })
	eu, european := p.inOrder(c, swapDayAndMonth)
	switch {
	case american && (!european || sameTimes(&us, &eu)):
		*c = us
	case european && !american:
		*c = eu
	default:
		return fault.New(fault.Invalid,
			"%.40q is not a date of FOCUS: day and month cannot be told apart; write dates like 2026-03-01T00:00:00Z",
			firstFilled(p.start, p.chargeStart, p.chargeEnd))
	}
	return nil
}

func sameTimes(a, b *bill.Charge) bool {
	return a.BillingPeriodStart.Equal(b.BillingPeriodStart) && a.ChargePeriodStart.Equal(b.ChargePeriodStart) &&
		a.ChargePeriodEnd.Equal(b.ChargePeriodEnd)
}

// inOrder reads the dates in one order of day and month. It returns false if a date is none in that order, or if the
// billing period is not a month.
func (p *slashedPeriod) inOrder(c *bill.Charge, order func(string) string) (out bill.Charge, ok bool) {
	out = *c
	end := p.endTime
	for _, d := range []struct {
		text string
		at   *time.Time
	}{
		{p.start, &out.BillingPeriodStart},
		{p.end, &end},
		{p.chargeStart, &out.ChargePeriodStart},
		{p.chargeEnd, &out.ChargePeriodEnd},
	} {
		if d.text == "" {
			continue
		}
		at, err := parseTime([]byte(order(d.text)))
		if err != nil {
			return out, false
		}
		*d.at = at
	}
	length := end.Sub(out.BillingPeriodStart)
	return out, p.start == "" || end.IsZero() || length >= shortestMonth && length <= longestMonth
}

// swapDayAndMonth exchanges the first two parts of a date with slashes.
func swapDayAndMonth(s string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(s), "/")
	second, rest, found := strings.Cut(rest, "/")
	if !found {
		return s
	}
	return second + "/" + first + "/" + rest
}

// timeOf returns the conversion of a column of Parquet to times. It refuses texts with slashes where CSV would read
// them with the other dates of the row.
func (b *binding) timeOf(t parquet.Type) func(*parquet.Value) (time.Time, error) {
	convert := timeOf(t)
	if b.slashed == nil || t.Kind() != parquet.ByteArray {
		return convert
	}
	return func(v *parquet.Value) (time.Time, error) {
		if bytes.IndexByte(v.ByteArray(), '/') >= 0 {
			return time.Time{}, fault.New(fault.Invalid,
				"%.40q is not a date of FOCUS; write dates like 2026-03-01T00:00:00Z", v.ByteArray())
		}
		return convert(v)
	}
}
