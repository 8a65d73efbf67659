package readiness

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// MaxPolicyEntries is the maximum number of log entries returned. keepLog is how long an entry is kept.
const (
	MaxPolicyEntries = 500
	keepLog          = 90 * 24 * time.Hour
)

// The kinds of PolicyEntry.
const (
	LogAdopted  = "adopted"  // the scaling of the target when the policy was adopted
	LogApplied  = "applied"  // the target was set
	LogDrifted  = "drifted"  // the target had been changed outside of the policy
	LogRestored = "restored" // the target's scaling at adoption was restored
	LogRefused  = "refused"  // the cloud, or a rule, refused to set the target; Message is the reason
	LogPaused   = "paused"
	LogResumed  = "resumed"
)

// PolicyEntry is an entry of a policy's log. Before and After are the target's scaling, or nil when it was not read
// or set.
type PolicyEntry struct {
	ID      string             `json:"id"`
	Kind    string             `json:"kind"`
	At      time.Time          `json:"at"`
	By      string             `json:"by,omitempty"` // the email address of the user
	Message string             `json:"message,omitempty"`
	Before  *cloud.Autoscaling `json:"before,omitempty"`
	After   *cloud.Autoscaling `json:"after,omitempty"`
}

func logPrefix(policyID string) string { return "L#" + policyID + "#" }

// item returns the row of the nth log entry for a version of a policy. The rows sort in this order. It leaves out the
// provider's data for a restore.
func (e PolicyEntry) item(org string, p Policy, n int, now time.Time) (table.Item, error) {
	e.ID, e.At, e.Before, e.After = id.New("asl", now), now, withoutNative(e.Before), withoutNative(e.After)
	it, err := table.NewItem(PolicyKey(org, fmt.Sprintf("%s%012d#%d", logPrefix(p.ID), p.Version, n)), e)
	it.Expires = now.Add(keepLog)
	return it, err
}

func withoutNative(a *cloud.Autoscaling) *cloud.Autoscaling {
	if a == nil {
		return nil
	}
	out := *a
	out.Native = nil
	return &out
}

// Log returns the newest MaxPolicyEntries entries of a policy, newest first. It takes one round trip.
func (s *PolicyStore) Log(ctx context.Context, org, policyID string) ([]PolicyEntry, error) {
	q := table.Query{PK: PolicyKey(org, "").PK, Prefix: logPrefix(policyID), Reverse: true, Limit: MaxPolicyEntries}
	all, _, err := table.ReadPage[PolicyEntry](ctx, s.table, q)
	return all, fault.Wrap("read log of autoscaler policy "+policyID, err)
}
