package gcp_test

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter.dev/shared/testkit/clouds/bigqueryengine"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

// exported is a billing export as Google's files have it: the table, and the text that the file's readers read.
type exported struct {
	rows []bigqueryengine.Row
	text []byte
}

// dataFolder returns the folder of Google's sample bills. It skips the test if the folder is missing.
func dataFolder(t *testing.T) string {
	t.Helper()
	root := os.Getenv("LAMPLIGHTER_DATA")
	if root == "" {
		root = "../../../../shared/data"
	}
	if _, err := os.Stat(filepath.Join(root, "gcp-billing")); err != nil {
		t.Skipf("SKIPPED: the sample bills are not there: %v", err)
	}
	return root
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dataFolder(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(name, ".gz") {
		return b
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func readCSV(t *testing.T, b []byte) (rows []map[string]string) {
	t.Helper()
	all, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, cell := range cells {
			row[all[0][i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

// sampleExport is Google's sample of a detailed export, with JSON in the cells of records.
func sampleExport(t *testing.T) exported {
	t.Helper()
	text := readFile(t, "gcp-billing/google_sample_billing_data_500.csv.gz")
	var out []bigqueryengine.Row
	for _, cells := range readCSV(t, text) {
		row := bigqueryengine.Row{}
		for _, c := range exportSchema {
			row[c.Name] = cellOf(t, c, cells[c.Name])
		}
		out = append(out, withPartition(row))
	}
	return exported{out, text}
}

// cellOf returns the value of a cell: null where it is empty.
func cellOf(t *testing.T, c bigqueryengine.Column, text string) any {
	t.Helper()
	if text == "" || c.Type != "RECORD" {
		return orNull(text)
	}
	var value any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// objectExport is a folder of Google's tests of committed use: JSON objects, one after the other.
func objectExport(t *testing.T) exported {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dataFolder(t), "gcp-billing", "cud_test_*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var out exported
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		for {
			row := bigqueryengine.Row{}
			if err := d.Decode(&row); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			out.rows = append(out.rows, withPartition(row))
		}
		out.text = append(append(out.text, text...), '\n')
	}
	return out
}

// flattenedExport is an export whose records another tool flattened into columns, with Python's lists in the cells.
func flattenedExport(t *testing.T, name string) exported {
	t.Helper()
	text := readFile(t, name)
	python := strings.NewReplacer(`'`, `"`, "None", "null")
	var out []bigqueryengine.Row
	for _, cells := range readCSV(t, text) {
		row := bigqueryengine.Row{}
		for column, cell := range cells {
			record, field, nested := strings.Cut(column, ".")
			switch {
			case nested && field != "labels":
				if row[record] == nil {
					row[record] = map[string]any{}
				}
				row[record].(map[string]any)[field] = orNull(cell)
			case strings.HasPrefix(cell, "["):
				row[column] = cellOf(t, bigqueryengine.Column{Type: "RECORD"}, python.Replace(cell))
			default:
				row[column] = orNull(cell)
			}
		}
		out = append(out, withPartition(row))
	}
	return exported{out, text}
}

// withPartition sets the day on which BigQuery took the row in, and times in the form of JSON.
func withPartition(row bigqueryengine.Row) bigqueryengine.Row {
	for _, column := range []string{"usage_start_time", "usage_end_time", "export_time"} {
		if at, ok := row[column].(string); ok {
			at = strings.Replace(strings.TrimSuffix(strings.TrimSuffix(at, " UTC"), "+00:00"), " ", "T", 1)
			row[column] = strings.TrimSuffix(at, "Z") + "Z"
		}
	}
	row["_PARTITIONTIME"] = row["export_time"].(string)[:10] + "T00:00:00Z"
	return row
}

func text(name string) bigqueryengine.Column {
	return bigqueryengine.Column{Name: name, Type: "STRING"}
}

func float(name string) bigqueryengine.Column {
	return bigqueryengine.Column{Name: name, Type: "FLOAT"}
}

func instant(name string) bigqueryengine.Column {
	return bigqueryengine.Column{Name: name, Type: "TIMESTAMP"}
}

func record(name string, fields ...bigqueryengine.Column) bigqueryengine.Column {
	return bigqueryengine.Column{Name: name, Type: "RECORD", Fields: fields}
}

func repeated(name string, fields ...bigqueryengine.Column) bigqueryengine.Column {
	return bigqueryengine.Column{Name: name, Type: "RECORD", Mode: "REPEATED", Fields: fields}
}

// exportSchema is the schema of the detailed export, in Google's documentation of 2026:
// cloud.google.com/billing/docs/how-to/export-data-bigquery-tables/detailed-usage. Columns that no query can name are
// left out.
var exportSchema = []bigqueryengine.Column{
	text("billing_account_id"),
	record("service", text("id"), text("description")),
	record("sku", text("id"), text("description")),
	instant("usage_start_time"), instant("usage_end_time"),
	record("project", text("id"), text("number"), text("name"), text("ancestry_numbers"),
		repeated("labels", text("key"), text("value")),
		repeated("ancestors", text("resource_name"), text("display_name"))),
	repeated("labels", text("key"), text("value")),
	repeated("system_labels", text("key"), text("value")),
	record("location", text("location"), text("country"), text("region"), text("zone")),
	record("resource", text("name"), text("global_name")),
	repeated("tags", text("key"), text("value"), bigqueryengine.Column{Name: "inherited", Type: "BOOLEAN"},
		text("namespace")),
	instant("export_time"), float("cost"), text("currency"), float("currency_conversion_rate"),
	record("usage", float("amount"), text("unit"), float("amount_in_pricing_units"), text("pricing_unit")),
	repeated("credits", text("name"), float("amount"), text("full_name"), text("id"), text("type")),
	record("invoice", text("month"), text("publisher_type")), text("cost_type"),
	float("cost_at_list"), text("transaction_type"), text("seller_name"),
	instant("_PARTITIONTIME"),
}

// oldSchema is the schema of a standard export, in a file of Google's tests of committed use.
func oldSchema(t *testing.T) (out []bigqueryengine.Column) {
	t.Helper()
	if err := json.Unmarshal(readFile(t, "gcp-billing/google_billing_export_schema.json"), &out); err != nil {
		t.Fatal(err)
	}
	return append(out, instant("_PARTITIONTIME"))
}

// without returns the schema without these columns.
func without(schema []bigqueryengine.Column, columns ...string) (out []bigqueryengine.Column) {
	left := map[string]bool{}
	for _, c := range columns {
		left[c] = true
	}
	for _, c := range schema {
		if !left[c.Name] {
			out = append(out, c)
		}
	}
	return out
}

// columnNames returns the names of the columns, and those of their fields after a point.
func columnNames(schema []bigqueryengine.Column) (out []string) {
	for _, c := range schema {
		out = append(out, c.Name)
		for _, f := range c.Fields {
			out = append(out, c.Name+"."+f.Name)
		}
	}
	return out
}

// engineTwin is a project with a table of a billing export, whose queries the engine executes.
func engineTwin(e *bigqueryengine.Engine, id string, schema []bigqueryengine.Column,
	rows []bigqueryengine.Row,
) *gcptwin.Cloud {
	kept := make([]bigqueryengine.Row, len(rows))
	names := map[string]bool{}
	for _, c := range schema {
		names[c.Name] = true
	}
	for i, row := range rows {
		kept[i] = maps.Clone(row)
		maps.DeleteFunc(kept[i], func(column string, _ any) bool { return !names[column] })
	}
	e.CreateTable(gcptwin.Project+".billing."+id, schema, kept)
	tw := &gcptwin.Cloud{Engine: e}
	tw.AddBillingTable(gcptwin.BillingTable{
		Project: gcptwin.Project, Dataset: "billing", Location: "EU", ID: id, Columns: columnNames(schema),
	})
	return tw
}
