package executor

import (
	"context"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
)

// fresh is how old what a discovery has seen may be to be acted on without another look.
const fresh = 2 * time.Minute

// read finds out the states of the resources: of what was acted on by what the provider answers cheapest, of the rest by a look at
// everything that matters before an act, unless a discovery has just had it.
func (r *run) read(ctx context.Context) error {
	asked, rest := r.actions[:0:0], r.actions[:0:0]
	for _, a := range r.actions {
		if r.kind.Verifies && !a.Progress.ActedAt.IsZero() {
			asked = append(asked, a)
		} else {
			rest = append(rest, a)
		}
	}
	r.states = make(map[string]cloud.State, len(r.actions))
	verified, err := r.verify(ctx, asked)
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
	return r.look(ctx, rest)
}

// look reads the states of what is to be acted on.
func (r *run) look(ctx context.Context, actions []*execution.Action) error {
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
	states, err := r.conn.Read(ctx, r.kind.Type, unknown[0].Region, uids(unknown))
	for _, s := range states {
		r.states[s.UID] = s
	}
	return err
}

// justSeen reports whether a discovery has seen the action's resource a moment ago in the state that the action leaves, of a kind
// that takes an act in any case. That it arrives is verified as ever.
func (r *run) justSeen(a *execution.Action) bool {
	return r.kind.Idempotent && a.Status == execution.Pending && a.Progress.Errors == 0 && a.Progress.Last == "" &&
		r.seen == leaves(a.Action) && r.now.Sub(r.account.SeenFrom) < fresh
}

// leaves returns the status that a verb puts an end to.
func leaves(v cloud.Verb) cloud.Status {
	if v == cloud.Start {
		return cloud.Stopped
	}
	return cloud.Running
}

// verify asks how far resources are that were acted on.
func (r *run) verify(ctx context.Context, actions []*execution.Action) ([]cloud.State, error) {
	if len(actions) == 0 {
		return nil, nil
	}
	region := actions[0].Region
	if v, ok := r.conn.(cloud.Verifier); ok && r.kind.Verifies {
		return v.Verify(ctx, r.kind.Type, region, uids(actions))
	}
	return r.conn.Read(ctx, r.kind.Type, region, uids(actions))
}
