package readiness

import (
	"encoding/json"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/workflow"
)

// RehearseTask is the executor's task that rehearses a plan: it takes a RehearsalInput and answers a Rehearsed.
const RehearseTask = "rehearse"

// RehearsalInput is the plan that is rehearsed, and how long its machines need to come into service. Stopped are the
// policies whose targets have 0 instances when the rehearsal begins. Blocked is why targets cannot be raised in all of
// the rehearsal, by policy.
type RehearsalInput struct {
	Org     string            `json:"org"`
	Plan    Plan              `json:"plan"`
	Launch  time.Duration     `json:"launch"`
	Stopped []string          `json:"stopped,omitempty"`
	Blocked map[string]string `json:"blocked,omitempty"`
}

// Organisation returns the organization that the input belongs to.
func (in RehearsalInput) Organisation() string { return in.Org }

// Rehearsed is how a rehearsal went.
type Rehearsed struct {
	Status  Status            `json:"status"` // of the plan in the end
	Targets []RehearsedTarget `json:"targets"`
	Log     []Line            `json:"log"` // oldest first
}

// RehearsedTarget is how a target of a plan fared.
type RehearsedTarget struct {
	PolicyID string `json:"policyID"`
	Original Size   `json:"original"`
	Scaled   Size   `json:"scaled"`
	// when all of its machines were in service; zero: they never were before the plan was over
	ReachedAt time.Time `json:"reachedAt"`
	Shortfall int64     `json:"shortfall"` // machines that it was short of when the event began
	Restored  bool      `json:"restored"`  // whether it was in the end as it was before
}

// RehearsalCall is what the executor is sent to rehearse a plan.
func RehearsalCall(in RehearsalInput) (workflow.Call, error) {
	b, err := json.Marshal(in)
	if err != nil {
		return workflow.Call{}, fmt.Errorf("encode the rehearsal of %s: %w", in.Plan.ID, err)
	}
	return workflow.Call{Task: RehearseTask, Input: b}, nil
}
