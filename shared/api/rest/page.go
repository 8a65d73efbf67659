package rest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"lamplighter.dev/shared/foundation/fault"
)

// MaxLimit is the largest page that a list gives.
const MaxLimit = 100

// Page is the query of a paged list; embed it in an operation's input.
type Page struct {
	Page  int `query:"page" minimum:"1" maximum:"999999" default:"1" doc:"Which page, from 1"`
	Limit int `query:"limit" minimum:"1" default:"20" doc:"Items a page; more than 100 counts as 100"`
}

// Resolve holds a larger limit to MaxLimit.
func (p *Page) Resolve(huma.Context) []error {
	p.Limit = min(p.Limit, MaxLimit)
	return nil
}

// Skip is how many items lie before the page.
func (p Page) Skip() int { return (p.Page - 1) * p.Limit }

// Sort is the query that orders a list; embed it in an operation's input and call Check.
type Sort struct {
	By    string `query:"sort_by" doc:"The field to sort by"`
	Order string `query:"sort_order" enum:"asc,desc" doc:"Direction"`
}

// Check refuses a field that is not among fields; an empty one is the list's own order.
func (s Sort) Check(fields ...string) error {
	if s.By == "" || slices.Contains(fields, s.By) {
		return nil
	}
	return fault.New(fault.Invalid, "sort_by: %.64q is not one of %s", s.By, strings.Join(fields, ", "))
}

// Descending tells whether the last comes first.
func (s Sort) Descending() bool { return s.Order == "desc" }

// List is a page of items.
type List[T any] struct {
	Items []T `json:"items" doc:"The items of this page"`
	Total int `json:"total" doc:"How many there are on all pages"`
	Page  int `json:"page" doc:"Which page this is, from 1"`
	Limit int `json:"limit" doc:"Items a page"`
}

// MarshalJSON writes the list; no items are [], never null.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l.Items == nil {
		l.Items = []T{}
	}
	type plain List[T] // without this method
	return json.Marshal(plain(l))
}

// Deleted is the answer to a delete, and to taking something out of something else.
type Deleted struct {
	ID string `json:"id" doc:"Names what was deleted, or taken out of something: its id, or the address of a user"`
}

// Job is the answer to a write that starts work: poll StatusURL until it ends.
type Job struct {
	JobID     string `json:"jobID" doc:"The job"`
	Status    string `json:"status" doc:"Where the job stands" example:"running"`
	StatusURL string `json:"statusURL" doc:"Path to poll" example:"/billing/sync-status"`
}
