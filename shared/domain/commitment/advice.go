package commitment

import (
	"cmp"
	"slices"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Scope is what a commitment covers. An empty field does not narrow it.
type Scope struct {
	Provider string `json:"provider"`
	Product  string `json:"product"` // what is used: compute, databases …
	Region   string `json:"region,omitempty"`
	Family   string `json:"family,omitempty"`
}

// Advice is what to commit to in a scope, with all offers whose rates are known.
type Advice struct {
	Scope
	Basis   Basis        `json:"basis"`
	Days    int          `json:"days"`    // that the figures of the levels are of: at most 91
	AllDays int          `json:"allDays"` // of the whole use
	Trend   Trend        `json:"trend"`
	Waste   money.Amount `json:"waste"` // USD a month that other recommendations will save, deducted before
	// Offers are ordered by their terms, unknown ones first, and then by the gain of the default level.
	Offers []OfferAdvice `json:"offers"`
}

// OfferAdvice is the levels of an offer, and how they did in the past. Best is missing while the use falls.
type OfferAdvice struct {
	Offer
	Levels   []Level  `json:"levels"`
	Backtest Backtest `json:"backtest"`
}

// Case is what advice is made from.
type Case struct {
	Scope  Scope
	Use    Use
	Waste  money.Amount // USD a month
	Offers []Offer
}

// The reasons why there is no advice.
const (
	UnknownDiscount = "unknown_discount" // no source says what a commitment costs
	TooFewDays      = "too_few_days"     // the bills have fewer than 30 days
)

// Advise returns the advice for a case, or the reason why there is none. It returns fault.Invalid for an offer whose
// rate is not between 0 and 1.
func Advise(c *Case) (Advice, string, error) {
	use := c.Use.Less(c.Waste)
	out := Advice{
		Scope: c.Scope, Basis: use.Basis, Days: min(use.days(), levelDays), AllDays: use.days(),
		Trend: TrendOf(&use), Waste: c.Waste.Round(places),
	}
	switch {
	case use.days() < safeDays:
		return out, TooFewDays, nil
	case len(c.Offers) == 0:
		return out, UnknownDiscount, nil
	}
	for i := range c.Offers {
		o := &c.Offers[i]
		if err := o.check(); err != nil {
			return out, "", fault.Wrap("advise on "+c.Scope.Product, err)
		}
		out.Offers = append(out.Offers, adviseOn(&use, o))
	}
	slices.SortStableFunc(out.Offers, func(a, b OfferAdvice) int {
		return cmp.Or(cmp.Compare(a.Years, b.Years), b.Gain().Cmp(a.Gain()))
	})
	return out, "", nil
}

func adviseOn(u *Use, o *Offer) OfferAdvice {
	chosen := choose(u, o.Rate)
	out := OfferAdvice{Offer: *o, Backtest: Test(u, o)}
	for _, name := range []LevelName{Safe, Default, Best} {
		if name != Best || !chosen.falling {
			out.Levels = append(out.Levels, figure(u, o, name, chosen.of(name)))
		}
	}
	return out
}

// Gain returns the gain of the default level a month.
func (o *OfferAdvice) Gain() money.Amount {
	for i := range o.Levels {
		if o.Levels[i].Name == Default {
			return o.Levels[i].Gain
		}
	}
	return money.Amount{}
}

// Gain returns what the advice saves a month: the gain of the default level of the first offer, 0 if it is a loss.
func (a *Advice) Gain() money.Amount {
	if len(a.Offers) == 0 || a.Offers[0].Gain().Sign() < 0 {
		return money.Amount{}
	}
	return a.Offers[0].Gain()
}
