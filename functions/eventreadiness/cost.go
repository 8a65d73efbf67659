package eventreadiness

import (
	"context"
	"slices"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/foundation/money"
)

// EventCost is the estimated extra cost of a plan.
type EventCost struct {
	Currency           string            `json:"currency" enum:"USD"`
	EstimatedExtraCost rest.Number       `json:"estimatedExtraCost" doc:"Of the targets whose price is known"`
	MaximumExtraCost   rest.Number       `json:"maximumExtraCost" doc:"With every target at its scaled maximum all the time"`
	Unpriced           int               `json:"unpriced" doc:"How many targets the costs leave out, because their price is not known; if it is all of them, the costs are not known"`
	PerTarget          []EventTargetCost `json:"perTarget"`
}

// EventTargetCost is the estimated extra cost of one target of a plan.
type EventTargetCost struct {
	PolicyID  string       `json:"policyId"`
	ExtraCost *rest.Number `json:"extraCost" nullable:"true" doc:"null when its price is not known"`
	Reason    *string      `json:"reason" doc:"Why there is none; else null"`
}

func (s *service) previewCost(ctx context.Context, in *struct{ Body EventPreviewInput }) (EventCost, error) {
	p, groups, err := s.imaginedPlan(ctx, &in.Body)
	if err != nil {
		return EventCost{}, err
	}
	return s.costOf(ctx, &p, groups)
}

func (s *service) estimateCost(ctx context.Context, in *EventPlanPath) (EventCost, error) {
	p, err := s.visiblePlan(ctx, in.EventID)
	if err != nil {
		return EventCost{}, err
	}
	groups, err := s.storedGroups(ctx, &p)
	if err != nil {
		return EventCost{}, err
	}
	return s.costOf(ctx, &p, groups)
}

// cent is the number of decimals that money is shown with. The shown targets add up to the total.
const cent = 2

// costOf estimates the cost of a plan on groups. It takes two round trips, and one for each price list that is not in
// memory.
func (s *service) costOf(ctx context.Context, p *readiness.Plan, groups []group) (EventCost, error) {
	prices, err := s.unitPrices(ctx, groups)
	if err != nil {
		return EventCost{}, err
	}
	out := EventCost{Currency: "USD", PerTarget: make([]EventTargetCost, len(groups))}
	var extra []money.Amount
	var priced []int
	most := money.Amount{}
	for i, g := range groups {
		out.PerTarget[i] = EventTargetCost{PolicyID: g.policy.ID}
		size, err := p.Scaled(p.Targets[i], g.size())
		if err != nil {
			return EventCost{}, err
		}
		hourly := prices[i]
		if hourly.Reason != "" {
			out.PerTarget[i].Reason = &hourly.Reason
			continue
		}
		priced = append(priced, i)
		extra = append(extra, readiness.Extra(size.Desired-g.now.Desired, hourly.WhenRunning, p.Held()))
		most = most.Add(readiness.Extra(size.Max-g.now.Desired, hourly.WhenRunning, p.Held()))
	}
	for i, a := range money.RoundParts(extra, cent) {
		n := rest.NumberOf(a)
		out.PerTarget[priced[i]].ExtraCost = &n
	}
	out.EstimatedExtraCost, out.MaximumExtraCost = rest.NumberOf(money.Sum(extra...).Round(cent)),
		rest.NumberOf(most.Round(cent))
	out.Unpriced = len(groups) - len(priced)
	return out, nil
}

// unitPrices returns the price of one machine or pod of each group for an hour. It takes a round trip for the
// inventory, one for the prices, and one for each price list that is not in memory.
func (s *service) unitPrices(ctx context.Context, groups []group) ([]pricing.Estimate, error) {
	records, members, err := s.records(ctx, groups)
	if err != nil {
		return nil, err
	}
	var pairs []pricing.ProviderRegion
	for _, r := range records {
		if at := pairOf(r); !slices.Contains(pairs, at) {
			pairs = append(pairs, at)
		}
	}
	tables, err := s.prices.Tables(ctx, pairs)
	if err != nil {
		return nil, err
	}
	out := make([]pricing.Estimate, len(groups))
	for i, g := range groups {
		r, known := records[g.policy.Target.UID]
		t := tables[pairOf(r)]
		switch {
		case !known:
			out[i].Reason = "its target is not in the inventory: discover its account"
		case t == nil:
			out[i].Reason = "no prices of " + r.Provider + " in " + r.Region +
				" are known yet; they are fetched when an account is connected, and every night"
		default:
			out[i] = dearest(t, r, members[r.UID])
		}
	}
	return out, nil
}

func pairOf(r pricing.Priceable) pricing.ProviderRegion {
	return pricing.ProviderRegion{Provider: r.Provider, Region: r.Region}
}

// records reads the inventory records of groups, and the instance classes of their members, in one round trip.
func (s *service) records(ctx context.Context, groups []group) (records map[string]pricing.Priceable,
	members map[string][]string, err error,
) {
	wanted := map[string]bool{}
	for _, g := range groups {
		wanted[g.policy.Target.UID] = true
	}
	records, members = map[string]pricing.Priceable{}, map[string][]string{}
	err = pricing.EachPriceable(ctx, s.inventory, identity.CallerOrg(ctx), func(r pricing.Priceable) {
		if wanted[r.UID] {
			records[r.UID] = r
		}
		if wanted[r.ParentUID] && r.Class != "" && !slices.Contains(members[r.ParentUID], r.Class) {
			members[r.ParentUID] = append(members[r.ParentUID], r.Class)
		}
	})
	return records, members, err
}

// dearest returns the price of one member of a group: of the group's own class, or else of the most expensive class
// among its members.
func dearest(t *pricing.Table, r pricing.Priceable, members []string) pricing.Estimate {
	if r.Class != "" || len(members) == 0 {
		return pricing.Rate(t, unit(r))
	}
	var out pricing.Estimate
	for i, class := range members {
		r.Class = class
		if e := pricing.Rate(t, unit(r)); i == 0 || e.OK() && (!out.OK() || e.WhenRunning.Cmp(out.WhenRunning) > 0) {
			out = e
		}
	}
	return out
}

// unit returns one member of a group with the attributes that determine its price. For groups of machines the
// inventory knows the class; Linux is assumed.
func unit(r pricing.Priceable) pricing.Resource {
	out := r.Resource
	out.Status, out.Capacity = cloud.Running, map[string]int64{"desired": 1}
	switch r.Type {
	case cloud.AWSASG:
		out.Type, out.Inputs = "aws-ec2", "platform=Linux/UNIX"
	case cloud.AzureVMSS:
		out.Type, out.Inputs = "azure-vm", "os_type=linux;"+r.Inputs
	case cloud.GCPMIG:
		out.Type, out.Inputs = "gcp-compute", "gpu_count=0;local_ssd_count=0"
	}
	return out
}
