package report

import (
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
)

// Record is the view of a resource that clients see.
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
	ParentUID        string            `json:"parentUID" doc:"Its enclosing resource: an Auto Scaling group, a cluster"`
	Schedulable      bool              `json:"schedulable" doc:"Can be started and stopped"`
	GroupIDs         []string          `json:"groupIDs" doc:"Its resource groups that the caller may see"`
	TeamIDs          []string          `json:"teamIDs" doc:"The teams that own it, as far as the caller may see them"`
	ScheduleIDs      []string          `json:"scheduleIDs"`
	RackRateUSD      *RackRate         `json:"rackRateUSD"`
	RunningRateUSD   *RunningRate      `json:"runningRateUSD"`
	ActualUSD        *Actual           `json:"actualUSD"`
	CostSource       *string           `json:"costSource" enum:"estimated,actual" doc:"actual once a bill of this month has arrived, else estimated; null if no cost is known"`
	DiscoveredAt     time.Time         `json:"discoveredAt"`
	LastSeenAt       time.Time         `json:"lastSeenAt"`
	CreatedAt        *time.Time        `json:"createdAt" doc:"According to the provider; null if it does not tell"`
}

// RackRate is the present public price of a resource, as decimals. For a stopped resource it is the price of its
// remaining parts, such as disks.
type RackRate struct {
	Hourly       string `json:"hourly" example:"0.096000"`
	Monthly      string `json:"monthly" doc:"For 730 hours" example:"70.08"`
	PriceVersion string `json:"priceVersion" doc:"Version of the price list"`
	Stale        bool   `json:"stale" doc:"Newer prices could not be fetched"`
}

// RunningRate is the present public price of a resource while it runs, whatever its status is, as a decimal.
type RunningRate struct {
	Hourly string `json:"hourly" doc:"Per hour" example:"0.096000"`
}

// Actual is the invoiced cost of a resource, as decimals.
type Actual struct {
	MonthToDate string `json:"monthToDate"`
	LastMonth   string `json:"lastMonth"`
}

// NewRecord returns the view of a resource.
func NewRecord(r inventory.Listed, costs *pricing.Costs) Record {
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

// addCosts adds the resource's cost. The estimate and the billed cost are separate fields.
func (r *Record) addCosts(rate *pricing.HourlyRate, billed *pricing.Invoiced) {
	if rate != nil && rate.Reason == "" {
		hour := rate.Hourly(r.Status)
		r.RackRateUSD = &RackRate{hour.Fixed(6), hour.MulInt(pricing.HoursPerMonth).Fixed(2), rate.Version, rate.Stale}
		r.RunningRateUSD = &RunningRate{rate.Running.Fixed(6)}
	}
	if billed != nil {
		r.ActualUSD = &Actual{billed.MonthToDate.Fixed(2), billed.LastMonth.Fixed(2)}
	}
	r.CostSource = rest.Optional(pricing.SourceOfCost(rate, billed))
}

// lastSeen returns when the resource was last seen, at the earliest the time of its discovery. Discovery dates
// listings back by the time that a listing may lag.
func lastSeen(r inventory.Resource) time.Time {
	if r.LastSeenAt.Before(r.DiscoveredAt) {
		return r.DiscoveredAt
	}
	return r.LastSeenAt
}

// orEmpty returns m, or an empty map for nil.
func orEmpty[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return m
}
