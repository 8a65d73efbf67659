package readiness

import (
	"encoding/json"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/workflow"
)

// RehearseTask is the executor's task that rehearses a plan: its input is a RehearsalInput and its output a
// Rehearsed.
const RehearseTask = "rehearse"

// RehearsalInput is the plan to rehearse, and Launch, the time that its machines need to come into service. Stopped
// are the policies whose targets have 0 instances when the rehearsal begins. Blocked is why targets cannot be raised
// during the rehearsal, by policy.
type RehearsalInput struct {
	Org     string            `json:"org"`
	Plan    Plan              `json:"plan"`
	Launch  time.Duration     `json:"launch"`
	Stopped []string          `json:"stopped,omitempty"`
	Blocked map[string]string `json:"blocked,omitempty"`
}

// Organisation returns the organization that the input belongs to.
func (in RehearsalInput) Organisation() string { return in.Org }

// Rehearsed is the result of a rehearsal.
type Rehearsed struct {
	Status  Status            `json:"status"` // the final status of the plan
	Targets []RehearsedTarget `json:"targets"`
	Log     []Line            `json:"log"` // oldest first
}

// RehearsedTarget is the result for a target of the plan.
type RehearsedTarget struct {
	PolicyID string `json:"policyID"`
	Original Size   `json:"original"`
	Scaled   Size   `json:"scaled"`
	// when all of its machines were in service; zero if they never were before the end of the plan
	ReachedAt time.Time `json:"reachedAt"`
	Shortfall int64     `json:"shortfall"` // missing machines at the beginning of the event
	Restored  bool      `json:"restored"`  // whether its original size was restored at the end
}

// RehearsalCall returns the executor's call that rehearses a plan.
func RehearsalCall(in RehearsalInput) (workflow.Call, error) {
	b, err := json.Marshal(in)
	if err != nil {
		return workflow.Call{}, fmt.Errorf("encode the rehearsal of %s: %w", in.Plan.ID, err)
	}
	return workflow.Call{Task: RehearseTask, Input: b}, nil
}
