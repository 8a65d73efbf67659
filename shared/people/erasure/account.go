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

// EndedAccount is what is left of an account that was deleted, until a worker has erased its records.
type EndedAccount struct {
	User  string    `json:"user"`
	Email string    `json:"email"`
	Ended time.Time `json:"ended"`
}

// EndedAccountKey returns the key of the rest of a deleted account.
func EndedAccountKey(user string) table.Key {
	return table.Key{PK: identity.UserPrefix + user, SK: "ENDED"}
}

// ErrAccountEnded says that an account has ended already.
var ErrAccountEnded = fault.New(fault.Unauthenticated, "the account does not exist any more")

// BeginAccountErasure ends the account of u permanently, in one transaction with the extra writes. After it, all
// sessions and tokens of u are refused, and the address can sign up again. A worker erases the other records of the
// account. It returns ErrAccountEnded if the account has ended already. If a condition of an extra write fails, it
// returns a *table.ConditionError. The context must allow the partitions of users, addresses, and the work queue.
func BeginAccountErasure(ctx context.Context, p *platform.Platform, u identity.User, extra ...table.Write) error {
	now := p.Clock.Now()
	in := Input{Account: u.ID, JobID: id.New("job", now), Ended: now, User: u.ID}
	work, err := workqueue.AddWork(workqueue.Work{ID: in.JobID, Machine: Machine, At: now}, in)
	if err != nil {
		return err
	}
	rest, err := table.NewItem(EndedAccountKey(u.ID), EndedAccount{u.ID, u.Email, now})
	if err != nil {
		return err
	}
	writes := append([]table.Write{
		table.Delete(identity.UserKey(u.ID), table.Exists()),
		table.Delete(identity.AddressKey(p.Settings.Pepper, u.Email), table.Equal("user", u.ID)),
		table.Put(rest), work,
	}, extra...)
	err = p.Table.Transact(table.Within(ctx, workqueue.Prefix), writes...)
	if failed, ok := errors.AsType[*table.ConditionError](err); ok {
		if _, ended := failed.Old(0); ended {
			return ErrAccountEnded
		}
	}
	if err != nil {
		return fault.Wrap("end account "+u.ID, err)
	}
	if err = p.Workflow.Start(ctx, Machine, in.JobID, in); err != nil {
		p.Log.WarnContext(ctx, "erasure will be started by the sweeper", "job", in.JobID, "user", u.ID, "error", err)
	}
	return nil
}
