package billingsync

import (
	"context"
	"errors"

	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// withdrawUpload restores the months that an upload replaced. It is idempotent.
func (w *worker) withdrawUpload(ctx context.Context, in Share) (Share, error) {
	u, err := billimport.ReadUpload(ctx, w.p.Table, in.Org, in.UploadID)
	if fault.Is(err, fault.NotFound) || err == nil && u.Status != billimport.UploadWithdrawing {
		in.Done = true
		return in, nil
	}
	if err != nil {
		return in, err
	}
	if err = w.restoreMonths(ctx, in.Org, &u); err != nil {
		return in, err
	}
	in.Done = true
	return in, w.endWithdrawal(ctx, in.Input, func(u *billimport.Upload) { u.Status = billimport.UploadWithdrawn })
}

func (w *worker) restoreMonths(ctx context.Context, org string, u *billimport.Upload) error {
	months := make([]cost.Month, 0, len(u.Months))
	for _, text := range u.Months {
		month, err := cost.ParseMonth(text)
		if err != nil {
			return err
		}
		of := cost.Withdrawal{AccountID: u.AccountID, Month: month, Fingerprint: billimport.Fingerprint(u.ID)}
		if err = w.costs.Withdraw(ctx, org, of); err != nil {
			return err
		}
		months = append(months, month)
	}
	accounts, err := w.connected(ctx, org)
	if err != nil || len(months) == 0 {
		return err
	}
	// Teams, groups and connected accounts may have changed since the restored months were imported.
	err = errors.Join(w.costs.Rebuild(ctx, org, accounts, months...), w.costs.Summarize(ctx, org, months...))
	if err != nil {
		return err
	}
	return w.renewCosts(ctx, org, months...)
}

// abandonWithdrawal makes it possible to withdraw the upload again.
func (w *worker) abandonWithdrawal(ctx context.Context, in billimport.Input, why string) error {
	return w.endWithdrawal(ctx, in, func(u *billimport.Upload) {
		u.Status = billimport.UploadFailed
		u.Errors = []billimport.RowError{{Message: "the withdrawal was given up: " + why + "; withdraw it again"}}
	})
}

// endWithdrawal changes the record of an upload that is being withdrawn.
func (w *worker) endWithdrawal(ctx context.Context, in billimport.Input, change func(*billimport.Upload)) error {
	u, err := billimport.ReadUpload(ctx, w.p.Table, in.Org, in.UploadID)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	change(&u)
	put, err := billimport.PutUpload(in.Org, u, table.Equal("status", string(billimport.UploadWithdrawing)))
	if err != nil {
		return err
	}
	_, err = w.p.Table.Write(ctx, put)
	if _, ended := errors.AsType[*table.ConditionError](err); ended {
		return nil
	}
	return fault.Wrap("end the withdrawal of "+u.ID, err)
}
