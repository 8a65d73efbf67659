// Package killpoint kills the process of a test at a chosen step and lets another process resume its work. A step is a
// write to the store, a call to a cloud, a start of an execution or an invocation of a worker. LosesNothing does that
// at 50 random steps of a flow and compares the final state with that of a run without kills.
//
// A flow builds its world on a store that survives, and does its work through the store, platform or calls of a
// Process:
//
//	killpoint.LosesNothing(t, 50, func(t *testing.T, lives *killpoint.Lives) string {
//		f := newFixture(t)
//		lives.Run(f.In(org), t, func(ctx context.Context, p *killpoint.Process) error {
//			return work(ctx, p.Platform(f.Platform)) // resumes the work of an earlier process
//		})
//		return f.state() // without times and random ids
//	})
package killpoint

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrKilled is the error of every step of a killed process.
var ErrKilled = errors.New("the process was killed")

// Point is the step at which a process is killed. Steps count from 1; step 0 kills nothing.
type Point struct {
	Step int
	// Landed reports that the step takes effect before the kill: of a batch of writes, the first half. Otherwise the
	// step never happens.
	Landed bool
}

// String names the point for the message of a failed test.
func (p Point) String() string {
	if p.Landed {
		return fmt.Sprintf("after step %d", p.Step)
	}
	return fmt.Sprintf("before step %d", p.Step)
}

// Process is a process that is killed at a point: from then on its context has ended, and none of its steps and reads
// reaches anything. It may be used by many goroutines.
type Process struct {
	at   Point
	kill context.CancelFunc

	mu    sync.Mutex
	steps int
	dead  bool
}

// Start returns a process that is killed at a point, and its context.
func Start(ctx context.Context, at Point) (context.Context, *Process) {
	ctx, kill := context.WithCancel(ctx)
	return ctx, &Process{at: at, kill: kill}
}

// Killed reports whether the process is dead.
func (p *Process) Killed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// Kill kills the process now.
func (p *Process) Kill() {
	p.mu.Lock()
	p.dead = true
	p.mu.Unlock()
	p.kill()
}

// Steps returns how many steps the process has begun.
func (p *Process) Steps() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.steps
}

// Do runs a step, for example a call to a cloud that does not go through the process.
func (p *Process) Do(step func() error) error { return p.do(step, step) }

// do runs a step. At the kill it runs only the landed part, if the point has Landed.
func (p *Process) do(step, landed func() error) error {
	last, err := p.begin()
	switch {
	case err != nil:
		return err
	case !last:
		return step()
	}
	if p.at.Landed {
		_ = landed() // a dead process learns no result
	}
	p.kill()
	return ErrKilled
}

// begin counts a step. last reports whether the process is killed at it.
func (p *Process) begin() (last bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return false, ErrKilled
	}
	p.steps++
	p.dead = p.steps == p.at.Step
	return p.dead, nil
}

// read returns ErrKilled once the process is dead.
func (p *Process) read() error {
	if p.Killed() {
		return ErrKilled
	}
	return nil
}
