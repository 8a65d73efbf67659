// Package recommender is the worker that evaluates the recommendation rules: every hour those that read no metrics for
// resources that a discovery has changed, every day all of them, and at once when somebody asks for a refresh.
package recommender

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/opinion"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/domain/sizing"
	"lamplighter.dev/shared/domain/smarttag"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

const stretch = 12 * time.Minute // then no further organization or shard is begun; the next run continues

// latest is the hour of a day, in UTC, at which everything is evaluated, even if metrics or bills are late.
const latest = 8

// Evaluated counts the work of a run: organizations, whole passes that ended, passes over changed resources, and what
// became of the rows.
type Evaluated struct {
	Organizations int                    `json:"organizations"`
	Whole         int                    `json:"whole"`
	Changed       int                    `json:"changed"`
	Settled       recommendation.Settled `json:"settled"`
}

// worker holds the stores of this function.
type worker struct {
	*platform.Platform
	sources
	compiler     *compiler
	rows         *recommendation.Store
	measurements *measurement.Store
	opinionStore *opinion.Store
	rotation     identity.Rotation
	log          *audit.Log

	perShare      int // resources of a share
	recordsAtOnce int
}

func newWorker(p *platform.Platform, providers cloud.Providers) *worker {
	prices := pricing.New(p, providers)
	return &worker{
		Platform: p,
		sources: sources{
			table: p.Table, inventory: inventory.New(p), schedules: scheduling.New(p), costs: cost.New(p),
			tags: smarttag.NewStore(p.Table), known: func() *pricing.Costs { return pricing.NewCosts(p.Table) },
			prices: prices, sizes: sizing.NewStore(p),
		},
		compiler: newCompiler(), rows: recommendation.New(p), measurements: measurement.New(p),
		opinionStore: opinion.New(p),
		rotation:     identity.NewRotation(p.Table, "recommender"),
		log:          audit.New(p),
		perShare:     resourcesPerShare, recordsAtOnce: recordsAtOnce,
	}
}

// Handler evaluates what is due, when EventBridge calls it every hour, and runs the tasks of a refresh.
func Handler(p *platform.Platform, providers cloud.Providers) workflow.Handler {
	w := newWorker(p, providers)
	return w.handle
}

func (w *worker) handle(ctx context.Context, input json.RawMessage) (any, error) {
	var named struct {
		Task string `json:"task"`
	}
	if err := json.Unmarshal(input, &named); err != nil {
		return nil, fault.NewWithCause(fault.Invalid, err, "recommender was sent no JSON")
	}
	if named.Task == "" {
		return w.runDue(ctx)
	}
	c, err := w.ReadCall(ctx, "recommender", input)
	if err != nil {
		return nil, err
	}
	switch c.Task {
	case "evaluate":
		return workflow.RunTask(ctx, c, w.refresh)
	case "share":
		return workflow.RunTask(ctx, c, w.evaluateShare)
	case "finish":
		return workflow.RunTask(ctx, c, func(ctx context.Context, in recommendation.RefreshInput) (Progress, error) {
			return Progress{Done: true}, w.fail(ctx, in, c.Error.String())
		})
	}
	return nil, fault.New(fault.Invalid, "recommender knows no task %q", c.Task)
}

// fail records that the machine has given up.
func (w *worker) fail(ctx context.Context, in recommendation.RefreshInput, why string) error {
	switch {
	case in.Plan:
		return w.rows.FailRulePlan(ctx, in.Org, in.JobID, why)
	case in.Daily:
		return w.giveUp(ctx, in, why)
	}
	return recommendation.FinishRefresh(ctx, w.Platform, in, recommendation.Settled{}, why)
}

// Evaluate evaluates what is due. It is idempotent, safe to call concurrently and safe to kill at any time. A failure
// in one organization does not stop the others; the next run continues its pass.
func Evaluate(ctx context.Context, p *platform.Platform, providers cloud.Providers) (Evaluated, error) {
	return newWorker(p, providers).runDue(ctx)
}

// runDue evaluates what is due, first the organizations that the last run did not reach.
func (w *worker) runDue(ctx context.Context) (did Evaluated, err error) {
	until := w.Clock.Now().Add(stretch)
	orgs, err := w.rotation.ReadOrganizations(ctx)
	errs := []error{err}
	for i, org := range orgs {
		if ctx.Err() != nil || i > 0 && !w.Clock.Now().Before(until) {
			errs = append(errs, ctx.Err(), w.rotation.Begin(ctx, orgs[max(i-1, 0)]))
			break
		}
		if err := w.organization(table.WithOrg(ctx, org), org, until, &did); err != nil {
			errs = append(errs, fmt.Errorf("evaluate %s: %w", org, err))
		}
	}
	if err = errors.Join(errs...); err != nil { // Internal for every error: the call fails and raises an alarm
		return did, fault.NewWithCause(fault.Internal, err, "not all rules that are due were evaluated")
	}
	return did, nil
}

// organization evaluates what is due for an organization.
func (w *worker) organization(ctx context.Context, org string, until time.Time, did *Evaluated) error {
	did.Organizations++
	access, err := table.Read[identity.Access](ctx, w.Table, identity.AccessKey(org))
	if fault.Is(err, fault.NotFound) || err == nil && access.Ended {
		return nil
	}
	if err != nil {
		return fault.Wrap("read whether it is active", err)
	}
	r, err := w.open(ctx, org, "", until)
	if err == nil {
		err = r.run(ctx, did)
	}
	if overtaken(err) {
		return nil
	}
	return err
}

// run continues a pass that was killed, or begins the one that is due.
func (r *runner) run(ctx context.Context, did *Evaluated) error {
	if r.underWay() {
		if r.state.Job != "" { // the machine evaluates it
			return nil
		}
		return r.whole(ctx, did)
	}
	accounts, err := r.dueAccounts(ctx)
	if err != nil {
		return err
	}
	marks, err := r.dueDay(ctx, accounts)
	if err != nil {
		return err
	}
	if marks != "" {
		if shares := r.countShares(accounts); shares > 0 {
			return r.startDivided(ctx, marks, shares)
		}
		if err = r.begin(ctx, "day-"+r.Clock.Now().UTC().Format(time.RFC3339), marks); err != nil {
			return err
		}
		return r.whole(ctx, did)
	}
	return r.changes(ctx, did)
}

// changes evaluates the resources that a discovery has changed since the last pass.
func (r *runner) changes(ctx context.Context, did *Evaluated) error {
	uids, err := r.changed(ctx)
	if err != nil || len(uids) == 0 {
		return err
	}
	if r.state.Ended || r.state.ID == "" || r.state.Whole {
		if err = r.begin(ctx, "hour-"+r.Clock.Now().UTC().Format(time.RFC3339), ""); err != nil {
			return err
		}
	}
	did.Changed++
	err = r.runChanged(ctx, uids)
	did.Settled.Add(r.state.Settled)
	return err
}

func (r *runner) whole(ctx context.Context, did *Evaluated) error {
	ended, err := r.runWhole(ctx)
	if ended {
		did.Whole++
	}
	did.Settled.Add(r.state.Settled)
	return err
}

// firstPass marks the pass that follows the first discovery, with its day. The daily pass of that day is still to come.
func firstPass(at time.Time) string { return "first-" + dayOf(at) }

// dueDay returns the day that a due pass over everything marks, or "" if none is due: once a day, when yesterday's
// metrics and bills of all connected accounts are in, at 08:00 UTC at the latest; and at once after the first
// discovery. On the day of the first discovery the daily pass waits for metrics and bills however late it is, and
// follows again when candidates were confirmed.
func (r *runner) dueDay(ctx context.Context, accounts []inventory.Account) (marks string, err error) {
	now := r.Clock.Now().UTC()
	if len(accounts) == 0 {
		return "", nil
	}
	if r.state.Day == dayOf(now) {
		return r.dueAfterConfirmation(ctx, accounts)
	}
	first := r.state.Day == "" && discovered(accounts)
	in := now.Hour() >= latest && !first && r.state.Day != firstPass(now)
	if !in {
		if in, err = r.dataIsIn(ctx, accounts, now); err != nil {
			return "", err
		}
	}
	switch {
	case in:
		return dayOf(now), nil
	case first:
		return firstPass(now), nil
	}
	return "", nil
}

// dueAccounts returns the accounts of the organization, or none if no daily pass can be due today.
func (r *runner) dueAccounts(ctx context.Context) ([]inventory.Account, error) {
	if r.isOver(r.Clock.Now().UTC()) {
		return nil, nil
	}
	out, err := r.inventory.ListAccounts(ctx, r.org)
	return out, fault.Wrap("list the accounts", err)
}

// isOver reports whether today's daily pass has ended, and no other can follow it.
func (r *runner) isOver(now time.Time) bool {
	return r.state.Day == dayOf(now) && r.state.First != dayOf(now)
}

// dueAfterConfirmation returns the day of the last daily pass again if candidates were confirmed since it began.
func (r *runner) dueAfterConfirmation(ctx context.Context, accounts []inventory.Account) (string, error) {
	for i := range accounts {
		c, err := r.measurements.LastCollection(ctx, r.org, accounts[i].ID)
		if err != nil || c.ConfirmedAt.After(r.state.At) {
			return r.state.Day, err
		}
	}
	return "", nil
}

// discovered reports whether every account was discovered completely.
func discovered(accounts []inventory.Account) bool {
	return !slices.ContainsFunc(accounts, func(a inventory.Account) bool { return a.SeenFrom.IsZero() })
}

// dataIsIn reports whether the metrics of yesterday, and bills of today, of all connected accounts are in.
func (r *runner) dataIsIn(ctx context.Context, accounts []inventory.Account, now time.Time) (bool, error) {
	today := now.Truncate(day)
	for i := range accounts {
		a := &accounts[i]
		if a.Status == inventory.AccountDisconnected {
			continue
		}
		c, err := r.measurements.LastCollection(ctx, r.org, a.ID)
		if err != nil || c.Day < dayOf(today.Add(-day)) || a.LastSyncedAt.Before(today) {
			return false, err
		}
	}
	return true, nil
}
