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

// MaxPolicyEntries is how many entries of a log are read, the newest, and keepLog for how long each is kept.
const (
	MaxPolicyEntries = 500
	keepLog          = 90 * 24 * time.Hour
)

// What an Entry tells of.
const (
	LogAdopted  = "adopted"  // the target was found so
	LogApplied  = "applied"  // it was set
	LogDrifted  = "drifted"  // somebody else had changed it since
	LogRestored = "restored" // it was given back as it was found
	LogRefused  = "refused"  // the cloud, or a rule, did not let it be set; Message says why
	LogPaused   = "paused"
	LogResumed  = "resumed"
)

// PolicyEntry is what was done or seen of a policy. Before and After are the target's scaling; nil where nothing was set or seen.
type PolicyEntry struct {
	ID      string             `json:"id"`
	Kind    string             `json:"kind"`
	At      time.Time          `json:"at"`
	By      string             `json:"by,omitempty"` // the user
	Message string             `json:"message,omitempty"`
	Before  *cloud.Autoscaling `json:"before,omitempty"`
	After   *cloud.Autoscaling `json:"after,omitempty"`
}

func logPrefix(policyID string) string { return "L#" + policyID + "#" }

// item makes the row of the nth entry of the version of a policy that it tells of, so that they stay in order. What is needed to restore a
// target is not repeated in each.
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

// Log lists the newest MaxEntries entries of a policy, newest first: one round trip.
func (s *PolicyStore) Log(ctx context.Context, org, policyID string) ([]PolicyEntry, error) {
	q := table.Query{PK: PolicyKey(org, "").PK, Prefix: logPrefix(policyID), Reverse: true, Limit: MaxPolicyEntries}
	all, _, err := table.ReadPage[PolicyEntry](ctx, s.table, q)
	return all, fault.Wrap("read log of autoscaler policy "+policyID, err)
}
