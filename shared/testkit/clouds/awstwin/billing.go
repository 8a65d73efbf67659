package awstwin

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// Export is an export of AWS Data Exports.
type Export struct {
	Name, Query            string // "SELECT … FROM FOCUS_1_2_AWS"
	Bucket, Prefix, Region string
	Unhealthy              string // AWS's reason; empty while it is healthy
}

// Report is a Cost and Usage Report.
type Report struct {
	Name, Bucket, Prefix, Region string
	Status                       string // of its last delivery; empty is SUCCESS
}

// Cost is the cost of a day in Cost Explorer.
type Cost struct{ Day, Account, Service, Region, Unblended, Amortized string }

// AddExport adds an export.
func (c *Cloud) AddExport(e Export) { add(c, &c.exports, e) }

// AddReport adds a report.
func (c *Cloud) AddReport(r Report) { add(c, &c.reports, r) }

// AddCost adds a cost to Cost Explorer.
func (c *Cloud) AddCost(k Cost) { add(c, &c.costs, k) }

// RemoveExports removes all exports and reports.
func (c *Cloud) RemoveExports() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exports, c.reports = nil, nil
}

// inBillingRegion refuses requests to other regions: only one region has the services of billing.
func inBillingRegion(q request) *failure {
	if q.region != "us-east-1" {
		return newFailure(http.StatusBadRequest, "UnknownOperationException", "no such service in %s", q.region)
	}
	return nil
}

func (e Export) arn() string {
	return "arn:aws:bcm-data-exports:us-east-1:" + Account + ":export/" + e.Name
}

func (e Export) status() map[string]any {
	if e.Unhealthy != "" {
		return map[string]any{"StatusCode": "UNHEALTHY", "StatusReason": e.Unhealthy}
	}
	return map[string]any{"StatusCode": "HEALTHY"}
}

func (c *Cloud) listExports(q request) (any, *failure) {
	from, to, next := c.cutPage(q, len(c.exports), "MaxResults", "NextToken")
	all := []any{}
	for _, e := range c.exports[from:to] {
		all = append(all, map[string]any{"ExportArn": e.arn(), "ExportName": e.Name, "ExportStatus": e.status()})
	}
	out := map[string]any{"Exports": all}
	if next != "" {
		out["NextToken"] = next
	}
	return out, inBillingRegion(q)
}

func (c *Cloud) getExport(q request) (any, *failure) {
	for _, e := range c.exports {
		if e.arn() != q.getString("ExportArn") {
			continue
		}
		return map[string]any{"ExportStatus": e.status(), "Export": map[string]any{
			"ExportArn": e.arn(), "Name": e.Name, "DataQuery": map[string]any{"QueryStatement": e.Query},
			"DestinationConfigurations": map[string]any{"S3Destination": map[string]any{
				"S3Bucket": e.Bucket, "S3Prefix": e.Prefix, "S3Region": e.Region,
				"S3OutputConfigurations": map[string]any{
					"OutputType": "CUSTOM", "Format": "TEXT_OR_CSV",
					"Compression": "GZIP", "Overwrite": "CREATE_NEW_REPORT",
				},
			}},
			"RefreshCadence": map[string]any{"Frequency": "SYNCHRONOUS"},
		}}, nil
	}
	return nil, newFailure(
		http.StatusBadRequest, "ResourceNotFoundException", "there is no export %s", q.getString("ExportArn"))
}

func (c *Cloud) listReports(q request) (any, *failure) {
	from, to, next := c.cutPage(q, len(c.reports), "MaxResults", "NextToken")
	all := []any{}
	for _, r := range c.reports[from:to] {
		status := r.Status
		if status == "" {
			status = "SUCCESS"
		}
		all = append(all, map[string]any{
			"ReportName": r.Name, "S3Bucket": r.Bucket, "S3Prefix": r.Prefix, "S3Region": r.Region, "TimeUnit": "DAILY",
			"Format":      "textORcsv",
			"Compression": "GZIP", "AdditionalSchemaElements": []string{"RESOURCES"},
			"ReportStatus": map[string]any{"lastStatus": status},
		})
	}
	out := map[string]any{"ReportDefinitions": all}
	if next != "" {
		out["NextToken"] = next
	}
	return out, inBillingRegion(q)
}

// group is the cost of one key of Cost Explorer in a period of time.
type group struct {
	start, end string
	keys       []string
	unblended  money.Amount
	amortized  money.Amount
}

func (g group) metrics() map[string]any {
	amount := func(a money.Amount) map[string]string { return map[string]string{"Amount": a.String(), "Unit": "USD"} }
	return map[string]any{"UnblendedCost": amount(g.unblended), "AmortizedCost": amount(g.amortized)}
}

// getCosts adds up costs by day and keys, or over the whole requested time.
func (c *Cloud) getCosts(q request) (any, *failure) {
	period, _ := q.body["TimePeriod"].(map[string]any)
	start, _ := period["Start"].(string)
	end, _ := period["End"].(string)
	if start >= end {
		return nil, newFailure(http.StatusBadRequest, "ValidationException", "Start date (and hour) should be before "+
			"end date (and hour)")
	}
	var by []string
	defs, _ := q.body["GroupBy"].([]any)
	for _, d := range defs {
		key, _ := d.(map[string]any)["Key"].(string)
		by = append(by, key)
	}
	groups := c.grouped(start, end, by, q.getString("Granularity") == "DAILY")
	if len(by) == 0 {
		all := []any{}
		for _, g := range groups {
			all = append(all,
				map[string]any{
					"TimePeriod": map[string]string{"Start": g.start, "End": g.end}, "Total": g.metrics(),
					"Groups": []any{}, "Estimated": true,
				})
		}
		return map[string]any{"ResultsByTime": all}, inBillingRegion(q)
	}
	size := max(c.Page, 1)
	if c.Page == 0 {
		size = len(groups) + 1
	}
	from, _ := strconv.Atoi(q.getString("NextPageToken"))
	to := min(from+size, len(groups))
	out := map[string]any{"ResultsByTime": byDay(groups[from:to])}
	if to < len(groups) {
		out["NextPageToken"] = strconv.Itoa(to)
	}
	return out, inBillingRegion(q)
}

// byDay returns the groups by day, each day once.
func byDay(groups []group) []any {
	all := []any{}
	for i := 0; i < len(groups); {
		g := groups[i]
		var in []any
		for ; i < len(groups) && groups[i].start == g.start; i++ {
			in = append(in, map[string]any{"Keys": groups[i].keys, "Metrics": groups[i].metrics()})
		}
		all = append(all,
			map[string]any{
				"TimePeriod": map[string]string{"Start": g.start, "End": g.end}, "Total": map[string]any{},
				"Groups": in,
			})
	}
	return all
}

// grouped returns the costs from start up to the day before end, one group per combination of the keys in by. With
// daily, each day has its own groups.
func (c *Cloud) grouped(start, end string, by []string, daily bool) []group {
	found := map[string]*group{}
	for _, k := range c.costs {
		if k.Day < start || k.Day >= end {
			continue
		}
		g := group{start: start, end: end}
		if daily {
			g.start, g.end = k.Day, dayAfter(k.Day)
		}
		for _, key := range by {
			g.keys = append(g.keys,
				map[string]string{"SERVICE": k.Service, "REGION": k.Region, "LINKED_ACCOUNT": k.Account}[key])
		}
		at := g.start + strings.Join(g.keys, "\x00")
		if found[at] == nil {
			found[at] = &g
		}
		found[at].unblended, found[at].amortized = sum(found[at].unblended, k.Unblended),
			sum(found[at].amortized, k.Amortized)
	}
	var out []group
	for _, g := range found {
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b group) int {
		return strings.Compare(a.start+strings.Join(a.keys, "\x00"), b.start+strings.Join(b.keys, "\x00"))
	})
	return out
}

// sum adds an amount that a test has set.
func sum(a money.Amount, more string) money.Amount { return a.Add(money.MustParse(more)) }

func dayAfter(day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic("the twin has a cost of no day: " + err.Error())
	}
	return at.AddDate(0, 0, 1).Format(time.DateOnly)
}
