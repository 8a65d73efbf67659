package cost

import (
	"fmt"

	"lamplighter.dev/shared/foundation/money"
)

// Amounts in other currencies than USD are stored as they were billed, and converted when they are read. Reports add
// them up in many ways before they convert them: by day, by resource, by service. All of these reports agree only if
// no conversion is rounded. A product of two amounts is exact if both together have at most money.Scale decimal places.
// So a rate has at most ratePlaces, and Commit rounds the daily amounts of a line to the places that are left.

// ratePlaces is the most decimal places of a rate.
const ratePlaces = 15

// addRounded adds a rate with at most ratePlaces decimal places. It does not add a rate that rounds to 0: amounts
// without a rate are reported, while amounts that are worth nothing would be lost.
func addRounded(to map[string]Rate, currency string, r Rate) {
	if r.USD = r.USD.Round(ratePlaces); r.USD.Sign() > 0 {
		to[currency] = r
	}
}

// rateOf returns the rate of a currency in a period.
func (p *Period) rateOf(currency string) (usd money.Amount, ok bool) {
	r, ok := p.Rates[currency]
	usd = r.USD.Round(ratePlaces) // an earlier version stored rates with more places
	return usd, ok && usd.Sign() > 0
}

// exactPlaces returns the most decimal places of an amount that is converted exactly with a rate. For an unknown rate,
// which may become known later, usd is 0.
func exactPlaces(usd money.Amount) int {
	places := ratePlaces
	for usd.Sign() > 0 && places > 0 && usd.Round(places-1) == usd {
		places--
	}
	return money.Scale - places
}

// roundForeign rounds the daily amounts of lines in other currencies, so that they are converted exactly.
func (ls *lines) roundForeign(rates map[string]Rate) {
	for i := range ls.all {
		l := &ls.all[i]
		currency := ls.names[l.key[currencyWord]]
		if currency == USD {
			continue
		}
		for m := range l.days {
			l.days[m].round(exactPlaces(rates[currency].USD))
		}
	}
}

// round rounds each amount to a number of decimal places.
func (s *series) round(places int) {
	if s.wide == nil && s.places <= places {
		return
	}
	out := series{}
	for day := s.first; day < s.first+s.len(); day++ {
		a := s.at(day).Round(places)
		out.add(day, &a)
	}
	*s = out
}

// inexact reports whether an earlier version imported the period without rounding amounts in other currencies. Its
// amounts are rounded when they are read. Its rollup and its sums of the month are not used, because they were added up
// before.
func (p *pointer) inexact() bool { return !p.Exact && p.HasForeign() }

// roundForeign rounds the amounts in other currencies of a period that is inexact.
func (b *lineBlock) roundForeign(a *amounts) {
	currencies := b.word(CurrencyDim)
	if b.bad {
		return
	}
	places := make([]int, len(currencies.names)) // by currency
	for i, currency := range currencies.names {
		usd, _ := b.pointer.rateOf(currency)
		places[i] = exactPlaces(usd)
		if currency == USD {
			places[i] = money.Scale
		}
	}
	a.widen()
	for i := range a.wide {
		a.wide[i] = a.wide[i].Round(places[currencies.code(i%b.lines)])
	}
}

// widen replaces integers by amounts.
func (a *amounts) widen() {
	if a.wide != nil {
		return
	}
	a.wide = make([]money.Amount, len(a.narrow))
	for i, n := range a.narrow {
		a.wide[i] = money.FromScaled(n, a.places)
	}
	a.narrow = nil
}

// Check returns an error if the days of a summary, or the values of a dimension, do not add up to its total.
func (s *Summary) Check() error {
	var days Amounts
	for i := range s.Days {
		days.Add(&s.Days[i])
	}
	if days != s.Total {
		return fmt.Errorf("the days of %s add up to %s, not to %s", s.Month, days.Billed, s.Total.Billed)
	}
	for dim, values := range s.By {
		var sum Amounts
		for i := range values {
			sum.Add(&values[i].Amounts)
		}
		if sum != s.Total {
			return fmt.Errorf("%s by %s adds up to %s, not to %s", s.Month, dim, sum.Billed, s.Total.Billed)
		}
	}
	return nil
}
