package billingsync

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// rebuild renews the owning accounts of an organization's costs, and the teams and groups of its open months. If closed
// months have to follow, it lists their attribution.
func (w *worker) rebuild(ctx context.Context, in Share) (Share, error) {
	if in.Closed {
		return w.attributeClosed(ctx, in)
	}
	accounts, err := w.connected(ctx, in.Org)
	if err != nil {
		return in, err
	}
	behind, err := w.costs.RebuildOpen(ctx, in.Org, accounts)
	if behind {
		err = errors.Join(err, w.addAttribution(ctx, in.Org, w.p.Clock.Now()))
	}
	if err != nil {
		return in, err
	}
	in.Done = true
	return in, w.renewCosts(ctx, in.Org, cost.MonthOf(w.p.Clock.Now()))
}

// attributeClosed makes closed months follow the present teams and groups, the newest first, for as long as one call
// may begin new ones. The next call continues with the remaining months. A month that fails does not prevent the
// others: it is tried again behind the last one.
func (w *worker) attributeClosed(ctx context.Context, in Share) (Share, error) {
	months, err := w.costs.ClosedMonths(ctx, in.Org)
	if err != nil {
		return in, err
	}
	next, reached, err := w.attributeMonths(ctx, in, months)
	switch {
	case !reached:
		return next, nil // what failed is in Broken
	case err != nil:
		return in, err
	}
	again := next.Broken
	next.Gone = slices.DeleteFunc(next.Gone, func(m string) bool { return slices.Contains(again, m) })
	next.Broken, next.Done = nil, len(again) == 0
	return next, nil
}

// attributeMonths attributes the months that are not gone. It reports whether it reached the last one, and the errors
// of this call.
func (w *worker) attributeMonths(ctx context.Context, in Share, months []cost.Month) (next Share, reached bool,
	err error,
) {
	until := w.p.Clock.Now().Add(stretch)
	next = in
	next.WaitSeconds, next.Gone, next.Broken = 1, slices.Clone(in.Gone), slices.Clone(in.Broken)
	for _, m := range months {
		if slices.Contains(next.Gone, m.String()) {
			continue
		}
		done, failed := w.costs.AttributeMonth(ctx, in.Org, m, until)
		if !done && failed == nil {
			return next, false, err
		}
		if failed != nil {
			w.p.Log.WarnContext(ctx, "a closed month could not be attributed", "org", in.Org, "month", m.String(),
				"error", failed)
			err = errors.Join(err, fmt.Errorf("attribute the costs of %s: %w", m, failed))
			next.Broken = append(next.Broken, m.String())
		}
		next.Gone = append(next.Gone, m.String())
	}
	return next, true, err
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

// addRebuild adds a rebuild to the work list, because the connected accounts have changed.
func (w *worker) addRebuild(ctx context.Context, org string, at time.Time) error {
	work, err := billimport.AddRebuild(org, at)
	return w.addWork(ctx, org, work, err)
}

// addAttribution adds the attribution of closed months to the work list.
func (w *worker) addAttribution(ctx context.Context, org string, at time.Time) error {
	work, err := billimport.AddAttribution(org, at)
	return w.addWork(ctx, org, work, err)
}

// addAgain adds an abandoned rebuild, or attribution of closed months, to the work list.
func (w *worker) addAgain(ctx context.Context, in billimport.Input, at time.Time) error {
	if in.Closed {
		return w.addAttribution(ctx, in.Org, at)
	}
	return w.addRebuild(ctx, in.Org, at)
}

func (w *worker) addWork(ctx context.Context, org string, work table.Write, err error) error {
	if err != nil {
		return err
	}
	_, err = w.p.Table.Write(table.Within(ctx, workqueue.Prefix), work)
	return fault.Wrap("have the costs of "+org+" rebuilt", err)
}
