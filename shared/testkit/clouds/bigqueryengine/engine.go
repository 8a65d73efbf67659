// Package bigqueryengine executes queries of BigQuery in programs of other makers: polyglot translates GoogleSQL into
// the SQL of DuckDB, and DuckDB executes it. Decision 063 lists the rules of the translation, and their limits.
package bigqueryengine

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"lamplighter.dev/shared/testkit/npmpeer"
)

// The tested releases.
const (
	translator = "@polyglot-sql/sdk@0.12.1"
	database   = "@duckdb/node-api@1.5.6-r.1"
)

//go:embed engine.mjs
var program string

// Engine is a database in another process.
type Engine struct {
	tb      testing.TB
	address string
}

// Column is a column of a table, in the form of BigQuery's schemas. Mode is REPEATED for a list.
type Column struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Mode   string   `json:"mode,omitempty"`
	Fields []Column `json:"fields,omitempty"`
}

// Row is a row of a table, as JSON writes it: a field that is missing is null, or an empty list.
type Row map[string]any

// Start returns an empty database that ends with the test. The test is skipped if peers are not requested or not
// available.
func Start(tb testing.TB) *Engine {
	tb.Helper()
	dir := npmpeer.InstallNode(tb, "bigquery", translator, database)
	port := npmpeer.FreePort(tb)
	cmd := exec.Command("node", "--no-warnings", //nolint:gosec,noctx // ends with the test
		"--input-type=module", "-", port)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(program)
	npmpeer.StartPeer(tb, cmd, port)
	return &Engine{tb, "http://127.0.0.1:" + port}
}

// CreateTable creates the table with its rows, in the place of an earlier one of that name. The name is that of the
// queries: project.dataset.table.
func (e *Engine) CreateTable(name string, columns []Column, rows []Row) {
	e.tb.Helper()
	if rows == nil {
		rows = []Row{}
	}
	var none struct{}
	err := e.call("/tables", map[string]any{"table": name, "columns": columns, "rows": rows}, &none)
	if err != nil {
		e.tb.Fatal(err)
	}
}

// Query returns the columns of the answer, and its rows by their names. Values are texts, as BigQuery's REST interface
// has them; a column that is null is missing from the row.
func (e *Engine) Query(sql string) (columns []string, rows []map[string]string, err error) {
	var got struct {
		Columns []string
		Rows    [][]*string
	}
	if err := e.call("/queries", map[string]string{"sql": sql}, &got); err != nil {
		return nil, nil, err
	}
	for _, cells := range got.Rows {
		row := map[string]string{}
		for i, value := range cells {
			if value != nil {
				row[got.Columns[i]] = *value
			}
		}
		rows = append(rows, row)
	}
	return got.Columns, rows, nil
}

// call posts the request, and reads the answer into out.
func (e *Engine) call(path string, request, out any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	resp, err := http.Post(e.address+path, "application/json", //nolint:noctx // ends with the engine
		bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // it is read to its end
	if resp.StatusCode == http.StatusOK {
		return json.NewDecoder(resp.Body).Decode(out)
	}
	var refused struct{ Error string }
	if err := json.NewDecoder(resp.Body).Decode(&refused); err != nil {
		return err
	}
	return errors.New(refused.Error)
}
