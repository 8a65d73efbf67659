// Package evaluator is the worker that fires schedules and ends overrides, each minute. It reads which organizations
// are due and evaluates them (shared/domain/evaluation). Two evaluators may run at once, and each may be killed at
// any moment.
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
	organizationConcurrency = 16 // organizations evaluated at the same time
	// below the time-out of the function; the next minute continues.
	maxRunTime = 50 * time.Second

	parkAfter   = 24 * time.Hour // how long an organization may fail until it is parked; older due minutes are dropped
	parkedPause = time.Hour      // pause between two tries of a parked organization
)

// Evaluated summarizes a run: the number of organizations that were due and evaluated, and the work done in them.
type Evaluated struct {
	Due       int `json:"due"`
	Evaluated int `json:"evaluated"`
	Late      int `json:"lateMinutes"` // how long the oldest due row has waited
	evaluation.Done
}

// Handler evaluates the due organizations. EventBridge calls it every minute.
func Handler(p *platform.Platform) workflow.Handler {
	return func(ctx context.Context, _ json.RawMessage) (any, error) { return EvaluateDue(ctx, p) }
}

// EvaluateDue evaluates the organizations with due or missed rows. A failure in one organization does not affect the
// others; that organization is due again in the next minute.
func EvaluateDue(ctx context.Context, p *platform.Platform) (Evaluated, error) {
	r := &round{Platform: p, store: evaluation.New(p), now: p.Clock.Now(), until: p.Clock.Now().Add(maxRunTime)}
	due, err := r.readDue(ctx)
	r.errs = append(r.errs, err)
	r.summary.Due = len(due)
	orgs := slices.Collect(maps.Keys(due))
	// Two evaluators at once begin with different organizations.
	rand.Shuffle(len(orgs), func(i, j int) { orgs[i], orgs[j] = orgs[j], orgs[i] }) //nolint:gosec // no secret
	var g errgroup.Group
	g.SetLimit(organizationConcurrency)
	for _, org := range orgs {
		g.Go(func() error {
			if p.Clock.Now().Before(r.until) && ctx.Err() == nil {
				r.evaluate(ctx, org, due[org])
			}
			return nil
		})
	}
	_ = g.Wait() // errors are collected in errs
	if d := r.summary; d.Due > 0 {
		p.Log.InfoContext(ctx, "evaluated", "due", d.Due, "evaluated", d.Evaluated, "lateMinutes", d.Late, "fired",
			d.Fired, "orders", d.Orders, "ended", d.Ended)
	}
	return r.summary, errors.Join(r.errs...)
}

// round is one run.
type round struct {
	*platform.Platform
	store *evaluation.Store
	now   time.Time
	until time.Time

	mu      sync.Mutex
	summary Evaluated
	errs    []error
}

// readDue reads the due organizations and their rows from all shards at the same time.
func (r *round) readDue(ctx context.Context) (map[string][]scheduling.Due, error) {
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

// evaluate evaluates one organization and adds the result to the summary. An organization that has failed for longer
// than parkAfter is postponed by parkedPause.
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
		r.summary.Evaluated++
	}
	r.summary.Late = max(r.summary.Late, int(r.now.Sub(first)/time.Minute))
	r.summary.Ended += done.Ended
	r.summary.Fired += done.Fired
	r.summary.Orders += done.Orders
}

// evaluateSafely evaluates one organization. It returns a panic as an error, so that the other organizations are
// still evaluated.
func (r *round) evaluateSafely(ctx context.Context, org string, rows []scheduling.Due) (done evaluation.Done,
	err error,
) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			r.Log.ErrorContext(ctx, "evaluation panicked", "org", org, "panic", fmt.Sprint(p), "stack",
				string(debug.Stack()))
		}
	}()
	return r.store.Evaluate(ctx, org, r.now, rows)
}
