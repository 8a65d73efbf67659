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

// The forms of an export, and the content types that its operation produces.
const (
	CSV        = "csv"
	NDJSON     = "ndjson"
	CSVType    = "text/csv; charset=utf-8"
	NDJSONType = "application/x-ndjson"
)

// Export is the query of an export, which goes on from answer to answer; embed it in the operation's input.
type Export struct {
	Format string `query:"format" enum:"csv,ndjson" doc:"The form; when it is left out, what Accept asks for"`
	Cursor string `query:"cursor" maxLength:"2048" doc:"Where to go on, as the Link header of the answer before has it; left out, the export begins"`
	Accept string `header:"Accept" hidden:"true"`
}

// Bounds are how much one answer of an export holds; 0 is 10,000 rows and 6,000,000 bytes. Bytes are counted as Lambda
// does, which answers with 6 MiB of JSON at most: a quotation mark takes two there, and a < six.
type Bounds struct{ Rows, Bytes int }

// Row is a row of an export: a line of JSON with its end, and the cells of a line of CSV.
type Row interface {
	Line() []byte
	Cells() []string
}

// Exported is what an export is called, in which form it comes when nobody asks for one, the columns of its CSV, and how many of the last of
// these are numbers.
type Exported struct {
	Name    string
	Format  string
	Columns []string
	Numbers int
	Bounds  Bounds
}

// File is one answer of an export in the making.
type File struct {
	of     Exported
	format string
	buf    bytes.Buffer
	csv    *csv.Writer
	left   Bounds
	full   bool
}

// Begin begins an answer of the export.
func (e *Export) Begin(of Exported) *File {
	of.Bounds = Bounds{cmp.Or(of.Bounds.Rows, 10_000), cmp.Or(of.Bounds.Bytes, 6_000_000)}
	f := &File{of: of, format: of.Format, left: of.Bounds}
	accept := strings.TrimSpace(e.Accept)
	switch {
	case e.Format != "":
		f.format = e.Format
	case strings.HasPrefix(accept, "text/csv"):
		f.format = CSV
	case strings.HasPrefix(accept, NDJSONType):
		f.format = NDJSON
	}
	f.csv = csv.NewWriter(&f.buf)
	if f.format == CSV {
		_ = f.csv.Write(of.Columns) // Answer tells
		f.csv.Flush()
	}
	return f
}

// Add writes a row, and reports whether it found room. The first one that finds none begins the next answer: after it,
// end this one with a cursor that lies behind the last row that was added.
func (f *File) Add(row Row) bool {
	from := f.buf.Len()
	if f.format == CSV {
		_ = f.csv.Write(PlainCells(row.Cells(), f.of.Numbers)) // Answer tells
		f.csv.Flush()
	} else {
		f.buf.Write(row.Line())
	}
	f.left.Rows--
	f.left.Bytes -= answered(f.buf.Bytes()[from:])
	if first := f.left.Rows == f.of.Bounds.Rows-1; (f.left.Rows < 0 || f.left.Bytes < 0) && !first {
		f.buf.Truncate(from)
		f.full = true
	}
	return !f.full
}

// answered returns how many bytes text takes in the JSON of a Lambda's answer.
func answered(text []byte) int {
	b, err := json.Marshal(string(text))
	if err != nil { // a string always encodes
		panic(err)
	}
	return len(b) - len(`""`)
}

// Answer ends the file. A cursor, of the group's own making, leads to what comes behind its last row; "" ends the export.
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
		header.Set("Link", f.next(ctx, cursor))
	}
	return Raw{Header: header, Body: f.buf.Bytes()}, nil
}

// next leads to the next answer: what was asked, in the same form, from the cursor on.
func (f *File) next(ctx context.Context, cursor string) string {
	x, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		return ""
	}
	q := x.r.URL.Query()
	q.Set("cursor", cursor)
	q.Set("format", f.format)
	return "<" + x.r.URL.EscapedPath() + "?" + q.Encode() + `>; rel="next"`
}

// PlainCells keeps a spreadsheet from taking a cell for a formula: it gets an apostrophe before it, and so does one that
// begins with an apostrophe, so that whoever reads can take one off. The last cells are as many numbers, which stay as they are: a credit can be added up.
func PlainCells(cells []string, numbers int) []string {
	out := slices.Clone(cells)
	for i, cell := range cells[:len(cells)-numbers] {
		if cell != "" && strings.ContainsRune("=+-@'\t\r\n", rune(cell[0])) {
			out[i] = "'" + cell
		}
	}
	return out
}

// describeExport says of an operation that goes on from answer to answer how it does.
func describeExport(input reflect.Type, op *Op, hop *huma.Operation) {
	if f, ok := input.FieldByName("Cursor"); !ok || len(f.Index) < 2 ||
		input.Field(f.Index[0]).Type != reflect.TypeFor[Export]() {
		return
	}
	hop.Description += " An export of any size comes in pieces, none larger than one answer can be: while there is " +
		"more, a Link header with " +
		"rel=\"next\" leads to the next piece. Pieces follow each other without gaps and without repeating a row, " +
		"whatever is " +
		"written meanwhile. Each piece of CSV begins with the names of the columns. CSV cells that a spreadsheet " +
		"would take for a " +
		"formula, and those that begin with an apostrophe, begin with one more apostrophe."
	hop.Responses[strconv.Itoa(op.Status)].Headers = map[string]*huma.Param{"Link": {
		Description: "`<path?query>; rel=\"next\"` while there is more, else left out",
		Schema:      &huma.Schema{Type: huma.TypeString},
	}}
}
