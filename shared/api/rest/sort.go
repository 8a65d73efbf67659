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

// Order is a field that a list of T can be sorted by. Compare may be nil where the items are sorted elsewhere, as by an index.
// A first Order without a Field stands for the order in which the items come, when that is the list's own.
type Order[T any] struct {
	Field   string // the value of sort_by
	Compare func(a, b T) int
	// LargestFirst says that the list is descending when a request names no sort_order; the description of the
	// operation tells it.
	LargestFirst bool
}

// Orders declares once what a list can be sorted by, for the description, for the check of sort_by and for sorting itself. The
// first one is the order of a request that names none.
type Orders[T any] interface{ Orders() []Order[T] }

// OrderBy sorts by what key gives.
func OrderBy[T any, K cmp.Ordered](field string, key func(T) K) Order[T] {
	return Order[T]{Field: field, Compare: func(a, b T) int { return cmp.Compare(key(a), key(b)) }}
}

// OrderByText sorts by what key gives, without regard to case.
func OrderByText[T any](field string, key func(T) string) Order[T] {
	return OrderBy(field, func(v T) string { return strings.ToLower(key(v)) })
}

// OrderByTime sorts by what key gives, the earliest first.
func OrderByTime[T any](field string, key func(T) time.Time) Order[T] {
	return Order[T]{Field: field, Compare: func(a, b T) int { return key(a).Compare(key(b)) }}
}

// Sort is the query that orders a list of T by one of the fields that O declares; embed it in an operation's input. Any other
// field is refused before the handler is called.
type Sort[T any, O Orders[T]] struct {
	By    sortField[T, O]     `query:"sort_by" doc:"The field to sort by"`
	Order sortDirection[T, O] `query:"sort_order" doc:"Direction"`

	unordered bool // the request names no sort_order
}

// Field returns the field to sort by; "" is the list's own order.
func (s Sort[T, O]) Field() string { return cmp.Or(string(s.By), ordersOf[T, O]()[0].Field) }

// Descending reports whether the last comes first.
func (s Sort[T, O]) Descending() bool {
	for _, o := range ordersOf[T, O]() {
		if o.LargestFirst && s.unordered && o.Field == s.Field() {
			return true
		}
	}
	return s.Order == "desc"
}

// Apply sorts items in place. Those that are equal in the field stay in the order in which they come; descending is the
// exact reverse of ascending.
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

// Resolve notes whether sort_order was sent, and refuses a field that is not declared, where the schema cannot
// because the list has an order of its own.
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

// Schema documents the fields that are declared. Where the list has an order of its own, which sort_by cannot name, they are
// told in the description of the operation.
func (sortField[T, O]) Schema(huma.Registry) *huma.Schema {
	return enumerated(fieldsOf[T, O]()[0], fieldsOf[T, O]())
}

// sortDirection is the value of sort_order.
type sortDirection[T any, O Orders[T]] string

// Schema documents both directions.
func (sortDirection[T, O]) Schema(huma.Registry) *huma.Schema {
	s := enumerated("asc", []string{"asc", "desc"})
	if fieldsOf[T, O]()[0] == "" {
		s.Default = nil // not the order of a field, but the list's own
	}
	return s
}

// enumerated returns the schema of a text that is one of values, first when it is left out; of any text when first is "".
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

// ordersOf are the orders that O declares. That there are none is a mistake in a declaration.
func ordersOf[T any, O Orders[T]]() []Order[T] {
	var o O
	all := o.Orders()
	if len(all) == 0 {
		panic(fmt.Sprintf("rest: %s declares no order", reflect.TypeFor[O]()))
	}
	return all
}

// fieldsOf are the fields of ordersOf.
func fieldsOf[T any, O Orders[T]]() []string {
	var out []string
	for _, o := range ordersOf[T, O]() {
		out = append(out, o.Field)
	}
	return out
}
