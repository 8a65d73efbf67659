package recommender

import (
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/commitment"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/foundation/money"
)

// offersOf returns the offers for a product in a scope whose rates are known: from the bill, and from public prices.
func (s *subject) offersOf(p *product, at scope) []commitment.Offer {
	return append(s.bills.offersOf(s.CloudAccountID, p), s.listedOffers(p, at)...)
}

// rateOf returns what the use under commitments costs for each USD of its public price. It returns false if there is
// none, or the bill does not show it.
func rateOf(uses ...*committedUse) (money.Amount, bool) {
	var paid, list money.Amount
	for _, u := range uses {
		if !u.some || u.unlistedCommitted {
			continue
		}
		paid, list = paid.Add(u.committed), list.Add(u.listCommitted)
	}
	if paid.Sign() <= 0 || paid.Cmp(list) >= 0 {
		return money.Amount{}, false
	}
	return paid.MulDiv(money.FromInt(1), list).Round(6), true
}

// offersOf returns the offers for a product whose rates are known: what the account pays under its present commitments,
// or else what the organization's accounts together pay. Bills do not name the term nor the payment.
func (b *bills) offersOf(account string, p *product) []commitment.Offer {
	rate, known := rateOf(b.accounts[account].useOf(p))
	if !known {
		var all []*committedUse
		for _, f := range b.accounts {
			all = append(all, f.useOf(p))
		}
		rate, known = rateOf(all...)
	}
	if !known {
		return nil
	}
	return []commitment.Offer{{Kind: p.kind, Rate: rate, Source: commitment.FromBill}}
}

// listedPayments are the payments of offers in public prices.
var listedPayments = []commitment.Payment{commitment.NoUpfront, commitment.PartialUpfront, commitment.AllUpfront}

// listedOffers returns the offers for a product in a scope that public prices have.
func (s *subject) listedOffers(p *product, at scope) []commitment.Offer {
	if p.listed == "" || s.tables == nil {
		return nil
	}
	uses := s.usesByFamily(p, at)
	var out []commitment.Offer
	for _, years := range []int{1, 3} {
		for _, payment := range listedPayments {
			o := commitment.Offer{Kind: p.kind, Years: years, Payment: payment}
			if s.setListedRate(&o, p, uses) {
				out = append(out, o)
			}
		}
	}
	return out
}

// usesByFamily returns the eligible use of a product by region and family.
func (s *subject) usesByFamily(p *product, at scope) map[scope]money.Amount {
	out := map[scope]money.Amount{}
	for i := range s.bills.eligible[s.CloudAccountID] {
		u := &s.bills.eligible[s.CloudAccountID][i]
		in := scope{u.region, cloud.FamilyOf(s.classes[u.uid])}
		if p.covers(u.kind) && at.contains(in.region, in.family) {
			out[in] = out[in].Add(money.Sum(s.eligibleOf(u)...))
		}
	}
	return out
}

// setListedRate sets the rate of an offer from public prices: the mean by use of the rates of the families. Use without
// a rate counts as without a discount. It returns false if no family has a rate.
func (s *subject) setListedRate(o *commitment.Offer, p *product, uses map[scope]money.Amount) bool {
	var paid, all money.Amount
	for in, use := range uses {
		rate, version := s.listedRate(o, p, in)
		paid, all = paid.Add(use.Mul(rate)), all.Add(use)
		if version != "" {
			o.Source = "prices " + version
		}
	}
	if o.Source == "" || paid.Sign() <= 0 || paid.Cmp(all) >= 0 {
		return false
	}
	o.Rate = paid.MulDiv(money.FromInt(1), all).Round(6)
	return true
}

// listedRate returns the rate of an offer for a family in a region, and the version of its prices: 1 and "" if it is
// unknown, or the prices are older than they should be.
func (s *subject) listedRate(o *commitment.Offer, p *product, in scope) (money.Amount, string) {
	unknown := money.FromInt(1)
	table := s.tables.table(pricing.ProviderRegion{Provider: s.Provider, Region: in.region})
	if in.family == "" || table == nil || table.Stale(s.now) {
		return unknown, ""
	}
	key := cloud.CommitmentRate{
		Kind: string(o.Kind), Group: p.listed, Family: in.family, Years: o.Years, Payment: string(o.Payment),
	}
	rate, known := table.Price(key.Key())
	if !known {
		return unknown, ""
	}
	return rate.USD, table.Version
}
