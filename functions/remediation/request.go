package remediation

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/recommendation"
	domain "lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// WorkflowRequest is the body of POST /recommendations/{recID}/remediate.
type WorkflowRequest struct {
	DryRun     bool              `json:"dryRun,omitempty" doc:"Only answer with the plan"`
	Reason     string            `json:"reason,omitempty" maxLength:"500"`
	Parameters map[string]string `json:"parameters,omitempty" doc:"scheduleID for rules that attach a schedule; sizes that the rule does not name"`
}

// WorkflowProposal is the body of POST /remediation-workflows.
type WorkflowProposal struct {
	RecommendationIDs []string          `json:"recommendationIDs" minItems:"1" maxItems:"50" doc:"Duplicates count once"`
	Reason            string            `json:"reason,omitempty" maxLength:"500"`
	Parameters        map[string]string `json:"parameters,omitempty" doc:"Of all recommendations"`
}

// WorkflowDryRun is what a workflow would do.
type WorkflowDryRun struct {
	Digest     string           `json:"digest"`
	SavingsUSD string           `json:"savingsUSD" doc:"Expected, net a month"`
	Targets    []WorkflowTarget `json:"targets" nullable:"false"`
}

type remediateInput struct {
	RecID string `path:"recID" maxLength:"64"`
	Body  WorkflowRequest
}

func (s *service) remediate(ctx context.Context, in *remediateInput) (rest.Rehearsable[WorkflowDryRun], error) {
	none := rest.Rehearsable[WorkflowDryRun]{}
	r := request{executing, []string{in.RecID}, in.Body.Reason, in.Body.Parameters}
	if in.Body.DryRun {
		plan, err := s.dryRun(ctx, &r)
		audit.NoteChange(ctx, audit.Change{Target: in.RecID})
		return rest.Rehearsable[WorkflowDryRun]{Plan: plan}, err
	}
	targets, err := s.planned(ctx, &r)
	if err != nil {
		return none, err
	}
	job, err := s.create(ctx, &r, targets)
	return rest.Rehearsable[WorkflowDryRun]{Job: job}, err
}

// dryRun plans a request. A resource that is made from code has a patch for it in its plan.
func (s *service) dryRun(ctx context.Context, r *request) (*WorkflowDryRun, error) {
	got, err := s.planAll(ctx, r)
	if err == nil {
		err = got.FirstRefused()
	}
	if err != nil {
		return nil, err
	}
	w := domain.Workflow{Targets: got.Targets}
	out := &WorkflowDryRun{domain.DigestOf(got.Targets), w.SavingUSD().Fixed(2), newTargets(got.Targets)}
	for i, problem := range got.Problems {
		if problem != nil {
			out.Targets[i].Plan.Patch = problem.Patch
		}
	}
	return out, nil
}

func (s *service) propose(ctx context.Context, in *struct{ Body WorkflowProposal }) (rest.Job, error) {
	ids := slices.Clone(in.Body.RecommendationIDs)
	slices.Sort(ids)
	r := request{writing, slices.Compact(ids), in.Body.Reason, in.Body.Parameters}
	targets, err := s.planned(ctx, &r)
	if err != nil {
		return rest.Job{}, err
	}
	return s.create(ctx, &r, targets)
}

// request is a request for a workflow.
type request struct {
	policy     string // that the caller needs on each resource
	recIDs     []string
	reason     string
	parameters map[string]string
}

// create stores the workflow of planned targets, and returns it as a job.
func (s *service) create(ctx context.Context, r *request, targets []domain.Target) (rest.Job, error) {
	c := identity.CallerFrom(ctx)
	w := domain.Workflow{
		Org: c.Org, Reason: r.reason, Proposal: r.policy == writing, Targets: targets, Requester: s.person(c),
	}
	allowed, err := s.allows(ctx, r, targets)
	if err != nil {
		return rest.Job{}, err
	}
	create := s.store.Create
	if allowed {
		create = s.store.CreateAllowed
	}
	if w, err = create(ctx, w); err != nil {
		return rest.Job{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: w.ID, After: newWorkflow(&w, s.p.Clock.Now())})
	if allowed {
		err = s.start(ctx, &w)
	}
	return newJob(&w), err
}

// allows reports whether the organization lets the rules of targets run without approval. They must be marked
// autonomous, and the resources must not be of production.
func (s *service) allows(ctx context.Context, r *request, targets []domain.Target) (bool, error) {
	needsApproval := func(t domain.Target) bool { return !t.MayRunAlone() }
	if r.policy != executing || slices.ContainsFunc(targets, needsApproval) {
		return false, nil
	}
	o, err := table.Read[identity.OrganisationRecord](ctx, s.p.Table, identity.OrganisationKey(identity.CallerOrg(ctx)))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return false, fault.Wrap("read which rules run without approval", err)
	}
	rules := o.Preferences().AutonomousRules
	return !slices.ContainsFunc(targets, func(t domain.Target) bool { return !slices.Contains(rules, t.RuleID) }), nil
}

func (s *service) person(c identity.Caller) domain.Person {
	return domain.Person{User: c.User, Email: c.Email, At: s.p.Clock.Now()}
}

func newJob(w *domain.Workflow) rest.Job {
	return rest.Job{JobID: w.ID, Status: string(w.Status), StatusURL: workflows + "/" + w.ID}
}

// planned returns the targets of a request with their plans. It returns the error of the first that cannot be changed.
func (s *service) planned(ctx context.Context, r *request) ([]domain.Target, error) {
	got, err := s.planAll(ctx, r)
	if err != nil {
		return nil, err
	}
	return got.Targets, got.First()
}

// planAll has the executor plan the targets of a request.
func (s *service) planAll(ctx context.Context, r *request) (domain.Planned, error) {
	targets, err := s.targets(ctx, r)
	if err != nil {
		return domain.Planned{}, err
	}
	return s.plan(ctx, domain.PlanInput{Org: identity.CallerOrg(ctx), Targets: targets})
}

// planTime is how long the executor may take to read the clouds.
const planTime = 20 * time.Second

// plan has the executor plan targets.
func (s *service) plan(ctx context.Context, in domain.PlanInput) (domain.Planned, error) {
	ctx, cancel := context.WithTimeout(ctx, planTime)
	defer cancel()
	var got domain.Planned
	call, err := domain.PlanCall(in)
	if err != nil {
		return got, err
	}
	if err = s.p.Workers.RunTask(ctx, domain.Executor, call, &got); err != nil {
		return got, fault.NewWithCause(fault.Unavailable, err, "the clouds were not read in time: try again")
	}
	if len(got.Targets) != len(in.Targets) || len(got.Problems) != len(in.Targets) {
		return got, fault.New(fault.Internal, "the executor planned %d of %d targets", len(got.Targets),
			len(in.Targets))
	}
	return got, nil
}

// targets reads the recommendations of a request that the caller holds the policy on. It returns fault.NotFound for one
// that the caller may not see, and fault.Denied for one that the caller only sees.
func (s *service) targets(ctx context.Context, r *request) ([]domain.Target, error) {
	sets, err := s.sets(ctx, r.policy, viewing)
	if err != nil {
		return nil, err
	}
	rows, err := s.recs.ReadRows(ctx, identity.CallerOrg(ctx), r.recIDs)
	if err != nil {
		return nil, err
	}
	out := make([]domain.Target, len(r.recIDs))
	for i, id := range r.recIDs {
		row, there := rows[id]
		ids := []string{row.ResourceID}
		switch {
		case !there || row.Status == recommendation.Candidate || !coversAll(sets[0], ids) && !coversAll(sets[1], ids):
			return nil, fault.New(fault.NotFound, "recommendation %.64q does not exist", id)
		case !coversAll(sets[0], ids):
			return nil, fault.New(fault.Denied, "permission denied: %s is needed on the resource of recommendation %s",
				r.policy, id)
		}
		out[i] = domain.NewTarget(&row, r.parameters)
	}
	return out, nil
}
