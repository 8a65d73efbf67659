// Package erasure is what the end of an organization is made of: the operation that ends it, and the worker that erases
// what is stored of it, must mean the same by it.
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

// Machine is the state machine that erases an organization.
const Machine = "erasure"

// Settling is how long after its end an organization may still be written to, by requests and workers that had begun
// before: longer than a function lives. What they leave is erased after it.
const Settling = 20 * time.Minute

// Input is what the machine is started with.
type Input struct {
	Org   string    `json:"org"`
	JobID string    `json:"jobID"`
	Ended time.Time `json:"ended"`
	Actor string    `json:"actor"` // who ended it: an e-mail address
	User  string    `json:"user"`
}

// Organisation returns the organization that the input belongs to.
func (in Input) Organisation() string { return in.Org }

// ErrEnded is that an organization has ended already.
var ErrEnded = fault.New(fault.NotFound, "the organization does not exist")

// BeginErasure ends org for ever, in one transaction with the extra writes: from then on nobody gets in. What is stored of it is
// erased behind the request. ErrEnded when somebody else was faster.
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
