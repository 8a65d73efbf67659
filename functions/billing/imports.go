package billing

import (
	"context"
	"regexp"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// NewImport is the body of POST /billing/imports.
type NewImport struct {
	FileName       string `json:"fileName" minLength:"1" maxLength:"200" doc:"For people: it is shown in the list and in errors" example:"snowflake-2026-03.csv.gz"`
	Bytes          int64  `json:"bytes" minimum:"1" maximum:"5368709120" doc:"How long the file is, exactly"`
	Vendor         string `json:"vendor,omitempty" maxLength:"64" doc:"Whose bill it is: letters, digits, - and _. Another file of the same vendor replaces the months that it holds" example:"snowflake"`
	CloudAccountID string `json:"cloudAccountID,omitempty" maxLength:"64" doc:"The id of a connected cloud account, in place of vendor, whose bill it is"`
}

// StartedImport is the answer of POST /billing/imports.
type StartedImport struct {
	rest.Job
	UploadURL string    `json:"uploadURL" doc:"PUT the file here, with its length and without further credentials"`
	ExpiresAt time.Time `json:"expiresAt" doc:"Until when"`
}

// ImportedFile is the record of an uploaded file.
type ImportedFile struct {
	JobID          string                `json:"jobID"`
	FileName       string                `json:"fileName"`
	CloudAccountID string                `json:"cloudAccountID" doc:"The id of a cloud account; other: and its name of a vendor that is none"`
	Provider       string                `json:"provider"`
	Bytes          int64                 `json:"bytes"`
	Status         string                `json:"status" enum:"waiting,running,succeeded,failed,withdrawing,withdrawn" doc:"waiting: for the file; withdrawing: the months that it replaced are being restored"`
	Rows           int64                 `json:"rows" doc:"That were read; of a file that failed, up to the row that is wrong"`
	LateRows       int64                 `json:"lateRows" doc:"Usage that is dated more than a day outside of its month. It counts on the nearest day of the month"`
	CorrectionRows int64                 `json:"correctionRows" doc:"Refunds and other corrections of earlier months. They count in the month of the bill, and in no baseline of an anomaly"`
	Periods        []string              `json:"periods" doc:"The months that were replaced"`
	Errors         []billimport.RowError `json:"errors" doc:"The errors of the file; row 0 is the file as a whole. A file with errors is not imported"`
	CreatedAt      time.Time             `json:"createdAt"`
	CompletedAt    *time.Time            `json:"completedAt"`
}

func newImportedFile(u billimport.Upload) ImportedFile {
	return ImportedFile{
		JobID: u.ID, FileName: u.FileName, CloudAccountID: u.AccountID, Provider: u.Provider, Bytes: u.Bytes,
		Status: string(u.Status), Rows: u.Rows,
		LateRows: u.Late, CorrectionRows: u.Corrections,
		Periods: append([]string{}, u.Months...), Errors: append([]billimport.RowError{}, u.Errors...),
		CreatedAt:   u.CreatedAt,
		CompletedAt: rest.Optional(u.CompletedAt),
	}
}

type importInput struct{ Body NewImport }

func (s *service) createImport(ctx context.Context, in *importInput) (StartedImport, error) {
	org, now := identity.CallerOrg(ctx), s.p.Clock.Now()
	u := billimport.Upload{
		ID: id.New("job", now), FileName: fault.CleanText(in.Body.FileName, 200), Bytes: in.Body.Bytes,
		Status:    billimport.UploadWaiting,
		CreatedAt: now, ExpiresAt: now.Add(billimport.Uploading),
	}
	if err := s.name(ctx, org, &u, in.Body); err != nil {
		return StartedImport{}, err
	}
	at, err := s.address(ctx, org, u)
	if err != nil {
		return StartedImport{}, err
	}
	run := billimport.Input{Org: org, JobID: u.ID, UploadID: u.ID}
	if err = s.storeUpload(ctx, u, run); err != nil {
		return StartedImport{}, err
	}
	billimport.StartMachine(ctx, s.p, run)
	// the address is left out: it grants access to every holder
	audit.NoteChange(ctx, audit.Change{Target: u.ID, After: newImportedFile(u)})
	job := rest.Job{JobID: u.ID, Status: string(u.Status), StatusURL: importsPath + "/" + u.ID}
	return StartedImport{job, at.URL, u.ExpiresAt}, nil
}

var vendorName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// name sets the cloud account or the vendor of the uploaded file in u. It validates both.
func (s *service) name(ctx context.Context, org string, u *billimport.Upload, b NewImport) error {
	switch {
	case (b.Vendor == "") == (b.CloudAccountID == ""):
		return fault.New(fault.Invalid, "vendor, cloudAccountID: exactly one of them says whose bill it is")
	case b.Vendor != "" && !vendorName.MatchString(b.Vendor):
		return fault.New(fault.Invalid, "vendor: %.64q has other characters than letters, digits, - and _", b.Vendor)
	case b.Vendor != "":
		u.Vendor, u.AccountID, u.Provider = b.Vendor, billimport.VendorAccount(b.Vendor), billimport.OtherProvider
		return nil
	}
	a, err := table.Read[inventory.Account](ctx, s.p.Table, inventory.AccountKey(org, b.CloudAccountID))
	if fault.Is(err, fault.NotFound) || !id.IsValid("ca", b.CloudAccountID) {
		return fault.New(fault.NotFound, "cloudAccountID: there is no cloud account %.64q", b.CloudAccountID)
	}
	u.AccountID, u.Provider = a.ID, a.Provider
	return fault.Wrap("read account "+b.CloudAccountID, err)
}

// address asks the worker for the upload address of the file.
func (s *service) address(ctx context.Context, org string, u billimport.Upload) (billimport.Address, error) {
	var out billimport.Address
	call := map[string]any{
		"task":  billimport.AddressTask,
		"input": billimport.Question{Org: org, UploadID: u.ID, Bytes: u.Bytes, Until: u.ExpiresAt},
	}
	err := s.p.Workers.RunTask(ctx, archive.LinkWorker, call, &out)
	return out, fault.Wrap("make the address of "+u.ID, err)
}

// maxWaiting is the most uploads of an organization that may wait or run at once, and maxUploads the most that are
// listed.
const (
	maxWaiting = 20
	maxUploads = 1000
)

// storeUpload stores a new upload with its import job, if the limit maxWaiting permits one more.
func (s *service) storeUpload(ctx context.Context, u billimport.Upload, run billimport.Input) error {
	put, err := billimport.PutUpload(run.Org, u, table.Absent())
	if err != nil {
		return err
	}
	work, err := billimport.AddWork(run, u.CreatedAt)
	if err != nil {
		return err
	}
	limited := table.LimitedList{PK: billimport.UploadKey(run.Org, "").PK, Noun: "imports"}
	return limited.Add(ctx, s.p.Table, func(take table.Write) error {
		if err := s.checkRoom(ctx, run.Org); err != nil {
			return err
		}
		err := s.p.Table.Transact(table.Within(ctx, workqueue.Prefix), put, work, take)
		return fault.Wrap("store import "+u.ID, err)
	})
}

// checkRoom returns an error if the organization has maxWaiting uploads already.
func (s *service) checkRoom(ctx context.Context, org string) error {
	all, err := s.uploads(ctx, org)
	if err != nil {
		return err
	}
	open := 0
	for i := range all {
		if all[i].CompletedAt.IsZero() {
			open++
		}
	}
	switch {
	case open >= maxWaiting:
		return fault.New(fault.Conflict,
			"%d imports wait for their files or run, which is the most at once: upload these, or wait until their "+
				"addresses expire", open)
	case len(all) >= maxUploads:
		return fault.New(fault.Conflict, "%d files were uploaded within 90 days, which is the most", len(all))
	}
	return nil
}

// uploads returns all uploads, the newest first.
func (s *service) uploads(ctx context.Context, org string) ([]billimport.Upload, error) {
	q := table.Query{PK: billimport.UploadKey(org, "").PK, Prefix: "job_", Reverse: true, Limit: maxUploads}
	all, _, err := table.ReadPage[billimport.Upload](ctx, s.p.Table, q)
	return all, fault.Wrap("list imports of "+org, err)
}

type importsInput struct{ rest.Page }

func (s *service) listImports(ctx context.Context, in *importsInput) (rest.List[ImportedFile], error) {
	all, err := s.uploads(ctx, identity.CallerOrg(ctx))
	return rest.MapItems(rest.PageOf(all, in.Page), newImportedFile), err
}

type oneImportInput struct {
	ImportID string `path:"importID" maxLength:"64" doc:"The jobID of the import"`
}

func (s *service) getImport(ctx context.Context, in *oneImportInput) (ImportedFile, error) {
	u, err := s.readImport(ctx, in.ImportID)
	return newImportedFile(u), err
}

func (s *service) readImport(ctx context.Context, importID string) (billimport.Upload, error) {
	if !id.IsValid("job", importID) {
		return billimport.Upload{}, fault.New(fault.NotFound, "there is no import %.64q", importID)
	}
	return billimport.ReadUpload(ctx, s.p.Table, identity.CallerOrg(ctx), importID)
}
