package remediation

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	domain "lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/foundation/fault"
)

// WorkflowRehearsal is the result of the last rehearsal of a workflow.
type WorkflowRehearsal struct {
	At     time.Time       `json:"at"`
	By     string          `json:"by" doc:"Who asked for it"`
	Digest string          `json:"digest" doc:"Of the plans that were rehearsed"`
	Passed bool            `json:"passed" doc:"Whether each run ended with the values before, or with what the plan says that nothing gives back"`
	Runs   []WorkflowTrial `json:"runs" nullable:"false" doc:"One for each fault"`
}

// WorkflowTrial is one run of a workflow on the simulated cloud.
type WorkflowTrial struct {
	Fault      domain.RehearsalFault `json:"fault" enum:"none,lost_reply,throttling,denied,snapshot_hangs" doc:"lost_reply: calls take effect and their answers are lost; throttling: a quarter of the calls is refused; denied: the call that ends a change is denied; snapshot_hangs: a snapshot never completes"`
	Passed     bool                  `json:"passed"`
	Status     domain.Status         `json:"status" enum:"succeeded,failed,rolled_back" doc:"Of the workflow after its change"`
	RolledBack *domain.Status        `json:"rolledBack" enum:"succeeded,failed,rolled_back" doc:"After a person has rolled it back; null if there was nothing to roll back"`
	Message    *string               `json:"message" doc:"What failed, and why"`
	Targets    []WorkflowTrialTarget `json:"targets" nullable:"false"`
	Steps      []WorkflowTrialStep   `json:"steps" nullable:"false" doc:"The calls, oldest first; at most 20"`
}

// WorkflowTrialTarget is the result of a run for one resource.
type WorkflowTrialTarget struct {
	RecommendationID string   `json:"recommendationID"`
	Restored         bool     `json:"restored" doc:"Whether its values at the end are those before the change"`
	Differences      []string `json:"differences" nullable:"false" doc:"What was not given back"`
	Expected         bool     `json:"expected" doc:"Whether its plan says that nothing gives it back"`
}

// WorkflowTrialStep is a call of a run.
type WorkflowTrialStep struct {
	AfterSeconds     int64             `json:"afterSeconds" doc:"Since the approval"`
	RecommendationID string            `json:"recommendationID"`
	Call             string            `json:"call" example:"ec2:ModifyVolume"`
	Values           map[string]string `json:"values" nullable:"false" doc:"That the call brings about"`
	Error            *string           `json:"error" doc:"null if the call was answered"`
}

// rehearsalTime is the time limit of a rehearsal, which takes some seconds.
const rehearsalTime = 25 * time.Second

func (s *service) rehearse(ctx context.Context, in *workflowInput) (WorkflowRehearsal, error) {
	w, err := s.permitted(ctx, in.WorkflowID, writing)
	if err != nil {
		return WorkflowRehearsal{}, err
	}
	by := s.person(identity.CallerFrom(ctx))
	if err = w.CheckRehearsable(by.At); err != nil {
		return WorkflowRehearsal{}, err
	}
	s.noteBefore(ctx, &w)
	got, err := s.runRehearsal(ctx, &w)
	if err != nil {
		return WorkflowRehearsal{}, err
	}
	got.By, got.At, got.Digest = by.Email, by.At, w.Digest
	if w, err = s.store.StoreRehearsal(ctx, w, got); err != nil {
		return WorkflowRehearsal{}, err
	}
	s.noteAfter(ctx, &w)
	return newRehearsal(&got), nil
}

// runRehearsal has the executor rehearse a workflow.
func (s *service) runRehearsal(ctx context.Context, w *domain.Workflow) (domain.Rehearsal, error) {
	ctx, cancel := context.WithTimeout(ctx, rehearsalTime)
	defer cancel()
	var got domain.Rehearsal
	call, err := domain.RehearsalCall(w)
	if err != nil {
		return got, err
	}
	if err = s.p.Workers.RunTask(ctx, domain.Executor, call, &got); err != nil {
		return got, fault.NewWithCause(fault.Unavailable, err, "the rehearsal did not come to its end: try again")
	}
	return got, nil
}

func newRehearsal(r *domain.Rehearsal) WorkflowRehearsal {
	out := WorkflowRehearsal{
		At: r.At, By: r.By, Digest: r.Digest, Passed: r.Passed(), Runs: make([]WorkflowTrial, len(r.Runs)),
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		out.Runs[i] = WorkflowTrial{
			Fault: run.Fault, Passed: run.Passed(), Status: run.Status, RolledBack: rest.Optional(run.RolledBack),
			Message: rest.Optional(run.Message), Targets: newTrialTargets(run.Targets), Steps: newTrialSteps(run.Steps),
		}
	}
	return out
}

func newTrialTargets(targets []domain.RehearsedTarget) []WorkflowTrialTarget {
	out := make([]WorkflowTrialTarget, len(targets))
	for i, t := range targets {
		out[i] = WorkflowTrialTarget{t.RecID, t.Restored, append([]string{}, t.Differences...), t.Expected}
	}
	return out
}

func newTrialSteps(steps []domain.RehearsedStep) []WorkflowTrialStep {
	out := make([]WorkflowTrialStep, len(steps))
	for i, s := range steps {
		out[i] = WorkflowTrialStep{
			int64(s.After / time.Second), s.RecID, s.Call, rest.NonNilMap(s.Set), rest.Optional(s.Error),
		}
	}
	return out
}
