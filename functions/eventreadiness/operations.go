// Package eventreadiness is the operation group Event Readiness: plans that raise the capacity of autoscaler policies for the time of an
// event, what they would do and cost, and the callback by which the executor says how far they are.
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
		pricing.New(p, nil), // which are fetched by whoever can ask the clouds for them
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
	"postEventMinutes. Times are moments; errors " +
	"show them in the plan's timezone. An event begins after now, takes at most 31 days and ends within 330."

// inScope is what a grant on teams or resources shows.
const inScope = "A grant on teams or resources shows the plans whose targets all lie in it, and no other policies. "

// acts is what the caller needs to have a plan carried out. A draft changes nothing, so anybody who may write plans may make one.
const acts = "Whoever dispatches a plan needs actions:execute on each of its targets: else 403. "

func (s *service) planOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "createEventPlan", Method: http.MethodPost, Path: plans, Policy: writing, Statuses: writes,
		Summary: "Create a plan",
		Description: times +
			" The answer has the capacity of each target as its cloud tells it now; it is captured again right " +
			"before it is raised. A " +
			"policy that only monitors is refused, and 403 one whose account is read_only. A target that another " +
			"plan holds in an overlapping window is 409: " +
			"every plan that is not completed, cancelled or deleted holds its targets. An organization has at most " +
			"1000 plans, a plan at most 20 targets, a policy at most 200 plans: 409.",
	}, s.create)
	rest.Handle(g, rest.Op{
		ID: "listEventPlans", Method: http.MethodGet, Path: plans, Policy: reading, Scoped: true, Statuses: wrong,
		Summary: "List plans", Description: "Newest first. " + inScope,
	}, s.list)
	rest.Handle(g, rest.Op{
		ID: "countEventPlans", Method: http.MethodGet, Path: plans + "/count", Policy: reading, Scoped: true,
		Statuses: wrong, Summary: "Count plans", Description: inScope,
	}, s.count)
	rest.Handle(g, rest.Op{
		ID: "listEventPlanFilters", Method: http.MethodGet, Path: plans + "/filters", Policy: reading, Scoped: true,
		Summary:     "List what plans can be filtered by",
		Description: "The statuses that plans have now. " + inScope,
	}, s.filters)
	rest.Handle(g, rest.Op{
		ID: "getEventPlan", Method: http.MethodGet, Path: plan, Policy: reading, Scoped: true, Statuses: found,
		Summary: "Get a plan", Description: inScope,
	}, s.get)
	rest.Handle(g, rest.Op{
		ID: "updateEventPlan", Method: http.MethodPut, Path: plan, Policy: writing, Statuses: changes,
		Summary: "Change a plan",
		Description: "Only a plan that is draft, failed or scheduled: else 409. One that is scheduled is dispatched " +
			"anew, with its new times and targets. " + acts + times,
	}, s.update)
	rest.Handle(g, rest.Op{
		ID: "deleteEventPlan", Method: http.MethodDelete, Path: plan, Policy: writing, Statuses: moves,
		Summary: "Delete a plan",
		Description: "One that is scheduled or failed is cancelled first, and what it applied is rolled back. One " +
			"that is under way is 409: cancel it. A deleted plan is kept for 90 days and shown no more.",
	}, s.remove)
	rest.Handle(g, rest.Op{
		ID: "listEventPlanLogs", Method: http.MethodGet, Path: plan + "/logs", Policy: reading, Scoped: true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound}, Summary: "List the log of a plan",
		Description: "Newest first: each transition, each callback of the executor and each change, once. The newest " +
			"1000 are kept, each for 400 days.",
	}, s.logs)
}

func (s *service) statusOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "scheduleEventPlan", Method: http.MethodPost, Path: plan + "/schedule", Policy: writing, Statuses: moves,
		Summary: "Dispatch a plan to the executor",
		Description: "A draft becomes scheduling, and scheduled when the executor has accepted it. A plan whose " +
			"event is over is 409. " + acts,
	}, s.schedule)
	rest.Handle(g, rest.Op{
		ID: "cancelEventPlan", Method: http.MethodPost, Path: plan + "/cancel", Policy: writing, Statuses: moves,
		Summary: "Cancel a plan",
		Description: "At once, from every status but cancelled. What was applied is rolled back to the originals by " +
			"the executor, also what is being applied at the moment; its log says when that is done.",
	}, s.cancel)
	rest.Handle(g, rest.Op{
		ID: "retryEventPlan", Method: http.MethodPost, Path: plan + "/retry", Policy: writing, Statuses: moves,
		Summary: "Retry a plan that failed",
		Description: "It is dispatched anew while its event is not over; afterwards it becomes a draft, whose times " +
			"can be changed. " + acts,
	}, s.retry)
	rest.Handle(g, rest.Op{
		ID: "resetEventPlan", Method: http.MethodPost, Path: plan + "/reset", Policy: writing, Statuses: moves,
		Summary: "Make a draft of a plan that is completed",
	}, s.reset)
	rest.Handle(g, rest.Op{
		ID: "reportEventPlanStatus", Method: http.MethodPost, Path: readiness.ReportPath("{eventID}"),
		Worker: readiness.Executor, Statuses: changes, Summary: "Take the executor's report of a plan",
		Description: "For the service's own executor alone, which invokes the function by its own identity: every " +
			"bearer is 403. A report is taken once, however often it is sent.",
	}, s.report)
}

func (s *service) previewOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "calculateCapacity", Method: http.MethodGet, Path: plans + "/calculate", Policy: reading, Scoped: true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound},
		Summary:  "Calculate the scaled capacity of a policy",
		Description: "By multiplier: desired × multiplier × average CPU / target CPU, rounded up, exactly; never " +
			"less than now. By expected_requests: so many as take these at " +
			"requests_per_instance each; the clouds measure no requests of a group, so that is to be sent. The " +
			"average is that of the last 14 days where it is measured; else 50 percent, and 70 as the target, " +
			"and isEstimated is true.",
	}, s.calculate)
	rest.Handle(g, rest.Op{
		ID: "calculateDatabaseClass", Method: http.MethodGet, Path: plans + "/calculate-db", Policy: reading,
		Scoped: true, Statuses: []int{http.StatusBadRequest, http.StatusNotFound},
		Summary: "Recommend an instance class for a database",
		Description: "The next class up in its family, of those with a public price in its region, that has vCPUs × " +
			"multiplier × average CPU / target CPU. It is never applied.",
	}, s.calculateDatabase)
	rest.Handle(g, rest.Op{
		ID: "previewReadiness", Method: http.MethodPost, Path: plans + "/preview-readiness", Policy: reading,
		Scoped: true, Reads: true, Statuses: writes, Summary: "Preview a plan without saving it",
	}, s.preview)
	rest.Handle(g, rest.Op{
		ID: "checkReadiness", Method: http.MethodGet, Path: plan + "/readiness-check", Policy: reading, Scoped: true,
		Statuses: found, Summary: "Check whether a plan can be carried out",
		Description: "Asks the clouds now, for 5 seconds at most: the capacity of each target, what the credentials " +
			"of its account may do with it, overrides that hold it stopped when the plan scales up, and whether the " +
			"executor has the " +
			"plan. A target that has 0 instances is a warning when the plan can start it, else a failed check. ready " +
			"is false when a check failed or is unknown.",
	}, s.check)
	rest.Handle(g, rest.Op{
		ID: "rehearseEventPlan", Method: http.MethodPost, Path: plan + "/rehearse", Policy: writing, Reads: true,
		Statuses: changes, Summary: "Rehearse a plan",
		Description: "Carries the plan out on a simulated cloud that has groups like its targets, with the clock " +
			"sped up, by the code that the executor runs. The real accounts are asked what " +
			"readiness-check asks, and nothing in them is changed: a target that is stopped now is stopped when the " +
			"rehearsal begins, and one that cannot be ready is not raised and names its problem. Tells when each " +
			"target had its " +
			"capacity, and what it was short of when the event began. launchSeconds is how long a machine needs to " +
			"come into service.",
	}, s.rehearse)
}

const assumes = "Each machine more costs its on-demand price for as long as the plan holds it, by the second: what " +
	"is committed is left out of account. A target whose price is not known has null, and its reason."

func (s *service) estimateOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "previewEventCost", Method: http.MethodPost, Path: plans + "/cost-preview", Policy: reading, Scoped: true,
		Reads: true, Statuses: writes, Summary: "Estimate what a plan would cost without saving it",
		Description: assumes,
	}, s.previewCost)
	rest.Handle(g, rest.Op{
		ID: "estimateEventCost", Method: http.MethodGet, Path: plan + "/cost-estimate", Policy: reading, Scoped: true,
		Statuses: found, Summary: "Estimate what a plan costs", Description: assumes,
	}, s.estimateCost)
	rest.Handle(g, rest.Op{
		ID: "estimateDatabaseImpact", Method: http.MethodGet, Path: plan + "/db-impact", Policy: reading, Scoped: true,
		Statuses: found, Summary: "Estimate the tier changes of a plan's databases",
		Description: "For targets that are databases; empty for a plan that has none.",
	}, s.databaseImpact)
}
