package costqueries

import (
	"context"
	"strconv"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/costquery"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// planned is the status of a dry run.
const planned costquery.Status = "planned"

// Question is a question, with its answer when that is available.
type Question struct {
	JobID        string     `json:"jobID" doc:"The job that answers the question; empty for a dry run" example:"qry_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	QueryID      string     `json:"queryID" deprecated:"true" doc:"The same as jobID, which takes its place"`
	Status       string     `json:"status" enum:"planned,pending,running,succeeded,failed" doc:"planned: of a dry run"`
	StatusURL    string     `json:"statusURL" doc:"Path to poll" example:"/reports/queries/qry_01k"`
	ScannedBytes int64      `json:"scannedBytes" doc:"The bytes scanned of the files of line items: computed from the sizes that the files state for the columns read, or reported by Athena with its answer"`
	PriceUSD     string     `json:"priceUSD" doc:"The price that Athena charges for these bytes. A service on a laptop does not use Athena, and pays nothing" example:"0.000050"`
	Columns      []string   `json:"columns" doc:"The columns of the question, BillingCurrency, and the measures"`
	Rows         [][]string `json:"rows" doc:"Texts; amounts are decimals, to the last digit"`
	RowCount     int        `json:"rowCount" doc:"Rows of the answer on all pages"`
	Truncated    bool       `json:"truncated" doc:"There are more rows than limit"`
	NextCursor   *string    `json:"nextCursor" doc:"Where further rows begin: the parameter cursor; null behind the last"`
	Error        *string    `json:"error" doc:"Why it failed"`
	CreatedAt    *time.Time `json:"createdAt" doc:"Null of a dry run"`
	CompletedAt  *time.Time `json:"completedAt"`
}

func newQuestion(r *costquery.Record) Question {
	out := Question{
		JobID: r.ID, QueryID: r.ID, Status: string(r.Status), ScannedBytes: r.Scanned,
		PriceUSD: costquery.Price(r.Scanned).Fixed(6),
		Columns:  append([]string{}, r.Columns...), Rows: [][]string{}, RowCount: r.Rows, Truncated: r.Truncated,
		Error: rest.Optional(r.Error), CreatedAt: rest.Optional(r.CreatedAt), CompletedAt: rest.Optional(r.EndedAt),
	}
	if r.ID != "" {
		out.StatusURL = queries + "/" + r.ID
	}
	return out
}

type getInput struct {
	QueryID string `path:"queryID" maxLength:"64"`
	Cursor  string `query:"cursor" maxLength:"16" doc:"Where to go on, as nextCursor has it"`
}

// get returns a question. Each call advances an unfinished question.
func (s *service) get(ctx context.Context, in *getInput) (Question, error) {
	org := identity.CallerOrg(ctx)
	r, err := s.readVisible(ctx, in.QueryID)
	if err == nil && r.EndedAt.IsZero() {
		if err = s.advance(ctx, org, r.ID); err == nil {
			r, err = costquery.ReadRecord(ctx, s.p.Table, org, in.QueryID)
		}
	}
	if err != nil {
		return Question{}, err
	}
	return s.page(ctx, org, &r, in.Cursor)
}

// readVisible returns a question that the caller may see. A caller who may see all costs of the organization sees
// every question. Other callers see their own questions, as long as they have the same grants as when they asked.
func (s *service) readVisible(ctx context.Context, queryID string) (costquery.Record, error) {
	c := identity.CallerFrom(ctx)
	if !id.IsValid("qry", queryID) {
		return costquery.Record{}, costquery.Missing(queryID)
	}
	r, err := costquery.ReadRecord(ctx, s.p.Table, c.Org, queryID)
	if err == nil && !c.Scopes(report.Policy).All && !r.IsOf(c) {
		return costquery.Record{}, costquery.Missing(queryID)
	}
	return r, err
}

// page adds the rows at a cursor to the answer.
func (s *service) page(ctx context.Context, org string, r *costquery.Record, cursor string) (Question, error) {
	out, n := newQuestion(r), 0
	if cursor != "" {
		var err error
		if n, err = strconv.Atoi(cursor); err != nil || n < 1 || n >= r.Pages {
			return out, fault.New(fault.Invalid, "cursor: %.16q is none that an answer to %s has given", cursor, r.ID)
		}
	}
	if n >= r.Pages {
		return out, nil
	}
	p, err := costquery.ReadPage(ctx, s.p.Table, costquery.PageKey(org, r.ID, n))
	if err != nil {
		return out, err
	}
	out.Rows = p.Rows
	if n+1 < r.Pages {
		out.NextCursor = new(strconv.Itoa(n + 1))
	}
	return out, nil
}
