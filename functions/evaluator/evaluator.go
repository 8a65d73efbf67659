// Package evaluator is the worker that has schedules fire and overrides end, each minute: it looks who is due, and does what is due
// there (shared/domain/evaluation). Two of them may run at once, and each may be killed at any moment.
package evaluator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/workflow"
)

const (
	atOnce  = 16               // organizations beside each other
	stretch = 50 * time.Second // of one run, below the time-out of the function; the next minute goes on

	parkAfter   = 24 * time.Hour // for which an organization has failed; what was due longer ago is done no more
	parkedPause = time.Hour      // between two tries of an organization that is parked
)

// Evaluated tells what a run did: how many organizations were due, how many of them it came to, and what it did there.
type Evaluated struct {
	Due       int `json:"due"`
	Evaluated int `json:"evaluated"`
	Late      int `json:"lateMinutes"` // how long what was due first has waited
	evaluation.Done
}

// Handler evaluates what is due; EventBridge calls it every minute.
func Handler(p *platform.Platform) workflow.Handler {
	return func(ctx context.Context, _ json.RawMessage) (any, error) { return EvaluateDue(ctx, p) }
}

// EvaluateDue evaluates the organizations of which something is due now or was missed. What fails in one does not keep the others from
// being evaluated; it is due again in the next minute.
func EvaluateDue(ctx context.Context, p *platform.Platform) (Evaluated, error) {
	r := &round{Platform: p, store: evaluation.New(p), now: p.Clock.Now(), until: p.Clock.Now().Add(stretch)}
	due, err := r.read(ctx)
	r.errs = append(r.errs, err)
	r.did.Due = len(due)
	orgs := slices.Collect(maps.Keys(due))
	rand.Shuffle(len(orgs), func(i, j int) { orgs[i], orgs[j] = orgs[j], orgs[i] }) //nolint:gosec // no secret: two at once begin with others
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, org := range orgs {
		g.Go(func() error {
			if p.Clock.Now().Before(r.until) && ctx.Err() == nil {
				r.evaluate(ctx, org, due[org])
			}
			return nil
		})
	}
	_ = g.Wait() // what failed is among errs
	if d := r.did; d.Due > 0 {
		p.Log.InfoContext(ctx, "evaluated", "due", d.Due, "evaluated", d.Evaluated, "lateMinutes", d.Late, "fired",
			d.Fired, "orders", d.Orders, "ended", d.Ended)
	}
	return r.did, errors.Join(r.errs...)
}

// round is one run.
type round struct {
	*platform.Platform
	store *evaluation.Store
	now   time.Time
	until time.Time

	mu   sync.Mutex
	did  Evaluated
	errs []error
}

// read reads who is due, all shards side by side.
func (r *round) read(ctx context.Context) (map[string][]scheduling.Due, error) {
	var g errgroup.Group
	shards := make([]map[string][]scheduling.Due, scheduling.DueShards)
	for i := range shards {
		g.Go(func() (err error) {
			shards[i], err = evaluation.ReadDue(ctx, r.Table, i, r.now)
			return err
		})
	}
	err := g.Wait()
	out := map[string][]scheduling.Due{}
	for _, s := range shards {
		maps.Copy(out, s)
	}
	return out, err
}

// evaluate does what is due in one organization.
func (r *round) evaluate(ctx context.Context, org string, rows []scheduling.Due) {
	done, err := r.evaluateSafely(ctx, org, rows)
	first := evaluation.FirstDue(rows)
	if err != nil && r.now.Sub(first) > parkAfter {
		err = errors.Join(err, r.store.Postpone(ctx, org, rows, r.now.Add(parkedPause)))
		r.Log.ErrorContext(ctx, "organization parked: it is evaluated once an hour", "org", org, "since",
			first.Format(time.RFC3339), "error", err.Error())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("evaluate %s: %w", org, err))
	} else {
		r.did.Evaluated++
	}
	r.did.Late = max(r.did.Late, int(r.now.Sub(first)/time.Minute))
	r.did.Ended += done.Ended
	r.did.Fired += done.Fired
	r.did.Orders += done.Orders
}

// evaluateSafely evaluates one organization. A panic in it is its error, so that it does not keep the others from being evaluated.
func (r *round) evaluateSafely(ctx context.Context, org string, rows []scheduling.Due) (done evaluation.Done,
	err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			r.Log.ErrorContext(ctx, "evaluation panicked", "org", org, "panic", fmt.Sprint(p), "stack",
				string(debug.Stack()))
		}
	}()
	return r.store.Evaluate(ctx, org, r.now, rows)
}
