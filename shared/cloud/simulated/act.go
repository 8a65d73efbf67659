package simulated

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/cloud"
)

// Act starts or stops the targets, with one call for each 100. The effect of a call is in the store before it answers.
func (c *conn) Act(ctx context.Context, verb cloud.Verb, kind, region string, targets []cloud.Target) []cloud.Result {
	out := make([]cloud.Result, 0, len(targets))
	k, r, err := c.findKind(kind, region, "Act")
	r.op, r.capability = kinds[k].permissionFor(verb), startStop
	if err == nil && !kinds[k].Actionable {
		err = newFailure(cloud.Unsupported, r, "UnsupportedOperation", kind+" cannot be started and stopped")
	}
	if err == nil && verb != cloud.Start && verb != cloud.Stop {
		err = newFailure(cloud.Unsupported, r, "UnknownVerb", "there is no verb "+string(verb))
	}
	for part := range slices.Chunk(targets, actBatch) {
		results := make([]cloud.Result, len(part))
		failed := err
		r.ids = len(part)
		if failed == nil {
			failed = c.payTokens(ctx, verb, r)
		}
		if failed == nil {
			failed = c.simulateCall(ctx, r, func(ctx context.Context) error {
				return c.world.changeHistory(ctx, func(h history) entry {
					return c.decideEffects(h, turn{verb, k, r, part}, results)
				})
			})
		}
		out = append(out, resultsOf(part, results, failed)...)
	}
	return out
}

// resultsOf gives every target its result: failed, when the call as a whole failed.
func resultsOf(targets []cloud.Target, results []cloud.Result, failed error) []cloud.Result {
	for i, t := range targets {
		results[i].UID = t.UID
		if failed != nil {
			results[i].Err = failed
		}
	}
	return results
}

// turn is one act call.
type turn struct {
	verb    cloud.Verb
	kind    int
	request request
	targets []cloud.Target
}

// decideEffects returns the effect of the call on each target, and writes the reason into the results of targets
// without one.
func (c *conn) decideEffects(h history, t turn, results []cloud.Result) entry {
	e := entry{
		At: c.clk.Now().UnixMicro(), Kind: uint8(t.kind),
		Region: uint8(slices.Index(regionNames, t.request.region)),
	}
	number := c.world.calls["Act"] // the caller holds the world's lock
	seen := map[uint32]bool{}
	for i, target := range t.targets {
		results[i].Err = nil
		n, ok := c.findNode(t.kind, t.request.region, target.UID)
		if !ok {
			results[i].Err = newFailure(cloud.NotFound, t.request, "NotFound", "there is no "+target.UID)
			continue
		}
		m, err := c.moveOf(h, t, n, target)
		switch {
		case err != nil:
			results[i].Err = err
		case fallsWithin(mixBits(c.drawProperty(n, asPartial)+uint64(number)), c.faults.partial):
			results[i].Err = newFailure(cloud.Transient, t.request, "InternalError", "An internal error has occurred")
		case m != nil && !seen[n.number]:
			seen[n.number] = true
			e.Moves = append(e.Moves, *m)
		}
	}
	return e
}

// moveOf returns the transition that the call starts on n; none when n is already where the verb wants it.
func (c *conn) moveOf(h history, t turn, n node, target cloud.Target) (*move, error) {
	if why := c.whyUnschedulable(n); why != "" {
		return nil, newFailure(cloud.Unsupported, t.request, "UnsupportedOperation", why)
	}
	st := c.stateAt(n, h, c.clk.Now())
	on := t.verb == cloud.Start
	if st.status.IsTransitional() && st.on != on {
		return nil, newFailure(cloud.Moving, t.request, "IncorrectInstanceState", fmt.Sprintf(
			"The resource %s is not in a state from which it can be changed: %s", target.UID, st.native))
	}
	if st.on == on {
		return nil, c.repeatedAnswer(t, st, target.UID)
	}
	if on && c.drawHit(n, asNoCapacity, c.faults.noCapacity) {
		return nil, newFailure(cloud.NoCapacity, t.request, "InsufficientInstanceCapacity", "We currently do not "+
			"have sufficient capacity for "+target.UID)
	}
	m := &move{Number: n.number, Millis: int32(c.transitionLength(n).Milliseconds()), On: on, Was: st.on}
	if err := c.resizeGroup(m, st, n, target); err != nil {
		return nil, newFailure(cloud.Invalid, t.request, "ValidationError", err.Error())
	}
	m.Falls = on && c.drawHit(n, asFallBack, c.faults.fallBack)
	return m, nil
}

// repeatedAnswer returns the kind's answer to a start of a running resource or a stop of a stopped one.
func (c *conn) repeatedAnswer(t turn, st state, uid string) error {
	if !kinds[t.kind].strict {
		return nil
	}
	return newFailure(cloud.Moving, t.request, "InvalidDBInstanceState", fmt.Sprintf(
		"%s is in state %s, which does not allow this", uid, st.native))
}

// resizeGroup sets the capacities of a move. A start without a remembered capacity gets a single instance: the capacity
// before the stop is lost unless the caller kept it.
func (c *conn) resizeGroup(m *move, st state, n node, target cloud.Target) error {
	if !kinds[n.kind].Remembers {
		return nil
	}
	if st.cap != (capacity{}) {
		m.Had = &st.cap
	}
	if !m.On {
		if off := st.cap.withoutInstances(); off != (capacity{}) {
			m.Cap = &off
		}
		return nil
	}
	want, err := decodeCapacity(target.Snapshot)
	if err != nil {
		return fmt.Errorf("snapshot of %s: %w", target.UID, err)
	}
	if m.Cap = want; want == nil {
		m.Cap = &capacity{1, 1, 1, st.cap.CPU, st.cap.Cooldown}
	}
	return nil
}

// Scale sets the sizes of one resource; nil ones stay as they are.
func (c *conn) Scale(ctx context.Context, kind, region, uid string, want cloud.Capacity) error {
	k, r, err := c.findKind(kind, region, "Scale")
	if err != nil {
		return err
	}
	if r.op, r.capability = kinds[k].resize, scale; r.op == "" {
		return newFailure(cloud.Unsupported, r, "UnsupportedOperation", kind+" has no capacity to set")
	}
	return c.changeSize(ctx, turn{kind: k, request: r}, uid, func(_ node, now capacity) (capacity, error) {
		for size, v := range map[*int32]*int64{&now.Min: want.Min, &now.Max: want.Max, &now.Desired: want.Desired} {
			if v != nil {
				*size = int32(min(max(*v, -1), 1<<30))
			}
		}
		if now.Min < 0 || now.Min > now.Desired || now.Desired > now.Max {
			return now, newFailure(cloud.Invalid, r, "ValidationError", fmt.Sprintf(
				"the sizes must obey 0 ≤ min ≤ desired ≤ max: %d, %d, %d", now.Min, now.Desired, now.Max))
		}
		return now, nil
	})
}

// changeSize makes one call that changes the capacity of a resource as change returns.
func (c *conn) changeSize(ctx context.Context, t turn, uid string, to func(node, capacity) (capacity, error)) error {
	var refused error
	err := c.simulateCall(ctx, t.request, func(ctx context.Context) error {
		return c.world.changeHistory(ctx, func(h history) entry {
			e := entry{
				At: c.clk.Now().UnixMicro(), Kind: uint8(t.kind),
				Region: uint8(slices.Index(regionNames, t.request.region)),
			}
			var m *move
			if m, refused = c.rescaleGroup(h, t, uid, to); m != nil {
				e.Moves = []move{*m}
			}
			return e
		})
	})
	return cmp.Or(err, refused)
}

func (c *conn) rescaleGroup(h history, t turn, uid string, change func(node, capacity) (capacity, error)) (*move,
	error,
) {
	n, ok := c.findNode(t.kind, t.request.region, uid)
	if !ok {
		return nil, newFailure(cloud.NotFound, t.request, "NotFound", "there is no "+uid)
	}
	if why := c.whyUnschedulable(n); why != "" {
		return nil, newFailure(cloud.Unsupported, t.request, "UnsupportedOperation", why)
	}
	st := c.stateAt(n, h, c.clk.Now())
	to, err := change(n, st.cap)
	if err != nil || to == st.cap {
		return nil, err
	}
	return &move{
		Number: n.number, Millis: int32(c.transitionLength(n).Milliseconds()), On: to.Desired > 0, Was: st.on, Cap: &to,
		Had: &st.cap,
	}, nil
}
