package recommender

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/commitment"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/foundation/money"
)

// committedDays is how many settled days commitments are tested on: 13 months.
const committedDays = 395

// maxScopes is how many scopes a recommendation shows, those with the largest gain.
const maxScopes = 10

// commitments advise on the commitments of accounts in one pass. The 13 months of an account are read when a rule first
// needs them: neither for an account without eligible use nor for one whose discounts are unknown.
type commitments struct {
	ctx    context.Context //nolint:containedctx // of the pass that the advice is for
	costs  *cost.Store
	org    string
	waste  func() []recommendation.Waste // nil: none
	past   map[string]pastUse            // by account
	advice map[adviceKey]advice
	err    error // of the first read that failed
}

type adviceKey struct {
	account string
	product *product
}

// advice is the advice on a product, or the reason why there is none.
type advice struct {
	scopes []commitment.Advice
	month  money.Amount // the eligible use of the scopes a month
	why    condition.Reason
}

// gain returns what the commitments of all scopes save a month.
func (a *advice) gain() (sum money.Amount) {
	for i := range a.scopes {
		sum = sum.Add(a.scopes[i].Gain())
	}
	return sum
}

// adviceOn returns the advice on a product for the account under evaluation.
func (s *subject) adviceOn(p *product) advice {
	c := s.commitments
	if c == nil {
		return advice{why: unpriced}
	}
	k := adviceKey{s.CloudAccountID, p}
	known, has := c.advice[k]
	if !has {
		known = s.advise(p)
		c.advice[k] = known
	}
	return known
}

func (s *subject) advise(p *product) advice {
	switch {
	case s.bills.from[s.CloudAccountID].IsZero():
		return advice{why: unbilled}
	case s.onDemandOf(p).IsZero():
		return advice{}
	case len(s.offersOf(p, scope{})) == 0:
		return advice{why: condition.Reason(commitment.UnknownDiscount)}
	}
	out := advice{why: unknownValue} // no resource shows its family
	cases := s.casesOf(p)
	for i := range cases {
		s.addScope(&out, p, &cases[i])
	}
	if len(out.scopes) > 0 {
		out.why = ""
	}
	slices.SortStableFunc(out.scopes, func(a, b commitment.Advice) int {
		return cmp.Or(b.Gain().Cmp(a.Gain()), cmp.Compare(a.Region+a.Family, b.Region+b.Family))
	})
	out.scopes = out.scopes[:min(len(out.scopes), maxScopes)]
	return out
}

// addScope adds the advice on a case, or the reason why there is none.
func (s *subject) addScope(out *advice, p *product, c *commitment.Case) {
	c.Offers = s.offersOf(p, scope{c.Scope.Region, c.Scope.Family})
	a, why, err := commitment.Advise(c)
	if err != nil || why != "" {
		s.commitments.fail(err)
		out.why = condition.Reason(why)
		return
	}
	out.scopes = append(out.scopes, a)
	last := c.Use.Cost[max(0, len(c.Use.Cost)-billedDays):]
	out.month = out.month.Add(money.Sum(last...))
}

func (c *commitments) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// casesOf returns what commitments to a product could cover: by family, by region, or all of an account. Families are
// known of the last 30 days alone, in which the resources exist.
func (s *subject) casesOf(p *product) []commitment.Case {
	if p.families {
		return s.familyCases(p)
	}
	past := s.commitments.read(&s.bills, s.CloudAccountID)
	by := map[string][]money.Amount{} // by region
	for _, use := range past.uses {
		if !p.covers(use.kind) {
			continue
		}
		at := ""
		if p.regional {
			at = use.region
		}
		if by[at] == nil {
			by[at] = make([]money.Amount, use.days.Len())
		}
		use.days.AddTo(by[at])
	}
	var out []commitment.Case
	for region, days := range by {
		c := s.newCase(p, scope{region: region})
		if c.share.IsZero() {
			continue
		}
		c.Use.From, c.Use.Cost = past.from, days
		for d := range days {
			days[d] = positive(days[d]).Mul(c.share)
		}
		out = append(out, c.Case)
	}
	return out
}

// familyCases returns a case for each family of machines in a region.
func (s *subject) familyCases(p *product) []commitment.Case {
	seen := map[scope]bool{}
	var out []commitment.Case
	for i := range s.bills.eligible[s.CloudAccountID] {
		u := &s.bills.eligible[s.CloudAccountID][i]
		at := scope{u.region, cloud.FamilyOf(s.classes[u.uid])}
		if !p.covers(u.kind) || at.family == "" || seen[at] {
			continue
		}
		seen[at] = true
		c := s.newCase(p, at)
		c.Use.From, c.Use.Cost = s.bills.from[s.CloudAccountID], s.eligibleDays(p, at)
		out = append(out, c.Case)
	}
	return out
}

// scope is a region and a family; an empty one does not narrow.
type scope struct{ region, family string }

// contains reports whether a resource of a region and a family is in the scope.
func (s scope) contains(region, family string) bool {
	return (s.region == "" || s.region == region) && (s.family == "" || s.family == family)
}

// scopedCase is a case, and the part of its billed use that is eligible.
type scopedCase struct {
	commitment.Case
	share money.Amount
}

// newCase returns the case of a scope without its use. Waste of the region is deducted by the family's part of the use.
func (s *subject) newCase(p *product, at scope) scopedCase {
	eligible := money.Sum(s.eligibleDays(p, at)...)
	out := scopedCase{Case: commitment.Case{
		Scope: commitment.Scope{Provider: s.Provider, Product: p.name, Region: at.region, Family: at.family},
		Use:   commitment.Use{Basis: commitment.Daily}, Waste: s.wasteOf(p, at.region),
	}}
	if billed := s.billedUse(p, at.region); billed.Sign() > 0 {
		out.share = eligible.MulDiv(money.FromInt(1), billed)
	}
	if whole := money.Sum(s.eligibleDays(p, scope{region: at.region})...); at.family != "" && whole.Sign() > 0 {
		out.Waste = out.Waste.MulDiv(eligible, whole)
	}
	return out
}

// pastUse is the cost on demand of an account's committable types in 13 months, by type and region.
type pastUse struct {
	from time.Time
	uses []eligibleUse
}

// read returns the past use of an account: the days since its first bill, at most 13 months. It asks once for each
// account: one round trip for the pointers of the bills, and one for each batch of their chunks.
func (c *commitments) read(b *bills, account string) pastUse {
	if known, has := c.past[account]; has {
		return known
	}
	out, err := c.ask(b, account)
	if err != nil {
		c.fail(fmt.Errorf("read 13 months of costs of the account %s: %w", account, err))
	}
	c.past[account] = out
	return out
}

func (c *commitments) ask(b *bills, account string) (pastUse, error) {
	end := b.from[account].AddDate(0, 0, billedDays)
	out := pastUse{from: end.AddDate(0, 0, -committedDays)}
	periods, err := c.costs.PeriodsBetween(c.ctx, c.org, cost.MonthOf(out.from), cost.MonthOf(end))
	if err != nil {
		return out, err
	}
	if first := firstBilled(periods)[account]; first.After(out.from) {
		out.from = first
	}
	a, err := c.costs.Ask(c.ctx, c.org, cost.Question{
		From: out.from, To: end, Metric: cost.Effective, Daily: true, UsageOnly: true, BillsOnly: true,
		Dims: []string{cost.TypeDim, cost.RegionDim},
		Filter: map[string][]string{
			cost.AccountDim: {account}, cost.PurchaseDim: {cost.OnDemand}, cost.TypeDim: committableTypes(),
		},
	})
	if err != nil {
		return out, err
	}
	for i := range a.Rows {
		r := &a.Rows[i]
		out.uses = append(out.uses, eligibleUse{kind: r.Keys[0], region: r.Keys[1], days: r.Days})
	}
	return out, nil
}

// committableTypes returns the types that some commitment covers.
func committableTypes() []string {
	var out []string
	for i := range products {
		out = append(out, products[i].types...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
