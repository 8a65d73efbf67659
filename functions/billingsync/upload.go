package billingsync

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// importUpload imports a file as soon as it is uploaded.
func (w *worker) importUpload(ctx context.Context, in Share) (Share, error) {
	u, err := billimport.ReadUpload(ctx, w.p.Table, in.Org, in.UploadID)
	if fault.Is(err, fault.NotFound) || err == nil && !u.CompletedAt.IsZero() {
		in.Done = true
		return in, w.removeFile(ctx, in)
	}
	if err != nil {
		return in, err
	}
	size, err := w.p.Inbox.Size(ctx, billimport.UploadName(in.Org, u.ID))
	if fault.Is(err, fault.NotFound) {
		return w.awaitUpload(ctx, in, u)
	}
	if err != nil {
		return in, err
	}
	return w.importFile(ctx, in, u, size)
}

// importFile imports an uploaded file, stores the result, and then removes the file.
func (w *worker) importFile(ctx context.Context, in Share, u billimport.Upload, size int64) (Share, error) {
	err := w.changeUpload(ctx, in.Input, func(u *billimport.Upload) { u.Status = billimport.UploadRunning })
	if err != nil {
		return in, err
	}
	if u, err = billimport.ReadUpload(ctx, w.p.Table, in.Org, in.UploadID); err != nil {
		return in, err
	}
	if u.Ended() { // it was withdrawn before its import began
		in.Done = true
		return in, w.removeFile(ctx, in)
	}
	r := &uploaded{worker: w, in: in.Input, upload: u, size: size, months: map[cost.Month]*period{}}
	if r.native, err = w.nativeOf(ctx, in.Org, u.AccountID); err != nil {
		return in, err
	}
	wrong := r.read(ctx)
	if wrong != nil && !fault.Is(wrong, fault.Invalid) && !fault.Is(wrong, fault.Conflict) {
		return in, wrong
	}
	if err = w.renewCosts(ctx, in.Org, r.imported()...); err != nil {
		return in, err
	}
	in.Done = true
	if err = w.endUpload(ctx, in.Input, func(u *billimport.Upload) { r.tell(u, wrong) }); err != nil {
		return in, err // the next try needs the file
	}
	return in, w.removeFile(ctx, in)
}

// removeFile removes the file of an upload whose record has ended. A missing file is no error.
func (w *worker) removeFile(ctx context.Context, in Share) error {
	return w.p.Inbox.Remove(ctx, billimport.UploadName(in.Org, in.UploadID))
}

// nativeOf returns the provider's ID of an account. It returns "" if the account is not connected or is a vendor.
func (w *worker) nativeOf(ctx context.Context, org, accountID string) (string, error) {
	all, err := w.connected(ctx, org)
	for _, a := range all {
		if a.ID == accountID {
			return a.Native, err
		}
	}
	return "", err
}

// awaitUpload makes the machine call again: soon at first, because most files are uploaded at once.
func (w *worker) awaitUpload(ctx context.Context, in Share, u billimport.Upload) (Share, error) {
	now := w.p.Clock.Now()
	if in.Done = now.After(u.ExpiresAt); in.Done {
		return in, w.endUpload(ctx, in.Input, func(u *billimport.Upload) {
			u.Errors = []billimport.RowError{{Message: "no file was uploaded in time: ask for another address with " +
				"POST /billing/imports"}}
		})
	}
	in.WaitSeconds = min(max(int(now.Sub(u.CreatedAt).Seconds())/4, 1), 60)
	return in, nil
}

// uploaded is the import of an uploaded file under way.
type uploaded struct {
	*worker
	in     billimport.Input
	upload billimport.Upload
	size   int64
	native string // the provider's ID of the account; empty for a vendor that is no provider

	rows   int64
	months map[cost.Month]*period // nil for a month that is imported, by this try or by an earlier one
	row    int64                  // the faulty row

	late, corrections int64 // rows of cost.Late and cost.Correction
}

// read adds up each month of the file and then replaces these months. If anything is wrong with the file, it replaces
// none.
func (r *uploaded) read(ctx context.Context) error {
	name := billimport.UploadName(r.in.Org, r.upload.ID)
	file := cloud.NewRangedBill(ctx, r.size, func(ctx context.Context, p []byte, off int64) error {
		return r.p.Inbox.ReadAt(ctx, name, p, off)
	})
	defer file.Close() //nolint:errcheck // it was only read
	defer r.discard()
	got, err := r.worker.read(ctx, cloud.UploadForm, r.upload.FileName, file, func(c *bill.Charge) error {
		return r.add(ctx, c)
	})
	if r.rows = got.Rows; err != nil {
		r.row = got.Rows
		return err
	}
	if got.Rows == 0 {
		return fault.New(fault.Invalid, "%s: the file has no rows", r.upload.FileName)
	}
	for month, b := range r.months {
		if b == nil {
			continue
		}
		p, err := b.commit(ctx)
		if err != nil && !errors.Is(err, cost.ErrSame) {
			return fmt.Errorf("import %s of %s: %w", month, r.upload.ID, err)
		}
		r.months[month] = nil
		r.late, r.corrections = r.late+p.Late, r.corrections+p.Corrections
	}
	return nil
}

func (r *uploaded) add(ctx context.Context, c *bill.Charge) error {
	month := cost.MonthOf(c.BillingPeriodStart)
	b, begun := r.months[month]
	if !begun {
		var err error
		if b, err = r.begin(ctx, month); err != nil {
			return err
		}
	}
	if b == nil {
		return nil
	}
	return b.add(ctx, c)
}

func (r *uploaded) begin(ctx context.Context, month cost.Month) (*period, error) {
	if next := cost.MonthOf(r.p.Clock.Now()).Add(1); month > next {
		return nil, fault.New(fault.Invalid, "the billing period %s is in the future; the latest that can be "+
			"imported is "+
			"%s: correct BillingPeriodStart", month, next)
	}
	if len(r.months) == billimport.MaxUploadMonths {
		return nil, fault.New(
			fault.Invalid, "the file holds more than %d billing periods: split it", billimport.MaxUploadMonths)
	}
	b, err := r.beginPeriod(ctx, cost.Import{
		Org: r.in.Org, AccountID: r.upload.AccountID, Provider: r.upload.Provider, Month: month,
		Fingerprint: billimport.Fingerprint(r.upload.ID), Withdrawable: true,
		DeliveredAt: r.upload.CreatedAt, Source: string(cloud.UploadedBill), Export: r.upload.FileName,
		Native:   r.native,
		RateOf:   r.rates.RateOf,
		Accounts: func(ctx context.Context) ([]cost.Account, error) { return r.connected(ctx, r.in.Org) },
	})
	if errors.Is(err, cost.ErrSame) {
		b, err = nil, nil
	}
	if err == nil {
		r.months[month] = b
	}
	return b, err
}

// discard removes the line items of months that were not committed.
func (r *uploaded) discard() {
	for _, b := range r.months {
		if b != nil {
			b.lines.Discard()
		}
	}
}

// tell writes the result of the import into the record of the upload.
func (r *uploaded) tell(u *billimport.Upload, err error) {
	u.Rows, u.Late, u.Corrections = r.rows, r.late, r.corrections
	if err != nil {
		u.Errors = []billimport.RowError{{Row: r.row, Message: messageOf(err)}}
	}
	for _, month := range r.imported() {
		u.Months = append(u.Months, month.String())
	}
}

// imported returns the months of the file that are imported, in order.
func (r *uploaded) imported() []cost.Month {
	var out []cost.Month
	for month, b := range r.months {
		if b == nil {
			out = append(out, month)
		}
	}
	slices.Sort(out)
	return out
}

// endUpload ends the record of an upload; with errors it is failed.
func (w *worker) endUpload(ctx context.Context, in billimport.Input, change func(*billimport.Upload)) error {
	return w.changeUpload(ctx, in, func(u *billimport.Upload) {
		change(u)
		u.Status, u.CompletedAt = billimport.UploadSucceeded, w.p.Clock.Now()
		if len(u.Errors) > 0 {
			u.Status = billimport.UploadFailed
		}
	})
}

// changeUpload changes the record of an upload that has not ended.
func (w *worker) changeUpload(ctx context.Context, in billimport.Input, change func(*billimport.Upload)) error {
	u, err := billimport.ReadUpload(ctx, w.p.Table, in.Org, in.UploadID)
	if err != nil || !u.CompletedAt.IsZero() {
		return err
	}
	change(&u)
	put, err := billimport.PutUpload(in.Org, u, table.Exists(), table.Lacks("completedAt"))
	if err != nil {
		return err
	}
	_, err = w.p.Table.Write(ctx, put)
	if _, ended := errors.AsType[*table.ConditionError](err); ended {
		return nil
	}
	return fault.Wrap("note how the import "+u.ID+" stands", err)
}
