package resources

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
)

// Record is a resource as clients see it.
type Record struct {
	ID               string            `json:"id" example:"res_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	UID              string            `json:"uid" doc:"Native provider identifier"`
	Name             string            `json:"name"`
	Type             string            `json:"type" example:"aws-ec2"`
	Provider         string            `json:"provider" example:"aws"`
	CloudAccountID   string            `json:"cloudAccountID" doc:"Our id of the cloud account"`
	CloudAccountName string            `json:"cloudAccountName"`
	Region           string            `json:"region"`
	Zone             string            `json:"zone"`
	Status           cloud.Status      `json:"status" enum:"running,stopped,starting,stopping,pending,terminated,unknown"`
	InstanceType     string            `json:"instanceType"`
	Capacity         map[string]int64  `json:"capacity"`
	Tags             map[string]string `json:"tags"`
	SmartTags        map[string]string `json:"smartTags"`
	ParentUID        string            `json:"parentUID" doc:"What it belongs to: an Auto Scaling group, a cluster"`
	Schedulable      bool              `json:"schedulable" doc:"Can be started and stopped"`
	GroupIDs         []string          `json:"groupIDs" doc:"The resource groups that it is in, as far as the caller may see them"`
	TeamIDs          []string          `json:"teamIDs" doc:"The teams that own it, as far as the caller may see them"`
	ScheduleIDs      []string          `json:"scheduleIDs"`
	RackRateUSD      *RackRate         `json:"rackRateUSD"`
	ActualUSD        *Actual           `json:"actualUSD"`
	CostSource       *string           `json:"costSource" enum:"estimated,actual" doc:"actual once a bill of this month has arrived, estimated before; null when neither is known"`
	DiscoveredAt     time.Time         `json:"discoveredAt"`
	LastSeenAt       time.Time         `json:"lastSeenAt"`
	CreatedAt        *time.Time        `json:"createdAt" doc:"When the provider says that it was made; null when it does not say"`
}

// RackRate is the public price of a resource as it is now, as decimals: of what is stopped, what remains to be paid.
type RackRate struct {
	Hourly       string `json:"hourly" example:"0.096000"`
	Monthly      string `json:"monthly" doc:"Of 730 such hours" example:"70.08"`
	PriceVersion string `json:"priceVersion" doc:"Of the list of prices"`
	Stale        bool   `json:"stale" doc:"Newer prices could not be fetched"`
}

// Actual is what was invoiced for a resource, as decimals.
type Actual struct {
	MonthToDate string `json:"monthToDate"`
	LastMonth   string `json:"lastMonth"`
}

func newRecord(r inventory.Listed, costs *pricing.Costs) Record {
	out := Record{
		ID: r.ID, UID: r.UID, Name: r.Name, Type: r.Type, Provider: r.Provider, CloudAccountID: r.CloudAccountID,
		CloudAccountName: r.AccountName, Region: r.Region, Zone: r.Zone, Status: r.Status, InstanceType: r.InstanceType,
		Capacity: orEmpty(r.Capacity), Tags: orEmpty(r.Tags), SmartTags: orEmpty(r.SmartTags), ParentUID: r.ParentUID,
		Schedulable: r.Schedulable, GroupIDs: append([]string{}, r.GroupIDs...),
		TeamIDs: append([]string{}, r.TeamIDs...), ScheduleIDs: append([]string{}, r.ScheduleIDs...),
		DiscoveredAt: r.DiscoveredAt, LastSeenAt: lastSeen(r.Resource),
	}
	if !r.CreatedAt.IsZero() {
		out.CreatedAt = &r.CreatedAt
	}
	out.addCosts(costs.Of(r.UID))
	return out
}

// addCosts shows what the resource costs: the estimate and what was billed both stay visible.
func (r *Record) addCosts(rate *pricing.HourlyRate, billed *pricing.Invoiced) {
	if rate != nil && rate.Reason == "" {
		hour := rate.Hourly(r.Status)
		r.RackRateUSD = &RackRate{hour.Fixed(6), hour.MulInt(pricing.HoursPerMonth).Fixed(2), rate.Version, rate.Stale}
	}
	if billed != nil {
		r.ActualUSD = &Actual{billed.MonthToDate.Fixed(2), billed.LastMonth.Fixed(2)}
	}
	r.CostSource = rest.Optional(pricing.SourceOfCost(rate, billed))
}

// unpriced returns why a resource has no rack rate; empty when it has one.
func unpriced(rate *pricing.HourlyRate) string {
	if rate == nil {
		return "what it costs was not looked at yet: that is done when a discovery ends, and every night"
	}
	return rate.Reason
}

// lastSeen returns when the resource was seen last. Discovery dates what a listing tells back by as much as a listing may lag;
// nothing was seen last before it was discovered.
func lastSeen(r inventory.Resource) time.Time {
	if r.LastSeenAt.Before(r.DiscoveredAt) {
		return r.DiscoveredAt
	}
	return r.LastSeenAt
}

func orEmpty[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return m
}

func shownAll(found []inventory.Listed, costs *pricing.Costs) []Record {
	out := make([]Record, len(found))
	for i, r := range found {
		out[i] = newRecord(r, costs)
	}
	return out
}

// Filters are the query parameters that choose resources. They are exported so that the framework looks into them where
// they are embedded.
type Filters struct {
	Search         string   `query:"search" maxLength:"256" doc:"Within name, uid and tags (key=value), without regard to case"`
	Type           []string `query:"type" maxItems:"50" doc:"Only these kinds" example:"aws-ec2"`
	Provider       []string `query:"provider" maxItems:"50" doc:"Only of these providers" example:"aws"`
	Status         []string `query:"status" maxItems:"50" enum:"running,stopped,starting,stopping,pending,terminated,unknown" doc:"Only in one of these states"`
	Region         []string `query:"region" maxItems:"50" doc:"Only in these regions"`
	CloudAccountID []string `query:"cloud_account_id" maxItems:"50" doc:"Only of these cloud accounts, by our ids"`
	GroupID        string   `query:"group_id" maxLength:"64" doc:"Members of the resource group; none when there is no such group that the caller may see"`
	TeamID         string   `query:"team_id" maxLength:"64" doc:"Owned by the team; none when there is no such team that the caller may see"`
	Tag            []string `query:"tag,explode" maxItems:"20" doc:"key=value, or key for any value; given more than once, all must agree"`
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

// orders are what resources can be sorted by, which the inventory does.
type orders struct{}

var _ rest.Orders[inventory.Listed] = orders{}

func (orders) Orders() []rest.Order[inventory.Listed] {
	out := make([]rest.Order[inventory.Listed], len(inventory.Orders))
	for i, field := range inventory.Orders {
		out[i].Field = field
	}
	return out
}

func (s *service) listResources(ctx context.Context, in *listInput) ([]Record, error) {
	c := identity.CallerFrom(ctx)
	costs := pricing.NewCosts(s.p.Table)
	found, err := s.inventory.FindResources(ctx, c.Org, inventory.List{
		Filter: in.inventoryFilter(s.sight(c, costs)), By: in.Field(), Descending: in.Descending(), Skip: in.Skip(),
		Limit: in.Limit,
	})
	return shownAll(found, costs), err
}

// Summary counts resources.
type Summary struct {
	Total      int            `json:"total"`
	ByProvider map[string]int `json:"byProvider"`
	ByType     map[string]int `json:"byType"`
	ByStatus   map[string]int `json:"byStatus"`
	ByRegion   map[string]int `json:"byRegion"`
}

type summaryInput struct{ Filters }

func (s *service) getSummary(ctx context.Context, in *summaryInput) (Summary, error) {
	c := identity.CallerFrom(ctx)
	sum, err := s.inventory.SummarizeResources(ctx, c.Org, in.inventoryFilter(s.sight(c, nil)))
	return Summary(sum), err
}

type resourceInput struct {
	ResourceID string `path:"resourceID" maxLength:"64"`
}

// Described is a resource with what only its own operation tells.
type Described struct {
	Record
	Unpriced string         `json:"unpriced" doc:"Why it has no rackRateUSD; empty when it has one"`
	Facts    map[string]any `json:"facts" doc:"What waste is judged by, as far as it is known: attached to what, size, last use"`
}

func (s *service) getResource(ctx context.Context, in *resourceInput) (Described, error) {
	c := identity.CallerFrom(ctx)
	costs := pricing.NewCosts(s.p.Table)
	r, err := s.inventory.DescribeByID(ctx, c.Org, in.ResourceID, s.sight(c, costs))
	rate, _ := costs.Of(r.UID)
	return Described{newRecord(r, costs), unpriced(rate), orEmpty(map[string]any(r.Facts))}, err
}

// UIDs asks for resources by their native ids.
type UIDs struct {
	UIDs []string `json:"uids" minItems:"1" maxItems:"500" doc:"Native provider identifiers"`
}

func (s *service) byUIDs(ctx context.Context, in *struct{ Body UIDs }) ([]Record, error) {
	c := identity.CallerFrom(ctx)
	costs := pricing.NewCosts(s.p.Table)
	found, err := s.inventory.ByUIDs(ctx, c.Org, in.Body.UIDs, s.sight(c, costs))
	return shownAll(found, costs), err
}
