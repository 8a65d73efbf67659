package billfile

import "lamplighter.dev/shared/foundation/money"

// usdRate holds the currency data of a row: units of the currency for one US dollar, or the cost of the row in US
// dollars, or US dollars for one unit of the currency.
type usdRate struct{ perDollar, inDollars, exact money.Amount }

// leastCost is the smallest cost from which a rate is computed. Smaller amounts are rounded too much.
var leastCost = money.FromScaled(1, 2)

// of returns the value of a unit of the currency in US dollars, or 0 if the row does not state it.
func (r *usdRate) of(cost *money.Amount) money.Amount {
	one := money.FromInt(1)
	switch {
	case r.exact.Sign() > 0:
		return r.exact
	case r.perDollar.Sign() > 0:
		return one.MulDiv(one, r.perDollar)
	case cost.Cmp(leastCost) > 0 && r.inDollars.Sign() > 0:
		return r.inDollars.MulDiv(one, *cost)
	}
	return money.Amount{}
}
