package reports

import (
	"context"
	"maps"
	"slices"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// ProviderCost is the cost of a provider and the number of its resources in the inventory.
type ProviderCost struct {
	Provider string `json:"provider" example:"aws"`
	Count    int    `json:"count"`
	CostUSD  string `json:"costUSD" example:"12.34"`
}

// ProviderCosts are the costs of all providers.
type ProviderCosts struct {
	Basis
	Items []ProviderCost `json:"items"`
}

func (s *service) providers(ctx context.Context, in *report.Asked) (ProviderCosts, error) {
	q, err := s.Question(ctx, in, report.ThisMonth, cost.Billed)
	if err != nil {
		return ProviderCosts{}, err
	}
	a, err := s.split(ctx, q, cost.ProviderDim)
	if err != nil {
		return ProviderCosts{}, err
	}
	c := identity.CallerFrom(ctx)
	sum, err := s.Inventory.SummarizeResources(ctx, c.Org, inventory.Filter{Sight: inventory.SightOf(c, reading)})
	if err != nil {
		return ProviderCosts{}, fault.Wrap("count resources", err)
	}
	b, err := s.basis(ctx, &q, &a)
	return ProviderCosts{b, newProviderCosts(&a, sum.ByProvider)}, err
}

// newProviderCosts returns the providers that have costs or resources.
func newProviderCosts(a *cost.Answer, counts map[string]int) []ProviderCost {
	out := []ProviderCost{}
	had := map[string]bool{}
	for i, amount := range amountsOf(a.Rows) {
		p := a.Rows[i].Keys[0]
		had[p] = true
		out = append(out, ProviderCost{p, counts[p], amount.Fixed(2)})
	}
	for _, p := range slices.Sorted(maps.Keys(counts)) {
		if !had[p] {
			out = append(out, ProviderCost{p, counts[p], money.Amount{}.Fixed(2)})
		}
	}
	return out
}

// TypeCount is the number of resources of a type.
type TypeCount struct {
	Type  string `json:"type" example:"aws-ec2"`
	Count int    `json:"count"`
}

// AccountCount is the number of resources in an account.
type AccountCount struct {
	CloudAccountID   string      `json:"cloudAccountID"`
	CloudAccountName string      `json:"cloudAccountName"`
	Count            int         `json:"count"`
	Types            []TypeCount `json:"types"`
}

// ProviderCount is the number of resources at a provider.
type ProviderCount struct {
	Provider string         `json:"provider" example:"aws"`
	Count    int            `json:"count"`
	Accounts []AccountCount `json:"accounts"`
}

// KindSummary counts resources.
type KindSummary struct {
	Total int             `json:"total"`
	Items []ProviderCount `json:"items"`
}

func (s *service) kinds(ctx context.Context, _ *struct{}) (KindSummary, error) {
	c := identity.CallerFrom(ctx)
	counts, err := s.Inventory.CountKinds(ctx, c.Org, inventory.SightOf(c, reading))
	if err != nil {
		return KindSummary{}, fault.Wrap("count resources", err)
	}
	names, err := s.labels.Read(ctx, cost.AccountDim)
	if err != nil {
		return KindSummary{}, err
	}
	return newKindSummary(counts, names), nil
}

// newKindSummary nests counts, which must be ordered by provider, account and type.
func newKindSummary(counts []inventory.KindCount, names report.Labels) KindSummary {
	out := KindSummary{Items: []ProviderCount{}}
	for _, k := range counts {
		out.Total += k.Count
		if n := len(out.Items); n == 0 || out.Items[n-1].Provider != k.Provider {
			out.Items = append(out.Items, ProviderCount{Provider: k.Provider})
		}
		p := &out.Items[len(out.Items)-1]
		p.Count += k.Count
		if n := len(p.Accounts); n == 0 || p.Accounts[n-1].CloudAccountID != k.AccountID {
			p.Accounts = append(p.Accounts,
				AccountCount{CloudAccountID: k.AccountID, CloudAccountName: names.Of(cost.AccountDim, k.AccountID)})
		}
		a := &p.Accounts[len(p.Accounts)-1]
		a.Count += k.Count
		a.Types = append(a.Types, TypeCount{k.Type, k.Count})
	}
	return out
}
