package readiness

import (
	"context"
	"errors"
	"slices"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// Executor is the function that reports. Function is the function that receives the reports.
const (
	Executor = "executor"
	Function = "eventreadiness"
)

// ReportPath returns the path for the executor's reports about a plan.
func ReportPath(planID string) string { return "/internal/event-readiness/" + planID + "/status" }

// Report is the executor's message about a plan: its new status, or progress in its current status.
type Report struct {
	ID      string   `json:"id"`      // identifies the report: a repeated report has no effect
	Run     int64    `json:"run"`     // the dispatch that it belongs to
	Status  Status   `json:"status"`  // the plan's new or current status
	Message string   `json:"message"` // why it failed, or a finding; at most 1,000 bytes
	Targets []Target `json:"targets"` // sizes captured right before scaling
}

// Take applies an executor's report to a plan and logs it. A repeated report changes nothing. A report of an earlier
// dispatch and a forbidden transition are fault.Conflict.
func (s *Store) Take(ctx context.Context, org, planID string, r Report) (Plan, error) {
	for range tries {
		p, err := s.Get(ctx, org, planID)
		switch {
		case err != nil:
			return p, err
		case p.Run != r.Run:
			return p, fault.New(fault.Conflict, "run: the plan was dispatched %d times, and this is a report of "+
				"dispatch %d", p.Run, r.Run)
		case slices.Contains(p.Reports, r.ID):
			return p, nil
		}
		p, err = s.Move(ctx, p,
			Change{To: r.Status, By: Executor, Message: r.Message, Report: &r, Edit: r.editOf(&p), Work: r.work(&p)})
		if !errors.Is(err, errMoved) {
			return p, err
		}
	}
	return Plan{}, errMoved
}

// editOf returns the function that applies a report except for its status. Why a plan failed stays its message.
func (r *Report) editOf(was *Plan) func(*Plan) {
	noted := r.Status == was.Status && r.Status != Failed && r.Message != ""
	return func(p *Plan) {
		if noted {
			p.Message = r.Message
		}
		r.edit(p)
	}
}

func (r *Report) edit(p *Plan) {
	p.Reports = append(slices.Clone(p.Reports), r.ID)
	p.Targets = slices.Clone(p.Targets)
	for i := range p.Targets {
		at := slices.IndexFunc(r.Targets, func(t Target) bool { return t.PolicyID == p.Targets[i].PolicyID })
		if at >= 0 {
			t := r.Targets[at]
			p.Targets[i].OriginalMin, p.Targets[i].OriginalMax, p.Targets[i].OriginalDesired = t.OriginalMin,
				t.OriginalMax, t.OriginalDesired
		}
	}
}

// work returns the write that ends the pending work of a completed plan.
func (r *Report) work(p *Plan) []table.Write {
	if r.Status != Completed {
		return nil
	}
	return []table.Write{workqueue.RemoveWork(p.WorkID())}
}
