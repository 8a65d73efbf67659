// Package organisationsync is the worker that creates cloud accounts for the members of connected cloud
// organizations, each hour and on request. A member that refuses the connection is recorded with the cloud's error
// text and does not affect the others.
package organisationsync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

// Progress is the result of the task sync: whether all members were processed, and when to continue.
type Progress struct {
	connection.SyncInput
	Done        bool `json:"done"`
	WaitSeconds int  `json:"waitSeconds"`
}

// Started summarizes a run of the schedule.
type Started struct {
	Organisations int `json:"organisations"`
	Started       int `json:"started"`
}

type worker struct {
	p         *platform.Platform
	providers cloud.Providers
}

// Handler answers the tasks of the machine. Without a task it is the run of the schedule.
func Handler(p *platform.Platform, providers cloud.Providers) workflow.Handler {
	w := &worker{p, providers}
	return w.handle
}

func (w *worker) handle(ctx context.Context, input json.RawMessage) (any, error) {
	var named struct {
		Task string `json:"task"`
	}
	if err := json.Unmarshal(input, &named); err != nil {
		return nil, fault.NewWithCause(fault.Invalid, err, "organisationsync was sent no JSON")
	}
	if named.Task == "" {
		return w.startDue(ctx)
	}
	c, err := w.p.ReadCall(ctx, "organisationsync", input)
	if err != nil {
		return nil, err
	}
	switch c.Task {
	case "sync":
		return workflow.RunTask(ctx, c, w.synchronize)
	case "finish":
		return workflow.RunTask(ctx, c, func(ctx context.Context, in connection.SyncInput) (Progress, error) {
			return w.abandonSync(ctx, in, c.Error)
		})
	default:
		return nil, fault.New(fault.Invalid, "organisationsync knows no task %q", c.Task)
	}
}

// maxScheduleTime is how long one run of the schedule may take. Organizations that it does not reach are still due,
// and come first in the next hour.
const maxScheduleTime = 10 * time.Minute

// startDue starts the synchronization of every connected organization. A running synchronization continues. A deleted
// organization is removed from the list.
func (w *worker) startDue(ctx context.Context) (Started, error) {
	var out Started
	var errs []error
	until := w.p.Clock.Now().Add(maxScheduleTime)
	for shard := range connection.OrganisationDueShards {
		q := table.Query{PK: connection.OrganisationDuePK(shard), Limit: 100}
		for more := true; more && w.p.Clock.Now().Before(until); more = q.Cursor != "" {
			all, next, err := table.ReadPage[connection.OrganisationDue](table.Within(ctx,
				connection.OrganisationDuePrefix),
				w.p.Table, q)
			if err != nil {
				return out, errors.Join(append(errs, fmt.Errorf("read which organizations are due: %w", err))...)
			}
			for _, d := range all {
				begun, err := w.startSync(ctx, d)
				errs = append(errs, err)
				if out.Organisations++; begun {
					out.Started++
				}
			}
			q.Cursor = next
		}
	}
	return out, errors.Join(errs...)
}

func (w *worker) startSync(ctx context.Context, d connection.OrganisationDue) (bool, error) {
	ctx = table.WithOrg(ctx, d.Org)
	a, err := table.Read[identity.Access](ctx, w.p.Table, identity.AccessKey(d.Org))
	ended := fault.Is(err, fault.NotFound) || err == nil && a.Ended
	if err != nil && !ended {
		return false, fmt.Errorf("read organization %s: %w", d.Org, err)
	}
	begun := false
	if !ended {
		_, begun, err = connection.StartSync(ctx, w.p, d.Org, d.OrganisationID)
	}
	if ended || fault.Is(err, fault.NotFound) {
		_, err = w.p.Table.Write(table.Within(ctx, connection.OrganisationDuePrefix),
			connection.RemoveOrganisationDue(d.OrganisationID))
	}
	return begun, fault.Wrap("start the synchronization of "+d.OrganisationID, err)
}

// abandonSync ends a synchronization that the machine gives up.
func (w *worker) abandonSync(ctx context.Context, in connection.SyncInput, why *workflow.Caught) (Progress, error) {
	o, err := w.readOrganisation(ctx, in)
	if err != nil || o.Sync.JobID != in.JobID {
		return Progress{SyncInput: in, Done: true}, err
	}
	o.Status, o.Error = "degraded", "it could not be synchronized"
	if why != nil {
		o.Error = why.String()
	}
	return Progress{SyncInput: in, Done: true}, w.finishSync(ctx, in, o)
}

// readOrganisation reads the organization. A deleted organization is returned with an empty ID.
func (w *worker) readOrganisation(ctx context.Context, in connection.SyncInput) (connection.Organisation,
	error,
) {
	o, err := table.Read[connection.Organisation](ctx, w.p.Table,
		connection.OrganisationKey(in.Org, in.OrganisationID))
	if fault.Is(err, fault.NotFound) {
		return o, nil
	}
	return o, fault.Wrap("read "+in.OrganisationID, err)
}

// finishSync completes a synchronization in one transaction with more. It is failed if the organization has an error.
func (w *worker) finishSync(ctx context.Context, in connection.SyncInput, o connection.Organisation,
	more ...table.Write,
) error {
	o.Sync.CompletedAt, o.Sync.Status, o.Sync.Error = w.p.Clock.Now(), connection.SyncSucceeded, o.Error
	if o.Error != "" {
		o.Sync.Status = connection.SyncFailed
	}
	return connection.FinishSync(ctx, w.p, in, o, more...)
}
