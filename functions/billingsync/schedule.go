package billingsync

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// Started counts the work of one run of the schedule: the accounts it looked at, and the imports it started.
type Started struct {
	Accounts int `json:"accounts"`
	Started  int `json:"started"`
}

// mostTime is how long one run of the schedule may take. The remaining accounts stay due for the next run.
const mostTime = 10 * time.Minute

// startDue starts the imports that are due in this hour. An account that fails does not prevent the imports of the
// others.
func (w *worker) startDue(ctx context.Context) (Started, error) {
	var out Started
	var errs []error
	now := w.p.Clock.Now()
	q := table.Query{PK: billimport.DuePK(now), Limit: 100}
	for more := true; more && w.p.Clock.Now().Before(now.Add(mostTime)); more = q.Cursor != "" {
		all, next, err := table.ReadPage[billimport.Due](table.Within(ctx, billimport.DuePrefix), w.p.Table, q)
		if err != nil {
			return out, errors.Join(append(errs, fmt.Errorf("read which bills are due: %w", err))...)
		}
		for _, d := range all {
			begun, err := w.startOne(table.WithOrg(ctx, d.Org), d, now)
			errs = append(errs, fault.Wrap("start the import of bills of "+d.AccountID, err))
			if out.Accounts++; begun {
				out.Started++
			}
		}
		q.Cursor = next
	}
	return out, errors.Join(errs...)
}

// startOne starts the import of an account when it is due. It removes a deleted account from the list.
func (w *worker) startOne(ctx context.Context, d billimport.Due, now time.Time) (bool, error) {
	account, access, entry := inventory.AccountKey(d.Org, d.AccountID), identity.AccessKey(d.Org),
		billimport.EntryKey(d.Org, d.AccountID)
	found, err := w.p.Table.BatchGet(ctx, account, access, entry)
	if err != nil {
		return false, err
	}
	_, there := found[account]
	ended, err := hasEnded(found, access)
	if err != nil {
		return false, err
	}
	if !there || ended {
		return false, w.forgetAccount(ctx, d)
	}
	var e billimport.Entry
	if it, ok := found[entry]; ok {
		if e, err = table.Decode[billimport.Entry](it); err != nil {
			return false, err
		}
	}
	if !e.IsDue(now) {
		return false, nil
	}
	in := billimport.DueInput(d, now)
	work, err := billimport.AddWork(in, now)
	if err != nil {
		return false, err
	}
	if _, err = w.p.Table.Write(table.Within(ctx, workqueue.Prefix), work); err != nil {
		return false, err
	}
	billimport.StartMachine(ctx, w.p, in)
	return true, nil
}

// hasEnded reports whether the organization has ended, or is gone.
func hasEnded(found map[table.Key]table.Item, access table.Key) (bool, error) {
	it, there := found[access]
	if !there {
		return true, nil
	}
	a, err := table.Decode[identity.Access](it)
	return a.Ended, err
}

// forgetAccount removes the records of a removed account. Its costs stay.
func (w *worker) forgetAccount(ctx context.Context, d billimport.Due) error {
	return w.p.Table.Transact(table.Within(ctx, billimport.DuePrefix),
		table.Delete(billimport.DueKey(d.AccountID)), table.Delete(billimport.EntryKey(d.Org, d.AccountID)))
}
