package killpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// Service is the part of the service that a flow needs: its state machines, and the functions that they call.
type Service struct {
	Machines  fs.FS             // apitest.Machines
	Functions map[string]string // function names by the variables of the machines, such as DiscoveryFunctionArn
	Clock     clock.Clock       // of the waits of machines
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
	parts := workflow.Parts{Store: p.Table, Clock: s.Clock, Machines: machines, Log: log, Handlers: s.Handlers(p)}
	engine, err := workflow.NewEmbedded(parts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	p.Workflow = engine
	if err := engine.Resume(ctx); err != nil {
		return err
	}
	return s.finish(ctx, p.Table, engine)
}

// maxRounds bounds how often pending work is restarted. Work that is still pending after that is lost.
const maxRounds = 20

// finish restarts pending work until none is left.
func (s Service) finish(ctx context.Context, t table.Store, e *workflow.Embedded) error {
	for range maxRounds {
		if err := e.Idle(ctx); err != nil {
			return err
		}
		works, err := Pending(ctx, t)
		if err != nil || len(works) == 0 {
			return err
		}
		for _, w := range works {
			err := e.Start(ctx, w.Machine, w.ExecutionName(), w.Input)
			if fault.Is(err, fault.Conflict) {
				x, _ := e.Describe(ctx, w.Machine, w.ExecutionName())
				return fmt.Errorf("%s is %s (%s: %s) and left its work pending", w.ExecutionName(), x.Status, x.Error,
					x.Cause)
			}
			if err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("work is still pending after %d rounds", maxRounds)
}
