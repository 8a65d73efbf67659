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

// Env is the world that an execution runs in.
type Env struct {
	Clock   clock.Clock
	Random  func() float64 // draws the jitter of retries, from 0 to just below 1; nil draws by itself
	Tasks   Tasks
	Journal Journal // nil keeps nothing: the execution cannot be resumed
	// Trial waits until no other call of any execution is on trial; release ends the trial.
	Trial func(ctx context.Context) (release func(), err error)
	// Transition is told each time that a state is begun or tried again, which is what Step Functions bills; nil tells nobody.
	Transition func()
}

// Tasks does what Task states ask for. A failure that Retry and Catch shall see is an *Error; any other error
// interrupts the execution where it stands.
type Tasks interface {
	// Invoke calls a function and returns its answer.
	Invoke(ctx context.Context, function string, payload json.RawMessage) (json.RawMessage, error)
	// Token makes the token of a task that waits for an answer from outside, in the fiber at path.
	Token(path string) string
	// Await waits for the answer to a token, which may have been made before a restart.
	Await(ctx context.Context, token string) (json.RawMessage, error)
}

// Journal keeps frames, so that an execution is resumed where it stood. An error interrupts the execution.
type Journal interface {
	// Save keeps the frame of the fiber at path, instead of the one before; it returns once the frame is safe.
	Save(ctx context.Context, path string, f Frame) error
	// Forget drops frames of fibers whose results are in the frame that was saved last.
	Forget(ctx context.Context, paths []string) error
}

// Frame is all that is needed to resume one fiber: the execution itself (path ""), a branch of a Parallel, or an item of
// a Map.
type Frame struct {
	State   string          `json:"state,omitempty"`
	Input   json.RawMessage `json:"in,omitempty"`
	Vars    json.RawMessage `json:"vars,omitempty"`
	Entered time.Time       `json:"entered,omitzero"`
	Visit   int             `json:"visit,omitempty"`  // counts states and retries; tells the children of each apart
	Tries   []int           `json:"tries,omitempty"`  // retries so far, by retrier
	RetryAt time.Time       `json:"retryAt,omitzero"` // when the next retry begins
	Until   time.Time       `json:"until,omitzero"`   // when a Wait ends, or a task that waits for its token times out
	Token   string          `json:"token,omitempty"`  // the token of the task that is waited for
	Sent    bool            `json:"sent,omitempty"`   // the function that was given Token has returned
	Events  int64           `json:"events,omitempty"` // history events so far, with those of finished children
	Done    bool            `json:"done,omitempty"`   // the fiber has ended, with Output or with Failed
	Output  json.RawMessage `json:"out,omitempty"`    //
	Failed  *Error          `json:"failed,omitempty"` // a failure that a distributed Map tolerates
	Deaths  int             `json:"deaths,omitempty"` // how many processes died during the call of this state
	Trial   bool            `json:"trial,omitempty"`  // the call is made while no other one is that had as many deaths
}

// Execution is one run of a machine: who it is, and the frames that were kept of it, if it is resumed.
type Execution struct {
	ID, Name           string // of the execution: its ARN, its name
	MachineID, Machine string // of the machine
	Input              json.RawMessage
	Started            time.Time
	Frames             map[string]Frame
	Resumed            bool // an earlier process ran it; Died says that this process ended by its own fault
	Died               bool
}

// run is an execution under way.
type run struct {
	env   Env
	x     Execution
	input any

	mu     sync.Mutex
	frames map[string]Frame
}

// Run runs an execution to its end and gives its output. It fails with an *Error when the machine does, with ErrTimedOut
// when it takes too long, and with another error when it was interrupted (ctx has ended, the journal failed): then it
// can be resumed from the frames that were kept.
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
	f, err := r.top(m)
	if err != nil {
		return nil, err
	}
	out, err := f.runStates(ctx)
	if err != nil {
		return nil, ended(ctx, err)
	}
	return encodeJSON(out)
}

// ended returns why a run ended: by its own failure, by a deadline, or because it was interrupted.
func ended(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if cause, ok := errors.AsType[*Error](context.Cause(ctx)); ok {
		return cause
	}
	return fmt.Errorf("execution interrupted: %w", context.Cause(ctx))
}

// top makes the fiber of the execution itself.
func (r *run) top(m *Machine) (*fiber, error) {
	f := &fiber{run: r, level: m.top, total: &atomic.Int64{}}
	kept, ok := r.takeFrame("")
	if ok {
		return f, f.restoreFrame(kept)
	}
	f.beginState(m.top.startAt, r.input, nil)
	f.frame.Entered, f.restored = r.x.Started, r.x.Resumed
	f.dirty = false // it follows from the execution's input
	return f, f.countEvents(1)
}

// takeFrame returns the frame that was kept for the fiber at path, once.
func (r *run) takeFrame(path string) (Frame, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, ok := r.frames[path]
	delete(r.frames, path)
	return kept, ok
}

// withClockDeadline ends ctx with cause at a time of the clock c. On the machine's clock that is a deadline; on another it is a
// wait on that clock, and ctx tells the deadline all the same.
func withClockDeadline(ctx context.Context, c clock.Clock, until time.Time, cause error) (context.Context,
	context.CancelFunc) {
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

// deadline is a context that ends at a time of a clock that is not the machine's.
type deadline struct {
	context.Context
	at time.Time
}

func (d deadline) Deadline() (time.Time, bool) { return d.at, true }
