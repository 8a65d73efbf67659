package gcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

var (
	_ cloud.Biller      = (*conn)(nil)
	_ cloud.BillSpender = (*conn)(nil)
)

// Deliveries lists the months of the billing export in BigQuery, for all billing accounts together. An export has no
// deliveries: rows are added to its tables. A month counts as a new delivery when a day of the table that contains it
// has more rows, or later ones.
func (c *conn) Deliveries(ctx context.Context, from time.Time) ([]cloud.Delivery, error) {
	tables, err := c.findTables(ctx)
	if err != nil {
		return nil, err
	}
	by := map[time.Time]*cloud.Delivery{}
	for _, t := range tables {
		if err := c.addMonths(ctx, t, monthOf(from), by); err != nil {
			return nil, err
		}
	}
	var out []cloud.Delivery
	for _, d := range by {
		out = append(out, *d)
	}
	slices.SortFunc(out, func(a, b cloud.Delivery) int { return a.Period.Compare(b.Period) })
	if len(out) == 0 {
		return nil, noExport(c.project, len(tables))
	}
	return out, nil
}

func noExport(project string, tables int) error {
	message := "there is no table of a billing export in the project " + project +
		": switch on the detailed usage cost export in the console of " +
		"Cloud Billing (Billing export, BigQuery export), into a dataset of the multi-region US or EU, and name it " +
		"in billing.dataset where it is in another project"
	if tables > 0 {
		message = "the billing export holds nothing of these months yet: Google fills a dataset of a multi-region " +
			"with this month and the one before, within five days, any other from the day it is switched on"
	}
	return &cloud.Error{Class: cloud.NotFound, Code: "NoDelivery", Message: message}
}

func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// addMonths adds the months of a table.
func (c *conn) addMonths(ctx context.Context, t billTable, from time.Time, by map[time.Time]*cloud.Delivery) error {
	rows, err := c.queryAll(ctx, t.location, t.partitionsSQL(from))
	if err != nil {
		return err
	}
	for start := 0; start < len(rows); {
		end := start
		for end < len(rows) && rows[end]["month"] == rows[start]["month"] {
			end++
		}
		month, err := time.Parse("200601", rows[start]["month"])
		if err != nil {
			return cloud.ErrInvalid("%s has rows of the month %.20q", t.qualifiedName(), rows[start]["month"])
		}
		d := by[month]
		if d == nil {
			d = &cloud.Delivery{
				Source: cloud.BigQueryExport, Export: t.qualifiedName(), Period: month,
				Form: cloud.FOCUSForm,
				Rows: -1, DeliveredAt: month,
			}
			by[month] = d
		} else {
			d.Export += ", " + t.qualifiedName()
		}
		t.addTo(d, rows[start:end])
		start = end
	}
	return nil
}

// addTo adds the table's content of one month to the delivery. The rows describe the days of that month.
func (t billTable) addTo(d *cloud.Delivery, rows []map[string]string) {
	s := span{month: d.Period}
	sum := sha256.New()
	fmt.Fprintln(sum, d.Fingerprint, t.qualifiedName())
	for _, r := range rows {
		fmt.Fprintln(sum, r["day"], r["exported"], r["content"])
		if day := r["day"]; day != "" {
			s.from, s.to = min(cmp.Or(s.from, day), day), max(s.to, day)
		}
		if at, err := time.Parse(time.RFC3339Nano, r["exported"]); err == nil && at.After(d.DeliveredAt) {
			d.DeliveredAt = at
		}
	}
	if s.from == "" { // all of it has come just now
		s.from, s.to = d.Period.Format(time.DateOnly), d.Period.Format(time.DateOnly)
	}
	d.Fingerprint = hex.EncodeToString(sum.Sum(nil)[:16])
	d.Files = append(d.Files, cloud.BillFile{Name: t.fileName(s), Size: -1, Rows: -1})
	if t.hasPrefix(standardTable) {
		d.Notice = "the export " + t.id + " names no resources: switch on the detailed usage cost export beside it"
	}
}

// fileName is the address of a month in a table, with all parameters of its query.
func (t billTable) fileName(s span) string {
	var columns []string
	for c := range t.columns {
		columns = append(columns, c)
	}
	slices.Sort(columns)
	q := url.Values{
		"month": {s.month.Format("2006-01")}, "from": {s.from}, "to": {s.to}, "location": {t.location},
		"columns": {strings.Join(columns, ",")},
	}
	return "bigquery://" + t.project + "/" + t.dataset + "/" + t.id + "?" + q.Encode()
}

// parseFile splits the address of a file. Its parts go into a query, so ok is false unless they are names and days.
func parseFile(name string) (t billTable, s span, ok bool) {
	rest, ok := strings.CutPrefix(name, "bigquery://")
	path, query, _ := strings.Cut(rest, "?")
	parts := strings.Split(path, "/")
	q, err := url.ParseQuery(query)
	if !ok || len(parts) != 3 || err != nil {
		return t, s, false
	}
	t = billTable{
		project: parts[0], dataset: parts[1], id: parts[2], location: q.Get("location"),
		columns: map[string]bool{},
	}
	for c := range strings.SplitSeq(q.Get("columns"), ",") {
		t.columns[c] = true
	}
	s = span{from: q.Get("from"), to: q.Get("to")}
	s.month, err = time.Parse("2006-01", q.Get("month"))
	_, fromErr := time.Parse(time.DateOnly, s.from)
	_, toErr := time.Parse(time.DateOnly, s.to)
	named := projectID.MatchString(t.project) && datasetName.MatchString(t.dataset) && tableName.MatchString(t.id)
	return t, s, named && err == nil && fromErr == nil && toErr == nil
}

// OpenBill asks BigQuery for a month; the question is asked when the first of the answer is read.
func (c *conn) OpenBill(ctx context.Context, _ cloud.Delivery, file cloud.BillFile) (cloud.BillReader, error) {
	t, s, ok := parseFile(file.Name)
	if !ok {
		return nil, cloud.ErrInvalid("%.300q is not the address of a month in a billing export", file.Name)
	}
	more := map[string]string{
		"ProviderName": "Google Cloud", "InvoiceIssuerName": "Google Cloud",
		"BillingPeriodStart": s.month.Format(time.RFC3339),
		"BillingPeriodEnd":   s.month.AddDate(0, 1, 0).Format(time.RFC3339),
	}
	return c.queryLines(ctx, t.location, t.billSQL(s), more), nil
}

// ControlTotal returns nothing, because Google's only interface to costs is the export itself.
func (*conn) ControlTotal(context.Context, time.Time) (total, currency string, ok bool, err error) {
	return "", "", false, nil
}
