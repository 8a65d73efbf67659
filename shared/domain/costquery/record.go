package costquery

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Worker is the function that answers questions, because an API function must link neither a Parquet library nor a
// client of Athena.
const Worker = "queryrunner"

// Request asks the Worker to begin or continue a question. Its answer is empty: the record holds the result.
type Request struct {
	Org     string `json:"org"`
	QueryID string `json:"queryID"`
}

// Organisation returns the organization that the request belongs to.
func (r Request) Organisation() string { return r.Org }

// The partitions of questions and of the rows of their answers.
const (
	Partition       table.Partition = "ORG#*#COSTQUERY"
	AnswerPartition table.Partition = "ORG#*#COSTANSWER"
)

// Kept is how long a question and its answer are kept.
const Kept = 24 * time.Hour

// Status is the status of a question.
type Status string

// The statuses of a question.
const (
	Pending   Status = "pending"
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
)

// Record is a question with its status. Its rows are stored in pages.
type Record struct {
	ID        string    `json:"id"` // qry_…
	Query     Query     `json:"query"`
	Status    Status    `json:"status"`
	Scanned   int64     `json:"scanned"`             // in bytes: an estimate until the question is answered
	Execution string    `json:"execution,omitempty"` // the engine's ID of it
	Columns   []string  `json:"columns,omitempty"`
	Rows      int       `json:"rows,omitempty"`
	Pages     int       `json:"pages,omitempty"`
	Truncated bool      `json:"truncated,omitempty"` // the answer has more rows than the limit
	Error     string    `json:"error,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
	// the caller whose grants limit the question; empty for a question about the whole organization
	User   string `json:"user,omitempty"`
	Grants string `json:"grants,omitempty"` // the user's grants when asking: grant.Encode
}

// BindTo makes the question readable only for c, as long as c has its present grants.
func (r *Record) BindTo(c identity.Caller) { r.User, r.Grants = c.User, grant.Encode(c.Grants) }

// IsOf reports whether c asked the question with the same grants that c has now. A question about the whole
// organization belongs to no caller.
func (r *Record) IsOf(c identity.Caller) bool {
	return r.User != "" && r.User == c.User && r.Grants == grant.Encode(c.Grants)
}

// RecordKey returns the key of a question.
func RecordKey(org, queryID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "COSTQUERY", SK: queryID}
}

// PageKey returns the key of the n-th page of an answer's rows, from 0.
func PageKey(org, queryID string, n int) table.Key {
	return table.Key{PK: table.OrgPK(org) + "COSTANSWER", SK: fmt.Sprintf("%s#%05d", queryID, n)}
}

// PutRecord returns the write that stores a question.
func PutRecord(org string, r *Record, conds ...table.Cond) (table.Write, error) {
	it, err := table.NewItem(RecordKey(org, r.ID), r)
	it.Expires = r.CreatedAt.Add(Kept)
	return table.Put(it, conds...), err
}

// ReadRecord returns a question, or fault.NotFound.
func ReadRecord(ctx context.Context, s table.Store, org, queryID string) (Record, error) {
	r, err := table.Read[Record](ctx, s, RecordKey(org, queryID))
	if fault.Is(err, fault.NotFound) {
		return r, Missing(queryID)
	}
	return r, fault.Wrap("read question "+queryID, err)
}

// Missing returns the error (fault.NotFound) for a question that does not exist or that the caller may not read.
func Missing(queryID string) error {
	return fault.New(fault.NotFound, "there is no question %.64q that you may read; an answer is kept for a day",
		queryID)
}

// Page is some rows of an answer in their displayed form: keys and amounts.
type Page struct {
	Rows [][]string `json:"rows"`
}

// ReadPage reads a page of an answer's rows by its key.
func ReadPage(ctx context.Context, s table.Store, key table.Key) (Page, error) {
	p, err := table.Read[Page](ctx, s, key)
	return p, fault.Wrap("read rows "+key.SK, err)
}

// The limits of a page.
const (
	pageRows  = 1000
	pageBytes = 200_000
)

// PutPages returns the writes that store the rows of an answer, in as many pages as necessary.
func PutPages(org string, r *Record, a *Answer) ([]table.Write, error) {
	var out []table.Write
	var p Page
	size := 0
	end := func() error {
		it, err := table.NewItem(PageKey(org, r.ID, len(out)), p)
		it.Expires = r.CreatedAt.Add(Kept)
		out, p, size = append(out, table.Put(it)), Page{}, 0
		return err
	}
	for i := range a.Rows {
		row := a.Rows[i].texts()
		b, err := json.Marshal(row)
		if err != nil {
			return nil, fmt.Errorf("encode a row of %s: %w", r.ID, err)
		}
		if len(p.Rows) == pageRows || size > 0 && size+len(b) > pageBytes {
			if err = end(); err != nil {
				return nil, err
			}
		}
		p.Rows, size = append(p.Rows, row), size+len(b)
	}
	if len(p.Rows) == 0 {
		return out, nil
	}
	return out, end()
}

// texts returns the row in its displayed form.
func (r *Row) texts() []string {
	out := append(make([]string, 0, len(r.Keys)+len(r.Amounts)), r.Keys...)
	for _, a := range r.Amounts {
		out = append(out, a.String())
	}
	return out
}

// Engine answers questions.
type Engine interface {
	// Advance begins or continues to answer a question, and returns soon. fault.Invalid means that the question itself
	// is wrong and has failed. After any other error, call it again with the same job.
	Advance(ctx context.Context, j *Job) (Step, error)
}

// Job is a question as given to an engine.
type Job struct {
	Org       string
	ID        string
	Query     Query
	Items     []cost.LineItems // of the months of the question
	Execution string           // of the step before; "" at first
}

// Step is the progress of an engine with a question.
type Step struct {
	Execution string  // the engine's ID of it; "" before it has begun
	Answer    *Answer // nil until the question is answered
	Scanned   int64   // bytes, of an answer
}
