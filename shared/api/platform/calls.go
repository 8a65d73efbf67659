package platform

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
)

// lateShare is the part of its time after which a call has come near its time-out. Who plans to use more of it asks for more.
const lateShare = 0.8

// Late reports whether a call that began and ended at these times took four fifths of what its deadline gave it.
func Late(ctx context.Context, began, ended time.Time) bool {
	end, ok := ctx.Deadline()
	return ok && float64(ended.Sub(began)) >= lateShare*float64(end.Sub(began))
}

// Used returns the attributes of a line that tell what one call for an organization has used: how often the store was asked, what
// it read and wrote, in DynamoDB's units, and how many states its machine entered for it. docs/operations/organisation-cost.md
// makes the bill of an organization of them.
func (p *Platform) Used(at time.Time, u table.Usage, states int) []slog.Attr {
	return append(p.Metrics(at, "readUnits", "writeUnits", "states"),
		slog.Int("roundTrips", u.RoundTrips), slog.Float64("readUnits", u.ReadUnits),
		slog.Float64("writeUnits", u.WriteUnits),
		slog.Int("states", states))
}

// statesOf returns how many states a machine of ours enters for a call of its worker: the task, the choice whether that was the end,
// and the wait before the next one, or the end. A step of a bulk action has its Map besides.
func statesOf(task string) int {
	if task == "step" {
		return 4
	}
	return 3
}

// Logged returns the worker h with a line in the log for each call: which task for which organization, how long it took and what
// it used. A failure is returned, and is in the line that Lambda writes.
func (p *Platform) Logged(h workflow.Handler) workflow.Handler {
	return func(ctx context.Context, in json.RawMessage) (any, error) {
		began := p.Clock.Now()
		metered, meter := table.WithMeter(ctx)
		out, err := h(metered, in)
		task, org, states := calledFor(in)
		ended := p.Clock.Now()
		p.Log.LogAttrs(ctx, slog.LevelInfo, "task", append(p.Used(ended, meter.Usage(), states),
			slog.String("task", task), slog.String("org", org),
			slog.Float64("ms", float64(ended.Sub(began).Microseconds())/1000),
			slog.Bool("failed", err != nil), slog.Bool("late", Late(ctx, began, ended)))...)
		return out, err
	}
}

// calledFor returns the task and the organization that a call of a machine names, and how many states go with it. A schedule's call
// names neither.
func calledFor(in json.RawMessage) (task, org string, states int) {
	var c struct {
		Task  string `json:"task"`
		Input struct {
			Org string `json:"org"`
		} `json:"input"`
	}
	if json.Unmarshal(in, &c) != nil || c.Task == "" {
		return "", "", 0
	}
	return c.Task, c.Input.Org, statesOf(c.Task)
}
