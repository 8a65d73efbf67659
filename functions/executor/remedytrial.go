package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/functions/executor/remediating"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/seal"
)

// trial is one run of a workflow on a simulated cloud, with its own store, clock and executor. It reaches no account
// and no data of the organization.
type trial struct {
	in       remediation.RehearsalInput
	fault    remediation.RehearsalFault
	clock    trialClock
	e        *Executor
	stage    *simulated.Stage
	store    *remediation.Store
	w        remediation.Workflow
	approved time.Time
	before   []map[string]string // of each target, before the change
}

// trialClock is a clock on which waiting takes no time: it moves itself.
type trialClock struct{ *clock.Manual }

// Sleep moves the clock on by d.
func (c trialClock) Sleep(ctx context.Context, d time.Duration) error {
	c.Advance(d)
	return ctx.Err()
}

// unattended is an engine that starts nothing: a trial runs its work itself.
type unattended struct{ workflow.Engine }

// Start accepts an execution.
func (unattended) Start(context.Context, string, string, any) error { return nil }

// The limits of a rehearsal: how many targets a run has, since a workflow is written as a whole at each step, and how
// many runs are carried out at the same time.
const (
	trialTargets = 10
	trialsAtOnce = 4
)

// Rehearse carries a workflow out and rolls it back on a simulated cloud, in parts of 10 targets, once for each fault
// that its changes can meet.
func (e *Executor) Rehearse(ctx context.Context, in remediation.RehearsalInput) (remediation.Rehearsal, error) {
	parts := slices.Collect(slices.Chunk(in.Targets, trialTargets))
	faults := faultsFor(in.Targets)
	runs := make([][]remediation.RehearsedRun, len(faults))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(trialsAtOnce)
	for i, f := range faults {
		runs[i] = make([]remediation.RehearsedRun, len(parts))
		for j, targets := range parts {
			g.Go(func() (err error) {
				part := remediation.RehearsalInput{Org: in.Org, Digest: in.Digest, Targets: targets}
				runs[i][j], err = e.rehearseWith(ctx, part, f)
				return fault.Wrap("rehearse with the fault "+string(f), err)
			})
		}
	}
	out := remediation.Rehearsal{At: e.p.Clock.Now(), Digest: in.Digest}
	if err := g.Wait(); err != nil {
		return out, err
	}
	for _, parts := range runs {
		out.Runs = append(out.Runs, remediation.JoinRuns(parts))
	}
	return out, nil
}

// faultsFor returns the faults that the changes of targets can meet. Only a change with a snapshot can wait for one.
func faultsFor(targets []remediation.Target) []remediation.RehearsalFault {
	out := []remediation.RehearsalFault{
		remediation.NoFault, remediation.LostReplies, remediation.Throttling, remediation.DeniedHalfWay,
	}
	for i := range targets {
		for _, step := range remediating.StepsOf(&targets[i]) {
			if step.Name == cloud.StepCopy {
				return append(out, remediation.SnapshotPending)
			}
		}
	}
	return out
}

// rehearseWith runs a workflow with one fault. It touches only a temporary folder, which it removes afterwards.
func (e *Executor) rehearseWith(ctx context.Context, in remediation.RehearsalInput, f remediation.RehearsalFault) (
	out remediation.RehearsedRun, err error,
) {
	dir, err := os.MkdirTemp("", "rehearsal")
	if err != nil {
		return out, fmt.Errorf("make a folder for the rehearsal: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	t := &trial{in: in, fault: f, clock: trialClock{clock.NewManual(e.p.Clock.Now())}}
	options := table.Options{NoSync: true, Clock: t.clock, SweepEvery: -1}
	store, err := table.Open(filepath.Join(dir, "store.db"), options) //nolint:contextcheck // a file is opened
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	key, err := seal.OpenKeyFile(filepath.Join(dir, "key"))
	if err != nil {
		return out, err
	}
	ctx = table.WithOrg(ctx, in.Org)
	t.open(e, store, seal.NewEnvelope(key))
	if err = t.build(ctx, e); err != nil {
		return out, fault.Wrap("prepare the rehearsal", err)
	}
	return t.carryOut(ctx)
}

// open makes the trial's executor: this one's code with another store, clock, key and cloud.
func (t *trial) open(e *Executor, store table.Store, key seal.Sealer) {
	p := e.p.Clone()
	p.Table, p.Clock, p.Sealer, p.Workflow = store, t.clock, key, unattended{}
	p.Workers = lambdacall.Local{} // there are none
	t.stage = simulated.NewStage(store, t.clock, simulated.StageFaults{
		Denied: t.fault == remediation.DeniedHalfWay, CopyHangs: t.fault == remediation.SnapshotPending,
	}, stagedResources(t.in.Targets)...)
	t.e = New(p, cloud.Providers{simulated.Name: t.stage})
	t.store = remediation.New(p)
}

// runner returns the executor's own runner of workflows on the trial's cloud.
func (t *trial) runner() *remediating.Runner {
	r := t.e.remediator()
	r.Rehearses = true
	return r
}

// mostAdvances bounds a run. A snapshot that hangs is waited for during a day, and looked at every hangingPause.
const (
	mostAdvances = 4000
	hangingPause = 15 * time.Minute
)

// drive advances the workflow until nothing is left to do, on the trial's clock.
func (t *trial) drive(ctx context.Context) error {
	for range mostAdvances {
		got, err := t.runner().Advance(ctx, remediation.Input{Org: t.in.Org, WorkflowID: t.w.ID})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case isPassing(err): // the machine tries again
			got.Done, got.At = false, t.clock.Now().Add(time.Minute)
		case err != nil:
			return err
		}
		if t.w, err = t.store.Get(ctx, t.in.Org, t.w.ID); err != nil {
			return err
		}
		if got.Done {
			if got.At = t.w.ResumeAt; !got.At.After(t.clock.Now()) || !t.w.Status.IsOpen() {
				return nil
			}
		}
		if err = t.passUntil(ctx, got.At); err != nil {
			return err
		}
	}
	return fault.New(fault.Unavailable, "the rehearsal did not come to its end: ask again with fewer recommendations")
}

// isPassing reports whether an error of a step passes: the machine makes the step again.
func isPassing(err error) bool {
	if c, is := errors.AsType[*cloud.Error](err); is {
		return c.Class.Retryable()
	}
	return fault.Is(err, fault.Unavailable)
}

// actionPause is the interval of looks at actions in flight.
const actionPause = 15 * time.Second

// passUntil moves the clock on, and runs the actions of the workflow meanwhile.
func (t *trial) passUntil(ctx context.Context, until time.Time) error {
	open, err := t.runActions(ctx)
	if err != nil {
		return err
	}
	step := max(until.Sub(t.clock.Now()), time.Second)
	switch {
	case open:
		step = min(step, actionPause)
	case t.fault == remediation.SnapshotPending:
		step = max(step, hangingPause)
	}
	t.clock.Advance(step)
	return ctx.Err()
}

// runActions runs the actions of the workflow one step further. It reports whether some are in flight.
func (t *trial) runActions(ctx context.Context) (open bool, err error) {
	for i := range t.w.Targets {
		for _, actionID := range []string{t.w.Targets[i].ActionID, t.w.Targets[i].UndoID} {
			if actionID == "" {
				continue
			}
			a, err := table.Read[execution.Action](ctx, t.e.p.Table, execution.ActionKey(t.in.Org, actionID))
			if fault.Is(err, fault.NotFound) || err == nil && a.Status.IsFinal() {
				continue
			}
			if err == nil {
				_, err = t.e.RunActions(ctx, execution.RunInput{
					Org: t.in.Org, Actions: []string{actionID}, Until: execution.UntilSettled,
				})
			}
			if open = true; err != nil {
				return open, err
			}
		}
	}
	return open, nil
}
