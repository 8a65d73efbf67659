package resources

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/report"
)

// Record is the view of a resource that clients see.
type Record = report.Record

// unpricedReason returns why a resource has no rack rate, or "" if it has one.
func unpricedReason(rate *pricing.HourlyRate) string {
	if rate == nil {
		return "its price has not been looked up yet: that happens at the end of a discovery and every night"
	}
	return rate.Reason
}

func shownAll(found []inventory.Listed, costs *pricing.Costs) []Record {
	out := make([]Record, len(found))
	for i, r := range found {
		out[i] = report.NewRecord(r, costs)
	}
	return out
}

// Filters are the query parameters that select resources. They are exported because the framework ignores unexported
// embedded structs.
type Filters struct {
	Search         string   `query:"search" maxLength:"256" doc:"Part of name, uid or tags (key=value), ignoring case"`
	Type           []string `query:"type" maxItems:"50" doc:"Only these kinds" example:"aws-ec2"`
	Provider       []string `query:"provider" maxItems:"50" doc:"Only of these providers" example:"aws"`
	Status         []string `query:"status" maxItems:"50" enum:"running,stopped,starting,stopping,pending,terminated,unknown" doc:"Only these states"`
	Region         []string `query:"region" maxItems:"50" doc:"Only in these regions"`
	CloudAccountID []string `query:"cloud_account_id" maxItems:"50" doc:"Only of these cloud accounts, by our ids"`
	GroupID        string   `query:"group_id" maxLength:"64" doc:"Members of the resource group; none if the caller sees no such group"`
	TeamID         string   `query:"team_id" maxLength:"64" doc:"Owned by the team; none if the caller sees no such team"`
	Tag            []string `query:"tag,explode" maxItems:"20" doc:"key=value, or key for any value; all of several must match"`
	Schedulable    string   `query:"schedulable" enum:"true,false" doc:"Whether it can be started and stopped"`
	rest.Created
}

func (f *Filters) inventoryFilter(sight inventory.Visibility) inventory.Filter {
	out := inventory.Filter{
		Search: f.Search, Types: f.Type, Providers: f.Provider, Statuses: f.Status, Regions: f.Region,
		Accounts:     f.CloudAccountID,
		CreatedAfter: f.After.Time, CreatedBefore: f.Before.Time,
		GroupID: f.GroupID, TeamID: f.TeamID, Tags: f.Tag, Sight: sight,
	}
	if f.Schedulable != "" {
		yes := f.Schedulable == "true"
		out.Schedulable = &yes
	}
	return out
}

type listInput struct {
	rest.Page
	Filters
	rest.Sort[inventory.Listed, orders]
}

// orders are the sort orders of resources. The inventory sorts them.
type orders struct{}

var _ rest.Orders[inventory.Listed] = orders{}

func (orders) Orders() []rest.Order[inventory.Listed] {
	out := make([]rest.Order[inventory.Listed], len(inventory.Orders))
	for i, field := range inventory.Orders {
		out[i].Field = field
	}
	return out
}

func (s *service) listResources(ctx context.Context, in *listInput) (rest.Counted[Record], error) {
	c := identity.CallerFrom(ctx)
	costs := pricing.NewCosts(s.p.Table)
	found, total, err := s.inventory.FindPage(ctx, c.Org, inventory.List{
		Filter: in.inventoryFilter(s.records.SightOf(c, costs)),
		By:     in.Field(), Descending: in.Descending(), Skip: in.Skip(), Limit: in.Limit,
	})
	return rest.Counted[Record]{Items: shownAll(found, costs), Total: total}, err
}

type resourceInput struct {
	ResourceID string `path:"resourceID" maxLength:"64"`
}

// Described is a resource with the fields that only its own operation returns.
type Described struct {
	Record
	Unpriced string         `json:"unpriced" doc:"Why it has no rackRateUSD; empty when it has one"`
	Facts    map[string]any `json:"facts" doc:"Known facts for judging waste: attachments, size, last use"`
}

func (s *service) getResource(ctx context.Context, in *resourceInput) (Described, error) {
	c := identity.CallerFrom(ctx)
	costs := pricing.NewCosts(s.p.Table)
	r, err := s.inventory.DescribeByID(ctx, c.Org, in.ResourceID, s.records.SightOf(c, costs))
	rate, _ := costs.Of(r.UID)
	out := Described{report.NewRecord(r, costs), unpricedReason(rate), map[string]any{}}
	if r.Facts != nil {
		out.Facts = r.Facts
	}
	return out, err
}

// UIDs is a request for resources by their native IDs.
type UIDs struct {
	UIDs []string `json:"uids" minItems:"1" maxItems:"500" doc:"Native provider identifiers"`
}

func (s *service) byUIDs(ctx context.Context, in *struct{ Body UIDs }) ([]Record, error) {
	c := identity.CallerFrom(ctx)
	costs := pricing.NewCosts(s.p.Table)
	found, err := s.inventory.ByUIDs(ctx, c.Org, in.Body.UIDs, s.records.SightOf(c, costs))
	return shownAll(found, costs), err
}
