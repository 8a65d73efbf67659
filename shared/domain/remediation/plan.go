package remediation

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

// Plan is the change of one target in words and values. The code that makes the change makes its plan, up to the first
// write.
type Plan struct {
	Calls  []string          `json:"calls"`  // in words, in their order
	Before map[string]string `json:"before"` // the values that change, freshly read
	After  map[string]string `json:"after"`  // the values of the same names after the change
	Undo   string            `json:"undo"`   // how it is given back
	Limits []string          `json:"limits"` // effects that undo does not give back
	// Watch is how long the resource is watched after it has reached its state.
	Watch time.Duration `json:"watch"`
	// Digest is a digest of all of that and of what the change is for. Savings are not in it, since they move each day.
	Digest string `json:"digest"`
}

// sum returns the digest of a target's plan.
func (t *Target) sum() string {
	p := t.Plan
	p.Digest = ""
	b, err := json.Marshal([]any{
		t.RecID, t.RuleID, t.RuleVersion, t.ResourceUID, t.Provider, t.CloudAccountID, t.Region, t.Verb, t.Parameters,
		p,
	})
	if err != nil {
		return "" // texts and numbers can be encoded
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// SetPlan stores the plan of a target, with its digest.
func (t *Target) SetPlan(p Plan) {
	t.Plan = p
	t.Plan.Digest = t.sum()
}

// DigestOf returns the digest of the plans of targets, in their order.
func DigestOf(targets []Target) string {
	h := sha256.New()
	for i := range targets {
		h.Write([]byte(targets[i].Plan.Digest + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// PlanTask is the executor's task that plans targets and changes nothing. Its input is a PlanInput, its output a
// Planned.
const PlanTask = "planRemediation"

// PlanInput asks for the plans of targets.
type PlanInput struct {
	Org     string   `json:"org"`
	Targets []Target `json:"targets"`
	// WorkflowID is the workflow that has the targets already: its own hold is no obstacle.
	WorkflowID string `json:"workflowID,omitempty"`
}

// Organisation returns the organization that the input belongs to.
func (in PlanInput) Organisation() string { return in.Org }

// Planned is the targets with their plans, in the same order. Problems has an entry for each of them, nil for a target
// that can be changed.
type Planned struct {
	Targets  []Target   `json:"targets"`
	Problems []*Problem `json:"problems"`
}

// Problem is why a target cannot be changed.
type Problem struct {
	Kind    fault.Kind `json:"kind"`
	Message string     `json:"message"`
	// Patch is the change for the code that the resource is made from; nil for another problem.
	Patch *CodePatch `json:"patch,omitempty"`
}

// Err returns the problem as an error, nil for none.
func (p *Problem) Err() error {
	if p == nil {
		return nil
	}
	return fault.New(p.Kind, "%s", p.Message)
}

// First returns the error of the first target that cannot be changed, naming its recommendation, or nil.
func (p *Planned) First() error {
	for i, problem := range p.Problems {
		if problem != nil {
			return fault.New(problem.Kind, "recommendation %s: %s", p.Targets[i].RecID, problem.Message)
		}
	}
	return nil
}

// FirstRefused is First without the targets whose code is to be changed instead: a dry run shows their patches.
func (p *Planned) FirstRefused() error {
	rest := *p
	rest.Problems = slices.Clone(p.Problems)
	for i, problem := range rest.Problems {
		if problem != nil && problem.Patch != nil {
			rest.Problems[i] = nil
		}
	}
	return rest.First()
}

// PlanCall returns the executor's call that plans targets.
func PlanCall(in PlanInput) (workflow.Call, error) {
	b, err := json.Marshal(in)
	return workflow.Call{Task: PlanTask, Input: b}, fault.Wrap("encode the targets of a plan", err)
}

// Input is the input of the machine, and of the executor's tasks for it.
type Input struct {
	Org        string `json:"org"`
	WorkflowID string `json:"workflowID"`
}

// Organisation returns the organization that the input belongs to.
func (in Input) Organisation() string { return in.Org }

// The executor's tasks of the machine.
const (
	AdvanceTask = "advanceRemediation"
	GiveUpTask  = "giveUpRemediation"
)
