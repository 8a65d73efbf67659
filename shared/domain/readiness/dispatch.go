package readiness

import (
	"context"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// Machine is the state machine that carries plans out. Its name is that of its file in statemachines/.
const Machine = "event-readiness"

// Input is the input of the machine, and of the executor's tasks for it.
type Input struct {
	Org    string `json:"org"`
	PlanID string `json:"planID"`
	Run    int64  `json:"run"`
}

// Organisation returns the organization that the input belongs to.
func (in Input) Organisation() string { return in.Org }

// Work is an execution of Machine to start after its plan is stored.
type Work struct {
	Name  string
	Input Input
}

// Dispatch sends a plan to the executor. A draft or failed plan becomes scheduling; a scheduled plan stays scheduled
// and waits for its new times. The caller starts the returned work; if that fails, the sweeper starts it. A plan
// whose event is over is fault.Conflict.
func (s *Store) Dispatch(ctx context.Context, p Plan, c Change) (Plan, Work, error) {
	was, edit := p.WorkID(), c.Edit
	next := p
	if next.Run++; edit != nil {
		edit(&next)
	}
	if now := s.clock.Now(); !next.EventEnd.After(now) {
		return p, Work{},
			fault.New(fault.Conflict, "eventEnd: %s is past; it is %s: change the plan's times first",
				next.show(next.EventEnd), next.show(now))
	}
	c.Edit = func(p *Plan) {
		if edit != nil {
			edit(p)
		}
		p.Run, p.Reports = next.Run, nil
	}
	w := Work{next.WorkID(), Input{p.Org, p.ID, next.Run}}
	add, err := s.listed(w, next.ScaleDownAt())
	if err != nil {
		return p, Work{}, err
	}
	c.Work = append(c.Work, add)
	if p.Run > 0 {
		c.Work = append(c.Work, workqueue.RemoveWork(was))
	}
	p, err = s.Move(ctx, p, c)
	return p, w, err
}

// Cancel cancels a plan in any status that permits it. The caller starts the returned work, which rolls back the
// dispatched changes. The work's name is empty when the plan was never dispatched.
func (s *Store) Cancel(ctx context.Context, p Plan, c Change) (Plan, Work, error) {
	if err := p.Status.Check(Cancelled); err != nil {
		return p, Work{}, err
	}
	c.To = Cancelled
	if p.Run == 0 {
		p, err := s.Move(ctx, p, c)
		return p, Work{}, err
	}
	w := Work{p.RollbackID(), Input{p.Org, p.ID, p.Run}}
	add, err := s.listed(w, time.Time{})
	if err != nil {
		return p, Work{}, err
	}
	c.Work = append(c.Work, add, workqueue.RemoveWork(p.WorkID()))
	p, err = s.Move(ctx, p, c)
	return p, w, err
}

// listed returns the write that lists the work. The work waits on its own until the capacity is restored.
func (s *Store) listed(w Work, until time.Time) (table.Write, error) {
	return workqueue.AddWork(workqueue.Work{
		ID: w.Name, Org: w.Input.Org, Machine: Machine, At: s.clock.Now(),
		Until: until,
	}, w.Input)
}
