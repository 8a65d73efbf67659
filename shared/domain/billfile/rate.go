package billfile

import "lamplighter.dev/shared/foundation/money"

// usdRate is what a row says of its currency: units of it for a US dollar, or what the row costs in US dollars.
type usdRate struct{ perDollar, inDollars money.Amount }

// leastCost is what a row must cost for the rate to be told from its amounts: those of less are rounded too much.
var leastCost = money.FromScaled(1, 2)

// of returns what a unit of the currency is worth in US dollars; nothing when the row does not tell.
func (r *usdRate) of(cost *money.Amount) money.Amount {
	one := money.FromInt(1)
	switch {
	case r.perDollar.Sign() > 0:
		return one.MulDiv(one, r.perDollar)
	case cost.Cmp(leastCost) > 0 && r.inDollars.Sign() > 0:
		return r.inDollars.MulDiv(one, *cost)
	}
	return money.Amount{}
}
