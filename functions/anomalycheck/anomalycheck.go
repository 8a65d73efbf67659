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

const (
	stretch  = 12 * time.Minute // after it no further organization is begun; the next run goes on
	pageSize = 500
)

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
		Platform: p, costs: cost.New(p), anomalies: anomaly.NewStore(p.Table), budgets: budgeting.NewStore(p.Table), until: p.Clock.Now().Add(stretch),
	}
	var errs []error
	for shard := range identity.DirectoryShards {
		errs = append(errs, r.shard(ctx, shard))
	}
	if err := errors.Join(errs...); err != nil { // whatever it is: a schedule that failed is a failed call, which alarms see
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
	until     time.Time
	did       Checked
}

// shard judges the organizations of a shard of the directory.
func (r *round) shard(ctx context.Context, shard int) error {
	type entry struct {
		Org string `json:"org"`
	}
	var errs []error
	for q := (table.Query{PK: identity.DirectoryPK(shard), Limit: pageSize}); ; {
		page, next, err := table.ReadPage[entry](table.Within(ctx, identity.DirectoryPrefix), r.Table, q)
		if err != nil {
			return errors.Join(append(errs, fmt.Errorf("read the directory: %w", err))...)
		}
		for _, e := range page {
			if !r.Clock.Now().Before(r.until) || ctx.Err() != nil {
				return errors.Join(append(errs, ctx.Err())...)
			}
			if err = r.organization(table.WithOrg(ctx, e.Org), e.Org); err != nil {
				errs = append(errs, fmt.Errorf("judge %s: %w", e.Org, err))
			}
		}
		if q.Cursor = next; next == "" {
			return errors.Join(errs...)
		}
	}
}

// organization judges an organization if something of it has changed since it was judged last.
func (r *round) organization(ctx context.Context, org string) error {
	r.did.Organizations++
	c, err := r.read(ctx, org)
	if err != nil || c == nil {
		return err
	}
	r.did.Judged++
	n, err := c.judgeDays(ctx)
	r.did.Anomalies += n
	if err != nil {
		return err
	}
	n, err = c.judgeBudgets(ctx)
	r.did.BudgetEvents += n
	if err != nil {
		return err
	}
	return c.note(ctx)
}
