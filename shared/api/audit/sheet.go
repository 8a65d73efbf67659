package audit

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Columns are the columns of an export as CSV. The cell of changes is JSON. The cell of clientRequestID is empty for a
// row without one.
var Columns = []string{
	"id", "seq", "at", "actor", "userID", "credential", "action", "resourceType", "category", "method", "path",
	"status",
	"requestID", clientRequestID, "ip", "target", "changes", "previousHash", "hash",
}

// numeric are the columns with numbers.
var numeric = []string{"seq", "status"}

// Cells returns the row as a line of CSV. A writer must put an apostrophe before cells that a spreadsheet would read as
// a formula, and before cells that start with an apostrophe (rest.File does). A reader removes one apostrophe.
func (s Sealed) Cells() []string {
	cells := make([]string, len(Columns))
	for i, name := range Columns {
		switch v := s[name].(type) {
		case string:
			cells[i] = v
		case nil:
		default:
			cells[i] = string(appendCanonical(nil, v))
		}
	}
	return cells
}

// earlierColumns returns the columns of exports from before rows had a clientRequestID.
func earlierColumns() []string {
	return slices.DeleteFunc(slices.Clone(Columns), func(name string) bool { return name == clientRequestID })
}

// parseCells parses a line of CSV with these columns.
func parseCells(columns, cells []string) (Sealed, error) {
	s := Sealed{}
	for i, name := range columns {
		cell := strings.TrimPrefix(cells[i], "'")
		switch {
		case name == clientRequestID && cell == "":
		case slices.Contains(numeric, name):
			n, err := strconv.ParseInt(cell, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("its %s is %.32q, which is no number", name, cell)
			}
			s[name] = json.Number(strconv.FormatInt(n, 10))
		case name == "changes":
			v, err := decodeJSON([]byte(cell))
			if err != nil {
				return nil, fmt.Errorf("its changes cannot be read: %w", err)
			}
			s[name] = v
		default:
			s[name] = cell
		}
	}
	return s, nil
}

// Reader reads the rows of an export as NDJSON or CSV.
type Reader struct {
	next func() (Sealed, error)
	line func() int
}

// maxLineBytes limits a line; rows have about 20 kB at most.
const maxLineBytes = 1 << 20

// NewReader returns a reader of an export, and detects its format. An empty export has no rows.
func NewReader(r io.Reader) (*Reader, error) {
	b := bufio.NewReader(r)
	// a byte order mark, which some editors add
	if mark, err := b.Peek(3); err == nil && bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = b.Discard(len(mark))
	}
	first, err := b.Peek(1)
	switch {
	case errors.Is(err, io.EOF):
		return &Reader{func() (Sealed, error) { return nil, io.EOF }, func() int { return 0 }}, nil
	case err != nil:
		return nil, fmt.Errorf("read: %w", err)
	case first[0] == '{':
		return newLineReader(b), nil
	}
	return newSheetReader(b)
}

// Next returns the next row. It returns io.EOF after the last one.
func (r *Reader) Next() (Sealed, error) { return r.next() }

// Line returns the line number of the row that Next returned last.
func (r *Reader) Line() int { return r.line() }

// newLineReader reads NDJSON.
func newLineReader(r io.Reader) *Reader {
	in, n := bufio.NewScanner(r), 0
	in.Buffer(nil, maxLineBytes)
	return &Reader{line: func() int { return n }, next: func() (Sealed, error) {
		for in.Scan() {
			n++
			if len(bytes.TrimSpace(in.Bytes())) > 0 {
				return ParseRow(in.Bytes())
			}
		}
		if err := in.Err(); err != nil {
			return nil, fmt.Errorf("read line %d: %w", n+1, err)
		}
		return nil, io.EOF
	}}
}

// newSheetReader reads CSV.
func newSheetReader(r io.Reader) (*Reader, error) {
	in, n := csv.NewReader(r), 1
	head, err := in.Read()
	if err != nil || !slices.Equal(head, Columns) && !slices.Equal(head, earlierColumns()) {
		return nil, errors.New(
			"it is neither NDJSON nor CSV of the audit log: the first line has to be a row, or " + strings.Join(Columns,
				","))
	}
	return &Reader{line: func() int { return n }, next: func() (Sealed, error) {
		cells, err := in.Read()
		if err != nil {
			n++
			return nil, err
		}
		n, _ = in.FieldPos(0)
		return parseCells(head, cells)
	}}, nil
}
