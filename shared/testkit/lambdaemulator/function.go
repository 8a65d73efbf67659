// Package lambdaemulator runs a built Lambda function on this machine: it speaks the Lambda Runtime API to the binary,
// so that sample events reach the very file that is deployed, with neither a container nor an emulator.
package lambdaemulator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"sync"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// Function is a running bootstrap. It answers one event at a time, as an execution environment of Lambda does.
type Function struct {
	clock   clock.Clock
	one     sync.Mutex
	served  int
	events  chan invocation
	replies chan reply
	server  *http.Server
	process *exec.Cmd
	log     *tail
	exited  chan struct{} // closed when the process has ended
}

// StartFunction runs the bootstrap at path. Its environment is the variables that Lambda sets, and env; it inherits no
// others.
func StartFunction(path string, env ...string) (*Function, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for %s: %w", path, err)
	}
	f := &Function{
		clock: clock.System{}, events: make(chan invocation), replies: make(chan reply, 1),
		log: &tail{}, exited: make(chan struct{}),
	}
	f.server = &http.Server{Handler: f.runtimeAPI(), ReadHeaderTimeout: 10 * time.Second}
	go f.server.Serve(ln) //nolint:errcheck // it ends by Close, and a call that fails shows in Invoke
	f.process = exec.Command(path)
	f.process.Env = append([]string{
		"AWS_LAMBDA_RUNTIME_API=" + ln.Addr().String(), "AWS_LAMBDA_FUNCTION_NAME=local",
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=256", "AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=local",
		"AWS_SECRET_ACCESS_KEY=local",
	}, env...)
	f.process.Stdout, f.process.Stderr = f.log, f.log
	if err = f.process.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", path, err), f.server.Close())
	}
	go func() {
		f.process.Wait() //nolint:errcheck // killed by Close; a death of its own shows in Invoke, with the log
		close(f.exited)
	}()
	return f, nil
}

// Invoke sends one event and waits for the answer. An error that the function reports is a *Failure.
func (f *Function) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	f.one.Lock()
	defer f.one.Unlock()
	f.served++
	in := invocation{
		event: event, id: fmt.Sprintf("00000000-0000-4000-8000-%012d", f.served),
		deadline: f.deadline(ctx),
	}
	select {
	case f.events <- in:
	case <-f.exited:
		return nil, f.died()
	case <-ctx.Done():
		return nil, fmt.Errorf("the function asks for no event: %w: %s", ctx.Err(), f.log)
	}
	return f.await(ctx, in.id)
}

// await waits for the answer to the invocation id. It drops late answers to earlier invocations.
func (f *Function) await(ctx context.Context, id string) ([]byte, error) {
	for {
		select {
		case r := <-f.replies:
			if r.id == id || r.id == "" {
				return r.body, r.err
			}
		case <-f.exited:
			return nil, f.died()
		case <-ctx.Done():
			return nil, fmt.Errorf("the function does not answer: %w: %s", ctx.Err(), f.log)
		}
	}
}

// PID returns the id of the function's process.
func (f *Function) PID() int { return f.process.Process.Pid }

// Log returns the end of the function's log.
func (f *Function) Log() string { return f.log.String() }

// Close ends the function.
func (f *Function) Close() error {
	err := f.process.Process.Kill()
	<-f.exited
	return errors.Join(ignoreDone(err), f.server.Close())
}

func (f *Function) died() error {
	select {
	case r := <-f.replies: // it said why before it died
		return r.err
	default:
		return fmt.Errorf("the function has ended (%s): %s", f.process.ProcessState, f.log)
	}
}

// deadline returns when the answer must be there: ctx's deadline, or in 15 seconds.
func (f *Function) deadline(ctx context.Context) time.Time {
	if at, ok := ctx.Deadline(); ok {
		return at
	}
	return f.clock.Now().Add(15 * time.Second)
}
