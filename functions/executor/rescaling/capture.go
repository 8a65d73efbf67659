package rescaling

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// state is the progress of a target's capacity.
type state string

const (
	// it had 0 instances: the executor was asked to start it, and its size is not recorded yet.
	starting  state = "starting"
	raising   state = "raising"   // it may be raised: a call is, or was, under way
	raised    state = "raised"    // all of its instances have been seen in service
	restoring state = "restoring" // it is being given back
	restored  state = "restored"  // and has been seen to be
)

// capture is the record of one target of a plan: its original capacity, stored once before any change, and its
// planned capacity. It is also the lock of the target: a process that calls the target's cloud holds it for as long
// as the call can be under way.
type capture struct {
	PlanID    string                 `json:"planID"`
	PolicyID  string                 `json:"policyID"`
	AccountID string                 `json:"accountID"`
	Target    readiness.PolicyTarget `json:"target"`
	Run       int64                  `json:"run"` // the dispatch that raised it last
	Original  cloud.Autoscaling      `json:"original"`
	Wanted    readiness.Size         `json:"wanted"`
	State     state                  `json:"state"`
	Owner     string                 `json:"owner"`  // who called last
	Until     time.Time              `json:"until"`  // until when that call may be under way
	LookAt    time.Time              `json:"lookAt"` // before which a restored target is not believed to stay so
	Failures  int                    `json:"failures"`
	// the dispatch that released the target for a forced stop
	ForcedRun int64  `json:"forcedRun,omitempty"`
	Note      string `json:"note,omitempty"` // unexpected findings
	// Started reports that the plan had the target started. StartID is the running action that starts it.
	Started bool   `json:"started,omitempty"`
	StartID string `json:"startID,omitempty"`
	// Snapshot is the snapshot that a stop would have stored before the target was raised. The next start needs it if
	// somebody stops the target meanwhile.
	Snapshot json.RawMessage `json:"snapshot,omitempty"`
	// Returned reports that the provider accepted every call that restores Original. Before that, the bounds of the
	// target prove nothing.
	Returned bool  `json:"returned,omitempty"`
	Version  int64 `json:"version"`

	ends time.Time // when the row goes; never, as long as something is to be given back
}

// keepRestored is how long a fully restored capture is kept.
const keepRestored = 90 * 24 * time.Hour

// These constants are the time limit of a call, and the time after which no call can be under way any more.
const (
	callTime = 40 * time.Second
	lockTime = 60 * time.Second
)

func pk(org string) string { return table.OrgPK(org) + "EVENTCAPTURE" }

func key(org, planID, policyID string) table.Key {
	return table.Key{PK: pk(org), SK: planID + "#" + policyID}
}

// mostCaptures is more than a plan has: its present targets, and targets from before a change.
const mostCaptures = 1000

// captures reads the captures of a plan in one round trip.
func (r *Runner) captures(ctx context.Context, in readiness.Input) (map[string]capture, error) {
	all, _, err := table.ReadPage[capture](ctx, r.Table,
		table.Query{PK: pk(in.Org), Prefix: in.PlanID + "#", Limit: mostCaptures})
	out := make(map[string]capture, len(all))
	for _, c := range all {
		out[c.PolicyID] = c
	}
	return out, fault.Wrap("read the captures of "+in.PlanID, err)
}

func (c capture) original() readiness.Size { return sizeOf(c.Original) }

// isRecorded reports whether the size of the target before the plan is known. A size of 0 does not count.
func (c *capture) isRecorded() bool {
	return c.Version > 0 && c.State != restored && c.State != starting && !c.Original.RunsNothing()
}

// isOf reports whether a dispatch has begun to raise the target, or to start it.
func (c *capture) isOf(run int64) bool {
	return c.Version > 0 && c.State != restored && c.Run == run
}

// hasSizes reports whether the target has been set to its planned sizes. For some targets only the provider changes
// the size.
func (c *capture) hasSizes(live cloud.Autoscaling) bool {
	return sameBounds(sizeOf(live), c.Wanted) && (live.Desired >= c.Wanted.Desired || live.SizedByProvider)
}

func sizeOf(a cloud.Autoscaling) readiness.Size {
	return readiness.Size{Min: a.Min, Max: a.Max, Desired: a.Desired}
}

// sameBounds reports whether two sizes have the same bounds. The provider moves the desired size between the bounds
// by itself.
func sameBounds(a, b readiness.Size) bool { return a.Min == b.Min && a.Max == b.Max }

// lockedFor reports whether another owner may be calling now.
func (c *capture) lockedFor(owner string, now time.Time) bool {
	return c.Owner != owner && c.Until.After(now)
}

// lock makes owner the holder of the lock. If the previous holder never reported the end of its call, the call may
// still take effect, so the target is looked at a second time when it is restored.
func (c *capture) lock(owner string, now time.Time) {
	if !c.Until.IsZero() {
		c.LookAt = now.Add(lockTime)
	}
	c.Owner, c.Until = owner, now.Add(lockTime)
}

// write returns the conditional write that stores c.
func (c *capture) write(org string) (table.Write, error) {
	cond := table.Equal("version", c.Version)
	if c.Version == 0 {
		cond = table.Absent()
	}
	c.Version++
	w, err := table.PutFields(key(org, c.PlanID, c.PolicyID), *c, cond)
	if err != nil {
		return w, fmt.Errorf("store the capture of %s: %w", c.PolicyID, err)
	}
	w.Changes = append(w.Changes, table.Expire(c.ends))
	return w, nil
}

// store stores c together with more, on the condition that c has not changed since it was read. It returns false if
// it has.
func (r *Runner) store(ctx context.Context, org string, c *capture, more ...table.Write) (bool, error) {
	own, err := c.write(org)
	if err != nil {
		return false, err
	}
	err = r.Table.Transact(ctx, append([]table.Write{own}, more...)...)
	if _, lost := errors.AsType[*table.ConditionError](err); lost {
		return false, nil
	}
	return err == nil, fault.Wrap("store the capture of "+c.PolicyID, err)
}

// keep records the end of a call and releases the lock.
func (r *Runner) keep(ctx context.Context, org string, c *capture, more ...table.Write) (bool, error) {
	c.Until = time.Time{}
	return r.store(ctx, org, c, more...)
}
