// Package connection stores connected cloud accounts and keeps their native IDs and names unique. Accounts are
// connected by a person or by the synchronization of a cloud organization. The package also stores the record of each
// connected organization of a cloud (an AWS organization, a management group, a folder), with its selection of
// members and the state of each member (Organisation, Member, Sync).
package connection

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// MaxAccounts is the maximum number of accounts in an organization; one read returns all.
const MaxAccounts = 500

// The partitions that keep native IDs and names unique.
const (
	NativePartition table.Partition = "ORG#*#CANATIVE"
	NamePartition   table.Partition = "ORG#*#CANAME"
)

// NativeKey returns the key of the row that claims a native ID.
func NativeKey(org, provider, native string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "CANATIVE", SK: provider + "#" + native}
}

// NameKey returns the key of the row that claims the name of a cloud account (see table.UniqueNames).
func NameKey(org, name string) table.Key { return names(org).Key(name) }

func names(org string) table.UniqueNames {
	return table.UniqueNames{PK: table.OrgPK(org) + NamePartition.Name(), Noun: "cloud account", IDAttr: "accountID"}
}

// Taken is the content of the rows at NativeKey and NameKey.
type Taken struct {
	AccountID string `json:"accountID"`
}

// Reserve returns the write that claims a native ID or a name. It fails when another account has claimed it.
func Reserve(k table.Key, accountID string) (table.Write, error) {
	it, err := table.NewItem(k, Taken{accountID})
	return table.Put(it, table.Absent()), err
}

// Release returns the write that releases a native ID or a name. It fails when another account has claimed it.
func Release(k table.Key, accountID string) table.Write {
	return table.Delete(k, table.Any(table.Absent(), table.Equal("accountID", accountID)))
}

// ListAccounts returns all accounts of the organization, oldest first.
func ListAccounts(ctx context.Context, s table.Store, org string) ([]inventory.Account, error) {
	page, err := s.Query(ctx, table.Query{PK: inventory.AccountKey(org, "").PK, Limit: MaxAccounts + 1})
	if err != nil {
		return nil, fmt.Errorf("list accounts of %s: %w", org, err)
	}
	return table.DecodeAll[inventory.Account](page.Items)
}

// CheckVacant returns fault.Conflict when Create would refuse the account, before a cloud is asked: its native ID or
// name is in use, or the organization has MaxAccounts.
func CheckVacant(a inventory.Account, have []inventory.Account) error {
	if err := checkRoom(have); err != nil {
		return err
	}
	for _, h := range have {
		switch {
		case h.Provider == a.Provider && h.CloudAccountID == a.CloudAccountID:
			return ErrNative(a)
		case table.FoldName(h.Name) == table.FoldName(a.Name):
			return ErrName(a)
		}
	}
	return nil
}

// ErrFull is the cause of the error for an organization with MaxAccounts accounts.
var ErrFull = errors.New("no room for another cloud account")

func checkRoom(have []inventory.Account) error {
	if len(have) < MaxAccounts {
		return nil
	}
	return fault.NewWithCause(fault.Conflict, ErrFull,
		"the organization has %d cloud accounts, which is the most that it can have", len(have))
}

// ErrNative returns the error for a native ID that is in use.
func ErrNative(a inventory.Account) error {
	return fault.New(fault.Conflict, "cloudAccountID: %s account %s is connected already", a.Provider, a.CloudAccountID)
}

// ErrName returns the error for a name that is in use.
func ErrName(a inventory.Account) error {
	return names("").Taken(a.Name)
}

// Create stores the account a, whose ID is set, and claims its native ID and name. In the same transaction it stores
// its first discovery, the first import of its bills and the times of the next ones, and makes the writes more. It
// starts the import; the caller starts the machine of the returned discovery job.
//
// It returns fault.Conflict when the native ID or name is in use, when a condition of more fails, or when the
// organization has MaxAccounts (ErrFull). Of concurrent calls, as many succeed as there is room for. A call that
// loses to others too often returns fault.Conflict, and table.IsTurnLost reports true for the error. Create takes
// three round trips.
func Create(ctx context.Context, p *platform.Platform, org string, a *inventory.Account,
	more ...table.Write,
) (discovery.Job, error) {
	var j discovery.Job
	limited := table.LimitedList{PK: names(org).PK, Noun: "cloud accounts"}
	err := limited.Add(ctx, p.Table, func(take table.Write) error {
		have, err := ListAccounts(ctx, p.Table, org)
		if err == nil {
			err = checkRoom(have)
		}
		if err == nil {
			j, err = create(ctx, p, org, a, append(slices.Clip(more), take))
		}
		return err
	})
	return j, err
}

func create(ctx context.Context, p *platform.Platform, org string, a *inventory.Account,
	more []table.Write,
) (discovery.Job, error) {
	j, ws, err := discovery.NewJob(org, a.ID, a.CreatedAt)
	if err != nil {
		return j, err
	}
	a.JobID = j.ID
	own, err := writes(org, a)
	if err != nil {
		return j, err
	}
	bills, first, err := billimport.NewFirst(org, a.ID, a.CreatedAt)
	if err != nil {
		return j, err
	}
	ws = slices.Concat(own, ws, first, more)
	err = p.Table.Transact(table.Within(ctx, workqueue.Prefix, discovery.DuePrefix, billimport.DuePrefix), ws...)
	if err == nil {
		billimport.StartMachine(ctx, p, bills)
	}
	lost, ok := errors.AsType[*table.ConditionError](err)
	if !ok || table.IsTurnLost(err) {
		return j, fault.Wrap("store account "+a.ID, err)
	}
	if _, native := lost.Old(0); native {
		return j, ErrNative(*a)
	} else if _, name := lost.Old(1); name {
		return j, ErrName(*a)
	}
	return j, fault.New(fault.Conflict, "the account %s was connected by somebody else meanwhile", a.ID)
}

// writes returns the writes of the account itself; the claims of native ID and name come first.
func writes(org string, a *inventory.Account) ([]table.Write, error) {
	native, err := Reserve(NativeKey(org, a.Provider, a.CloudAccountID), a.ID)
	if err != nil {
		return nil, err
	}
	name, err := Reserve(NameKey(org, a.Name), a.ID)
	if err != nil {
		return nil, err
	}
	row, err := table.NewItem(inventory.AccountKey(org, a.ID), a)
	if err != nil {
		return nil, err
	}
	due, err := discovery.AddDue(org, a.ID)
	return []table.Write{native, name, table.Put(row, table.Absent()), due}, err
}
