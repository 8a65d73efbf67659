package killpoint

import (
	"context"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
)

// Store returns s with the kill of the process: each write, batch and transaction is a step, and reads fail once the
// process is dead.
func (p *Process) Store(s table.Store) table.Store { return store{s, p} }

// Platform returns a copy of a platform whose store, starts of executions and invocations of workers end with the
// process.
func (p *Process) Platform(of *platform.Platform) *platform.Platform {
	out := of.Clone()
	out.Table = p.Store(of.Table)
	if of.Workflow != nil {
		out.Workflow = engine{of.Workflow, p}
	}
	if of.Workers != nil {
		out.Workers = workers{of.Workers, p}
	}
	return out
}

type store struct {
	table.Store
	p *Process
}

func (s store) Get(ctx context.Context, k table.Key) (table.Item, error) {
	if err := s.p.read(); err != nil {
		return table.Item{}, err
	}
	return s.Store.Get(ctx, k)
}

func (s store) BatchGet(ctx context.Context, keys ...table.Key) (map[table.Key]table.Item, error) {
	if err := s.p.read(); err != nil {
		return nil, err
	}
	return s.Store.BatchGet(ctx, keys...)
}

func (s store) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if err := s.p.read(); err != nil {
		return table.Page{}, err
	}
	return s.Store.Query(ctx, q)
}

func (s store) Feed(ctx context.Context, cursor string, limit int) (table.Feed, error) {
	if err := s.p.read(); err != nil {
		return table.Feed{}, err
	}
	return s.Store.Feed(ctx, cursor, limit)
}

func (s store) Write(ctx context.Context, w table.Write) (it table.Item, err error) {
	err = s.p.Do(func() error {
		it, err = s.Store.Write(ctx, w)
		return err
	})
	return it, err
}

func (s store) BatchWrite(ctx context.Context, ws ...table.Write) error {
	half := ws[:(len(ws)+1)/2]
	return s.p.do(func() error {
		return s.Store.BatchWrite(ctx, ws...)
	}, func() error { return s.Store.BatchWrite(ctx, half...) })
}

func (s store) Transact(ctx context.Context, ws ...table.Write) error {
	return s.p.Do(func() error { return s.Store.Transact(ctx, ws...) })
}

type engine struct {
	workflow.Engine
	p *Process
}

func (e engine) Start(ctx context.Context, machine, name string, input any) error {
	return e.p.Do(func() error { return e.Engine.Start(ctx, machine, name, input) })
}

func (e engine) Stop(ctx context.Context, machine, name, cause string) error {
	return e.p.Do(func() error { return e.Engine.Stop(ctx, machine, name, cause) })
}

type workers struct {
	lambdacall.Invoker
	p *Process
}

func (w workers) Invoke(ctx context.Context, function string, in, out any) error {
	return w.p.Do(func() error { return w.Invoker.Invoke(ctx, function, in, out) })
}

func (w workers) RunTask(ctx context.Context, function string, in, out any) error {
	return w.p.Do(func() error { return w.Invoker.RunTask(ctx, function, in, out) })
}
