package rest

import (
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// totalHeader is the header with the number of items on all pages of an answer that is a bare array.
const totalHeader = "X-Total-Count"

// Counted is a page of a bare array. Clients get Total, the number of items on all pages, in X-Total-Count.
type Counted[T any] struct {
	Items []T
	Total int
}

// counted is implemented by all Counted types.
type counted interface {
	items() (any, int)
	list() reflect.Type
}

func (c Counted[T]) items() (any, int) { return c.Items, c.Total }

func (c Counted[T]) list() reflect.Type { return reflect.TypeFor[[]T]() }

// countItems returns the content of an answer, and the value of X-Total-Count. It is "" for an answer that is no bare
// array, and for a page whose total is unknown.
func (op *Op) countItems(out any) (any, string) {
	if c, ok := out.(counted); ok {
		items, total := c.items()
		return items, strconv.Itoa(total)
	}
	if op.wholeList {
		return out, strconv.Itoa(reflect.ValueOf(out).Len())
	}
	return out, ""
}

// isWholeList reports whether the answers of an operation are arrays with all items.
func isWholeList(input, output reflect.Type) bool {
	if output.Kind() != reflect.Slice || output == rawJSON {
		return false
	}
	for _, f := range reflect.VisibleFields(input) {
		if f.Tag.Get("query") == "limit" {
			return false
		}
	}
	return true
}

// data returns the type of the answer's content.
func (o *operation) data() reflect.Type {
	switch d := reflect.Zero(o.output).Interface().(type) {
	case drawn:
		return d.data()
	case browsed:
		return d.dataType()
	case counted:
		return d.list()
	}
	return o.output
}

// describeTotal adds the header X-Total-Count to the description of an operation that answers with it.
func (o *operation) describeTotal(hop *huma.Operation) {
	if _, ok := reflect.TypeAssert[counted](reflect.Zero(o.output)); !ok && !o.wholeList {
		return
	}
	addHeader(hop.Responses[strconv.Itoa(o.Status)], totalHeader, &huma.Param{
		Description: "Number of items on all pages", Schema: &huma.Schema{Type: huma.TypeInteger},
	})
}

// addHeader adds a header to the description of an answer.
func addHeader(to *huma.Response, name string, p *huma.Param) {
	if to.Headers == nil {
		to.Headers = map[string]*huma.Param{}
	}
	to.Headers[name] = p
}
