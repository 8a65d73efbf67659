// Package eventreadiness is the operation group Event Readiness: plans that raise the capacity of autoscaler policies
// for the time of an event, previews of their effect and cost, and the callback for the executor's progress reports.
package eventreadiness

import (
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/readiness"
)

const (
	reading = "event-readiness:read"
	writing = "event-readiness:write"

	plans = "/event-readiness"
	plan  = plans + "/{eventID}"
)

type service struct {
	p         *platform.Platform
	plans     *readiness.Store
	policies  *readiness.PolicyStore
	inventory *inventory.Store
	measured  *measurement.Store
	prices    *pricing.Store
}

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Event Readiness")
	s := &service{
		p, readiness.New(p.Table, p.Clock), readiness.NewPolicyStore(p.Table, p.Clock), inventory.New(p),
		measurement.New(p),
		pricing.New(p, nil), // workers with cloud access fetch the prices
	}
	s.planOperations(g)
	s.statusOperations(g)
	s.previewOperations(g)
	s.estimateOperations(g)
	return g
}

var (
	wrong   = []int{http.StatusBadRequest}
	found   = []int{http.StatusNotFound}
	writes  = []int{http.StatusBadRequest, http.StatusConflict}
	changes = []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}
	moves   = []int{http.StatusNotFound, http.StatusConflict}
)

const times = "Capacity is raised at eventStart minus preScaleMinutes and given back at eventEnd plus " +
	"postEventMinutes. Times are UTC instants; errors show them in the plan's timezone. An event must begin " +
	"in the future, last at most 31 days and end within 330 days."

// inScope describes the effect of a grant on teams or resources.
const inScope = "A caller with a grant on teams or resources sees the plans whose targets all lie in it, and only " +
	"the policies in it. "

// acts describes the permission needed to dispatch a plan. A draft changes nothing, so every caller who may write
// plans may create one.
const acts = "The caller needs actions:execute on each target of the plan: else 403. "

func (s *service) planOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "createEventPlan", Method: http.MethodPost, Path: plans, Policy: writing, Statuses: writes,
		Summary: "Create a plan",
		Description: times +
			" The answer has the current capacity of each target, read from its cloud; it is captured again right " +
			"before it is raised. A policy that only monitors is refused. A policy whose account is read_only is " +
			"403. A target that another plan holds in an overlapping window is 409; every plan that is not " +
			"completed, cancelled or deleted holds its targets. An organization has at most 1000 plans, a plan at " +
			"most 20 targets, a policy at most 200 plans: else 409.",
	}, s.createPlan)
	rest.Handle(g, rest.Op{
		ID: "listEventPlans", Method: http.MethodGet, Path: plans, Policy: reading, Scoped: true, Statuses: wrong,
		Summary: "List plans", Description: "Newest first. " + inScope,
	}, s.listPlans)
	rest.Handle(g, rest.Op{
		ID: "countEventPlans", Method: http.MethodGet, Path: plans + "/count", Policy: reading, Scoped: true,
		Statuses: wrong, Summary: "Count plans", Description: inScope,
	}, s.countPlans)
	rest.Handle(g, rest.Op{
		ID: "listEventPlanFilters", Method: http.MethodGet, Path: plans + "/filters", Policy: reading, Scoped: true,
		Summary:     "List the values of plan filters",
		Description: "The statuses that the plans have at present. " + inScope,
	}, s.listFilters)
	rest.Handle(g, rest.Op{
		ID: "getEventPlan", Method: http.MethodGet, Path: plan, Policy: reading, Scoped: true, Statuses: found,
		Summary: "Get a plan", Description: inScope,
	}, s.getPlan)
	rest.Handle(g, rest.Op{
		ID: "updateEventPlan", Method: http.MethodPut, Path: plan, Policy: writing, Statuses: changes,
		Summary: "Change a plan",
		Description: "The plan must be draft, failed or scheduled: else 409. A scheduled plan is dispatched again " +
			"with its new times and targets. " + acts + times,
	}, s.updatePlan)
	rest.Handle(g, rest.Op{
		ID: "deleteEventPlan", Method: http.MethodDelete, Path: plan, Policy: writing, Statuses: moves,
		Summary: "Delete a plan",
		Description: "A scheduled or failed plan is cancelled first, and its targets get their original capacity " +
			"back. A plan that is under way is 409: cancel it first. A deleted plan is not shown; its record is " +
			"kept for 90 days.",
	}, s.deletePlan)
	rest.Handle(g, rest.Op{
		ID: "listEventPlanLogs", Method: http.MethodGet, Path: plan + "/logs", Policy: reading, Scoped: true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound}, Summary: "List the log of a plan",
		Description: "Newest first. Each transition, callback of the executor and change is one line. The newest " +
			"1000 lines are kept, each for 400 days.",
	}, s.listLogs)
}

func (s *service) statusOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "scheduleEventPlan", Method: http.MethodPost, Path: plan + "/schedule", Policy: writing, Statuses: moves,
		Summary: "Dispatch a plan to the executor",
		Description: "A draft becomes scheduling, and then scheduled when the executor has accepted it. A plan " +
			"whose event is over is 409. " + acts,
	}, s.schedulePlan)
	rest.Handle(g, rest.Op{
		ID: "cancelEventPlan", Method: http.MethodPost, Path: plan + "/cancel", Policy: writing, Statuses: moves,
		Summary: "Cancel a plan",
		Description: "Works in every status except cancelled, at once. The executor gives all targets their original " +
			"capacity back, including those that it is raising at the moment. The log says when it is done.",
	}, s.cancelPlan)
	rest.Handle(g, rest.Op{
		ID: "retryEventPlan", Method: http.MethodPost, Path: plan + "/retry", Policy: writing, Statuses: moves,
		Summary: "Retry a plan that failed",
		Description: "The plan is dispatched again if its event is not over. Otherwise it becomes a draft, " +
			"so that its times can be changed. " + acts,
	}, s.retryPlan)
	rest.Handle(g, rest.Op{
		ID: "resetEventPlan", Method: http.MethodPost, Path: plan + "/reset", Policy: writing, Statuses: moves,
		Summary: "Turn a completed plan into a draft",
	}, s.resetPlan)
	rest.Handle(g, rest.Op{
		ID: "reportEventPlanStatus", Method: http.MethodPost, Path: readiness.ReportPath("{eventID}"),
		Worker: readiness.Executor, Statuses: changes, Summary: "Receive the executor's report on a plan",
		Description: "Only the service's own executor may call it, by its own identity: a request with a bearer " +
			"token is 403. A report counts once, even if it is sent again.",
	}, s.takeReport)
}

func (s *service) previewOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "calculateCapacity", Method: http.MethodGet, Path: plans + "/calculate", Policy: reading, Scoped: true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound},
		Summary:  "Calculate the scaled capacity of a policy",
		Description: "With multiplier: desired × multiplier × average CPU / target CPU, rounded up, and never less " +
			"than the current size. With expected_requests: expected_requests / requests_per_instance, rounded up; " +
			"the clouds do not measure the requests of a group, so requests_per_instance must be sent. The average " +
			"CPU is that of the last 14 days. If it is not measured, 50 percent and a target of 70 percent are " +
			"used, and isEstimated is true.",
	}, s.calculateCapacity)
	rest.Handle(g, rest.Op{
		ID: "calculateDatabaseClass", Method: http.MethodGet, Path: plans + "/calculate-db", Policy: reading,
		Scoped: true, Statuses: []int{http.StatusBadRequest, http.StatusNotFound},
		Summary: "Recommend an instance class for a database",
		Description: "The next larger class of its family that has a public price in its region and at least vCPUs × " +
			"multiplier × average CPU / target CPU virtual CPUs. It is never applied.",
	}, s.calculateDatabase)
	rest.Handle(g, rest.Op{
		ID: "previewReadiness", Method: http.MethodPost, Path: plans + "/preview-readiness", Policy: reading,
		Scoped: true, Reads: true, Statuses: writes, Summary: "Preview a plan without saving it",
	}, s.previewPlan)
	rest.Handle(g, rest.Op{
		ID: "checkReadiness", Method: http.MethodGet, Path: plan + "/readiness-check", Policy: reading, Scoped: true,
		Statuses: found, Summary: "Check whether a plan can be carried out",
		Description: "Checks the current capacity of each target, the permissions of its account's credentials, " +
			"overrides that hold it stopped when the plan scales up, and whether the executor has the plan. The " +
			"clouds have 5 seconds to answer. A target with 0 instances is a warning if the plan can start it, else " +
			"a failed check. ready is false if a check failed or is unknown.",
	}, s.checkReadiness)
	rest.Handle(g, rest.Op{
		ID: "rehearseEventPlan", Method: http.MethodPost, Path: plan + "/rehearse", Policy: writing, Reads: true,
		Statuses: changes, Summary: "Rehearse a plan",
		Description: "Runs the executor's code for the plan on a simulated cloud with groups like its targets and a " +
			"faster clock. The real accounts are only read, by the checks of readiness-check. A target that is " +
			"stopped now is stopped when the rehearsal begins. A target that cannot be ready is not raised, and " +
			"its problem is named. The answer says when each target had its capacity, and how many machines were " +
			"missing when the event began. launchSeconds is the time that a machine needs to come into service.",
	}, s.rehearsePlan)
}

const assumes = "Each additional machine costs its on-demand price, by the second, while the plan holds it. " +
	"Commitments such as reserved instances are ignored. A target without a known price has null and a reason."

func (s *service) estimateOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "previewEventCost", Method: http.MethodPost, Path: plans + "/cost-preview", Policy: reading, Scoped: true,
		Reads: true, Statuses: writes, Summary: "Estimate the cost of a plan without saving it",
		Description: assumes,
	}, s.previewCost)
	rest.Handle(g, rest.Op{
		ID: "estimateEventCost", Method: http.MethodGet, Path: plan + "/cost-estimate", Policy: reading, Scoped: true,
		Statuses: found, Summary: "Estimate the cost of a plan", Description: assumes,
	}, s.estimateCost)
	rest.Handle(g, rest.Op{
		ID: "estimateDatabaseImpact", Method: http.MethodGet, Path: plan + "/db-impact", Policy: reading, Scoped: true,
		Statuses: found, Summary: "Estimate the tier changes of a plan's databases",
		Description: "Only for targets that are databases. Empty if the plan has none.",
	}, s.databaseImpact)
}
