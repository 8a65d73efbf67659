package workflow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow/asl"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// Parts are the dependencies of the embedded engine.
type Parts struct {
	Store    table.Store
	Clock    clock.Clock
	Machines map[string]*asl.Machine // by name, see LoadMachines
	Handlers map[string]Handler      // by the function name of a Resource or a FunctionName
	Log      *slog.Logger
	// Tasks is the number of concurrent handlers; 0 means 64.
	Tasks int
	// TaskLimit ends a handler that takes longer with Sandbox.Timedout, like Lambda. 0 means Lambda's 15 minutes.
	TaskLimit time.Duration
	// Died reports that the previous process crashed. The calls that it interrupted are counted, and given up after
	// three crashes (asl.MaxDeaths). Calls are not counted if the process was stopped, or killed from outside.
	Died bool
	// Transition is called for each state transition of a machine, which Step Functions bills. It may be nil.
	Transition func(machine string)
}

// Embedded runs state machines in this process, and keeps their state in the table, so that Resume continues the
// executions of a process that ended. Tasks are called at least once: an interrupted call is made again.
type Embedded struct {
	p     Parts
	slots chan struct{}   // held by running handlers
	trial chan struct{}   // held by the call on trial
	life  context.Context //nolint:containedctx // the life of the engine, which executions outlive their callers by
	end   context.CancelCauseFunc
	group sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	running map[ref]run
	waiting map[string]chan answer // by token
}

// run is an execution that runs in this process.
type run struct {
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when its goroutine has ended
}

var (
	errClosed  = errors.New("the workflow engine is closed")
	errStopped = errors.New("the execution was stopped")
)

// NewEmbedded returns an engine. It returns an error if a function of a machine has no handler. Executions of an
// earlier process are not continued before Resume.
func NewEmbedded(p Parts) (*Embedded, error) {
	for name, m := range p.Machines {
		for _, f := range m.Functions() {
			if p.Handlers[f] == nil {
				return nil, fmt.Errorf("state machine %s calls function %q, which has no handler", name, f)
			}
		}
	}
	if p.Tasks == 0 {
		p.Tasks = 64
	}
	if p.Transition == nil {
		p.Transition = func(string) {}
	}
	if p.TaskLimit == 0 {
		p.TaskLimit = 15 * time.Minute
	}
	life, end := context.WithCancelCause(context.Background())
	return &Embedded{
		p: p, life: life, end: end, slots: make(chan struct{}, p.Tasks), trial: make(chan struct{}, 1),
		running: map[ref]run{}, waiting: map[string]chan answer{},
	}, nil
}

// Start starts an execution. One round trip.
func (e *Embedded) Start(ctx context.Context, machine, name string, input any) error {
	r := ref{machine, name}
	if e.p.Machines[machine] == nil {
		return fault.New(fault.Internal, "there is no state machine %q", machine)
	}
	if err := checkName(name); err != nil {
		return err
	}
	raw, err := encodeInput(input)
	if err != nil {
		return err
	}
	if e.isClosed() {
		return fault.NewWithCause(fault.Unavailable, errClosed, "cannot start %s", r)
	}
	x := Execution{Machine: machine, Name: name, Status: Running, Input: raw, Started: e.p.Clock.Now()}
	err = e.createExecution(ctx, r, x)
	if lost, ok := errors.AsType[*table.ConditionError](err); ok {
		return e.explainTaken(r, x, lost) //nolint:contextcheck // an execution outlives who starts it
	}
	if err != nil {
		return fault.Wrap("start "+r.String(), err)
	}
	e.launchExecution(r, &x, false) //nolint:contextcheck // as above
	return nil
}

// createExecution writes a new execution, and its entry in the list of running ones.
func (e *Embedded) createExecution(ctx context.Context, r ref, x Execution) error {
	run, err := encodeItem(r.runningKey(), struct{}{}, time.Time{})
	if err != nil {
		return err
	}
	return writePacked(func(as form) error {
		items, err := executionItems(x, as)
		if err != nil {
			return err
		}
		return e.p.Store.Transact(table.Within(ctx, scopePrefix), table.Put(items[0], table.Absent()), table.Put(run))
	})
}

// explainTaken returns the result of a start with a name that exists: the same start again is no error. If no goroutine
// runs the execution, its first start was interrupted, and it is run now.
func (e *Embedded) explainTaken(r ref, x Execution, lost *table.ConditionError) error {
	old, _ := lost.Old(0)
	have, _, err := decodeExecution(r, old)
	if err != nil {
		return fault.Wrap("start "+r.String(), err)
	}
	if have.Status != Running {
		return fault.New(fault.Conflict, "the execution %s has already run and ended", r)
	}
	if !asl.SameJSON(have.Input, x.Input) {
		return fault.New(fault.Conflict, "the execution %s already runs with another input", r)
	}
	e.launchExecution(r, nil, true)
	return nil
}

// Stop aborts an execution. The contexts of running handlers end.
func (e *Embedded) Stop(ctx context.Context, machine, name, cause string) error {
	r, now := ref{machine, name}, e.p.Clock.Now()
	err := e.p.Store.Transact(table.Within(ctx, scopePrefix),
		table.Update(r.itemKey(executionSK), []table.Change{
			table.Set("status", Aborted), table.Set("cause", cause), table.Set("stopped", now),
			table.Expire(now.Add(retention)),
		}, table.Exists(), table.Equal("status", string(Running))),
		table.Delete(r.runningKey()))
	lost, ended := errors.AsType[*table.ConditionError](err)
	if ended {
		if old, _ := lost.Old(0); old.Data == nil {
			return fault.New(fault.NotFound, "there is no execution %s", r)
		}
		return nil
	}
	if err != nil {
		return fault.Wrap("stop "+r.String(), err)
	}
	e.mu.Lock()
	under, ok := e.running[r]
	e.mu.Unlock()
	if ok {
		under.cancel(errStopped)
	}
	return nil
}

// Describe reads an execution.
func (e *Embedded) Describe(ctx context.Context, machine, name string) (Execution, error) {
	r := ref{machine, name}
	ctx = table.Within(ctx, scopePrefix)
	it, err := e.p.Store.Get(ctx, r.itemKey(executionSK))
	if fault.Is(err, fault.NotFound) {
		return Execution{}, fault.NewWithCause(fault.NotFound, err, "there is no execution %s", r)
	}
	if err != nil {
		return Execution{}, fault.Wrap("describe "+r.String(), err)
	}
	x, h, err := decodeExecution(r, it)
	if err != nil || !h.Apart {
		return x, err
	}
	out, err := table.Read[packed](ctx, e.p.Store, r.itemKey(outputSK))
	if err != nil {
		return x, fault.Wrap("read output of "+r.String(), err)
	}
	return x, out.unpackInto(&x.Output)
}

// resumePage is the number of running executions that Resume reads at a time.
const resumePage = 1_000

// Resume continues all executions that have not ended. It returns when all of them run.
func (e *Embedded) Resume(ctx context.Context) error {
	ctx = table.Within(ctx, scopePrefix)
	q := table.Query{PK: runningPK, Limit: resumePage}
	for {
		page, err := e.p.Store.Query(ctx, q)
		if err != nil {
			return fault.Wrap("list running executions", err)
		}
		for _, it := range page.Items {
			r, err := parseRef(it.SK)
			if err != nil {
				return fault.Wrap("list running executions", err)
			}
			if e.p.Machines[r.machine] == nil {
				e.p.Log.ErrorContext(ctx, "an execution stays as it is: its state machine is gone", "execution",
					r.String())
				continue
			}
			e.launchExecution(r, nil, true) //nolint:contextcheck // as above
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return nil
		}
	}
}

// closeWait limits how long Close waits for handlers that ignore the end of their context.
const closeWait = 10 * time.Second

// Close interrupts all executions; Resume of a later engine continues them. It ends the contexts of running handlers
// and waits for them.
func (e *Embedded) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.end(errClosed)
	done := make(chan struct{})
	go func() { e.group.Wait(); close(done) }()
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("handlers still run %s after their contexts ended", closeWait)
	}
}

func (e *Embedded) isClosed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}

var _ Engine = (*Embedded)(nil)
