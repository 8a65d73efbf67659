// Package anomalycheck is the worker that detects cost anomalies and evaluates budgets. It checks each organization
// every hour and judges it if its bills, its settings, its budgets or the day have changed.
package anomalycheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/anomaly"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

const stretch = 12 * time.Minute // then no further organization is begun; the next run continues

// Checked counts the work of a run: organizations checked and judged, anomalies written or closed, and budget events.
type Checked struct {
	Organizations int `json:"organizations"`
	Judged        int `json:"judged"`
	Anomalies     int `json:"anomalies"`
	BudgetEvents  int `json:"budgetEvents"`
}

// Handler judges the changed organizations; EventBridge calls it every hour.
func Handler(p *platform.Platform) workflow.Handler {
	return func(ctx context.Context, _ json.RawMessage) (any, error) { return Check(ctx, p) }
}

// Check judges the organizations that have changed. It is idempotent, safe to call concurrently and safe to kill at
// any time. A failure in one organization does not stop the others; the next run judges that organization again.
func Check(ctx context.Context, p *platform.Platform) (Checked, error) {
	r := &round{
		Platform: p, costs: cost.New(p), anomalies: anomaly.NewStore(p.Table), budgets: budgeting.NewStore(p.Table),
		rotation: identity.NewRotation(p.Table, "anomalycheck"), until: p.Clock.Now().Add(stretch),
	}
	if err := r.run(ctx); err != nil { // Internal for every error: the call fails and raises an alarm
		return r.did, fault.NewWithCause(fault.Internal, err, "not all that has changed was judged")
	}
	return r.did, nil
}

// round is one run.
type round struct {
	*platform.Platform
	costs     *cost.Store
	anomalies *anomaly.Store
	budgets   *budgeting.Store
	rotation  identity.Rotation
	until     time.Time
	did       Checked
}

// run judges the organizations, first those that the last run did not reach.
func (r *round) run(ctx context.Context) error {
	orgs, err := r.rotation.ReadOrganizations(ctx)
	errs := []error{err}
	for i, org := range orgs {
		if ctx.Err() != nil {
			return errors.Join(append(errs, ctx.Err())...)
		}
		if i > 0 && !r.Clock.Now().Before(r.until) {
			return errors.Join(append(errs, r.rotation.Begin(ctx, orgs[i-1]))...)
		}
		if err := r.organization(table.WithOrg(ctx, org), org); err != nil {
			errs = append(errs, fmt.Errorf("judge %s: %w", org, err))
		}
	}
	return errors.Join(errs...)
}

// organization judges an organization if it has changed since it was last judged. Days and budgets fail independently.
// If one of them fails, the next run judges both again.
func (r *round) organization(ctx context.Context, org string) error {
	r.did.Organizations++
	c, err := r.read(ctx, org)
	if err != nil || c == nil {
		return err
	}
	r.did.Judged++
	begun := r.rotation.Begin(ctx, org)
	anomalies, daysErr := c.judgeDays(ctx)
	events, budgetsErr := c.judgeBudgets(ctx)
	r.did.Anomalies += anomalies
	r.did.BudgetEvents += events
	if err = errors.Join(daysErr, budgetsErr); err == nil {
		err = c.note(ctx)
	}
	return errors.Join(err, begun)
}
