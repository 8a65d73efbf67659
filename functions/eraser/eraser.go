// Package eraser is the worker that erases what is stored of an organization that was deleted. It may be killed at any
// point, and runs again from the beginning: what leads to something else is erased after it.
package eraser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/audit"
	"lamplighter.dev/shared/erasure"
	"lamplighter.dev/shared/fault"
	"lamplighter.dev/shared/identity"
	"lamplighter.dev/shared/pending"
	"lamplighter.dev/shared/people"
	"lamplighter.dev/shared/platform"
	"lamplighter.dev/shared/table"
	"lamplighter.dev/shared/workflow"
)

// How long one run erases, and how much of the context's deadline it leaves for the answer.
const (
	stretch = 2 * time.Minute
	reserve = 15 * time.Second
)

// Result tells the machine whether the organization is erased, and otherwise when to go on.
type Result struct {
	Done        bool `json:"done"`
	WaitSeconds int  `json:"waitSeconds"`
}

// Handler answers the task of the erasure machine.
func Handler(p *platform.Platform) workflow.Handler {
	return func(ctx context.Context, input json.RawMessage) (any, error) {
		c, err := workflow.ReadCall("eraser", input)
		if err != nil {
			return nil, err
		}
		if c.Task != "erase" {
			return nil, fault.New(fault.Invalid, "the eraser knows no task %q", c.Task)
		}
		return workflow.Do(ctx, c, func(ctx context.Context, in erasure.Input) (Result, error) { return Erase(ctx, p, in) })
	}
}

// eraser is one run.
type eraser struct {
	*platform.Platform
	in    erasure.Input
	until time.Time
}

// errLater is that the time of a run is over.
var errLater = errors.New("time is over")

// Erase erases what it can of in.Org in one run. An organization that has not ended is never touched.
func Erase(ctx context.Context, p *platform.Platform, in erasure.Input) (Result, error) {
	e := &eraser{Platform: p, in: in, until: until(ctx, p.Clock.Now())}
	ctx = table.Within(ctx, pending.Prefix, identity.UserPrefix, people.InvitedPrefix, domainPrefix, simulatedPrefix)
	there, err := e.ended(ctx)
	if err != nil {
		return Result{}, err
	}
	if there {
		err = e.pass(ctx)
	}
	switch settled := in.Ended.Add(erasure.Settling).Sub(p.Clock.Now()); {
	case errors.Is(err, errLater):
		return Result{}, nil
	case err != nil:
		return Result{}, fmt.Errorf("erase %s: %w", in.Org, err)
	case there && settled > 0:
		return Result{WaitSeconds: int(settled/time.Second) + 1}, nil
	}
	return Result{Done: true}, e.close(ctx, there)
}

// until is when a run that begins now erases no more.
func until(ctx context.Context, now time.Time) time.Time {
	end := now.Add(stretch)
	if d, ok := ctx.Deadline(); ok && d.Add(-reserve).Before(end) {
		return d.Add(-reserve)
	}
	return end
}

// ended tells whether there is something left to erase, and refuses an organization that lives.
func (e *eraser) ended(ctx context.Context) (bool, error) {
	a, err := table.Read[identity.Access](ctx, e.Table, identity.AccessKey(e.in.Org))
	switch {
	case fault.Is(err, fault.NotFound):
		return false, nil // by a run before this one
	case err != nil:
		return false, fmt.Errorf("read whether %s has ended: %w", e.in.Org, err)
	case !a.Ended:
		return false, fault.New(fault.Internal, "organization %s has not ended", e.in.Org)
	}
	return true, nil
}

// close takes the last of the organization away, which is that it has ended, and puts on the installation's record that it
// was.
func (e *eraser) close(ctx context.Context, there bool) error {
	if there {
		_, err := audit.Of(e.Platform).Append(ctx, "", audit.Row{
			Actor: e.in.Actor, UserID: e.in.User, Action: "eraseOrganisation", ResourceType: "organisation",
			Category: audit.Platform, Target: e.in.Org,
		})
		if err != nil {
			return fmt.Errorf("record the end of %s: %w", e.in.Org, err)
		}
	}
	err := e.Table.Transact(ctx, table.Delete(identity.AccessKey(e.in.Org)), pending.Done(e.in.JobID))
	return fault.Wrap("close the erasure of "+e.in.Org, err)
}
