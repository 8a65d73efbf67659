// Package resources is the operation group Resources: the inventory of what runs in an organization's clouds, to list,
// search, count, export and refresh.
package resources

import (
	"context"
	"net/http"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/smarttag"
)

const (
	policy  = "resources:read"
	refresh = "/resources/refresh"
)

// costNote tells in the interface description what the cost fields hold.
const costNote = " rackRateUSD is the estimate at public prices, null where no price is known; actualUSD what was " +
	"billed, null until a bill has arrived. " +
	"sort_by=cost goes by the cost that costSource names: of actual lastMonth, or monthToDate where that is 0, of " +
	"estimated rackRateUSD.monthly; a resource without a cost comes first. " +
	"smartTags are those that were accepted and are derived still. scheduleIDs are the schedules that take the " +
	"resource, by itself, by a group or by a tag."

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Resources")
	s := newService(p)
	s.listOperations(g)
	s.readOperations(g)
	s.refreshOperations(g)
	s.metricsOperations(g)
	return g
}

type service struct {
	p         *platform.Platform
	inventory *inventory.Store
	tagger    *smarttag.Tagger
	most      rest.Bounds // of one answer of an export
}

func newService(p *platform.Platform) *service {
	return &service{p: p, inventory: inventory.New(p), tagger: smarttag.NewTagger(smarttag.NewStore(p.Table))}
}

func (s *service) listOperations(g *rest.Group) {
	invalid := []int{http.StatusBadRequest}
	rest.Handle(g, rest.Op{
		ID: "listResources", Method: http.MethodGet, Path: "/resources", Policy: policy, Scoped: true,
		Statuses: invalid,
		Summary:  "List resources",
		Description: "A bare array, ordered by name unless sort_by says otherwise; page until a short page returns. " +
			"A resource that a discovery does not find is terminated when a read by id confirms that it does not " +
			"exist, or when two complete " +
			"listings an hour apart lack it. Terminated resources stay listed for seven days." + costNote,
	}, s.listResources)
	rest.Handle(g, rest.Op{
		ID: "exportResources", Method: http.MethodGet, Path: "/resources/export", Policy: policy, Scoped: true,
		Statuses: invalid, Produces: rest.CSVType + ", " + rest.NDJSONType,
		Summary:     "Export resources",
		Description: "The resources that the filters leave, by native id, as CSV (default) or NDJSON.",
	}, s.exportResources)
	rest.Handle(g, rest.Op{
		ID: "summarizeResources", Method: http.MethodGet, Path: "/resources/summary", Policy: policy, Scoped: true,
		Statuses:    invalid,
		Summary:     "Count resources",
		Description: "Counts by provider, type, status and region, of the resources that the filters leave.",
	}, s.getSummary)
}

func (s *service) readOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "getResource", Method: http.MethodGet, Path: "/resources/{resourceID}", Policy: policy, Scoped: true,
		Statuses:    []int{http.StatusNotFound},
		Summary:     "Read a resource",
		Description: "By our id (res_…). By native id, ask /resources/by-uids." + costNote,
	}, s.getResource)
	rest.Handle(g, rest.Op{
		ID: "getResourcesByUIDs", Method: http.MethodPost, Path: "/resources/by-uids", Policy: policy, Scoped: true,
		Reads:       true,
		Statuses:    []int{http.StatusBadRequest},
		Summary:     "Read many resources by native id",
		Description: "A bare array in the order of uids, each resource once; unknown ones are left out." + costNote,
	}, s.byUIDs)
	rest.Handle(g, rest.Op{
		ID: "listResourceTypes", Method: http.MethodGet, Path: "/resources/types", Policy: policy, Scoped: true,
		Summary: "List the kinds of resources",
		Description: "All types that a resource can have, and which of them can be discovered, acted on, scaled, " +
			"priced and measured. " +
			"What of a provider has none of these is of its type other. Accounts of provider simulated have a part " +
			"of the same types.",
	}, s.types)
}

// Type is a kind of resource.
type Type struct {
	Type         string `json:"type" doc:"The value of a resource's type" example:"aws-ec2"`
	Provider     string `json:"provider" example:"aws"`
	Name         string `json:"name" example:"EC2 instance"`
	NativeType   string `json:"nativeType" doc:"The provider's own name of it; empty of what has none" example:"ec2:instance"`
	Discoverable bool   `json:"discoverable" doc:"Is found by a discovery of an account of the provider"`
	Actionable   bool   `json:"actionable" doc:"Can be started and stopped"`
	Scalable     bool   `json:"scalable" doc:"Its capacity can be set"`
	Priced       bool   `json:"priced" doc:"A rack rate is known"`
	Measured     bool   `json:"measured" doc:"Has utilisation metrics"`
}

func (s *service) types(context.Context, *struct{}) ([]Type, error) {
	kinds := cloud.Catalogue()
	out := make([]Type, len(kinds))
	for i, k := range kinds {
		out[i] = Type{k.Type, k.Provider, k.Name, k.Native, k.Discoverable, k.Actionable, k.Scalable,
			pricing.Priced(k.Type), k.Measured}
	}
	return out, nil
}

// sight returns what the caller may see, and asks for schedules, smart tags and what costs reads; nil asks for no costs.
func (s *service) sight(c identity.Caller, costs inventory.CostReader) inventory.Visibility {
	return inventory.SightOf(c, policy).WithSchedules().WithCosts(costs).WithSmartTags(s.tagger)
}
