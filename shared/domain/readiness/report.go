package readiness

import (
	"context"
	"errors"
	"slices"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// Executor is the function that reports, and Function the one that it reports to.
const (
	Executor = "executor"
	Function = "eventreadiness"
)

// ReportPath is where the executor reports of a plan.
func ReportPath(planID string) string { return "/internal/event-readiness/" + planID + "/status" }

// Report is what the executor tells of a plan: that it came into a status, or, in the status that it has, that
// something was done.
type Report struct {
	ID      string   `json:"id"`      // names what is told: the same is told once, however often it is sent
	Run     int64    `json:"run"`     // the dispatch that it is of
	Status  Status   `json:"status"`  // that the plan is in from now on
	Message string   `json:"message"` // why it failed, or what was found; at most 1,000 bytes
	Targets []Target `json:"targets"` // what was captured right before scaling, of those for which it was
}

// Take has a plan as the executor reports it, and logs that: a report that was taken before changes nothing. One of an
// earlier dispatch, and one that the table of transitions does not permit, are fault.Conflict.
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

// editOf returns what takes over what a report tells besides the status. Why a plan failed stays what it says of
// itself.
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

// work ends the pending work of a plan that is completed.
func (r *Report) work(p *Plan) []table.Write {
	if r.Status != Completed {
		return nil
	}
	return []table.Write{workqueue.RemoveWork(p.WorkID())}
}
