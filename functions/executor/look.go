package executor

import (
	"context"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
)

// maxSeenAge is how old the state seen by a discovery may be for an act without another look.
const maxSeenAge = 2 * time.Minute

// readStates reads the states of the resources. Resources that were acted on are verified by the provider's cheapest
// call. The others are read in full before an act, unless a discovery has just seen them.
func (r *run) readStates(ctx context.Context) error {
	asked, rest := r.actions[:0:0], r.actions[:0:0]
	for _, a := range r.actions {
		if r.kind.Verifies && !a.Progress.ActedAt.IsZero() {
			asked = append(asked, a)
		} else {
			rest = append(rest, a)
		}
	}
	r.states = make(map[string]cloud.State, len(r.actions))
	verified, err := r.verifyActed(ctx, asked)
	if err != nil {
		return err
	}
	for _, s := range verified {
		r.states[s.UID] = s
	}
	for _, a := range asked {
		if s, there := r.states[a.ResourceUID]; there && s.Status != a.Action.WantedStatus() &&
			!s.Status.IsTransitional() {
			rest = append(rest, a) // it fell back, or did not move: a full answer says why
		}
	}
	return r.lookBeforeAct(ctx, rest)
}

// lookBeforeAct reads the states of the resources that are to be acted on.
func (r *run) lookBeforeAct(ctx context.Context, actions []*execution.Action) error {
	unknown := make([]*execution.Action, 0, len(actions))
	for _, a := range actions {
		if r.justSeen(a) {
			r.states[a.ResourceUID] = cloud.State{UID: a.ResourceUID, Status: r.seen}
			continue
		}
		unknown = append(unknown, a)
	}
	if len(unknown) == 0 {
		return nil
	}
	states, err := r.conn.Read(ctx, r.kind.Type, unknown[0].Region, resourceUIDs(unknown))
	for _, s := range states {
		r.states[s.UID] = s
	}
	return err
}

// justSeen reports whether a discovery has just seen the action's resource in the state that the action changes. It
// is true only for kinds that accept an act in any state. The result is verified as always.
func (r *run) justSeen(a *execution.Action) bool {
	return r.kind.Idempotent && a.Status == execution.Pending && a.Progress.Errors == 0 && a.Progress.Last == "" &&
		r.seen == statusBefore(a.Action) && r.now.Sub(r.account.SeenFrom) < maxSeenAge
}

// statusBefore returns the status that a verb changes.
func statusBefore(v cloud.Verb) cloud.Status {
	if v == cloud.Start {
		return cloud.Stopped
	}
	return cloud.Running
}

// verifyActed reads the progress of the resources that were acted on.
func (r *run) verifyActed(ctx context.Context, actions []*execution.Action) ([]cloud.State, error) {
	if len(actions) == 0 {
		return nil, nil
	}
	region := actions[0].Region
	if v, ok := r.conn.(cloud.Verifier); ok && r.kind.Verifies {
		return v.Verify(ctx, r.kind.Type, region, resourceUIDs(actions))
	}
	return r.conn.Read(ctx, r.kind.Type, region, resourceUIDs(actions))
}
