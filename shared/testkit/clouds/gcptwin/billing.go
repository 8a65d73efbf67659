package gcptwin

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lamplighter.dev/shared/foundation/money"
)

// BillingTable is a table of a billing export in BigQuery.
type BillingTable struct {
	Project, Dataset, Location, ID string
	Columns                        []string // its top-level columns
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
			fields := []any{}
			for _, name := range t.Columns {
				fields = append(fields, map[string]string{"name": name, "type": "STRING"})
			}
			return map[string]any{"schema": map[string]any{"fields": fields}}, nil
		}
	}
	return nil, missingFailure("table %s", strings.Join(q.args, "."))
}

var (
	fromTable = regexp.MustCompile("FROM `([^`.]+)\\.([^`.]+)\\.([^`]+)`")
	ofMonth   = regexp.MustCompile(`(?:invoice\.month|BillingPeriodStart\)\)) = '(\d{6})'`)
	sinceDay  = regexp.MustCompile(`(?:TIMESTAMP|DATE) '(\d{4}-\d{2}-\d{2})'`)
	ofColumn  = regexp.MustCompile(`(?:\bAS )?(\w+)$`)
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
	a := &queryAnswer{columns: columnsOf(sql), location: location, waits: c.Slow}
	if month := ofMonth.FindStringSubmatch(sql); month != nil {
		a.rows = c.tables[i].billed(month[1])
	} else {
		a.rows = c.tables[i].partitions(sinceDay.FindStringSubmatch(sql)[1])
	}
	if c.answers == nil {
		c.answers = map[string]*queryAnswer{}
	}
	id := fmt.Sprint("job-", c.nextNumber())
	c.answers[id] = a
	return c.pageOf(q, id, 0), nil
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

// partitions tells of each month and day since how many rows there are, and when the last of them came.
func (t BillingTable) partitions(since string) []map[string]string {
	counts, last := map[[2]string]int{}, map[[2]string]string{}
	month := strings.ReplaceAll(since, "-", "")[:6]
	for _, r := range t.Rows {
		if at := [2]string{r.Month, r.Partition}; r.Month >= month && r.Partition >= since {
			counts[at]++
			last[at] = max(last[at], r.Exported)
		}
	}
	var out []map[string]string
	for at, n := range counts {
		out = append(out,
			map[string]string{"month": at[0], "day": at[1], "exported": last[at], "content": strconv.Itoa(n)})
	}
	slices.SortFunc(out, func(a, b map[string]string) int {
		return strings.Compare(a["month"]+a["day"], b["month"]+b["day"])
	})
	return out
}

var categories = map[string]string{"regular": "Usage", "tax": "Tax"}

// billed returns the charges of a month: sums by day, price, resource and labels, and a row for each credit.
func (t BillingTable) billed(month string) []map[string]string {
	sums := map[string]map[string]string{}
	add := func(r BillingRow, category, about, amount string) {
		row := map[string]string{
			"BillingAccountId": "01-AB", "SubAccountId": r.Project, "ServiceName": r.Service, "SkuId": r.SKU,
			"RegionId": r.Region, "ResourceId": r.Resource,
			"BillingCurrency": r.Currency, "ChargePeriodStart": r.Day + "T00:00:00Z", "Tags": r.Labels,
			"ChargeCategory": category, "ChargeDescription": about,
		}
		key := fmt.Sprint(row)
		if sums[key] == nil {
			sums[key], row["BilledCost"] = row, "0"
		}
		total := money.MustParse(sums[key]["BilledCost"]).Add(money.MustParse(amount)).String()
		sums[key]["BilledCost"], sums[key]["EffectiveCost"] = total, total
	}
	for _, r := range t.Rows {
		if r.Month != month {
			continue
		}
		category := categories[r.CostType]
		if category == "" {
			category = "Adjustment"
		}
		add(r, category, r.SKU, r.Cost)
		for name, amount := range r.Credits {
			add(r, "Credit", name, amount)
		}
	}
	var keys []string
	for k := range sums {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var out []map[string]string
	for _, k := range keys {
		out = append(out, sums[k])
	}
	return out
}
