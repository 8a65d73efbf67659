package rest

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
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

// Skip returns how many items lie before the page.
func (p Page) Skip() int { return (p.Page - 1) * p.Limit }

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

// PageOf returns the page of all that p asks for; behind the last item it is empty.
func PageOf[T any](all []T, p Page) List[T] {
	from := min(p.Skip(), len(all))
	return List[T]{Items: all[from:min(from+p.Limit, len(all))], Total: len(all), Page: p.Page, Limit: p.Limit}
}

// WithItems returns the same page with items in the place of its own, as when they are shown with what else is known of them.
func WithItems[T, U any](l List[T], items []U) List[U] {
	return List[U]{Items: items, Total: l.Total, Page: l.Page, Limit: l.Limit}
}

// MapItems returns the same page with each item as show shows it.
func MapItems[T, U any](l List[T], show func(T) U) List[U] {
	items := make([]U, len(l.Items))
	for i, v := range l.Items {
		items[i] = show(v)
	}
	return WithItems(l, items)
}

// Add takes v for the next item of all pages, and keeps it when it lies on this one. It is how a page is made of items
// that come one after another.
func (l *List[T]) Add(v T) {
	if l.Total >= (l.Page-1)*l.Limit && len(l.Items) < l.Limit {
		l.Items = append(l.Items, v)
	}
	l.Total++
}

// Job is the answer to a write that starts work: poll StatusURL until it ends.
type Job struct {
	JobID     string `json:"jobID" doc:"The job"`
	Status    string `json:"status" doc:"Where the job stands" example:"running"`
	StatusURL string `json:"statusURL" doc:"Path to poll" example:"/billing/sync-status"`
}
