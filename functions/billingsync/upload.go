package billingsync

import (
	"context"
	"errors"

	"lamplighter.dev/shared/domain/billimport"
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
	r := newUploaded(w, in.Input, u)
	r.size = size
	if r.native, err = w.nativeOf(ctx, in.Org, u.AccountID); err != nil {
		return in, err
	}
	wrong := r.importMonths(ctx)
	if in.WaitSeconds = pauseOf(wrong); in.WaitSeconds > 0 {
		return in, nil
	}
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
