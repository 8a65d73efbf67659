// Package recommendations is the operation group Recommendations: what rules recommend for resources, what it would
// save, and what people decide about it.
package recommendations

import (
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/opinion"
	"lamplighter.dev/shared/domain/recommendation"
)

const (
	base    = "/recommendations"
	one     = base + "/{recID}"
	refresh = base + "/refresh"
	rules   = base + "/rules"
	oneRule = rules + "/{ruleID}"
	plans   = rules + "/plans"
	reading = "recommendations:read"
	writing = "recommendations:write"
)

type service struct {
	p         *platform.Platform
	store     *recommendation.Store
	inventory *inventory.Store
	opinions  *opinion.Store
}

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Recommendations")
	s := &service{p, recommendation.New(p), inventory.New(p), opinion.New(p)}
	s.listOperations(g)
	s.opinionOperations(g)
	s.singleOperations(g)
	s.refreshOperations(g)
	s.ruleOperations(g)
	s.planOperations(g)
	return g
}

var (
	invalid = []int{http.StatusBadRequest}
	missing = []int{http.StatusNotFound}
)

func (s *service) listOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listRecommendations", Method: http.MethodGet, Path: base + "/resources", Policy: reading, Scoped: true,
		Statuses: invalid, Summary: "List recommendations",
		Description: "Filters take lists separated by commas; without a status, all statuses are listed. search " +
			"covers the name and the native id of the resource, the title and the rule. " + counts + scoped,
	}, s.list)
	rest.Handle(g, rest.Op{
		ID: "getRecommendationSummary", Method: http.MethodGet, Path: base + "/summary", Policy: reading, Scoped: true,
		Summary: "Add up recommendations",
		Description: "gross is the sum before commitments and other recommendations, net counts each charge once, " +
			"and realistic is net × savingsRealism of the organization. " + counts + scoped +
			"unknown is of the last evaluation of all resources, and empty for a grant on teams or resources.",
	}, s.summarize)
	rest.Handle(g, rest.Op{
		ID: "listRecommendationRules", Method: http.MethodGet, Path: rules, Policy: reading, Scoped: true,
		Statuses: invalid, Summary: "List the rules of recommendations",
		Description: "The built-in rules in their fixed order, then the own rules by id. enabled, severity and " +
			"params are those of the organization; overrides has those of accounts and groups, too. evaluated, " +
			"true, false, unknown and missing are of the last evaluation of all resources, missing by fact and " +
			"account. precision is the share of the recommendations that were dismissed, applied or optimised, and " +
			"not dismissed as wrong; a rule with less than 80 % of at least 20 falls to severity info. " +
			"realizedOverPredicted compares measured with predicted savings. A grant on teams or resources counts " +
			"open recommendations in it, and sees none of the other figures.",
	}, s.listRules)
}

func (s *service) opinionOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listRecommendationOpinions", Method: http.MethodGet, Path: base + "/opinions", Policy: reading,
		Scoped: true, Statuses: invalid, Summary: "List the cloud providers' own recommendations",
		Description: "The recommendations of Cost Optimization Hub, Azure Advisor and Google's recommenders, " +
			"imported once a day and compared with ours: agree, differs with the first differing fact, " +
			"only_they with the reason why we have none, and only_we for our open recommendations that save " +
			"something. Savings agree within 20 % or 1 USD. The largest saving comes first. " + scoped,
	}, s.listOpinions)
}

func (s *service) singleOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "getRecommendation", Method: http.MethodGet, Path: one, Policy: reading, Scoped: true, Statuses: missing,
		Summary: "Read a recommendation", Description: counts + scoped,
	}, s.get)
	rest.Handle(g, rest.Op{
		ID: "updateRecommendation", Method: http.MethodPatch, Path: one, Policy: writing, Scoped: true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:  "Dismiss a recommendation, mark it applied, or open it again",
		Description: "dismissed takes a reason. With until, at most 365 days away, it ends at that time; without, " +
			"when the resource or the rule changes. It also ends when the severity rises, or the saving is more " +
			"than 1.5 times as large and has grown by more than 50 USD. applied becomes optimised when three " +
			"evaluations find the condition false, and open if it is true 3 days later. optimised is set by " +
			"evaluations alone: another status of such a recommendation is 409. " + scoped,
	}, s.update)
}

func (s *service) refreshOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "refreshRecommendations", Method: http.MethodPost, Path: refresh, Policy: writing,
		Status: http.StatusAccepted, Statuses: []int{http.StatusConflict}, Summary: "Evaluate all rules now",
		Description: "A second request joins the running evaluation: it answers the same job. Rules are evaluated " +
			"each day and for changed resources each hour without it.",
	}, s.startRefresh)
	rest.Handle(g, rest.Op{
		ID: "getRecommendationRefresh", Method: http.MethodGet, Path: refresh + "/{jobID}", Policy: reading,
		Statuses: missing, Summary: "Get the progress of an evaluation",
		Description: "running, completed or failed; kept for 30 days. The counts are there when it has ended.",
	}, s.getRefresh)
}

const (
	counts = "savingsUSD is the net saving a month: after commitments, and counted once at the resource where the " +
		"charge arises. If several open recommendations claim the same charge, the strongest counts (delete, stop, " +
		"schedule, size, tier, discount; one that saves less than half of another is no stronger), and the others " +
		"are its alternatives and count 0. "
	scoped = "A grant on teams or resources shows the recommendations of just these resources. "
)
