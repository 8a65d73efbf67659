// Package resources is the operation group Resources: the inventory of the resources in an organization's clouds. It
// lists, searches, counts, exports and refreshes them.
package resources

import (
	"context"
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/report"
)

const (
	policy  = report.RecordPolicy
	refresh = "/resources/refresh"

	exportPath = "/resources/export"
	exportJobs = exportPath + "/jobs"
)

// costNote describes the cost fields in the interface description.
const costNote = " rackRateUSD is the estimate at public prices, null if no price is known; runningRateUSD is that " +
	"of the running resource, which a start of a stopped one costs. actualUSD is the " +
	"billed cost, null until a bill has arrived. sort_by=cost sorts by the cost that costSource names: for actual " +
	"lastMonth, or monthToDate if that is 0; for estimated rackRateUSD.monthly. Resources without a cost come " +
	"first. smartTags are the accepted tags that are still derived. scheduleIDs are the schedules that take the " +
	"resource directly, by a group or by a tag."

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Resources")
	s := newService(p)
	s.listOperations(g)
	s.readOperations(g)
	s.refreshOperations(g)
	s.metricsOperations(g)
	s.costOperations(g)
	s.viewOperations(g)
	return g
}

type service struct {
	p         *platform.Platform
	inventory *inventory.Store
	records   *report.RecordReader
	most      rest.Bounds // of one answer of an export
	reports   *report.Reader
	views     viewStore
}

func newService(p *platform.Platform) *service {
	return &service{
		p: p, inventory: inventory.New(p), records: report.NewRecordReader(p),
		most:    rest.Bounds{Rows: maxWholeRows},
		reports: report.NewReader(p, cost.New(p)), views: viewStore{p.Table},
	}
}

func (s *service) listOperations(g *rest.Group) {
	invalid := []int{http.StatusBadRequest}
	rest.Handle(g, rest.Op{
		ID: "listResources", Method: http.MethodGet, Path: "/resources", Policy: policy, Scoped: true,
		Statuses: invalid,
		Summary:  "List resources",
		Description: "A bare array, sorted by name unless sort_by says otherwise; X-Total-Count counts all pages. A " +
			"resource missing from a discovery is terminated when a read by id confirms that it does not " +
			"exist, or when " +
			"two complete listings an hour apart lack it. Terminated resources stay listed for seven days." + costNote,
	}, s.listResources)
	rest.Handle(g, rest.Op{
		ID: "exportResources", Method: http.MethodGet, Path: exportPath, Policy: policy, Scoped: true,
		Later:    rest.Job{},
		Statuses: []int{http.StatusBadRequest, http.StatusConflict}, Produces: rest.CSVType + ", " + rest.NDJSONType,
		Summary: "Export resources",
		Description: "All resources that match the filters, by native id, as CSV (default) or NDJSON. Up to 6 MB, " +
			"some 15,000 resources, are the answer itself. A larger export is a job, and so is any with async=true: " +
			"the answer is 202, and its " +
			"statusURL holds the download address when the job has ended. While a job runs, the same question of the " +
			"same caller is answered with that job. CSV cells that a spreadsheet would take for a formula, and those " +
			"that begin with an apostrophe, begin with one more apostrophe. With cursor, the export comes in pieces " +
			"of up to 5,000 resources instead: * begins, and while there is more, a Link header with rel=\"next\" " +
			"leads to the next piece. Resources that appear or vanish meanwhile do not shift the others.",
	}, s.exportResources)
	rest.Handle(g, rest.Op{
		ID: "getResourceExport", Method: http.MethodGet, Path: exportJobs + "/{jobID}", Policy: policy, Scoped: true,
		Statuses: []int{http.StatusNotFound},
		Summary:  "Get an export of resources that is a job",
		Description: "For who began it, with the same rights, for a week. downloadURL opens without further " +
			"credentials for 15 minutes; ask again for another one. The file is removed after 24 hours, and the job " +
			"is expired then.",
	}, s.getExport)
	rest.Handle(g, rest.Op{
		ID: "summarizeResources", Method: http.MethodGet, Path: "/resources/summary", Policy: policy, Scoped: true,
		Statuses:    invalid,
		Summary:     "Count resources",
		Description: "Counts the resources that match the filters, by provider, type, status and region.",
	}, s.getSummary)
}

func (s *service) readOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "getResource", Method: http.MethodGet, Path: "/resources/{resourceID}", Policy: policy, Scoped: true,
		Statuses:    []int{http.StatusNotFound},
		Summary:     "Read a resource",
		Description: "By the service's id (res_…). For native ids use /resources/by-uids." + costNote,
	}, s.getResource)
	rest.Handle(g, rest.Op{
		ID: "getResourcesByUIDs", Method: http.MethodPost, Path: "/resources/by-uids", Policy: policy, Scoped: true,
		Reads:       true,
		Statuses:    []int{http.StatusBadRequest},
		Summary:     "Read many resources by native id",
		Description: "A bare array in the order of uids, each resource once. Unknown ones are left out." + costNote,
	}, s.byUIDs)
	rest.Handle(g, rest.Op{
		ID: "listResourceTypes", Method: http.MethodGet, Path: "/resources/types", Policy: policy, Scoped: true,
		Catalogue: true,
		Summary:   "List the kinds of resources",
		Description: "All types of resources, and which of them can be discovered, acted on, scaled, priced and " +
			"measured. A resource of a provider that has none of these types has the type other. Accounts of " +
			"provider simulated have some of the same types.",
	}, s.listTypes)
}

// Type is a kind of resource.
type Type struct {
	Type         string `json:"type" doc:"The value of a resource's type" example:"aws-ec2"`
	Provider     string `json:"provider" example:"aws"`
	Name         string `json:"name" example:"EC2 instance"`
	NativeType   string `json:"nativeType" doc:"The provider's own name; empty if there is none" example:"ec2:instance"`
	Discoverable bool   `json:"discoverable" doc:"Is found by a discovery of an account of the provider"`
	Actionable   bool   `json:"actionable" doc:"Can be started and stopped"`
	Scalable     bool   `json:"scalable" doc:"Its capacity can be set"`
	Priced       bool   `json:"priced" doc:"A rack rate is known"`
	Measured     bool   `json:"measured" doc:"Has utilisation metrics"`
}

func (s *service) listTypes(context.Context, *struct{}) ([]Type, error) {
	kinds := cloud.Catalogue()
	out := make([]Type, len(kinds))
	for i, k := range kinds {
		out[i] = Type{
			k.Type, k.Provider, k.Name, k.Native, k.Discoverable, k.Actionable, k.Scalable,
			pricing.Priced(k.Type), k.Measured,
		}
	}
	return out, nil
}
