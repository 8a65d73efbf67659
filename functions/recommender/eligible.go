package recommender

import (
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/money"
)

// eligibleUse is the cost on demand of a resource that a commitment could cover, on the last 30 settled days.
type eligibleUse struct {
	uid, kind, region string
	days              money.Series
}

// eligibleDays returns the eligible use of a product in a scope on the last 30 settled days. Of a machine whose price
// is known, a day is at most 24 hours of what a stop saves: its storage and its traffic are not covered by commitments.
func (s *subject) eligibleDays(p *product, at scope) []money.Amount {
	out := make([]money.Amount, billedDays)
	for i := range s.bills.eligible[s.CloudAccountID] {
		u := &s.bills.eligible[s.CloudAccountID][i]
		if !p.covers(u.kind) || !at.contains(u.region, cloud.FamilyOf(s.classes[u.uid])) {
			continue
		}
		for d, amount := range s.eligibleOf(u) {
			out[d].Increase(&amount)
		}
	}
	return out
}

// eligibleOf returns the eligible use of a resource on the last 30 settled days.
func (s *subject) eligibleOf(u *eligibleUse) []money.Amount {
	out := make([]money.Amount, billedDays)
	most, priced := s.rates(u.uid).Saved(day)
	for d := range out {
		if out[d] = positive(u.days.At(d)); priced && out[d].Cmp(most) > 0 {
			out[d] = most
		}
	}
	return out
}

// billedUse returns the cost on demand of a product in a region on the last 30 settled days.
func (s *subject) billedUse(p *product, region string) (sum money.Amount) {
	for i := range s.bills.eligible[s.CloudAccountID] {
		u := &s.bills.eligible[s.CloudAccountID][i]
		if !p.covers(u.kind) || region != "" && u.region != region {
			continue
		}
		for d := range u.days.Len() {
			sum = sum.Add(positive(u.days.At(d)))
		}
	}
	return sum
}

// onDemandOf returns the eligible use of a product on the last 30 settled days.
func (s *subject) onDemandOf(p *product) money.Amount {
	return money.Sum(s.eligibleDays(p, scope{})...)
}

// wasteOf returns the waste in the use of a product in a region, in USD a month.
func (s *subject) wasteOf(p *product, region string) (sum money.Amount) {
	if s.commitments.waste == nil {
		return sum
	}
	for _, w := range s.commitments.waste() {
		if w.CloudAccountID == s.CloudAccountID && p.covers(w.ResourceType) && (region == "" || w.Region == region) {
			sum = sum.Add(w.USD)
		}
	}
	return sum
}
