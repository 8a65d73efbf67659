// Package autoscalerpolicies is the operation group VM Autoscaling: policies for how providers scale groups of
// machines and pods. A policy stores the original scaling of its target and can restore it.
package autoscalerpolicies

import (
	"net/http"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/readiness"
)

const (
	policies = "/autoscaler-policies"
	one      = policies + "/{policyID}"
	reading  = "autoscaler-policies:read"
	writing  = "autoscaler-policies:write"
)

type service struct {
	p            *platform.Platform
	store        *readiness.PolicyStore
	inventory    *inventory.Store
	measurements *measurement.Store
	plans        *readiness.Store
}

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("VM Autoscaling")
	s := &service{
		p, readiness.NewPolicyStore(p.Table, p.Clock), inventory.New(p), measurement.New(p),
		readiness.New(p.Table, p.Clock),
	}
	missing, all := []int{http.StatusNotFound}, []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}
	rest.Handle(g, rest.Op{
		ID: "listAutoscalerPolicies", Method: http.MethodGet, Path: policies, Policy: reading, Scoped: true,
		Statuses: []int{http.StatusBadRequest},
		Summary:  "List autoscaler policies", Description: "At most 500 an organization. " + scoped,
	}, s.listPolicies)
	rest.Handle(g, rest.Op{
		ID: "createAutoscalerPolicy", Method: http.MethodPost, Path: policies, Policy: writing, Scoped: true,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict}, Summary: "Create an autoscaler policy",
		Description: "Adopts the target: reads its current scaling from the cloud and stores it as found. " + acts +
			shape + modes + scoped,
	}, s.createPolicy)
	rest.Handle(g, rest.Op{
		ID: "suggestAutoscalerPolicy", Method: http.MethodGet, Path: policies + "/smart-defaults", Policy: reading,
		Scoped:   true,
		Statuses: all, Summary: "Propose sizes and a target for a resource", Description: proposal + scoped,
	}, s.suggestScaling)
	rest.Handle(g, rest.Op{
		ID: "getAutoscalerPolicy", Method: http.MethodGet, Path: one, Policy: reading, Scoped: true, Statuses: missing,
		Summary:     "Read an autoscaler policy",
		Description: scoped,
	}, s.getPolicy)
	rest.Handle(g, rest.Op{
		ID: "updateAutoscalerPolicy", Method: http.MethodPut, Path: one, Policy: writing, Scoped: true, Statuses: all,
		Summary: "Change an autoscaler policy",
		Description: "Changes only the fields present; target and cloudAccountID stay. In mode autopilot it is " +
			"applied at once. " + acts + "While an event readiness plan holds the capacity, the answer is 409. " +
			shape + modes +
			scoped,
	}, s.updatePolicy)
	rest.Handle(g, rest.Op{
		ID: "deleteAutoscalerPolicy", Method: http.MethodDelete, Path: one, Policy: writing, Scoped: true,
		Statuses: all, Summary: "Delete an autoscaler policy",
		Description: "If the policy was ever applied, the target gets exactly its original scaling back, and drift " +
			"shows the changes that others have made since. A target that no longer exists needs nothing. If the " +
			"target cannot be restored, because the cloud does not answer or refuses, the answer is 409 and the " +
			"policy stays; force=true deletes it without restoring the target. " + acts +
			"While an event readiness plan holds the capacity, or a plan that is neither completed nor cancelled " +
			"names the policy, the answer is 409 and lists the plans; force does not change that. " + scoped,
	}, s.deletePolicy)
	s.applyOperations(g)
	return g
}

func (s *service) applyOperations(g *rest.Group) {
	acting := []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}
	rest.Handle(g, rest.Op{
		ID: "applyAutoscalerPolicy", Method: http.MethodPost, Path: one + "/apply", Policy: writing, Scoped: true,
		Statuses: acting, Summary: "Apply an autoscaler policy",
		Description: "Scales the target as the policy says, now. Changes that others have made since it was last " +
			"applied are logged as drift. 409 in mode monitor, if paused, while an event readiness plan holds the " +
			"capacity, and for a stopped target; 403 for a read_only account. " + acts + scoped,
	}, s.applyNow)
	rest.Handle(g, rest.Op{
		ID: "pauseAutoscalerPolicy", Method: http.MethodPost, Path: one + "/pause", Policy: writing, Scoped: true,
		Statuses: acting, Summary: "Pause an autoscaler policy",
		Description: "The cloud stays as it is. The policy is not applied until it is resumed. " + scoped,
	}, s.pausePolicy)
	rest.Handle(g, rest.Op{
		ID: "resumeAutoscalerPolicy", Method: http.MethodPost, Path: one + "/resume", Policy: writing, Scoped: true,
		Statuses: acting, Summary: "Resume an autoscaler policy",
		Description: "Ends a pause and, except in mode monitor, applies the policy again. " + acts + scoped,
	}, s.resumePolicy)
	rest.Handle(g, rest.Op{
		ID: "listAutoscalerPolicyLogs", Method: http.MethodGet, Path: one + "/logs", Policy: reading, Scoped: true,
		Statuses: acting, Summary: "List the log of an autoscaler policy",
		Description: "Newest first; the newest 500 entries of the last 90 days. The kinds are adopted, applied, " +
			"drifted, restored, refused, paused and resumed; each entry has the scaling before and after. " + scoped,
	}, s.listLogs)
}

const (
	shape = "0 ≤ min ≤ desired ≤ max; targetCPUPercent is 1 to 100, cooldownSeconds 0 to 3600. The target is a " +
		"resource of the account in the inventory and of one of the target types. A target has only one policy: a " +
		"second one is 409, and so is a name that is taken (ignoring case), and a target with 0 instances, because " +
		"its usual size is not known. The autoscaler of a gcp-mig sets its desired size. At most 500 policies an " +
		"organization. "
	modes = "Modes: monitor only watches; recommend is applied on request; autopilot is also applied after each " +
		"creation, change and resume. Drift is detected only by an apply. In a read_only account autopilot is 400. " +
		"Status: active; paused; error, if the last apply failed (note says why); held, while an event readiness " +
		"plan holds the capacity. "
	acts = "The caller needs actions:execute on the target to adopt it, and for an apply, a resume, a change in mode " +
		"autopilot, or a deletion that restores it: else 403. "
	scoped   = "A grant on teams or resources suffices for policies whose targets lie in it."
	proposal = "From the collected hourly CPU of the last 14 days. With n the current desired size, t the target " +
		"CPU of its rule (else 70), and the mean, 95th percentile and maximum of the CPU in whole percent, rounded " +
		"up: min = ⌈n·mean/t⌉, desired = ⌈n·p95/t⌉, max = ⌈n·maximum·5/(4·t)⌉. Each is at least 1 " +
		"and at least the " +
		"one before; max is at least min + 1. If too little is measured, isEstimated is true, estimationReason " +
		"says why, and the proposal is the current scaling with a max of at least ⌈desired·5/4⌉. "
)

// PolicyInput names the policy of a request.
type PolicyInput struct {
	PolicyID string `path:"policyID" maxLength:"64"`
}

// orders are the sort orders of policies.
type orders struct{}

var _ rest.Orders[readiness.Policy] = orders{}

func (orders) Orders() []rest.Order[readiness.Policy] {
	return []rest.Order[readiness.Policy]{
		rest.OrderByText("name", func(p readiness.Policy) string { return p.Name }),
		rest.OrderByTime("createdAt", func(p readiness.Policy) time.Time { return p.CreatedAt }),
	}
}
