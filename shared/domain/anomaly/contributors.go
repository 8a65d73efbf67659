package anomaly

import (
	"cmp"
	"slices"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Part is the cost of a part of a scope on a day, and its baseline.
type Part struct {
	Key            string
	Cost, Baseline money.Amount
}

// Contributor is the share of a part in a spike, to the cent. The contributors of a dimension add up to the spike.
type Contributor struct {
	Dim      string       `json:"dim" enum:"service_name,resource_uid,cloud_account_id" doc:"The dimension of the split"`
	Key      string       `json:"key" doc:"The service, native id of the resource, or cloud account; empty for costs without such a name, and for the others"`
	Others   bool         `json:"others" doc:"All that is not listed by itself"`
	Cost     money.Amount `json:"costUSD"`
	Baseline money.Amount `json:"baselineUSD"`
	Excess   money.Amount `json:"excessUSD"`
}

// listed is how many parts of a dimension are listed separately.
const listed = 9

// Contributors splits the spike by a dimension, the largest part first. All but nine parts are combined into
// the last one. If the costs of the parts do not add up to the spike, it returns fault.Internal: they were read from
// other bills.
func (s *Spike) Contributors(dim string, parts []Part) ([]Contributor, error) {
	out := make([]Contributor, len(parts))
	for n, p := range parts {
		out[n] = Contributor{Dim: dim, Key: p.Key, Cost: p.Cost, Baseline: p.Baseline}
	}
	slices.SortFunc(out, func(a, b Contributor) int {
		return cmp.Or(b.Cost.Sub(b.Baseline).Cmp(a.Cost.Sub(a.Baseline)), cmp.Compare(a.Key, b.Key))
	})
	out = foldRest(out)
	if total := sumOf(out, func(c *Contributor) *money.Amount { return &c.Cost }); total != s.Cost {
		return nil, fault.New(
			fault.Internal, "the parts by %s cost %s, and together %s", dim, total.Fixed(2), s.Cost.Fixed(2))
	}
	if len(out) > 0 { // the rounding loss of the division
		out[0].Baseline = out[0].Baseline.Add(s.Baseline.Sub(sumOf(out, func(c *Contributor) *money.Amount {
			return &c.Baseline
		})))
	}
	roundContributors(out)
	return out, nil
}

func sumOf(all []Contributor, field func(*Contributor) *money.Amount) (sum money.Amount) {
	for i := range all {
		sum.Increase(field(&all[i]))
	}
	return sum
}

// foldRest combines all parts that are not listed separately.
func foldRest(sorted []Contributor) []Contributor {
	if len(sorted) <= listed+1 {
		return sorted
	}
	rest := Contributor{Dim: sorted[0].Dim, Others: true}
	for _, c := range sorted[listed:] {
		rest.Cost, rest.Baseline = rest.Cost.Add(c.Cost), rest.Baseline.Add(c.Baseline)
	}
	return append(sorted[:listed:listed], rest)
}

// roundContributors rounds to cents such that each column sums to the rounded whole.
func roundContributors(all []Contributor) {
	costs, bases := make([]money.Amount, len(all)), make([]money.Amount, len(all))
	for i, c := range all {
		costs[i], bases[i] = c.Cost, c.Baseline
	}
	costs, bases = money.RoundParts(costs, 2), money.RoundParts(bases, 2)
	for i := range all {
		all[i].Cost, all[i].Baseline, all[i].Excess = costs[i], bases[i], costs[i].Sub(bases[i])
	}
}
