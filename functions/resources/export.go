package resources

import (
	"context"
	"encoding/base64"
	"time"
	"unicode/utf8"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/fault"
)

const (
	// maxWholeRows is the most resources of an answer that is the whole export. Most exports have 6 MB with fewer.
	maxWholeRows = 50_000
	// firstPiece is the cursor of the first piece of an export.
	firstPiece = "*"
)

type exportInput struct {
	Filters
	Format string `query:"format" enum:"csv,ndjson" doc:"Format; by default that of the header Accept"`
	Cursor string `query:"cursor" maxLength:"2048" doc:"Asks for the export in pieces: * for the first one, and for the others the position from the Link header of the piece before"`
	Async  bool   `query:"async" doc:"Asks for a job, however small the export is"`
	Accept string `header:"Accept" hidden:"true"`
}

func (s *service) exportResources(ctx context.Context, in *exportInput) (rest.Raw, error) {
	form := rest.Export{Format: in.Format, Accept: in.Accept}
	filter := in.inventoryFilter(inventory.Visibility{})
	switch {
	case in.Async && in.Cursor != "":
		return rest.Raw{}, fault.New(fault.Invalid,
			"cursor: it is given with async, which writes one file: leave out one")
	case in.Async:
		return s.beginJob(ctx, report.Export{Format: form.ChooseFormat(rest.CSV), Resources: &filter})
	case in.Cursor != "":
		return s.exportPiece(ctx, &form, filter, in.Cursor)
	}
	f, full := s.begin(&form, s.most), false
	err := s.records.Each(ctx, filter, func(r *Record) (bool, error) {
		full = !f.Add(r)
		return !full, nil
	})
	switch {
	case err != nil:
		return rest.Raw{}, err
	case full:
		return s.beginJob(ctx, report.Export{Format: form.ChooseFormat(rest.CSV), Resources: &filter})
	}
	return f.Answer(ctx, "")
}

func (s *service) begin(form *rest.Export, bounds rest.Bounds) *rest.File {
	return form.Begin(rest.Exported{
		Name: "resources", Format: rest.CSV, Columns: report.RecordColumns, Bounds: bounds,
	})
}

// beginJob starts an export job and returns it.
func (s *service) beginJob(ctx context.Context, job report.Export) (rest.Raw, error) {
	j, err := report.StartExport(ctx, s.p, job)
	if err != nil {
		return rest.Raw{}, err
	}
	return rest.Accepted(rest.Job{JobID: j.ID, Status: string(j.Status), StatusURL: exportJobs + "/" + j.ID})
}

// exportPiece returns the next piece of an export.
func (s *service) exportPiece(
	ctx context.Context, form *rest.Export, filter inventory.Filter, cursor string,
) (rest.Raw, error) {
	after, err := readCursor(cursor)
	if err != nil {
		return rest.Raw{}, err
	}
	rows := min(s.most.Rows, report.RecordPageRows)
	page, err := s.records.Page(ctx, filter, after, rows+1)
	if err != nil {
		return rest.Raw{}, err
	}
	f := s.begin(form, rest.Bounds{Rows: rows, Bytes: s.most.Bytes})
	for i := range page {
		if !f.Add(&page[i]) {
			return f.Answer(ctx, writeCursor(page[i-1].UID))
		}
	}
	return f.Answer(ctx, "")
}

// writeCursor returns the cursor for the last UID of a page.
func writeCursor(uid string) string { return base64.RawURLEncoding.EncodeToString([]byte(uid)) }

// readCursor returns the UID of a cursor, or "" for the beginning.
func readCursor(cursor string) (uid string, err error) {
	if cursor == firstPiece {
		return "", nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || !utf8.Valid(b) {
		return "", fault.New(
			fault.Invalid, "cursor: %.64q is not one that an answer gave; send * to begin", cursor)
	}
	return string(b), nil
}

// ResourceExport is an export of resources that is a job.
type ResourceExport struct {
	JobID       string     `json:"jobID"`
	Status      string     `json:"status" enum:"running,succeeded,failed,expired"`
	Format      string     `json:"format" enum:"csv,ndjson" doc:"Compressed with gzip"`
	Rows        int64      `json:"rows"`
	Message     *string    `json:"message" doc:"The reason for the failure, and the remedy"`
	FileName    string     `json:"fileName" example:"resources.csv.gz"`
	DownloadURL *string    `json:"downloadURL" doc:"Where the file is fetched with GET, until linkExpiresAt"`
	LinkExpires *time.Time `json:"linkExpiresAt"`
	CreatedAt   time.Time  `json:"createdAt"`
	CompletedAt *time.Time `json:"completedAt"`
	ExpiresAt   time.Time  `json:"expiresAt" doc:"When the file is removed"`
}

type exportJobInput struct {
	JobID string `path:"jobID" maxLength:"64"`
}

func (s *service) getExport(ctx context.Context, in *exportJobInput) (ResourceExport, error) {
	j, err := report.ReadOwnExport(ctx, s.p, in.JobID)
	if err == nil && j.Resources == nil {
		err = report.MissingExport(in.JobID)
	}
	if err != nil {
		return ResourceExport{}, err
	}
	out := ResourceExport{
		JobID: j.ID, Status: string(j.StatusAt(s.p.Clock.Now())), Format: j.Format, Rows: j.Rows,
		Message: rest.Optional(j.Message), FileName: j.FileName(), CreatedAt: j.CreatedAt,
		CompletedAt: rest.Optional(j.CompletedAt), ExpiresAt: j.ExpiresAt,
	}
	out.DownloadURL, out.LinkExpires, err = report.MakeExportLink(ctx, s.p, &j)
	return out, err
}
