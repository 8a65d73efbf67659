// Package anomalycheck is the worker that judges what organizations spend: which days are anomalies, and how their budgets stand. It looks
// at each organization every hour, which takes four, and judges it when its bills, its settings, its budgets or the day have changed.
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

const stretch = 12 * time.Minute // after it no further organization is begun; the next run goes on

// Checked tells what a run did: how many organizations it looked at and judged, how many anomalies it wrote or closed, and how many events
// of budgets.
type Checked struct {
	Organizations int `json:"organizations"`
	Judged        int `json:"judged"`
	Anomalies     int `json:"anomalies"`
	BudgetEvents  int `json:"budgetEvents"`
}

// Handler judges what has changed; EventBridge calls it every hour.
func Handler(p *platform.Platform) workflow.Handler {
	return func(ctx context.Context, _ json.RawMessage) (any, error) { return Check(ctx, p) }
}

// Check judges the organizations of which something has changed. It may be repeated, run twice at once and be killed anywhere. What fails
// in one organization does not keep the others from being judged; it is judged again by the next run.
func Check(ctx context.Context, p *platform.Platform) (Checked, error) {
	r := &round{
		Platform: p, costs: cost.New(p), anomalies: anomaly.NewStore(p.Table), budgets: budgeting.NewStore(p.Table),
		rotation: identity.NewRotation(p.Table, "anomalycheck"), until: p.Clock.Now().Add(stretch),
	}
	if err := r.run(ctx); err != nil { // whatever it is: a schedule that failed is a failed call, which alarms see
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

// run judges the organizations, those first to which the last run did not come.
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

// organization judges an organization if something of it has changed since it was judged last. Days and budgets fail alone; when one of
// them does, both are judged again by the next run.
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
