package gcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"maps"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

const (
	// maxScanned bounds how many bytes one query may scan, so that a query of a table that a stranger made costs at
	// most about a dollar.
	maxScanned = 200 << 30
	// usdPerByte is BigQuery's price of a byte that is scanned, by demand: 6.25 USD for a TiB.
	usdPerByte = 6.25 / (1 << 40)
	// rowsInPage is the maximum number of rows in an answer; BigQuery ends it earlier at 10 MB.
	rowsInPage = 5_000
	// patience is how long a call waits for its query to end, below the time of a call; it is asked again so many
	// times.
	patience   = 10_000
	mostPolls  = 60
	mostPages  = 20_000
	mostTables = 2_000
)

// queryPage is the current page of the answer to a query.
type queryPage struct {
	job    googlerest.JobReference
	schema *googlerest.TableSchema
	rows   []googlerest.TableRow
	next   string
	done   bool
}

// startQuery asks BigQuery, and waits for the first page.
func (s *session) startQuery(ctx context.Context, location, sql string) (*queryPage, error) {
	got, err := call[googlerest.QueryResponse](ctx, s, googlerest.NewPost("bigquery.jobs.create",
		googlerest.BigQuery+"projects/{+projectId}/queries", s.project).Body(googlerest.QueryRequest{
		Query: sql, Location: location, MaxResults: rowsInPage, MaximumBytesBilled: maxScanned,
		TimeoutMs: patience,
		RequestID: rand.Text(), // an answer that was lost is asked for again, not the question
	}))
	if err != nil {
		return nil, err
	}
	a := &queryPage{got.JobReference, got.Schema, got.Rows, got.PageToken, got.JobComplete}
	s.charge(got.TotalBytesProcessed)
	for range mostPolls {
		if a.done {
			return a, nil
		}
		if err := s.nextPage(ctx, a); err != nil {
			return nil, err
		}
	}
	return nil, &cloud.Error{
		Class: cloud.Transient, Op: "bigquery.jobs.create", Code: "Timeout",
		Message: "the query did not end in 10 minutes",
	}
}

// nextPage reads the next page of an answer, or the first one once the query has ended.
func (s *session) nextPage(ctx context.Context, a *queryPage) error {
	r := googlerest.NewGet("bigquery.jobs.create", googlerest.BigQuery+"projects/{+projectId}/queries/{+jobId}",
		a.job.ProjectID, a.job.JobID).
		Set("location", a.job.Location).SetInt("maxResults", rowsInPage).SetInt("timeoutMs", patience)
	if a.next != "" {
		r.Set("pageToken", a.next)
	}
	got, err := call[googlerest.QueryResponse](ctx, s, r)
	if err != nil {
		return err
	}
	if !a.done {
		s.charge(got.TotalBytesProcessed)
	}
	a.rows, a.next, a.done = got.Rows, got.PageToken, got.JobComplete
	if got.Schema != nil {
		a.schema = got.Schema
	}
	return nil
}

func (s *session) charge(scanned int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scanned += scanned
}

// Spent returns the bytes that the queries have scanned so far, and their on-demand price.
func (s *session) Spent() cloud.BillSpending {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cloud.BillSpending{Bytes: s.scanned, USD: float64(s.scanned) * usdPerByte}
}

// records returns the rows of the page as maps from column name to text. A column that is null is left out.
func (a *queryPage) records() []map[string]string {
	if a.schema == nil {
		return nil
	}
	out := make([]map[string]string, len(a.rows))
	for i, row := range a.rows {
		out[i] = make(map[string]string, len(row.Cells))
		for j, cell := range row.Cells {
			if text, ok := cell.Value.(string); ok && j < len(a.schema.Fields) {
				out[i][a.schema.Fields[j].Name] = text
			}
		}
	}
	return out
}

// queryAll reads all pages.
func (s *session) queryAll(ctx context.Context, location, sql string) ([]map[string]string, error) {
	a, err := s.startQuery(ctx, location, sql)
	if err != nil {
		return nil, err
	}
	out := a.records()
	for n := 0; a.next != ""; n++ {
		if n == mostPages {
			return nil, cloud.ErrUnsupported("the answer has more than %d pages", mostPages)
		}
		if err := s.nextPage(ctx, a); err != nil {
			return nil, err
		}
		out = append(out, a.records()...)
	}
	return out, nil
}

// queryLines returns a reader of the answer as lines of JSON. The fields of more are added to each line.
func (s *session) queryLines(ctx context.Context, location, sql string, more map[string]string) cloud.BillReader {
	var a *queryPage
	return cloud.NewPagedBill(func() ([]byte, error) {
		var err error
		switch {
		case a == nil:
			a, err = s.startQuery(ctx, location, sql)
		case a.next == "":
			return nil, io.EOF
		default:
			err = s.nextPage(ctx, a)
		}
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		for _, row := range a.records() {
			maps.Copy(row, more)
			if err := e.Encode(row); err != nil {
				return nil, cloud.ErrInvalid("the answer of BigQuery cannot be written as JSON: %v", err)
			}
		}
		return b.Bytes(), nil
	})
}
