package rescaling

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Forced is a forced stop of a target that a plan holds.
type Forced struct {
	Org      string
	PlanID   string
	PolicyID string
	By       string // as the state history names who asked for it
	ActionID string
}

// LetGo ends the hold of a plan on a target for a forced stop. It gives back the capacity that the plan has raised,
// so that the stop stores the original size. For this dispatch the plan neither raises nor restores the target again.
// LetGo may be called repeatedly, and while the plan is carried out. at is zero once the target is released;
// otherwise it is when to call again, and why gives the reason for the wait.
func (r *Runner) LetGo(ctx context.Context, f Forced) (at time.Time, why string, err error) {
	kept, err := r.captures(ctx, readiness.Input{Org: f.Org, PlanID: f.PlanID})
	if err != nil {
		return at, "", err
	}
	c, captured := kept[f.PolicyID]
	if !captured || c.State == restored {
		_, err = r.Table.Write(ctx, scheduling.DropEventHold(f.Org, f.PolicyID))
		return at, "", fault.Wrap("drop the hold on "+f.PolicyID, err)
	}
	if err = r.reportForced(ctx, f, c.Run); err != nil {
		return at, "", err
	}
	c.ForcedRun, c.Note = c.Run, forcedNote(f)
	out := &outcome{touched: 1}
	err = (&restorer{r, readiness.Input{Org: f.Org, PlanID: f.PlanID, Run: c.Run}, out, f.ActionID}).target(ctx, c)
	return out.at, text(out.notes), err
}

func forcedNote(f Forced) string {
	return fmt.Sprintf("%s: %s forced a stop (%s): the plan gives back its capacity and lets it go", f.PolicyID, f.By,
		f.ActionID)
}

// reportForced reports once to the plan that a target was released. A plan that was dispatched again meanwhile, or is
// gone, gets no report.
func (r *Runner) reportForced(ctx context.Context, f Forced, run int64) error {
	p, err := r.plans().Get(ctx, f.Org, f.PlanID)
	if err == nil && p.Run == run {
		err = r.Report(ctx, f.Org, f.PlanID, readiness.Report{
			ID: "forced-" + f.PolicyID + "-" + f.ActionID, Run: run, Status: p.Status,
			Message: text([]string{forcedNote(f)}),
		})
	}
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Conflict) {
		return nil
	}
	return fault.Wrap("report a forced stop to "+f.PlanID, err)
}

// holdWrites returns the writes that make a plan hold a target before its first call.
func (r *raiser) holdWrites(ctx context.Context, c *capture) ([]table.Write, error) {
	enclosing, err := scheduling.EnclosingUIDs(ctx, r.Table, r.in.Org, c.Target.UID)
	if err != nil {
		return nil, err
	}
	return scheduling.BeginEventHold(r.in.Org, scheduling.EventHold{
		PlanID: r.p.ID, PolicyID: c.PolicyID, UID: c.Target.UID, Enclosing: enclosing, Since: r.p.Since,
		Until: r.p.ScaleDownAt(),
	}), nil
}

// forced reports whether a forced stop has taken the target from this dispatch of the plan.
func (r *raiser) forced(c *capture) bool {
	if c.ForcedRun == 0 || c.ForcedRun != r.in.Run {
		return false
	}
	r.out.found(c.Note)
	return true
}

// releaseWrites returns the writes that end the hold on a restored target, and a context that allows them.
func (r *restorer) releaseWrites(ctx context.Context, c *capture) (context.Context, []table.Write, error) {
	ctx = table.Within(ctx, scheduling.DuePrefix)
	if c.ForcedRun == c.Run && c.Run > 0 {
		return ctx, []table.Write{scheduling.DropEventHold(r.in.Org, c.PolicyID)}, nil
	}
	ws, err := scheduling.EndEventHold(ctx, r.Table, r.in.Org, c.PolicyID, r.Clock.Now())
	return ctx, ws, err
}
