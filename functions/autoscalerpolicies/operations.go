// Package autoscalerpolicies is the operation group VM Autoscaling: policies for how providers scale groups of machines and pods, which
// remember how each was found and give it back.
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
	s := &service{p, readiness.NewPolicyStore(p.Table, p.Clock), inventory.New(p), measurement.New(p),
		readiness.New(p.Table, p.Clock)}
	missing, all := []int{http.StatusNotFound}, []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}
	rest.Handle(g, rest.Op{
		ID: "listAutoscalerPolicies", Method: http.MethodGet, Path: policies, Policy: reading, Scoped: true,
		Statuses: []int{http.StatusBadRequest},
		Summary:  "List autoscaler policies", Description: "At most 500 an organization. " + scoped,
	}, s.list)
	rest.Handle(g, rest.Op{
		ID: "createAutoscalerPolicy", Method: http.MethodPost, Path: policies, Policy: writing, Scoped: true,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict}, Summary: "Create an autoscaler policy",
		Description: "Adopts the target: asks the cloud how it is scaled now and remembers that as found. " + acts +
			shape + modes + scoped,
	}, s.create)
	rest.Handle(g, rest.Op{
		ID: "suggestAutoscalerPolicy", Method: http.MethodGet, Path: policies + "/smart-defaults", Policy: reading,
		Scoped:   true,
		Statuses: all, Summary: "Propose sizes and a target for a resource", Description: proposal + scoped,
	}, s.suggest)
	rest.Handle(g, rest.Op{
		ID: "getAutoscalerPolicy", Method: http.MethodGet, Path: one, Policy: reading, Scoped: true, Statuses: missing,
		Summary:     "Read an autoscaler policy",
		Description: scoped,
	}, s.get)
	rest.Handle(g, rest.Op{
		ID: "updateAutoscalerPolicy", Method: http.MethodPut, Path: one, Policy: writing, Scoped: true, Statuses: all,
		Summary: "Change an autoscaler policy",
		Description: "Changes only the fields present; target and cloudAccountID stay. In mode autopilot it is " +
			"applied at once. " + acts + "While an event readiness plan has the capacity: 409. " + shape + modes +
			scoped,
	}, s.update)
	rest.Handle(g, rest.Op{
		ID: "deleteAutoscalerPolicy", Method: http.MethodDelete, Path: one, Policy: writing, Scoped: true,
		Statuses: all, Summary: "Delete an autoscaler policy",
		Description: "Gives the target back exactly as found when the policy was ever applied, and tells as drift " +
			"what somebody else has changed since. A target that is gone needs nothing. " +
			"When it cannot be given back, for the cloud does not answer or refuses, the answer is 409 and the " +
			"policy stays; force=true forgets it without giving anything back. " + acts +
			"While an event readiness plan has the capacity, or names the policy and is neither completed nor " +
			"cancelled: 409, which lists the plans; force does not change that. " + scoped,
	}, s.remove)
	s.applyOperations(g)
	return g
}

func (s *service) applyOperations(g *rest.Group) {
	acting := []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}
	rest.Handle(g, rest.Op{
		ID: "applyAutoscalerPolicy", Method: http.MethodPost, Path: one + "/apply", Policy: writing, Scoped: true,
		Statuses: acting, Summary: "Apply an autoscaler policy",
		Description: "Scales the target as the policy says, now. What somebody else has changed since it was last " +
			"applied goes into the log as drift. 409 in mode monitor, when paused, " +
			"while an event readiness plan has the capacity, and for a target that is stopped; 403 for an account " +
			"that is read_only. " + acts + scoped,
	}, s.apply)
	rest.Handle(g, rest.Op{
		ID: "pauseAutoscalerPolicy", Method: http.MethodPost, Path: one + "/pause", Policy: writing, Scoped: true,
		Statuses: acting, Summary: "Pause an autoscaler policy",
		Description: "The cloud is left as it is, and nothing is applied until the policy is resumed. " + scoped,
	}, s.pause)
	rest.Handle(g, rest.Op{
		ID: "resumeAutoscalerPolicy", Method: http.MethodPost, Path: one + "/resume", Policy: writing, Scoped: true,
		Statuses: acting, Summary: "Resume an autoscaler policy",
		Description: "Ends a pause and applies the policy again, but in mode monitor. " + acts + scoped,
	}, s.resume)
	rest.Handle(g, rest.Op{
		ID: "listAutoscalerPolicyLogs", Method: http.MethodGet, Path: one + "/logs", Policy: reading, Scoped: true,
		Statuses: acting, Summary: "List what was done with an autoscaler policy",
		Description: "Newest first, the newest 500 of the last 90 days: adopted, applied, drifted, restored, " +
			"refused, paused, resumed, each with how the target was before and after. " + scoped,
	}, s.logs)
}

const (
	shape = "0 ≤ min ≤ desired ≤ max; targetCPUPercent 1 to 100, cooldownSeconds 0 to 3600. The target is a " +
		"resource of the account in the inventory, of one of the target types, and has one " +
		"policy: another one is 409, as is a name that is taken (without regard to case), and a target that runs " +
		"nothing, for then its size is not known. Of gcp-mig, desired is what the " +
		"autoscaler makes it. At most 500 an organization. "
	modes = "Modes: monitor only watches; recommend is applied on request; autopilot also whenever it is created, " +
		"changed or resumed. Nothing looks for drift in between: an apply tells it. " +
		"In an account that is read_only autopilot is 400. Status: active; paused; error, when the last apply did " +
		"not succeed (note says why); held, while an event readiness plan has the capacity. "
	acts = "Whoever adopts a target, or has it scaled by an apply, a resume, a change in mode autopilot, or a " +
		"deletion that gives it back, needs actions:execute on it: else 403. "
	scoped   = "A grant on teams or resources suffices for the policies of just these."
	proposal = "From the hourly CPU of the last 14 days that was collected: with n the present desired size, t the " +
		"target (that of its rule, else 70), and the mean, 95th percentile and maximum " +
		"of the CPU in whole percent, rounded up: min = ⌈n·mean/t⌉, desired = ⌈n·p95/t⌉, max = " +
		"⌈n·maximum·5/(4·t)⌉, each at least 1 and no less than the one before, max one more than " +
		"min at least. Where less is known, isEstimated is true, estimationReason says why, and the proposal is what " +
		"is there now, with a max of ⌈desired·5/4⌉ at least. "
)

// PolicyInput names the policy of a request.
type PolicyInput struct {
	PolicyID string `path:"policyID" maxLength:"64"`
}

// orders are what policies can be sorted by.
type orders struct{}

var _ rest.Orders[readiness.Policy] = orders{}

func (orders) Orders() []rest.Order[readiness.Policy] {
	return []rest.Order[readiness.Policy]{
		rest.OrderByText("name", func(p readiness.Policy) string { return p.Name }),
		rest.OrderByTime("createdAt", func(p readiness.Policy) time.Time { return p.CreatedAt }),
	}
}
