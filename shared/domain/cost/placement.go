package cost

import (
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/fault"
)

// A bill contains charges of other times than its month: refunds of earlier months, usage that the provider learned of
// late, and the second half of a billing period from the 15th to the 14th. All of them are part of the invoice, so they
// count in the month of the bill, on the day that is nearest to their own. Line items keep their own dates.

// placement is the day of the month, from 0, on which a charge counts, and its value of ClassDim.
type placement struct {
	day   int
	class string
}

// clockSkew is how far usage may be dated outside of its month without being late: providers bill by their own clocks.
const clockSkew = day

// place returns the placement of a charge. It returns fault.Invalid for a charge of another billing period.
func (b *Builder) place(c *bill.Charge) (placement, error) {
	start, end, at := b.in.Month.Start(), b.in.Month.End(), c.ChargePeriodStart
	within := !at.Before(start) && at.Before(end)
	switch {
	case c.BillingPeriodStart.IsZero() && !within:
		return placement{}, b.strayed("charge period", at)
	case !c.BillingPeriodStart.IsZero() && MonthOf(c.BillingPeriodStart) != b.in.Month:
		return placement{}, b.strayed("billing period", c.BillingPeriodStart)
	}
	out := placement{day: daysBetween(start, b.in.Month.DayOf(at))}
	switch {
	case c.ChargeClass == bill.Correction:
		out.class = Correction
	case c.ChargeCategory == bill.Usage && (at.Before(start.Add(-clockSkew)) || at.After(end.Add(clockSkew))):
		out.class = Late
	}
	return out, nil
}

func (b *Builder) strayed(what string, at time.Time) error {
	return fault.New(fault.Invalid, "the %s of a charge begins on %s, but the delivery is of %s", what,
		at.UTC().Format(time.DateOnly), b.in.Month)
}

// countPlacement counts the charges that are not ordinary, and notes the last day with usage. A bill with usage from
// after its month covers the whole month; other late usage and corrections do not show how far a bill goes.
func (b *Builder) countPlacement(c *bill.Charge, at placement) {
	switch {
	case at.class == Correction:
		b.corrections++
		return
	case at.class == Late:
		b.late++
		if c.ChargePeriodStart.Before(b.in.Month.Start()) {
			return
		}
	case c.ChargeCategory != bill.Usage:
		return
	}
	b.through = max(b.through, at.day)
}
