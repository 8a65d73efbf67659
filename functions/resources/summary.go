package resources

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/foundation/money"
)

// Summary counts resources.
type Summary struct {
	Total      int            `json:"total"`
	ByProvider map[string]int `json:"byProvider"`
	ByType     map[string]int `json:"byType"`
	ByStatus   map[string]int `json:"byStatus"`
	ByRegion   map[string]int `json:"byRegion"`
	ByAccount  map[string]int `json:"byAccount" doc:"By our id of the cloud account"`
	// Facets is filled in with facets=true.
	Facets      map[string]map[string]int `json:"facets" doc:"With facets=true, by the filters provider, type, status, region and cloud_account_id and by value: the resources that agree with all other filters; else empty"`
	HourlyUSD   *string                   `json:"hourlyUSD" doc:"What the running ones of the counted resources cost an hour at public prices; null if no price of them is known" example:"41.2000"`
	WithoutRate int                       `json:"withoutRate" doc:"Running resources whose price is not known; hourlyUSD leaves them out. Resources whose price is that of others, such as a scaling group of instances, are in neither"`
}

type summaryInput struct {
	Filters
	Facets bool `query:"facets" doc:"true adds facets"`
}

func (s *service) getSummary(ctx context.Context, in *summaryInput) (Summary, error) {
	c := identity.CallerFrom(ctx)
	costs := pricing.NewCosts(s.p.Table)
	running := runningCost{costs: costs}
	sum, err := s.inventory.SummarizeRunning(ctx, c.Org, in.inventoryFilter(s.records.SightOf(c, costs)), running.add)
	if err != nil {
		return Summary{}, err
	}
	out := Summary{
		Total: sum.Total, ByProvider: sum.ByProvider, ByType: sum.ByType, ByStatus: sum.ByStatus,
		ByRegion:  sum.ByRegion,
		ByAccount: sum.ByAccount, Facets: map[string]map[string]int{}, WithoutRate: running.unpriced,
	}
	if in.Facets {
		out.Facets = sum.Facets
	}
	if running.priced {
		out.HourlyUSD = new(running.total.Fixed(4))
	}
	return out, nil
}

// runningCost adds up what running resources cost an hour.
type runningCost struct {
	costs    *pricing.Costs
	total    money.Amount
	priced   bool
	unpriced int
}

func (r *runningCost) add(uid string) {
	rate, _ := r.costs.Of(uid)
	switch {
	case rate == nil || rate.Reason != "":
		r.unpriced++
	case !rate.Shared: // else its parts are counted
		r.total, r.priced = r.total.Add(rate.Running), true
	}
}
