package asl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// Env holds the dependencies of an execution.
type Env struct {
	Clock   clock.Clock
	Random  func() float64 // draws the jitter of retries, from 0 to just below 1; nil means a random one
	Tasks   Tasks
	Journal Journal // nil: the execution is not saved, and cannot be resumed
	// Trial waits until no other call of any execution is on trial; release ends the trial.
	Trial func(ctx context.Context) (release func(), err error)
	// Transition is called each time a state is entered or retried, which Step Functions bills. It may be nil.
	Transition func()
}

// Tasks carries out Task states. A failure for Retry and Catch is an *Error; all other errors interrupt the execution.
type Tasks interface {
	// Invoke calls a function and returns its response.
	Invoke(ctx context.Context, function string, payload json.RawMessage) (json.RawMessage, error)
	// Token returns the token of a task that waits for an answer from outside, in the fiber at path.
	Token(path string) string
	// Await waits for the answer to a token. The token may have been made before a restart.
	Await(ctx context.Context, token string) (json.RawMessage, error)
}

// Journal saves frames, so that an execution can be resumed. An error interrupts the execution.
type Journal interface {
	// Save replaces the frame of the fiber at path. It returns when the frame is durable.
	Save(ctx context.Context, path string, f Frame) error
	// Forget deletes the frames of fibers whose results are in the frame that was saved last.
	Forget(ctx context.Context, paths []string) error
}

// Frame is the state of one fiber, from which it is resumed: the execution itself (path ""), a branch of a Parallel, or
// an item of a Map.
type Frame struct {
	State   string          `json:"state,omitempty"`
	Input   json.RawMessage `json:"in,omitempty"`
	Vars    json.RawMessage `json:"vars,omitempty"`
	Entered time.Time       `json:"entered,omitzero"`
	Visit   int             `json:"visit,omitempty"`  // counts states and retries; distinguishes their children
	Tries   []int           `json:"tries,omitempty"`  // retries so far, by retrier
	RetryAt time.Time       `json:"retryAt,omitzero"` // when the next retry begins
	Until   time.Time       `json:"until,omitzero"`   // end of a Wait, or timeout of a task that waits for its token
	Token   string          `json:"token,omitempty"`  // token that the task waits for
	Sent    bool            `json:"sent,omitempty"`   // the function that received Token has returned
	Events  int64           `json:"events,omitempty"` // history events so far, including those of finished children
	Done    bool            `json:"done,omitempty"`   // the fiber has ended with Output or Failed
	Output  json.RawMessage `json:"out,omitempty"`
	Failed  *Error          `json:"failed,omitempty"` // failure that a distributed Map tolerates
	Deaths  int             `json:"deaths,omitempty"` // number of crashes during the call of this state
	// the call is on trial: no other call with as many crashes is made
	Trial bool `json:"trial,omitempty"`
}

// Execution is one run of a machine, with its saved frames if it is resumed.
type Execution struct {
	ID, Name           string // ARN and name of the execution
	MachineID, Machine string // ARN and name of the machine
	Input              json.RawMessage
	Started            time.Time
	Frames             map[string]Frame
	Resumed            bool // an earlier process ran it
	Died               bool // the earlier process crashed
}

// run is a running execution.
type run struct {
	env   Env
	x     Execution
	input any

	mu     sync.Mutex
	frames map[string]Frame
}

// Run runs an execution to its end and returns its output. It returns an *Error if the machine fails, ErrTimedOut if it
// takes too long, and another error if it was interrupted (ctx ended, or the journal failed). An interrupted execution
// can be resumed from the saved frames.
func (m *Machine) Run(ctx context.Context, env Env, x Execution) (json.RawMessage, error) {
	input, err := decodeJSON(x.Input)
	if err != nil {
		return nil, newError(errRuntime, "the input is not JSON: %s", err)
	}
	r := &run{env: env, x: x, input: input, frames: x.Frames}
	if m.TimeoutSeconds > 0 {
		var cancel context.CancelFunc
		until := x.Started.Add(time.Duration(m.TimeoutSeconds) * time.Second)
		ctx, cancel = withClockDeadline(ctx, env.Clock, until, ErrTimedOut)
		defer cancel()
	}
	f, err := r.newTopFiber(m)
	if err != nil {
		return nil, err
	}
	out, err := f.runStates(ctx)
	if err != nil {
		return nil, endCause(ctx, err)
	}
	return encodeJSON(out)
}

// endCause returns the reason why a run ended: its own failure, a deadline, or an interruption.
func endCause(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if cause, ok := errors.AsType[*Error](context.Cause(ctx)); ok {
		return cause
	}
	return fmt.Errorf("execution interrupted: %w", context.Cause(ctx))
}

// newTopFiber returns the fiber of the execution itself.
func (r *run) newTopFiber(m *Machine) (*fiber, error) {
	f := &fiber{run: r, level: m.top, total: &atomic.Int64{}}
	kept, ok := r.takeFrame("")
	if ok {
		return f, f.restoreFrame(kept)
	}
	f.beginState(m.top.startAt, r.input, nil)
	f.frame.Entered, f.restored = r.x.Started, r.x.Resumed
	f.dirty = false // it can be computed from the execution's input
	return f, f.countEvents(1)
}

// takeFrame returns the saved frame of the fiber at path, and removes it.
func (r *run) takeFrame(path string) (Frame, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, ok := r.frames[path]
	delete(r.frames, path)
	return kept, ok
}

// withClockDeadline returns a context that ends with cause at a time of the clock c. For the machine's clock it is a
// deadline. For other clocks it waits on that clock, and the context reports the deadline too.
func withClockDeadline(ctx context.Context, c clock.Clock, until time.Time, cause error) (context.Context,
	context.CancelFunc,
) {
	if _, ok := c.(clock.System); ok {
		return context.WithDeadlineCause(ctx, until, cause)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		if c.Sleep(ctx, until.Sub(c.Now())) == nil {
			cancel(cause)
		}
	}()
	return deadline{ctx, until}, func() { cancel(context.Canceled) }
}

// deadline is a context with a deadline of a clock other than the machine's.
type deadline struct {
	context.Context
	at time.Time
}

func (d deadline) Deadline() (time.Time, bool) { return d.at, true }
