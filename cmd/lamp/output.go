package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// formats are the values of --output.
var formats = []string{"table", "wide", "json", "ndjson", "yaml", "csv", "name"}

func (a *app) checkOutput() error {
	if !slices.Contains(formats, a.output) {
		return misused("-o is %q: it must be one of %s", a.output, strings.Join(formats, ", "))
	}
	return nil
}

// column is a column of a table: its head and the member that it shows. A head in lower case is shown by -o wide only.
type column struct{ head, path string }

func (c column) isWide() bool { return c.head == strings.ToLower(c.head) }

// show prints records.
func (a *app) show(columns []column, records []record) error {
	return a.stream(columns, func(yield func(record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	})
}

// writer prints records in one format, one at a time.
type writer interface {
	write(r record) error
	end() error
}

// stream prints records as they come, in the requested format. It keeps at most one screen of them in memory.
func (a *app) stream(columns []column, records iter.Seq2[record, error]) error {
	out := bufio.NewWriterSize(a.out, 64<<10)
	w := a.writer(out, a.chosen(columns))
	some := false
	for r, err := range records {
		if err == nil && !some {
			err = a.checkFields(r)
		}
		if err == nil {
			err = w.write(r)
		}
		if err != nil {
			if some { // the records before are printed
				err = errors.Join(err, w.end(), out.Flush())
			}
			return err
		}
		some = true
	}
	if err := w.end(); err != nil {
		return err
	}
	return out.Flush()
}

// checkFields refuses a field that the records do not have. Each record of a list has all members; only members of
// members, such as tags, differ.
func (a *app) checkFields(r record) error {
	for _, f := range a.fields {
		first, _, _ := strings.Cut(f, ".")
		_, whole := r.members[f]
		if _, ok := r.members[first]; !ok && !whole {
			return misused("--fields: the records have no member %q: they have %s", f,
				strings.Join(slices.Sorted(maps.Keys(r.members)), ", "))
		}
	}
	return nil
}

// chosen returns the columns to show: those of --fields, or else those of the kind.
func (a *app) chosen(columns []column) []column {
	if len(a.fields) > 0 {
		columns = nil
		for _, f := range a.fields {
			columns = append(columns, column{strings.ToUpper(f), f})
		}
	}
	if a.output == "table" {
		return slices.DeleteFunc(slices.Clone(columns), column.isWide)
	}
	return columns
}

func (a *app) writer(out *bufio.Writer, columns []column) writer {
	switch a.output {
	case "json":
		return &jsonWriter{out: out}
	case "ndjson":
		return ndjsonWriter{out}
	case "yaml":
		return yamlWriter{out}
	case "csv":
		return &csvWriter{w: csv.NewWriter(out), columns: columns, out: out}
	case "name":
		return nameWriter{out, columns[0].path}
	}
	return &tableWriter{out: out, columns: columns, width: a.width}
}

// jsonWriter prints a list of the service's records, unchanged.
type jsonWriter struct {
	out  *bufio.Writer
	some bool
}

func (w *jsonWriter) write(r record) error {
	var b bytes.Buffer
	if err := json.Indent(&b, r.raw, "  ", "  "); err != nil {
		return fmt.Errorf("print a record: %w", err)
	}
	before := "[\n  "
	if w.some {
		before = ",\n  "
	}
	w.some = true
	_, err := fmt.Fprint(w.out, before, b.String())
	return err
}

func (w *jsonWriter) end() error {
	after := "\n]\n"
	if !w.some {
		after = "[]\n"
	}
	_, err := w.out.WriteString(after)
	return err
}

// ndjsonWriter prints a record a line.
type ndjsonWriter struct{ out *bufio.Writer }

func (w ndjsonWriter) write(r record) error {
	var b bytes.Buffer
	if err := json.Compact(&b, r.raw); err != nil {
		return fmt.Errorf("print a record: %w", err)
	}
	_, err := fmt.Fprintln(w.out, b.String())
	return err
}

func (ndjsonWriter) end() error { return nil }

// yamlWriter prints records as items of a list.
type yamlWriter struct{ out *bufio.Writer }

func (w yamlWriter) write(r record) error {
	text, err := yamlOf(r.raw)
	if err != nil {
		return err
	}
	text = strings.TrimSuffix(text, "\n")
	_, err = fmt.Fprintln(w.out, "- "+strings.ReplaceAll(text, "\n", "\n  "))
	return err
}

func (yamlWriter) end() error { return nil }

// yamlOf returns JSON as YAML, with the same order of members and the same digits.
func yamlOf(raw json.RawMessage) (string, error) {
	var n yaml.Node
	if err := yaml.Unmarshal(raw, &n); err != nil { // JSON is YAML
		return "", fmt.Errorf("print a record as YAML: %w", err)
	}
	toBlock(&n)
	var b strings.Builder
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(&n); err != nil {
		return "", fmt.Errorf("print a record as YAML: %w", err)
	}
	return b.String(), nil
}

// toBlock removes the braces and quotes of JSON. Empty lists and objects keep theirs.
func toBlock(n *yaml.Node) {
	if len(n.Content) > 0 || n.Kind == yaml.ScalarNode {
		n.Style = 0
	}
	for _, c := range n.Content {
		toBlock(c)
	}
}

// nameWriter prints the first column alone, for other programs.
type nameWriter struct {
	out  *bufio.Writer
	path string
}

func (w nameWriter) write(r record) error {
	_, err := fmt.Fprintln(w.out, cleanLine(r.text(w.path)))
	return err
}

func (nameWriter) end() error { return nil }

// csvWriter prints the columns, with the paths of the members as heads.
type csvWriter struct {
	w       *csv.Writer
	out     io.Writer
	columns []column
	headed  bool
}

func (w *csvWriter) write(r record) error {
	if err := w.head(); err != nil {
		return err
	}
	cells := make([]string, len(w.columns))
	for i, c := range w.columns {
		cells[i] = plainCell(r.text(c.path))
	}
	return w.w.Write(cells)
}

func (w *csvWriter) head() error {
	if w.headed {
		return nil
	}
	w.headed = true
	heads := make([]string, len(w.columns))
	for i, c := range w.columns {
		heads[i] = plainCell(c.path)
	}
	return w.w.Write(heads)
}

func (w *csvWriter) end() error {
	if err := w.head(); err != nil {
		return err
	}
	w.w.Flush()
	return w.w.Error()
}

// plainNumber matches numbers, which spreadsheets may add up.
var plainNumber = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// plainCell prevents spreadsheets from reading a cell as a formula: such cells, and those that begin with an
// apostrophe, get a leading apostrophe, as in the service's exports. Numbers stay.
func plainCell(s string) string {
	if s != "" && strings.ContainsRune("=+-@'\t\r\n", rune(s[0])) && !plainNumber.MatchString(s) {
		return "'" + s
	}
	return s
}
