// Package eraser is the worker that erases the data of a deleted organization or account. It may be killed at any point
// and starts again from the beginning: a record that leads to other records is erased after them.
package eraser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/erasure"
	"lamplighter.dev/shared/people/membership"
)

// These constants set how long one run erases without a deadline, and how much of a deadline it leaves for the
// answer.
const (
	stretch = 2 * time.Minute
	reserve = 15 * time.Second
)

// Result tells the machine whether the organization or account is erased, or else when to continue.
type Result struct {
	Done        bool `json:"done"`
	WaitSeconds int  `json:"waitSeconds"`
}

// Handler answers the task of the erasure machine, which erases an account, or an organization by the partitions of the
// walk.
func Handler(p *platform.Platform, w Walk) workflow.Handler {
	return func(ctx context.Context, input json.RawMessage) (any, error) {
		c, err := workflow.ReadCall("eraser", input)
		if err != nil {
			return nil, err
		}
		if c.Task != "erase" {
			return nil, fault.New(fault.Invalid, "the eraser knows no task %q", c.Task)
		}
		var in erasure.Input
		if err = json.Unmarshal(c.Input, &in); err == nil && in.Account != "" {
			return (&accountEraser{p, in}).eraseAccount(ctx)
		}
		return workflow.RunTask(ctx, c, func(ctx context.Context, in erasure.Input) (Result, error) {
			return (&eraser{p, in, w}).eraseOrg(ctx)
		})
	}
}

// eraser is one run.
type eraser struct {
	*platform.Platform
	in   erasure.Input
	walk Walk
}

// eraseOrg erases the data of the organization as far as possible. It never touches an organization that has not
// ended.
func (e *eraser) eraseOrg(ctx context.Context) (Result, error) {
	ctx = table.Within(ctx, workqueue.Prefix, identity.UserPrefix, membership.InvitedPrefix, domainPrefix, wakePrefix,
		simulatedPrefix, discovery.DuePrefix, billimport.DuePrefix,
		identity.DirectoryPrefix)
	there, err := e.hasEnded(ctx)
	if err != nil {
		return Result{}, err
	}
	if there {
		var later bool
		if later, err = e.eraseForAWhile(ctx); later || err != nil {
			return Result{WaitSeconds: 1}, fault.Wrap("erase "+e.in.Org, err)
		}
	}
	if settled := e.in.Ended.Add(erasure.Settling).Sub(e.Clock.Now()); there && settled > 0 {
		return Result{WaitSeconds: int(settled/time.Second) + 1}, nil
	}
	return Result{Done: true}, e.closeErasure(ctx, there)
}

// eraseForAWhile erases for as long as a run may, and reports whether that was not enough.
func (e *eraser) eraseForAWhile(ctx context.Context) (later bool, err error) {
	within, cancel := withRunTime(ctx)
	defer cancel()
	err = e.erasePass(within)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return true, nil // an interrupted step is repeated
	}
	return false, err
}

// withRunTime limits ctx to the time of a run.
func withRunTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if d, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, d.Add(-reserve))
	}
	return context.WithTimeout(ctx, stretch)
}

// hasEnded reports whether there is something left to erase, and refuses an organization that has not ended.
func (e *eraser) hasEnded(ctx context.Context) (bool, error) {
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

// closeErasure removes the last records of the organization: the archive, which no longer grows, and the mark that it
// has ended. In the same transaction it records the erasure in the installation's audit log.
func (e *eraser) closeErasure(ctx context.Context, there bool) error {
	listed := workqueue.RemoveWork(e.in.JobID)
	if there {
		err := e.closeRecorded(ctx, listed)
		if _, closed := errors.AsType[*table.ConditionError](err); !closed {
			return err
		}
	}
	_, err := e.Table.Write(ctx, listed)
	return fault.Wrap("close the erasure of "+e.in.Org, err)
}

// closeRecorded erases the archive, and completes the erasure with its audit row. Of two concurrent runs only one
// succeeds; the other gets table.ConditionError.
func (e *eraser) closeRecorded(ctx context.Context, listed table.Write) error {
	var nothing struct{}
	if err := e.Workers.Invoke(ctx, archive.Worker, archive.Request{Erase: e.in.Org}, &nothing); err != nil {
		return fmt.Errorf("erase the archive of %s: %w", e.in.Org, err)
	}
	row := audit.Row{
		Actor: e.in.Actor, UserID: e.in.User, Action: audit.EraseAction, ResourceType: "organisation",
		Category: audit.Platform, Target: e.in.Org,
	}
	last := table.Delete(identity.AccessKey(e.in.Org), table.Exists())
	_, err := audit.New(e.Platform).Append(ctx, "", row, last, listed)
	return fault.Wrap("close the erasure of "+e.in.Org, err)
}
