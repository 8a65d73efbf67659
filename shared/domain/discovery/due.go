package discovery

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Every account is discovered once in each Interval, in a minute that depends on its id: there are as many slots as
// minutes.
const (
	Interval = 6 * time.Hour
	Slots    = int(Interval / time.Minute)
)

// DuePrefix begins the partition keys of the slots, which list the accounts of all organizations. An organization's
// transaction that writes a slot runs in table.Within(ctx, DuePrefix).
const DuePrefix = "DISCOVER#"

// Due names an account that is discovered in the minute of a slot.
type Due struct {
	Org       string `json:"org"`
	AccountID string `json:"accountID"`
}

// SlotPK returns the partition of the slot that a minute, counted from 1970, belongs to.
func SlotPK(minute int64) string { return fmt.Sprintf("%s%03d", DuePrefix, minute%int64(Slots)) }

// DueKey returns where the account is listed.
func DueKey(accountID string) table.Key {
	h := fnv.New32a()
	_, _ = h.Write([]byte(accountID)) // a hash never fails
	return table.Key{PK: SlotPK(int64(h.Sum32())), SK: accountID}
}

// AddDue returns the write that lists the account. It belongs into the transaction that connects it.
func AddDue(org, accountID string) (table.Write, error) {
	it, err := table.NewItem(DueKey(accountID), Due{org, accountID})
	return table.Put(it), err
}

// RemoveDue returns the write that removes the account from the list. It belongs into the transaction that deletes it.
func RemoveDue(accountID string) table.Write { return table.Delete(DueKey(accountID)) }

// StartDue begins the pass that is due for the account at a time, and reports whether it did. It does not begin one if
// a pass is under way, if this pass was begun before, if the organization has ended, or if the account's credentials
// are refused. With refused credentials only the first pass of a day is tried. An account that does not exist is
// fault.NotFound.
func StartDue(ctx context.Context, p *platform.Platform, d Due, due time.Time) (bool, error) {
	ctx = table.WithOrg(ctx, d.Org)
	a, err := readDue(ctx, p, d)
	if err != nil || a.Status == inventory.AccountDisconnected && due.Sub(due.Truncate(24*time.Hour)) >= Interval {
		return false, err
	}
	if _, runs, err := underway(ctx, p, d.Org, a); runs || err != nil {
		return false, err
	}
	j, ws, err := newJob(d.Org,
		Job{ID: id.Derived("job", due, a.ID), AccountID: a.ID, Status: Running, StartedAt: p.Clock.Now()})
	if err != nil {
		return false, err
	}
	err = begin(ctx, p, beginning{d.Org, a, j, ws})
	if _, begun := errors.AsType[*table.ConditionError](err); begun {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	StartMachine(ctx, p, d.Org, j)
	return true, nil
}

// readDue reads the account, and in the same round trip whether its organization has ended. If so, the account counts
// as gone.
func readDue(ctx context.Context, p *platform.Platform, d Due) (a inventory.Account, err error) {
	account, access := inventory.AccountKey(d.Org, d.AccountID), identity.AccessKey(d.Org)
	found, err := p.Table.BatchGet(ctx, account, access)
	if err != nil {
		return a, fmt.Errorf("read account %s: %w", d.AccountID, err)
	}
	of, has := found[access]
	row, there := found[account]
	if !has || !there {
		return a, fault.New(fault.NotFound, "there is no cloud account %q", d.AccountID)
	}
	org, err := table.Decode[identity.Access](of)
	if err != nil {
		return a, err
	}
	if org.Ended {
		return a, fault.New(fault.NotFound, "the organization of cloud account %q has ended", d.AccountID)
	}
	return table.Decode[inventory.Account](row)
}
