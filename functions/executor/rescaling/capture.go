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

// state is how far the capacity of a target is.
type state string

const (
	// it had 0 instances: the executor was asked to start it, and nothing is recorded of its size yet
	starting  state = "starting"
	raising   state = "raising"   // it may be raised: a call is, or was, under way
	raised    state = "raised"    // all of its instances have been seen in service
	restoring state = "restoring" // it is being given back
	restored  state = "restored"  // and has been seen to be
)

// capture is what is known of the capacity of one target of a plan: what it was, written down once before anything is changed, and what
// it was changed to. It is also the lock of the target: who calls its cloud holds it for as long as the call can be under way.
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
	ForcedRun int64                  `json:"forcedRun,omitempty"` // the dispatch that let the target go for a forced stop
	Note      string                 `json:"note,omitempty"`      // what was found that nobody expected
	// Started reports that the plan had the target started. StartID is the action that starts it now.
	Started bool   `json:"started,omitempty"`
	StartID string `json:"startID,omitempty"`
	// Snapshot is what a stop would have kept of the target before it was raised: what its next start needs when somebody stops it meanwhile.
	Snapshot json.RawMessage `json:"snapshot,omitempty"`
	// Returned reports that the provider accepted every call that restores Original. Before that, the bounds of the target prove nothing.
	Returned bool  `json:"returned,omitempty"`
	Version  int64 `json:"version"`

	ends time.Time // when the row goes; never, as long as something is to be given back
}

// keepRestored is how long a capture is kept of which everything was given back.
const keepRestored = 90 * 24 * time.Hour

// The time that a call has, and the time after which none that began can be under way.
const (
	callTime = 40 * time.Second
	lockTime = 60 * time.Second
)

func pk(org string) string { return table.OrgPK(org) + "EVENTCAPTURE" }

func key(org, planID, policyID string) table.Key {
	return table.Key{PK: pk(org), SK: planID + "#" + policyID}
}

// mostCaptures is more than a plan has: targets, and those that it had before it was changed.
const mostCaptures = 1000

// captures reads those of a plan: one round trip.
func (r *Runner) captures(ctx context.Context, in readiness.Input) (map[string]capture, error) {
	all, _, err := table.ReadPage[capture](ctx, r.Table,
		table.Query{PK: pk(in.Org), Prefix: in.PlanID + "#", Limit: mostCaptures})
	out := make(map[string]capture, len(all))
	for _, c := range all {
		out[c.PolicyID] = c
	}
	return out, fault.Wrap("read what was captured of "+in.PlanID, err)
}

func (c capture) original() readiness.Size { return sizeOf(c.Original) }

// isRecorded reports whether the size of the target before the plan is known. 0 is no size.
func (c *capture) isRecorded() bool {
	return c.Version > 0 && c.State != restored && c.State != starting && !c.Original.RunsNothing()
}

// isOf reports whether a dispatch has begun to raise the target, or to start it.
func (c *capture) isOf(run int64) bool {
	return c.Version > 0 && c.State != restored && c.Run == run
}

// hasSizes reports whether the target has been set to its planned sizes. Only the provider moves the size of some.
func (c *capture) hasSizes(live cloud.Autoscaling) bool {
	return sameBounds(sizeOf(live), c.Wanted) && (live.Desired >= c.Wanted.Desired || live.SizedByProvider)
}

func sizeOf(a cloud.Autoscaling) readiness.Size {
	return readiness.Size{Min: a.Min, Max: a.Max, Desired: a.Desired}
}

// sameBounds reports whether two sizes have the same bounds. What is desired between them, the provider moves by itself.
func sameBounds(a, b readiness.Size) bool { return a.Min == b.Min && a.Max == b.Max }

// lockedFor reports whether somebody other than owner may be calling now.
func (c *capture) lockedFor(owner string, now time.Time) bool {
	return c.Owner != owner && c.Until.After(now)
}

// lock makes owner the one who calls. When whoever called before never said how that ended, the call may yet take effect: whoever restores
// looks a second time.
func (c *capture) lock(owner string, now time.Time) {
	if !c.Until.IsZero() {
		c.LookAt = now.Add(lockTime)
	}
	c.Owner, c.Until = owner, now.Add(lockTime)
}

// write returns the write that stores c, as it was read and changed since.
func (c *capture) write(org string) (table.Write, error) {
	cond := table.Equal("version", c.Version)
	if c.Version == 0 {
		cond = table.Absent()
	}
	c.Version++
	w, err := table.PutFields(key(org, c.PlanID, c.PolicyID), *c, cond)
	if err != nil {
		return w, fmt.Errorf("keep what was captured of %s: %w", c.PolicyID, err)
	}
	w.Changes = append(w.Changes, table.Expire(c.ends))
	return w, nil
}

// store keeps c, on the condition that nobody has changed it since it was read, and with more; false when somebody has.
func (r *Runner) store(ctx context.Context, org string, c *capture, more ...table.Write) (bool, error) {
	own, err := c.write(org)
	if err != nil {
		return false, err
	}
	err = r.Table.Transact(ctx, append([]table.Write{own}, more...)...)
	if _, lost := errors.AsType[*table.ConditionError](err); lost {
		return false, nil
	}
	return err == nil, fault.Wrap("keep what was captured of "+c.PolicyID, err)
}

// keep notes how a call ended, which is over.
func (r *Runner) keep(ctx context.Context, org string, c *capture, more ...table.Write) (bool, error) {
	c.Until = time.Time{}
	return r.store(ctx, org, c, more...)
}
