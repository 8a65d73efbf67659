package billingsync

import (
	"context"
	"errors"
	"time"

	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// renewCosts updates the known costs of resources after some months have changed, if the bills of this month or of the
// last differ from those of the last update. The caller records the import of the months only afterwards: if the
// process dies before, the repeated import calls renewCosts again. In a large organization, where an update reads and
// writes megabytes, one update serves all changes of a minute. So does an update that fails, or that others overtake:
// the changed months stay imported.
func (w *worker) renewCosts(ctx context.Context, org string, months ...cost.Month) error {
	if !w.shownWithResources(months) {
		return nil
	}
	now, err := w.rates.RenewalDue(ctx, org)
	if err == nil && !now.Due {
		return nil
	}
	if err == nil && !now.Large {
		if _, err = w.rates.Update(ctx, org); err == nil {
			return nil
		}
	}
	if errors.Is(err, pricing.ErrCostsMoved) { // imports of other accounts, as on a first connection
		w.p.Log.InfoContext(ctx, "costs of resources are updated in some minutes, with those of other imports", "org",
			org)
	} else if err != nil {
		w.p.Log.WarnContext(ctx, "costs of resources are updated some minutes later", "org", org, "error", err.Error())
	}
	return w.listRenewal(ctx, org)
}

// listRenewal has the known costs of the organization's resources updated within minutes.
func (w *worker) listRenewal(ctx context.Context, org string) error {
	work, err := billimport.AddRenewal(org, w.p.Clock.Now())
	if err != nil {
		return err
	}
	_, err = w.p.Table.Write(table.Within(ctx, workqueue.Prefix), work)
	return fault.Wrap("have the costs of resources of "+org+" updated", err)
}

// shownWithResources reports whether resources show the costs of one of the months: of this one or of the last.
func (w *worker) shownWithResources(months []cost.Month) bool {
	last := cost.MonthOf(w.p.Clock.Now()).Add(-1)
	for _, m := range months {
		if m >= last {
			return true
		}
	}
	return false
}

const (
	// longestDiscovery is how long the prices of a newly connected account wait for its first discovery, which tells
	// its regions.
	longestDiscovery = 2 * time.Hour
	discoveryPause   = 30 // seconds
)

// renew updates the known costs of an organization's resources. If others overtake the update, it lists another one.
// For a newly connected account, it first fetches the price lists of the account's regions that are not stored yet. A
// list that fails does not prevent the update; its reader has asked several times, so it is left to the night.
func (w *worker) renew(ctx context.Context, in Share) (Share, error) {
	if in.AccountID != "" {
		if fetched, err := w.fetchPrices(ctx, &in); err != nil || !fetched {
			return in, err
		}
	}
	_, err := w.rates.Update(ctx, in.Org)
	if errors.Is(err, pricing.ErrCostsMoved) {
		err = w.listRenewal(ctx, in.Org)
	}
	in.Done = true
	return in, err
}

// fetchPrices fetches the price lists of an account's regions and reports whether it is done. If not, it sets when to
// call again.
func (w *worker) fetchPrices(ctx context.Context, in *Share) (bool, error) {
	a, err := w.inventory.ReadAccount(ctx, in.Org, in.AccountID)
	if fault.Is(err, fault.NotFound) {
		return true, nil
	}
	now := w.p.Clock.Now()
	if err == nil && a.Status == inventory.AccountConnecting && now.Sub(a.CreatedAt) < longestDiscovery {
		in.WaitSeconds = discoveryPause
		return false, nil
	}
	if err != nil {
		return false, err
	}
	pairs, err := w.rates.AccountPairs(ctx, in.Org, in.AccountID)
	if err != nil {
		return false, err
	}
	did, err := w.rates.RefreshDue(ctx, pairs, now.Add(stretch))
	if err != nil {
		w.p.Log.WarnContext(ctx, "price lists of a new account are left to the night", "org", in.Org,
			"account", in.AccountID, "error", err.Error())
	}
	in.WaitSeconds = 1
	return did.Left == 0, nil
}
