package readiness

import (
	"context"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// Machine is the state machine that carries plans out, named as its file in statemachines/.
const Machine = "event-readiness"

// Input is the input of the machine, and of the executor's tasks for it.
type Input struct {
	Org    string `json:"org"`
	PlanID string `json:"planID"`
	Run    int64  `json:"run"`
}

// Organisation returns the organization that the input belongs to.
func (in Input) Organisation() string { return in.Org }

// Work is an execution that is to be started once what it is for is stored: of Machine, under a name.
type Work struct {
	Name  string
	Input Input
}

// Dispatch sends a plan to the executor: a draft or one that failed becomes scheduling, one that is scheduled stays so
// and waits for its times anew. The caller starts the work; where that is lost, the sweeper does. A window that is
// over is fault.Conflict.
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

// Cancel ends a plan from whichever status the table permits. What was dispatched of it is rolled back by the work
// that is returned, which the caller starts; its name is empty where nothing ever was.
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

// listed returns the write that lists the work, which waits by itself until the capacity is to be given back.
func (s *Store) listed(w Work, until time.Time) (table.Write, error) {
	return workqueue.AddWork(workqueue.Work{ID: w.Name, Org: w.Input.Org, Machine: Machine, At: s.clock.Now(),
		Until: until}, w.Input)
}
