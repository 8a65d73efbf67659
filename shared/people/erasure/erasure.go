// Package erasure holds the parts of ending an organization or an account that the operation that ends it shares with
// the worker that erases its data.
package erasure

import (
	"context"
	"errors"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Machine is the name of the state machine that erases an organization or an account.
const Machine = "erasure"

// Settling is how long after its end an organization or account may still be written to, by requests and workers that
// started before. It is longer than a function runs. The data is erased after it.
const Settling = 20 * time.Minute

// Input is the input of the state machine. It names either an organization or an account.
type Input struct {
	Org     string    `json:"org,omitempty"`
	Account string    `json:"account,omitempty"` // ID of the user
	JobID   string    `json:"jobID"`
	Ended   time.Time `json:"ended"`
	Actor   string    `json:"actor"` // e-mail address of the user who ended the organization
	User    string    `json:"user"`
}

// Organisation returns the organization of the input.
func (in Input) Organisation() string { return in.Org }

// ErrEnded says that an organization has ended already.
var ErrEnded = fault.New(fault.NotFound, "the organization does not exist")

// BeginErasure ends org permanently, in one transaction with the extra writes. After it, all requests to org are
// refused. A worker erases its data later. It returns ErrEnded if the organization has ended already.
func BeginErasure(ctx context.Context, p *platform.Platform, org string, extra ...table.Write) error {
	now, c := p.Clock.Now(), identity.CallerFrom(ctx)
	in := Input{Org: org, JobID: id.New("job", now), Ended: now, Actor: c.Email, User: c.User}
	work, err := workqueue.AddWork(workqueue.Work{ID: in.JobID, Org: org, Machine: Machine, At: now}, in)
	if err != nil {
		return err
	}
	end := []table.Change{table.Set("ended", true)}
	writes := append([]table.Write{
		table.Update(identity.AccessKey(org), end, table.Exists(), table.NotEqual("ended", true)),
		table.Update(identity.OrganisationKey(org), end, table.Exists()), work,
	}, extra...)
	err = p.Table.Transact(table.Within(ctx, table.OrgPK(org), workqueue.Prefix), writes...)
	if failed, ok := errors.AsType[*table.ConditionError](err); ok {
		if _, ended := failed.Old(0); ended {
			return ErrEnded
		}
	}
	if err != nil {
		return fault.Wrap("end organization "+org, err)
	}
	if err = p.Workflow.Start(ctx, Machine, in.JobID, in); err != nil {
		p.Log.WarnContext(ctx, "erasure will be started by the sweeper", "job", in.JobID, "org", org, "error", err)
	}
	return nil
}
