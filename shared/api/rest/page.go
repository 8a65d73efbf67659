package rest

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// MaxLimit is the largest page of a list.
const MaxLimit = 100

// Page is the query of a paged list. Embed it in an operation's input.
type Page struct {
	Page  int `query:"page" minimum:"1" maximum:"999999" default:"1" doc:"Number of the page, from 1"`
	Limit int `query:"limit" minimum:"1" default:"20" doc:"Items per page; more than 100 counts as 100"`
}

// Resolve limits a page to MaxLimit.
func (p *Page) Resolve(huma.Context) []error {
	p.Limit = min(p.Limit, MaxLimit)
	return nil
}

// Skip returns the number of items before the page.
func (p Page) Skip() int { return (p.Page - 1) * p.Limit }

// List is a page of items.
type List[T any] struct {
	Items []T `json:"items" doc:"The items of this page"`
	Total int `json:"total" doc:"Number of items on all pages"`
	Page  int `json:"page" doc:"Number of this page, from 1"`
	Limit int `json:"limit" doc:"Items per page"`
}

// MarshalJSON writes the list. Without items it writes [], never null.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l.Items == nil {
		l.Items = []T{}
	}
	type plain List[T] // without this method
	return json.Marshal(plain(l))
}

// Deleted is the answer to a deletion, and to removing a record from another one.
type Deleted struct {
	ID string `json:"id" doc:"ID of the deleted or removed record, or the address of a user"`
}

// PageOf returns the page p of all. A page after the last item is empty.
func PageOf[T any](all []T, p Page) List[T] {
	from := min(p.Skip(), len(all))
	return List[T]{Items: all[from:min(from+p.Limit, len(all))], Total: len(all), Page: p.Page, Limit: p.Limit}
}

// WithItems returns the same page with other items, for example with additional information.
func WithItems[T, U any](l List[T], items []U) List[U] {
	return List[U]{Items: items, Total: l.Total, Page: l.Page, Limit: l.Limit}
}

// MapItems returns the same page with each item converted by show.
func MapItems[T, U any](l List[T], show func(T) U) List[U] {
	items := make([]U, len(l.Items))
	for i, v := range l.Items {
		items[i] = show(v)
	}
	return WithItems(l, items)
}

// Add adds v as the next item of all pages, and keeps it if it is on this page. It makes a page of items that arrive
// one after the other.
func (l *List[T]) Add(v T) {
	if l.Total >= (l.Page-1)*l.Limit && len(l.Items) < l.Limit {
		l.Items = append(l.Items, v)
	}
	l.Total++
}

// Job is the answer to a write that starts a job: poll StatusURL until it ends.
type Job struct {
	JobID     string `json:"jobID" doc:"ID of the job"`
	Status    string `json:"status" doc:"Status of the job" example:"running"`
	StatusURL string `json:"statusURL" doc:"Path for polling the status" example:"/billing/sync-status"`
}
