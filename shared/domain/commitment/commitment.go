// Package commitment computes what a commitment to spend would save: a savings plan, a reservation or a committed use
// discount. It knows three levels of commitment, tests them on the past, and never buys anything. It has no store and
// no cloud's SDK. docs/commitments.md explains the formulas with an example.
package commitment

import (
	"slices"
	"time"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Kind is the kind of a commitment.
type Kind string

// The kinds.
const (
	Plan        Kind = "plan"        // a savings plan: an amount an hour, for machines of every family
	Reservation Kind = "reservation" // machines of one family in one region
	CUD         Kind = "cud"         // a committed use discount of Google
)

// Payment is when a commitment is paid.
type Payment string

// The payments. Empty is an unknown one.
const (
	NoUpfront      Payment = "none"
	PartialUpfront Payment = "partial"
	AllUpfront     Payment = "all"
)

// Offer is a commitment that can be bought.
type Offer struct {
	Kind    Kind    `json:"kind"`
	Years   int     `json:"years,omitempty"`   // the term: 1 or 3; 0 if the source of the rate does not say
	Payment Payment `json:"payment,omitempty"` // empty if the source of the rate does not say
	// Rate is what the committed use of 1 USD on demand costs, above 0 and below 1. The discount is 1 less the rate.
	Rate   money.Amount `json:"rate"`
	Source string       `json:"source"` // where the rate is from: FromBill, or a price list with its version
}

// FromBill is the source of a rate that the organization pays: effective cost of its committed use by its public price.
const FromBill = "bill"

var one = money.FromInt(1)

// check returns fault.Invalid for an offer that cannot save anything.
func (o *Offer) check() error {
	if o.Rate.Sign() <= 0 || o.Rate.Cmp(one) >= 0 {
		return fault.New(fault.Invalid, "rate: %s of a %s is not between 0 and 1; an offer costs less than on demand",
			o.Rate, o.Kind)
	}
	return nil
}

// Basis is the length of the periods of a use.
type Basis string

// The bases. Where bills have only days, use within a day counts as even: peaks within a day are not seen.
const (
	Hourly Basis = "hourly"
	Daily  Basis = "daily"
)

// hours returns the length of a period in hours.
func (b Basis) hours() int64 {
	if b == Hourly {
		return 1
	}
	return hoursPerDay
}

const (
	hoursPerDay   = 24
	hoursPerMonth = 730
)

// Use is the cost on demand of what a commitment would cover, by period: in USD, as it was billed without commitments.
type Use struct {
	Basis Basis
	From  time.Time      // the beginning of the first period
	Cost  []money.Amount // by period, without gaps; none is negative
}

// Less returns the use without waste: an amount of USD a month that other recommendations will save. No period falls
// below 0.
func (u Use) Less(month money.Amount) Use {
	if month.Sign() <= 0 {
		return u
	}
	waste := month.MulInt(u.Basis.hours()).DivInt(hoursPerMonth)
	u.Cost = slices.Clone(u.Cost)
	for i, cost := range u.Cost {
		if u.Cost[i] = cost.Sub(waste); u.Cost[i].Sign() < 0 {
			u.Cost[i] = money.Amount{}
		}
	}
	return u
}

// last returns the periods of the last days, or all if there are fewer.
func (u *Use) last(days int) []money.Amount {
	n := days * hoursPerDay / int(u.Basis.hours())
	return u.Cost[max(0, len(u.Cost)-n):]
}

// days returns the number of whole days of the use.
func (u *Use) days() int { return len(u.Cost) * int(u.Basis.hours()) / hoursPerDay }

// sorted returns costs in ascending order.
func sorted(costs []money.Amount) []money.Amount {
	out := slices.Clone(costs)
	slices.SortFunc(out, money.Amount.Cmp)
	return out
}

// Quantile returns the smallest cost that at least a share q of the costs do not exceed; 0 of no costs, or for q of 0
// or less. The costs are in ascending order.
func Quantile(ascending []money.Amount, q money.Amount) money.Amount {
	n := len(ascending)
	if n == 0 || q.Sign() <= 0 {
		return money.Amount{}
	}
	want := q.MulInt(int64(n))
	for k := 1; k < n; k++ {
		if money.FromInt(int64(k)).Cmp(want) >= 0 {
			return ascending[k-1]
		}
	}
	return ascending[n-1]
}

// BestLevel returns the commitment with the largest gain on costs, in USD on demand a period: their quantile of the
// discount. Of several with the same gain it returns the smallest.
func BestLevel(costs []money.Amount, rate money.Amount) money.Amount {
	return Quantile(sorted(costs), one.Sub(rate))
}

// Gain returns the net gain of a commitment to a level of USD on demand a period: the cost of the covered use on demand
// less the price of the commitment, which is due whether it is used or not.
func Gain(costs []money.Amount, level, rate money.Amount) money.Amount {
	return covered(costs, level).Sub(level.Mul(rate).MulInt(int64(len(costs))))
}

// covered returns the cost on demand of the use that a level covers.
func covered(costs []money.Amount, level money.Amount) (sum money.Amount) {
	for i := range costs {
		if costs[i].Cmp(level) < 0 {
			sum.Increase(&costs[i])
		} else {
			sum.Increase(&level)
		}
	}
	return sum
}
