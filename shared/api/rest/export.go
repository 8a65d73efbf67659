package rest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"lamplighter.dev/shared/foundation/fault"
)

// The formats of an export, and their content types.
const (
	CSV        = "csv"
	NDJSON     = "ndjson"
	CSVType    = "text/csv; charset=utf-8"
	NDJSONType = "application/x-ndjson"
)

// Export is the query of an export, which may have several answers. Embed it in the operation's input.
type Export struct {
	Format string `query:"format" enum:"csv,ndjson" doc:"Format; by default that of the header Accept"`
	Cursor string `query:"cursor" maxLength:"2048" doc:"Position to continue from, from the Link header of the previous answer; by default the start of the export"`
	Accept string `header:"Accept" hidden:"true"`
}

// Bounds limit one answer of an export. 0 means 10,000 rows and 6,000,000 bytes. Bytes are counted as in Lambda, which
// limits an answer to 6 MiB of JSON: a quotation mark counts as two, and a < as six.
type Bounds struct{ Rows, Bytes int }

// Row is a row of an export: a line of JSON with its newline, and the cells of a line of CSV.
type Row interface {
	Line() []byte
	Cells() []string
}

// Exported describes an export: its name, its default format, its CSV columns, and how many of the last columns are
// numbers.
type Exported struct {
	Name    string
	Format  string
	Columns []string
	Numbers int
	Bounds  Bounds
}

// File is one answer of an export under construction.
type File struct {
	of     Exported
	format string
	buf    bytes.Buffer
	csv    *csv.Writer
	left   Bounds
	full   bool
}

// ChooseFormat returns the format that the request asks for, or else the usual one.
func (e *Export) ChooseFormat(usual string) string {
	accept := strings.TrimSpace(e.Accept)
	switch {
	case e.Format != "":
		return e.Format
	case strings.HasPrefix(accept, "text/csv"):
		return CSV
	case strings.HasPrefix(accept, NDJSONType):
		return NDJSON
	}
	return usual
}

// Begin starts an answer of the export.
func (e *Export) Begin(of Exported) *File {
	of.Bounds = Bounds{cmp.Or(of.Bounds.Rows, 10_000), cmp.Or(of.Bounds.Bytes, 6_000_000)}
	f := &File{of: of, format: e.ChooseFormat(of.Format), left: of.Bounds}
	f.csv = csv.NewWriter(&f.buf)
	if f.format == CSV {
		_ = f.csv.Write(of.Columns) // Answer returns the error
		f.csv.Flush()
	}
	return f
}

// Add adds a row, and reports whether there was room for it. If not, end this answer with a cursor after the last row
// that was added; the next answer starts with the refused row.
func (f *File) Add(row Row) bool {
	from := f.buf.Len()
	if f.format == CSV {
		_ = f.csv.Write(PlainCells(row.Cells(), f.of.Numbers)) // Answer returns the error
		f.csv.Flush()
	} else {
		f.buf.Write(row.Line())
	}
	f.left.Rows--
	f.left.Bytes -= lambdaSize(f.buf.Bytes()[from:])
	if first := f.left.Rows == f.of.Bounds.Rows-1; (f.left.Rows < 0 || f.left.Bytes < 0) && !first {
		f.buf.Truncate(from)
		f.full = true
	}
	return !f.full
}

// lambdaSize returns the number of bytes of text in the JSON of a Lambda's answer.
func lambdaSize(text []byte) int {
	b, err := json.Marshal(string(text))
	if err != nil { // a string can always be encoded
		panic(err)
	}
	return len(b) - len(`""`)
}

// Answer ends the answer. The cursor, in the format of the group, is the position after its last row; "" ends the
// export.
func (f *File) Answer(ctx context.Context, cursor string) (Raw, error) {
	if err := f.csv.Error(); err != nil {
		return Raw{}, fault.Wrap("write export "+f.of.Name, err)
	}
	header := http.Header{
		"Content-Type":        {CSVType},
		"Content-Disposition": {`attachment; filename="` + f.of.Name + "." + f.format + `"`},
	}
	if f.format == NDJSON {
		header.Set("Content-Type", NDJSONType)
	}
	if cursor != "" {
		header.Set("Link", f.nextLink(ctx, cursor))
	}
	return Raw{Header: header, Body: f.buf.Bytes()}, nil
}

// nextLink returns the link to the next answer: the same request with the same format from the cursor on.
func (f *File) nextLink(ctx context.Context, cursor string) string {
	x, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		return ""
	}
	q := x.r.URL.Query()
	q.Set("cursor", cursor)
	q.Set("format", f.format)
	return "<" + x.r.URL.EscapedPath() + "?" + q.Encode() + `>; rel="next"`
}

// PlainCells prevents spreadsheets from reading a cell as a formula: such cells, and those that start with an
// apostrophe, get a leading apostrophe, so that readers can remove one. The last `numbers` cells are numbers and stay
// unchanged, so that negative amounts can be added up.
func PlainCells(cells []string, numbers int) []string {
	out := slices.Clone(cells)
	for i, cell := range cells[:len(cells)-numbers] {
		if cell != "" && strings.ContainsRune("=+-@'\t\r\n", rune(cell[0])) {
			out[i] = "'" + cell
		}
	}
	return out
}

// describeExport adds to the description of an export how to continue it.
func describeExport(input reflect.Type, op *Op, hop *huma.Operation) {
	if f, ok := input.FieldByName("Cursor"); !ok || len(f.Index) < 2 ||
		input.Field(f.Index[0]).Type != reflect.TypeFor[Export]() {
		return
	}
	hop.Description += " An export of any size comes in pieces, none larger than one answer can be: while there is " +
		"more, a Link header with " +
		"rel=\"next\" leads to the next piece. Pieces follow each other without gaps and without repeating a row, " +
		"even if rows are " +
		"written in the meantime. Each piece of CSV begins with the names of the columns. CSV cells that a " +
		"spreadsheet would take for a " +
		"formula, and those that begin with an apostrophe, begin with one more apostrophe."
	addHeader(hop.Responses[strconv.Itoa(op.Status)], "Link", &huma.Param{
		Description: "`<path?query>; rel=\"next\"` while there is more, else left out",
		Schema:      &huma.Schema{Type: huma.TypeString},
	})
}
