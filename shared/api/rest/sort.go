package rest

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Order is a field for sorting a list of T. Compare may be nil if the items are sorted elsewhere, such as by an index.
// A first Order without a Field stands for the list's own order.
type Order[T any] struct {
	Field   string // value of sort_by
	Compare func(a, b T) int
	// LargestFirst makes the list descending if a request has no sort_order. The description of the operation documents
	// it.
	LargestFirst bool
}

// Orders declares once the fields for sorting a list. It is used for the description, for checking sort_by, and for
// sorting. The first one is the default.
type Orders[T any] interface{ Orders() []Order[T] }

// OrderBy sorts by the result of key.
func OrderBy[T any, K cmp.Ordered](field string, key func(T) K) Order[T] {
	return Order[T]{Field: field, Compare: func(a, b T) int { return cmp.Compare(key(a), key(b)) }}
}

// OrderByText sorts by the result of key, regardless of case.
func OrderByText[T any](field string, key func(T) string) Order[T] {
	return OrderBy(field, func(v T) string { return strings.ToLower(key(v)) })
}

// OrderByTime sorts by the result of key, earliest first.
func OrderByTime[T any](field string, key func(T) time.Time) Order[T] {
	return Order[T]{Field: field, Compare: func(a, b T) int { return key(a).Compare(key(b)) }}
}

// Sort is the query that sorts a list of T by one of the fields that O declares. Embed it in an operation's input.
// Other fields are refused before the handler is called.
type Sort[T any, O Orders[T]] struct {
	By    sortField[T, O]     `query:"sort_by" doc:"The field to sort by"`
	Order sortDirection[T, O] `query:"sort_order" doc:"Direction"`

	unordered bool // the request has no sort_order
}

// Field returns the field to sort by; "" means the list's own order.
func (s Sort[T, O]) Field() string { return cmp.Or(string(s.By), ordersOf[T, O]()[0].Field) }

// Descending reports whether the order is descending.
func (s Sort[T, O]) Descending() bool {
	for _, o := range ordersOf[T, O]() {
		if o.LargestFirst && s.unordered && o.Field == s.Field() {
			return true
		}
	}
	return s.Order == "desc"
}

// Apply sorts items in place. Equal items keep their order. Descending is the exact reverse of ascending.
func (s Sort[T, O]) Apply(items []T) {
	for _, o := range ordersOf[T, O]() {
		if o.Field == s.Field() && o.Compare != nil {
			slices.SortStableFunc(items, o.Compare)
		}
	}
	if s.Descending() {
		slices.Reverse(items)
	}
}

// Resolve records whether sort_order was sent. It refuses an undeclared field if the schema cannot, because the list
// has an order of its own.
func (s *Sort[T, O]) Resolve(ctx huma.Context) []error {
	s.unordered = ctx.Query("sort_order") == ""
	fields := fieldsOf[T, O]()
	if fields[0] != "" || s.By == "" || slices.Contains(fields, string(s.By)) {
		return nil
	}
	return []error{fmt.Errorf("sort_by: %.64q is not one of %s", s.By, strings.Join(fields[1:], ", "))}
}

// sortField is the value of sort_by.
type sortField[T any, O Orders[T]] string

// Schema documents the declared fields. If the list has an order of its own, which sort_by cannot name, the description
// of the operation lists them.
func (sortField[T, O]) Schema(huma.Registry) *huma.Schema {
	return enumerated(fieldsOf[T, O]()[0], fieldsOf[T, O]())
}

// sortDirection is the value of sort_order.
type sortDirection[T any, O Orders[T]] string

// Schema documents both directions.
func (sortDirection[T, O]) Schema(huma.Registry) *huma.Schema {
	s := enumerated("asc", []string{"asc", "desc"})
	if fieldsOf[T, O]()[0] == "" {
		s.Default = nil // the list's own order is not that of a field
	}
	return s
}

// enumerated returns the schema of a text that is one of values; first is the default. If first is "", any text is
// allowed.
func enumerated(first string, values []string) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	if first == "" {
		return s
	}
	s.Default = first
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
	return s
}

// ordersOf returns the orders that O declares. It panics if there are none, because the declaration is wrong.
func ordersOf[T any, O Orders[T]]() []Order[T] {
	var o O
	all := o.Orders()
	if len(all) == 0 {
		panic(fmt.Sprintf("rest: %s declares no order", reflect.TypeFor[O]()))
	}
	return all
}

// fieldsOf returns the fields of ordersOf.
func fieldsOf[T any, O Orders[T]]() []string {
	var out []string
	for _, o := range ordersOf[T, O]() {
		out = append(out, o.Field)
	}
	return out
}
