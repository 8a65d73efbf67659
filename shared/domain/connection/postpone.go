package connection

import (
	"cmp"
	"context"
	"errors"
	"time"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// mustWait reports whether this process cannot ask the account's cloud yet.
func (o Opener) mustWait(a inventory.Account) bool {
	return o.P.Pending != nil && o.P.Pending.Reason(a.Provider) != ""
}

// postpone accepts the account without asking its cloud. The account's error is the reason; Verify asks the cloud
// later. If only the cloud knows the native ID, our ID takes its place until then, so that two such accounts differ.
func (o Opener) postpone(org string, a *inventory.Account) error {
	a.Unverified, a.Error = true, o.P.Pending.Reason(a.Provider)
	a.CloudAccountID = cmp.Or(a.CloudAccountID, a.ID)
	return o.P.Pending.Remember(org, a.ID)
}

// Explain returns the account with the current reason why its cloud was not asked yet.
func (o Opener) Explain(a inventory.Account) inventory.Account {
	if a.Unverified && o.mustWait(a) {
		a.Error = o.P.Pending.Reason(a.Provider)
	}
	return a
}

// Verify asks the cloud to verify an account that was accepted without asking, and stores the result. Credentials
// that do not open the account disconnect it. It returns no error for an account that is deleted or verified, and
// fault.Unavailable when the cloud did not answer: then the account is verified later.
func (o Opener) Verify(ctx context.Context, org, accountID string) error {
	a, err := inventory.New(o.P).ReadAccount(ctx, org, accountID)
	if fault.Is(err, fault.NotFound) || err == nil && !a.Unverified {
		return nil
	}
	if err != nil {
		return err
	}
	before := a
	a.Error = ""
	err = o.verify(ctx, org, &a, nil)
	if fault.Is(err, fault.Invalid) {
		a, err = before, o.refuse(ctx, org, before, err)
	}
	if err != nil || a.Unverified {
		return err
	}
	return o.confirm(ctx, org, before, a)
}

// refuse stores that the credentials of the account do not open it.
func (o Opener) refuse(ctx context.Context, org string, a inventory.Account, why error) error {
	_, err := o.P.Table.Write(ctx, table.Update(inventory.AccountKey(org, a.ID), []table.Change{
		table.Set("status", inventory.AccountDisconnected), table.Set("error", fault.Message(why)),
	}, unchanged(a)))
	return fault.Wrap("refuse account "+a.ID, err)
}

// confirm stores that the account is verified, with the native ID from the cloud. When another account has that ID,
// it disconnects this account.
func (o Opener) confirm(ctx context.Context, org string, before, a inventory.Account) error {
	changes := []table.Change{table.Set("cloudAccountID", a.CloudAccountID), table.Remove("unverified")}
	if before.Status == inventory.AccountConnecting { // else the error is that of a discovery
		changes = append(changes, table.Remove("error"))
	}
	ws := []table.Write{table.Update(inventory.AccountKey(org, a.ID), changes, unchanged(before))}
	if a.CloudAccountID != before.CloudAccountID {
		native, err := Reserve(NativeKey(org, a.Provider, a.CloudAccountID), a.ID)
		if err != nil {
			return err
		}
		ws = append(ws, native, Release(NativeKey(org, a.Provider, before.CloudAccountID), a.ID))
	}
	err := o.P.Table.Transact(ctx, ws...)
	if lost, ok := errors.AsType[*table.ConditionError](err); ok {
		if _, changed := lost.Old(0); !changed {
			return o.refuse(ctx, org, before, ErrNative(a))
		}
	}
	return fault.Wrap("confirm account "+a.ID, err)
}

// unchanged returns the condition that the account has not changed since it was read.
func unchanged(a inventory.Account) table.Cond {
	return table.Equal("updatedAt", a.UpdatedAt.Format(time.RFC3339Nano))
}

// markUnverified returns the change that stores a.Unverified.
func markUnverified(a inventory.Account) table.Change {
	if a.Unverified {
		return table.Set("unverified", true)
	}
	return table.Remove("unverified")
}
