package auditlogs

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// The bounds of one answer: a Lambda answers with 6 MB at most, and each quotation mark of a text takes two bytes of it.
const (
	exportRows  = 10_000
	exportBytes = 3_000_000
	readRows    = 1000 // at once
)

// bounds are how much one answer holds: it ends with the row that reaches one of them.
type bounds struct{ rows, bytes int }

const (
	csvType    = "text/csv; charset=utf-8"
	ndjsonType = "application/x-ndjson"
)

type exportInput struct {
	Window
	Format string `query:"format" enum:"ndjson,csv" doc:"ndjson when neither it nor Accept says otherwise"`
	Cursor string `query:"cursor" maxLength:"128" doc:"Of the Link of the answer before"`
	Accept string `header:"Accept" hidden:"true"`
}

// format is csv when it is asked for, by name or by Accept.
func (in *exportInput) format() string {
	if in.Format == "" && strings.HasPrefix(strings.TrimSpace(in.Accept), "text/csv") {
		return "csv"
	}
	if in.Format == "" {
		return "ndjson"
	}
	return in.Format
}

func (s *service) export(ctx context.Context, in *exportInput) (rest.Raw, error) {
	from, err := audit.ParseCursor(in.Cursor)
	if err != nil {
		return rest.Raw{}, err
	}
	q := in.query(identity.From(ctx).Org)
	if from != nil {
		q.From = max(q.From, from.After())
	}
	f := newFile(in.format(), s.most)
	next, err := s.gather(ctx, q, f)
	if err != nil {
		return rest.Raw{}, err
	}
	header := http.Header{
		"Content-Type":        {f.kind},
		"Content-Disposition": {`attachment; filename="audit-logs.` + in.format() + `"`},
	}
	if next != nil {
		header.Set("Link", in.link(*next))
	}
	body, err := f.bytes()
	return rest.Raw{Header: header, Body: body}, err
}

// gather fills the file; next is behind its last row when there is more, else nil.
func (s *service) gather(ctx context.Context, q table.Query, f *file) (next *audit.Cursor, err error) {
	var last audit.Sealed
	q.Limit = readRows
	for {
		page, err := s.p.Table.Query(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("export %s: %w", q.PK, err)
		}
		for _, it := range page.Items {
			row, err := audit.Stored(it)
			if err != nil {
				return nil, fault.Cause(fault.Internal, err, "the audit row %s %s is damaged", it.PK, it.SK)
			}
			if f.full() {
				at := last.CursorOf()
				return &at, nil
			}
			f.add(row.Shown())
			last = row
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return nil, nil //nolint:nilnil // the end is no mistake
		}
	}
}

// link leads to what comes behind the cursor, within the same window and in the same form.
func (in *exportInput) link(next audit.Cursor) string {
	v := url.Values{"cursor": {next.String()}, "format": {in.format()}}
	for name, at := range map[string]time.Time{"from": in.From, "to": in.To} {
		if !at.IsZero() {
			v.Set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	return "<" + rows + "/export?" + v.Encode() + `>; rel="next"`
}

// file is an export in the making.
type file struct {
	kind string
	most bounds
	rows int
	buf  bytes.Buffer
	csv  *csv.Writer // nil for NDJSON
}

func newFile(format string, most bounds) *file {
	f := &file{kind: ndjsonType, most: most}
	if format == "csv" {
		f.kind, f.csv = csvType, csv.NewWriter(&f.buf)
		_ = f.csv.Write(audit.Columns) // bytes tells
	}
	return f
}

func (f *file) full() bool { return f.rows >= f.most.rows || f.buf.Len() >= f.most.bytes }

func (f *file) add(row audit.Sealed) {
	f.rows++
	if f.csv != nil {
		_ = f.csv.Write(row.Cells()) // bytes tells
		return
	}
	f.buf.Write(row.Line())
}

func (f *file) bytes() ([]byte, error) {
	if f.csv == nil {
		return f.buf.Bytes(), nil
	}
	f.csv.Flush()
	return f.buf.Bytes(), fault.Wrap("write export", f.csv.Error())
}
