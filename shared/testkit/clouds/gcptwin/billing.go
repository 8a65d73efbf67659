package gcptwin

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// BillingTable is a table of a billing export in BigQuery.
type BillingTable struct {
	Project, Dataset, Location, ID string
	Columns                        []string // its columns; fields of records as "credits.name"
	Rows                           []BillingRow
}

// BillingRow is a row of a billing export.
type BillingRow struct {
	Month, Partition, Exported string // "202603", "2026-03-04", "2026-03-04T05:06:07.000000Z"
	Day, Project, Service, SKU string
	Region, Resource, Currency string
	CostType, Cost             string
	Credits                    map[string]string // amounts by names
	Labels                     string            // as TO_JSON_STRING writes them
}

// QueryEngine executes a query of BigQuery. It returns the columns of the answer, and its rows by their names.
type QueryEngine interface {
	Query(sql string) (columns []string, rows []map[string]string, err error)
}

// queryAnswer is the answer of a query, for its pages.
type queryAnswer struct {
	columns  []string
	rows     []map[string]string
	location string
	waits    bool // it has not ended when it is first looked at
}

// AddBillingTable adds a table.
func (c *Cloud) AddBillingTable(t BillingTable) {
	c.ChangeLocked(func() { c.tables = append(c.tables, t) })
}

// AddBillingRows adds rows to a table.
func (c *Cloud) AddBillingRows(id string, rows ...BillingRow) {
	c.ChangeLocked(func() {
		for i := range c.tables {
			if c.tables[i].ID == id {
				c.tables[i].Rows = append(c.tables[i].Rows, rows...)
			}
		}
	})
}

func (c *Cloud) listDatasets(q request) (any, *failure) {
	var names []string
	all := []any{}
	for _, t := range c.tables {
		if t.Project == q.args[0] && !slices.Contains(names, t.Dataset) {
			names = append(names, t.Dataset)
			all = append(all,
				map[string]any{
					"datasetReference": map[string]string{"projectId": t.Project, "datasetId": t.Dataset},
					"location":         t.Location,
				})
		}
	}
	from, to, next := c.cutPage(q, len(all), "maxResults")
	return map[string]any{"datasets": all[from:to], "nextPageToken": next}, nil
}

func (c *Cloud) getDataset(q request) (any, *failure) {
	for _, t := range c.tables {
		if t.Project == q.args[0] && t.Dataset == q.args[1] {
			return map[string]any{
				"datasetReference": map[string]string{"projectId": t.Project, "datasetId": t.Dataset},
				"location":         t.Location,
			}, nil
		}
	}
	return nil, missingFailure("dataset %s:%s", q.args[0], q.args[1])
}

func (c *Cloud) listTables(q request) (any, *failure) {
	all := []any{}
	for _, t := range c.tables {
		if t.Project == q.args[0] && t.Dataset == q.args[1] {
			all = append(all,
				map[string]any{
					"type": "TABLE",
					"tableReference": map[string]string{
						"projectId": t.Project, "datasetId": t.Dataset,
						"tableId": t.ID,
					},
				})
		}
	}
	from, to, next := c.cutPage(q, len(all), "maxResults")
	return map[string]any{"tables": all[from:to], "nextPageToken": next}, nil
}

func (c *Cloud) getTable(q request) (any, *failure) {
	for _, t := range c.tables {
		if t.Project == q.args[0] && t.Dataset == q.args[1] && t.ID == q.args[2] {
			return map[string]any{"schema": map[string]any{"fields": t.fields("")}}, nil
		}
	}
	return nil, missingFailure("table %s", strings.Join(q.args, "."))
}

// fields returns the columns whose names begin with the prefix and have no further point, as a schema has them.
func (t BillingTable) fields(prefix string) []any {
	out := []any{}
	for _, column := range t.Columns {
		name, found := strings.CutPrefix(column, prefix)
		if !found || strings.Contains(name, ".") {
			continue
		}
		field := map[string]any{"name": name, "type": "STRING"}
		if nested := t.fields(column + "."); len(nested) > 0 {
			field["type"], field["fields"] = "RECORD", nested
		}
		out = append(out, field)
	}
	return out
}

var (
	fromTable = regexp.MustCompile("FROM `([^`.]+)\\.([^`.]+)\\.([^`]+)`")
	ofMonth   = regexp.MustCompile(`BETWEEN TIMESTAMP '([\d-]+)' AND TIMESTAMP '([\d-]+)'` +
		`[^']*invoice\.month = '(\d{6})'`)
	sinceDay = regexp.MustCompile(`_PARTITIONTIME >= TIMESTAMP '([\d-]+)'`)
	ofColumn = regexp.MustCompile(`(?:\bAS )?(\w+)$`)
)

// answerQuery answers the two queries of a billing export: the days that hold each month, and the charges of a month.
// It refuses a request that Google would refuse, and is no engine of SQL.
func (c *Cloud) answerQuery(q request) (any, *failure) {
	sql, _ := q.body["query"].(string)
	location, _ := q.body["location"].(string)
	bytes, _ := q.body["maximumBytesBilled"].(string)
	name := fromTable.FindStringSubmatch(sql)
	switch {
	case q.body["useLegacySql"] != false:
		return nil, newFailure(http.StatusBadRequest, "invalidQuery", "Backticks are not legacy SQL.")
	case name == nil:
		return nil, newFailure(http.StatusBadRequest, "invalidQuery", "Syntax error: no table is named.")
	case bytes == "" || strings.Contains(sql, "*,") || strings.Contains(sql, "SELECT *"):
		return nil, newFailure(http.StatusBadRequest, "bytesBilledLimitExceeded", "Query exceeded limit for "+
			"bytes billed.")
	}
	i := slices.IndexFunc(c.tables, func(t BillingTable) bool {
		return t.Project == name[1] && t.Dataset == name[2] && t.ID == name[3]
	})
	if i < 0 || c.tables[i].Location != location {
		return nil, newFailure(
			http.StatusNotFound, "notFound", "Not found: Table %s was not found in location %s", name[1], location)
	}
	a, refused := c.execute(c.tables[i], sql)
	if refused != nil {
		return nil, refused
	}
	if c.answers == nil {
		c.answers = map[string]*queryAnswer{}
	}
	id := fmt.Sprint("job-", c.nextNumber())
	c.answers[id] = a
	return c.pageOf(q, id, 0), nil
}

// execute answers a query from the engine, or from the rows of the table.
func (c *Cloud) execute(t BillingTable, sql string) (*queryAnswer, *failure) {
	a := &queryAnswer{location: t.Location, waits: c.Slow}
	if c.Engine != nil {
		var err error
		if a.columns, a.rows, err = c.Engine.Query(sql); err != nil {
			return nil, newFailure(http.StatusBadRequest, "invalidQuery", "%v", err)
		}
		return a, nil
	}
	a.columns = columnsOf(sql)
	month, since := ofMonth.FindStringSubmatch(sql), sinceDay.FindStringSubmatch(sql)
	switch {
	case month != nil:
		a.rows = t.billed(month[3], month[1], month[2])
	case since != nil:
		a.rows = t.partitions(since[1])
	default:
		return nil, newFailure(http.StatusBadRequest, "invalidQuery", "Only an engine answers this query.")
	}
	return a, nil
}

// columnsOf are the columns of the outermost SELECT.
func columnsOf(sql string) []string {
	list, _, _ := strings.Cut(strings.TrimPrefix(sql, "SELECT "), "\nFROM")
	var out []string
	depth, start := 0, 0
	for i, r := range list + "," {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			out = append(out, ofColumn.FindStringSubmatch(strings.TrimSpace(list[start:i]))[1])
			start = i + 1
		}
	}
	return out
}

func (c *Cloud) queryResults(q request) (any, *failure) {
	a := c.answers[q.args[1]]
	if a == nil || a.location != q.URL.Query().Get("location") {
		return nil, missingFailure("job %s in %s", q.args[1], q.URL.Query().Get("location"))
	}
	from, _ := strconv.Atoi(q.URL.Query().Get("pageToken"))
	return c.pageOf(q, q.args[1], from), nil
}

// pageOf is a page of an answer, as the query itself or the question for its results tells it.
func (c *Cloud) pageOf(q request, id string, from int) map[string]any {
	a := c.answers[id]
	out := map[string]any{"jobReference": map[string]string{
		"projectId": q.args[0], "jobId": id,
		"location": a.location,
	}, "totalBytesProcessed": "1024"}
	if a.waits {
		a.waits = false
		out["jobComplete"] = false
		delete(out, "totalBytesProcessed")
		return out
	}
	to := len(a.rows)
	if c.Page > 0 && from+c.Page < to {
		to = from + c.Page
		out["pageToken"] = strconv.Itoa(to)
	}
	fields, rows := []any{}, []any{}
	for _, name := range a.columns {
		fields = append(fields, map[string]string{"name": name, "type": "STRING"})
	}
	for _, r := range a.rows[from:to] {
		cells := []any{}
		for _, name := range a.columns {
			cell := map[string]any{"v": nil}
			if v, ok := r[name]; ok {
				cell["v"] = v
			}
			cells = append(cells, cell)
		}
		rows = append(rows, map[string]any{"f": cells})
	}
	out["jobComplete"], out["schema"], out["rows"], out["totalRows"] = true, map[string]any{"fields": fields}, rows,
		strconv.Itoa(len(a.rows))
	return out
}
