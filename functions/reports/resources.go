package reports

import (
	"cmp"
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// ResourceCost is the cost of a resource. Without resourceUID it is an account's total for charges that name no
// resource.
type ResourceCost struct {
	ResourceUID    *string `json:"resourceUID" doc:"Native provider identifier; null for charges without a resource"`
	ResourceID     *string `json:"resourceID" doc:"Our id; null when the inventory does not know it, or not any more"`
	Name           string  `json:"name"`
	Type           string  `json:"type" doc:"Ours where the inventory knows the resource, else as the bill says" example:"aws-ec2"`
	Provider       string  `json:"provider" example:"aws"`
	CloudAccountID string  `json:"cloudAccountID"`
	Region         string  `json:"region"`
	CostUSD        string  `json:"costUSD" example:"12.34"`
	CarbonKgCO2e   *string `json:"carbonKgCO2e" doc:"The resource's estimated emission in these days, in kilograms of CO2e; null if it is not known" example:"1.131842"`
	CarbonHours    *string `json:"carbonHours" doc:"In how many hours it ran for that, of these days" example:"729.00"`
	amount         money.Amount
}

// ResourceCosts is a page of resource costs.
type ResourceCosts struct {
	Basis
	CarbonSource CarbonSource   `json:"carbonSource"`
	Items        []ResourceCost `json:"items"`
	Total        int            `json:"total" doc:"How many there are on all pages"`
	Page         int            `json:"page"`
	Limit        int            `json:"limit"`
}

type resourceCostInput struct {
	report.Asked
	rest.Page
	rest.Sort[ResourceCost, costOrders]
}

// costOrders are the sort fields of resource costs.
type costOrders struct{}

var _ rest.Orders[ResourceCost] = costOrders{}

func (costOrders) Orders() []rest.Order[ResourceCost] {
	return []rest.Order[ResourceCost]{
		{Field: "cost", Compare: func(a, b ResourceCost) int { return a.amount.Cmp(b.amount) }, LargestFirst: true},
		rest.OrderByText("type", func(r ResourceCost) string { return r.Type }),
		rest.OrderByText("provider", func(r ResourceCost) string { return r.Provider }),
		rest.OrderByText("region", func(r ResourceCost) string { return r.Region }),
		rest.OrderByText("resourceUID", func(r ResourceCost) string { return pointed(r.ResourceUID) }),
	}
}

func pointed(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (s *service) resourceCosts(ctx context.Context, in *resourceCostInput) (ResourceCosts, error) {
	q, err := s.Question(ctx, &in.Asked, report.ThisMonth, cost.Billed)
	if err != nil {
		return ResourceCosts{}, err
	}
	return s.pageOfResources(ctx, q, in.Page, in.Sort)
}

// pageOfResources returns one page of the resources that a question matches.
func (s *service) pageOfResources(ctx context.Context, q cost.Question, page rest.Page,
	sort rest.Sort[ResourceCost, costOrders],
) (ResourceCosts, error) {
	q.Dims = []string{cost.ResourceDim, cost.AccountDim, cost.ProviderDim, cost.TypeDim, cost.RegionDim}
	a, err := s.Ask(ctx, q)
	if err != nil {
		return ResourceCosts{}, err
	}
	all := joinResources(&a)
	if field := sort.Field(); field == "type" || field == "region" { // the displayed values come from the inventory
		if _, err = s.placeResources(ctx, all); err != nil {
			return ResourceCosts{}, err
		}
	}
	sort.Apply(all)
	items := rest.PageOf(all, page)
	if err = s.nameResources(ctx, items.Items, &q); err != nil {
		return ResourceCosts{}, err
	}
	if items.Items == nil {
		items.Items = []ResourceCost{}
	}
	b, err := s.basis(ctx, &q, &a)
	return ResourceCosts{b, newCarbonSource(), items.Items, items.Total, items.Page, items.Limit}, err
}

// joinResources returns one item for each resource. If charges of a resource differ in type or region, those of its
// largest charge apply.
func joinResources(a *cost.Answer) []ResourceCost {
	type place struct{ uid, account string }
	at := map[place]int{}
	out := []ResourceCost{}
	for i := range a.Rows {
		k := a.Rows[i].Keys
		p := place{k[0], k[1]}
		n, had := at[p]
		if !had {
			n = len(out)
			at[p], out = n, append(out, newResourceCost(k))
		}
		out[n].amount = out[n].amount.Add(a.Rows[i].Amount)
	}
	amounts := make([]money.Amount, len(out))
	for i := range out {
		amounts[i] = out[i].amount
	}
	for i, c := range cents(amounts) {
		out[i].CostUSD = c.Fixed(2)
	}
	return out
}

func newResourceCost(keys []string) ResourceCost {
	r := ResourceCost{CloudAccountID: keys[1], Provider: keys[2], Type: keys[3], Region: keys[4]}
	if keys[0] == "" {
		r.Name, r.Type, r.Region = "Not of a resource", "", ""
		return r
	}
	r.ResourceUID, r.Name = &keys[0], keys[0]
	return r
}

// nameResources completes a page with names and types from the inventory, in one or two round trips, and with the
// machines' emissions in the days of q, in one more.
func (s *service) nameResources(ctx context.Context, page []ResourceCost, q *cost.Question) error {
	at, err := s.placeResources(ctx, page)
	if err != nil || len(at) == 0 {
		return err
	}
	var machines []emitter
	for i := range page {
		r := at[pointed(page[i].ResourceUID)]
		if r == nil {
			continue
		}
		if m, emits := newEmitter(r, &page[i]); emits && r.CloudAccountID == page[i].CloudAccountID {
			machines = append(machines, m)
		}
	}
	return s.estimateCarbon(ctx, machines, q.From, q.To)
}

// placeResources sets the ID, name, type and region of each item that the inventory knows, and returns the known
// resources by native ID. It takes one or two round trips.
func (s *service) placeResources(ctx context.Context, items []ResourceCost) (map[string]*inventory.Listed, error) {
	var uids []string
	for i := range items {
		if items[i].ResourceUID != nil {
			uids = append(uids, *items[i].ResourceUID)
		}
	}
	if len(uids) == 0 {
		return nil, nil
	}
	c := identity.CallerFrom(ctx)
	found, err := s.Inventory.ByUIDs(ctx, c.Org, uids, inventory.SightOf(c, reading))
	if err != nil {
		return nil, fault.Wrap("read the resources of a report", err)
	}
	at := make(map[string]*inventory.Listed, len(found))
	for i := range found {
		at[found[i].UID] = &found[i]
	}
	for i := range items {
		if r := at[pointed(items[i].ResourceUID)]; r != nil {
			items[i].ResourceID, items[i].Name = &r.ID, cmp.Or(r.Name, r.UID)
			items[i].Type, items[i].Region = r.Type, r.Region
		}
	}
	return at, nil
}
