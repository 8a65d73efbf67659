// Package remediation is the operation group Remediation Workflows: it plans the changes that recommendations ask for,
// and keeps their approval. The executor reads the clouds for the plans, and makes the changes.
package remediation

import (
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/recommendation"
	domain "lamplighter.dev/shared/domain/remediation"
)

const (
	reading   = "remediation:read"
	writing   = "remediation:write"
	executing = "remediation:execute"
	viewing   = "recommendations:read"

	workflows = "/remediation-workflows"
	workflow  = workflows + "/{workflowID}"
)

type service struct {
	p         *platform.Platform
	store     *domain.Store
	recs      *recommendation.Store
	inventory *inventory.Store
}

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Remediation Workflows")
	s := &service{p, domain.New(p), recommendation.New(p), inventory.New(p)}
	s.requestOperations(g)
	s.readOperations(g)
	s.decisionOperations(g)
	return g
}

var (
	found   = []int{http.StatusNotFound}
	invalid = []int{http.StatusBadRequest}
	moves   = []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}
)

const (
	checks = "The resources are read in their clouds. A recommendation that is not open (409 with the reason), whose " +
		"rule nothing carries out (409), whose account is read_only (403), whose resource is held by an action, an " +
		"override, an event readiness plan, a calendar or another workflow (409), or is managed by a controller or " +
		"by infrastructure as code (409) is refused. parameters has scheduleID for rules that attach a schedule, and " +
		"the sizes that the " +
		"rule does not name itself. "
	people = "Rules in autonomousRules of the organization run at once for non-production resources. Otherwise " +
		"another person decides within 24 hours: POST …/approve or …/reject. Then the executor checks everything " +
		"again, stores the values before the change, makes it, watches the resource for 15 minutes, and gives the " +
		"change back if its state does not last. "
	scoped = "A grant on teams or resources suffices if it covers every resource of the workflow. "
)

func (s *service) requestOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "remediateRecommendation", Method: http.MethodPost, Path: "/recommendations/{recID}/remediate",
		Policy: executing, Scoped: true, Status: http.StatusAccepted, Statuses: moves,
		Summary: "Request that a recommendation be carried out",
		Description: "With dryRun the answer is 200 with the plan: the calls in words, the values before and after, " +
			"how they are given back and what is not; nothing is stored. Where the tags of the resource name " +
			"infrastructure as code, the plan has a patch to apply there. " + checks + people + scoped,
	}, s.remediate)
	rest.Handle(g, rest.Op{
		ID: "proposeRemediation", Method: http.MethodPost, Path: workflows, Policy: writing, Scoped: true,
		Status: http.StatusAccepted, Statuses: moves, Summary: "Propose to carry recommendations out",
		Description: "One workflow for up to 50 recommendations. The first one is changed and validated before the " +
			"others begin, and a tenth of failures stops the rest. Its approver needs remediation:execute. " + checks +
			people + scoped,
	}, s.propose)
}

func (s *service) readOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listRemediationWorkflows", Method: http.MethodGet, Path: workflows, Policy: reading, Scoped: true,
		Statuses: invalid, Summary: "List remediation workflows",
		Description: "Newest first unless sorted. A grant on teams or resources shows the workflows whose resources " +
			"all lie in it. Workflows are kept for 400 days.",
	}, s.list)
	rest.Handle(g, rest.Op{
		ID: "getRemediationWorkflow", Method: http.MethodGet, Path: workflow, Policy: reading, Scoped: true,
		Statuses: found, Summary: "Get a remediation workflow",
		Description: "With the plan and the progress of each resource. A grant on teams or resources suffices if it " +
			"covers every resource of the workflow.",
	}, s.get)
}

func (s *service) decisionOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "rehearseRemediation", Method: http.MethodPost, Path: workflow + "/rehearse", Policy: writing,
		Scoped: true, Statuses: moves, Summary: "Rehearse a remediation workflow on the simulated cloud",
		Description: "For a workflow that awaits approval: else 409. The executor's own code makes the changes of " +
			"the plan on simulated resources that have the values of the plan before the change, and gives them " +
			"back: once without a fault and once with each fault that the changes can meet. No account is called " +
			"and nothing is changed. The result is stored as rehearsal of the workflow, whose digest stays the " +
			"same. A workflow that was decided meanwhile is 409. " + scoped,
	}, s.rehearse)
	rest.Handle(g, rest.Op{
		ID: "approveRemediation", Method: http.MethodPost, Path: workflow + "/approve", Policy: writing, Scoped: true,
		Statuses: moves, Summary: "Approve a remediation workflow",
		Description: "It starts. Nobody approves their own request: 403. The approver of a proposal needs " +
			"remediation:execute: else 403. A workflow that was decided already, is expired or whose plan is another " +
			"one by now is 409. An organization makes at most 50 changes a day (UTC): else 409. " + scoped,
	}, s.approve)
	rest.Handle(g, rest.Op{
		ID: "rejectRemediation", Method: http.MethodPost, Path: workflow + "/reject", Policy: writing, Scoped: true,
		Statuses: moves, Summary: "Reject a remediation workflow",
		Description: "It becomes cancelled. Its requester cancels it instead: 403. A workflow that was decided " +
			"already or is expired is 409. " + scoped,
	}, s.reject)
	rest.Handle(g, rest.Op{
		ID: "cancelRemediation", Method: http.MethodPost, Path: workflow + "/cancel", Policy: writing, Scoped: true,
		Statuses: moves, Summary: "Cancel a remediation workflow",
		Description: "One that has changed nothing becomes cancelled at once. A running one stops, gives back what " +
			"it has changed, and is cancelled then. One that has ended is 409. " + scoped,
	}, s.cancel)
	rest.Handle(g, rest.Op{
		ID: "rollBackRemediation", Method: http.MethodPost, Path: workflow + "/rollback", Policy: executing,
		Scoped: true, Status: http.StatusAccepted, Statuses: moves, Summary: "Give back what a workflow has changed",
		Description: "For a workflow that succeeded or failed, within 7 days of its end: else 409. The values that " +
			"were stored before the change are set again, unless somebody else has changed them since: then " +
			"rollback.error of the workflow says so, and it keeps its status. A second request joins the first. " +
			scoped,
	}, s.rollBack)
}
