package killpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/clocktest"
)

// Service is the part of the service that a flow needs: its state machines, and the functions that they call.
type Service struct {
	Machines  fs.FS             // apitest.Machines
	Functions map[string]string // function names by the variables of the machines, such as DiscoveryFunctionArn
	Clock     clock.Clock       // of the waits of machines; a Leaping one stands still while functions work
	// Handlers returns the functions by their names, on the platform of a process.
	Handlers func(p *platform.Platform) map[string]workflow.Handler
}

// Run is one process of the service. It resumes the executions that an earlier process left, restarts pending work as
// the sweeper does, and returns when no work is left. Its platform is Process.Platform.
func (s Service) Run(ctx context.Context, p *platform.Platform) (err error) {
	machines, err := workflow.LoadMachines(s.Machines, s.Functions)
	if err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	handlers := s.Handlers(p)
	if l, ok := s.Clock.(*clocktest.Leaping); ok {
		handlers = clocktest.Watch(l, handlers)
	}
	parts := workflow.Parts{Store: p.Table, Clock: s.Clock, Machines: machines, Log: log, Handlers: handlers}
	engine, err := workflow.NewEmbedded(parts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	p.Workflow = engine
	if err := engine.Resume(ctx); err != nil {
		return err
	}
	return finish(ctx, p.Table, engine)
}

// maxRounds bounds how often pending work is restarted. Work that is still pending after that is lost.
const maxRounds = 20

// finish restarts pending work until none is left. It does so before it waits: running work may wait for pending work.
func finish(ctx context.Context, t table.Store, e *workflow.Embedded) error {
	for range maxRounds {
		works, err := Pending(ctx, t)
		if err != nil || len(works) == 0 {
			return errors.Join(err, e.Idle(ctx))
		}
		for _, w := range works {
			if err := restart(ctx, t, e, w); err != nil {
				return err
			}
		}
		if err := e.Idle(ctx); err != nil {
			return err
		}
	}
	return fmt.Errorf("work is still pending after %d rounds", maxRounds)
}

// restart starts the execution of a pending work. One that has already ended must have removed its pending work.
func restart(ctx context.Context, t table.Store, e *workflow.Embedded, w workqueue.Work) error {
	err := e.Start(ctx, w.Machine, w.ExecutionName(), w.Input)
	if !fault.Is(err, fault.Conflict) {
		return err
	}
	works, err := Pending(ctx, t)
	left := func(other workqueue.Work) bool { return other.ExecutionName() == w.ExecutionName() }
	if err != nil || !slices.ContainsFunc(works, left) {
		return err
	}
	x, _ := e.Describe(ctx, w.Machine, w.ExecutionName())
	return fmt.Errorf("%s is %s (%s: %s) and left its work pending", w.ExecutionName(), x.Status, x.Error, x.Cause)
}
