package billing

import (
	"context"
	"errors"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// withdrawImport withdraws an uploaded file. A file that was not imported is withdrawn at once; the worker restores the
// periods that an imported one replaced.
func (s *service) withdrawImport(ctx context.Context, in *oneImportInput) (rest.Job, error) {
	before, err := s.readImport(ctx, in.ImportID)
	if err != nil {
		return rest.Job{}, err
	}
	u := before
	switch before.Status {
	case billimport.UploadWithdrawing, billimport.UploadWithdrawn:
		audit.NoteChange(ctx, audit.Change{Target: u.ID, After: newImportedFile(u)})
		return withdrawalJob(&u), nil
	case billimport.UploadRunning:
		return rest.Job{}, fault.New(fault.Conflict, "import %s is running; withdraw it when it has ended", u.ID)
	case billimport.UploadWaiting:
		u.Status, u.CompletedAt = billimport.UploadWithdrawn, s.p.Clock.Now()
		err = s.replaceUpload(ctx, &before, &u)
	default: // succeeded, or failed after some months were imported
		u.Status = billimport.UploadWithdrawing
		err = s.startWithdrawal(ctx, &before, &u)
	}
	if _, moved := errors.AsType[*table.ConditionError](err); moved {
		return rest.Job{}, fault.New(fault.Conflict, "import %s has changed meanwhile; try again", u.ID)
	}
	if err != nil {
		return rest.Job{}, fault.Wrap("withdraw import "+u.ID, err)
	}
	audit.NoteChange(ctx, audit.Change{Target: u.ID, Before: newImportedFile(before), After: newImportedFile(u)})
	return withdrawalJob(&u), nil
}

func withdrawalJob(u *billimport.Upload) rest.Job {
	return rest.Job{JobID: u.ID, Status: string(u.Status), StatusURL: importsPath + "/" + u.ID}
}

// startWithdrawal stores the record together with the work of the withdrawal, and starts its machine.
func (s *service) startWithdrawal(ctx context.Context, before, u *billimport.Upload) error {
	now := s.p.Clock.Now()
	run := billimport.Input{
		Org: identity.CallerOrg(ctx), JobID: id.New("job", now), UploadID: u.ID, Withdraw: true,
	}
	work, err := billimport.AddWork(run, now)
	if err != nil {
		return err
	}
	if err = s.replaceUpload(ctx, before, u, work); err == nil {
		billimport.StartMachine(ctx, s.p, run)
	}
	return err
}

// replaceUpload replaces the record of an upload, if its status is still that of before.
func (s *service) replaceUpload(ctx context.Context, before, u *billimport.Upload, more ...table.Write) error {
	put, err := billimport.PutUpload(identity.CallerOrg(ctx), *u, table.Equal("status", string(before.Status)))
	if err != nil {
		return err
	}
	return s.p.Table.Transact(table.Within(ctx, workqueue.Prefix), append(more, put)...)
}
