// Package reports is the operation group Reports & Analytics: costs by time, service, resource, tag and team. Amounts
// are exact until they are rounded for display, and the displayed parts of every level add up to the total to the
// cent.
package reports

import (
	"net/http"

	"lamplighter.dev/functions/reports/unitmetric"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/people/teams"
)

const (
	reports = "/reports"
	reading = report.Policy
	writing = "reports:write"
)

type service struct {
	*report.Reader
	p       *platform.Platform
	teams   teams.Store
	labels  report.LabelReader
	rules   report.ShowbackStore
	savings *report.SavingReader
	saved   *savedBy
	unitsOf unitmetric.Store
}

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group { return operations(p, cost.New(p)) }

func operations(p *platform.Platform, b report.Books) *rest.Group {
	return newService(p, b).operations()
}

func newService(p *platform.Platform, b report.Books) *service {
	reader, t := report.NewReader(p, b), teams.New(p.Table)
	return &service{
		reader, p, t,
		report.LabelReader{Inventory: reader.Inventory, Teams: t},
		report.NewShowbackStore(p.Table),
		report.NewSavingReader(p),
		&savedBy{}, unitmetric.NewStore(p.Table),
	}
}

func (s *service) operations() *rest.Group {
	g := rest.NewGroup("Reports & Analytics")
	for _, add := range []func(*rest.Group){
		s.costOperations, s.inventoryOperations, s.teamOperations, s.tagOperations, s.savingOperations,
		s.pictureOperations, s.unitOperations,
	} {
		add(g)
	}
	return g
}

var invalid = []int{http.StatusBadRequest}

// Parts of the descriptions that several reports share.
const (
	asked = " Days are days in UTC, at most 800; from is the first day and to the day after the last; period is a " +
		"month. filter[dimension]=value narrows: provider, cloud_account_id, sub_account_id, region, " +
		"resource_type, service_name, purchase_type, team_id, group_id, resource_uid, charge_category, charge_class " +
		"(Correction: refunds; Late: usage dated outside of its month), tag:<key>. " +
		"Costs are invoiced amounts where they exist; estimated says that public prices stand in for days that are " +
		"not billed yet. A grant on teams or resources shows the costs of its scope alone, and their totals."
	kept      = " Savings are those of /reports/savings, which filters leave as they are, of at most ten minutes ago."
	billed    = " cost is billed by default."
	effective = " cost is effective by default."
)

func (s *service) costOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "getCostSummary", Method: http.MethodGet, Path: reports + "/summary", Policy: reading, Scoped: true,
		Statuses: invalid,
		Summary:  "Get the costs of a month",
		Description: "The current month unless period names another. The forecast is computed as for a budget of " +
			"the month; it is null for a month that is over. incomplete has the month, the month before it, and the " +
			"two before these if there is a forecast; costSource is that of the month alone." + kept + billed + asked,
	}, s.summary)
	rest.Handle(g, rest.Op{
		ID: "listCostTrends", Method: http.MethodGet, Path: reports + "/trends", Policy: reading, Scoped: true,
		Statuses: invalid,
		Summary:  "List cost trends",
		Description: "The last 30 days, 12 weeks or 12 months, including the current one, unless days are " +
			"requested. Weeks begin on Mondays; the first and the last week or month hold only the requested days. " +
			"dims splits each point into series, the most expensive first. " +
			"Accept: image/svg+xml asks for a picture, and so does /reports/trends.svg." + kept + billed + asked,
	}, s.trendsOrPicture)
	rest.Handle(g, rest.Op{
		ID: "listResourceCosts", Method: http.MethodGet, Path: reports + "/costs/resources", Policy: reading,
		Scoped: true, Statuses: invalid,
		Summary: "List costs by resource",
		Description: "The current month unless other days are requested; the most expensive first unless " +
			"sort_order says otherwise. Charges without a resource are one item for each account, without " +
			"resourceUID." +
			carbonNote + billed + asked,
	}, s.resourceCosts)
	rest.Handle(g, rest.Op{
		ID: "getCostBreakdown", Method: http.MethodGet, Path: reports + "/costs/breakdown", Policy: reading,
		Scoped: true, Statuses: invalid,
		Summary: "Break costs down",
		Description: "By up to 6 dimensions, one level each: the links into a level add up to totalUSD, and those " +
			"from a node to its costUSD. A node is a value below the values before it, so that its id is its path. " +
			"Of each node the largest are shown, as many as limit says; all others are one node more, with other " +
			"true. At most 5,000 nodes. Accept: image/svg+xml asks for a picture of the first level, and so does " +
			"/reports/costs/breakdown.svg. The current month unless other days are requested." +
			billed + asked,
	}, s.breakdownOrPicture)
	rest.Handle(g, rest.Op{
		ID: "listSnapshots", Method: http.MethodGet, Path: reports + "/snapshots", Policy: reading, Scoped: true,
		Statuses: invalid,
		Summary:  "List closed months",
		Description: "The months of the last three years whose bills are all final, the newest first, in all three " +
			"costs. A grant on teams or resources shows the costs of these alone.",
	}, s.snapshots)
}

func (s *service) inventoryOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "summarizeProviders", Method: http.MethodGet, Path: reports + "/providers/summary", Policy: reading,
		Scoped: true, Statuses: invalid,
		Summary: "List costs by provider",
		Description: "Includes the number of each provider's resources in the inventory. The current month unless " +
			"other days are requested." + billed + asked,
	}, s.providers)
	rest.Handle(g, rest.Op{
		ID: "summarizeKinds", Method: http.MethodGet, Path: reports + "/resources/summary", Policy: reading,
		Scoped:      true,
		Summary:     "Count resources",
		Description: "By provider, account and type. A grant on teams or resources counts these alone.",
	}, s.kinds)
}
