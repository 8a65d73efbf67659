package platform

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
)

// lateShare is the share of its deadline after which a call counts as late. A call that needs more gets a longer
// deadline.
const lateShare = 0.8

// Late reports whether a call with these times used four fifths of its deadline.
func Late(ctx context.Context, began, ended time.Time) bool {
	end, ok := ctx.Deadline()
	return ok && float64(ended.Sub(began)) >= lateShare*float64(end.Sub(began))
}

// Used returns the attributes of a log line with the cost of a call for an organization: round trips to the store, read
// and write units in DynamoDB's units, and the number of states that its machine entered.
// docs/operations/organisation-cost.md computes the cost of an organization from them.
func (p *Platform) Used(at time.Time, u table.Usage, states int) []slog.Attr {
	return append(p.Metrics(at, "readUnits", "writeUnits", "states"),
		slog.Int("roundTrips", u.RoundTrips), slog.Float64("readUnits", u.ReadUnits),
		slog.Float64("writeUnits", u.WriteUnits),
		slog.Int("states", states))
}

// statesOf returns how many states a state machine enters for a call of its worker: the task, the choice whether it is
// the end, and the wait before the next one, or the end. A step of a bulk action also has its Map.
func statesOf(task string) int {
	if task == "step" {
		return 4
	}
	return 3
}

// Logged returns the worker h with a log line for each call: task, organization, duration and cost. It returns the
// worker's error, which Lambda logs.
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

// calledFor returns the task and the organization of a call of a machine, and the number of its states. A call of a
// schedule has neither task nor organization.
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
