package billingsync

import (
	"context"
	"time"

	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// rebuildPause is the pause before an abandoned rebuild starts again.
const rebuildPause = time.Hour

// rebuild renews the teams, groups and owning accounts of an organization's costs (cost.Store.Rebuild).
func (w *worker) rebuild(ctx context.Context, in Share) (Share, error) {
	accounts, err := w.connected(ctx, in.Org)
	if err != nil {
		return in, err
	}
	if err = w.costs.Rebuild(ctx, in.Org, accounts); err != nil {
		return in, err
	}
	in.Done = true
	return in, w.renewCosts(ctx, in.Org, cost.MonthOf(w.p.Clock.Now()))
}

// connected returns the connected accounts; the result is never nil.
func (w *worker) connected(ctx context.Context, org string) ([]cost.Account, error) {
	all, err := connection.ListAccounts(ctx, w.p.Table, org)
	out := make([]cost.Account, len(all))
	for i := range all {
		out[i] = cost.Account{ID: all[i].ID, Provider: all[i].Provider, Native: all[i].CloudAccountID}
	}
	return out, err
}

// addRebuild adds a rebuild to the work list: the connected accounts have changed, or an earlier rebuild was
// abandoned.
func (w *worker) addRebuild(ctx context.Context, org string, at time.Time) error {
	work, err := billimport.AddRebuild(org, at)
	if err != nil {
		return err
	}
	_, err = w.p.Table.Write(table.Within(ctx, workqueue.Prefix), work)
	return fault.Wrap("have the costs of "+org+" rebuilt", err)
}
