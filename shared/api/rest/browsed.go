package rest

import (
	"context"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// Browsed is the answer of an operation that a program calls, or the browser of a person: data for the program, a page
// or a redirect for the browser. The interface description shows the data, and 303.
type Browsed[T any] struct {
	Data T
	// Page is sent instead of the data, unless it is nil.
	Page *Raw
}

// browsed is implemented by all Browsed types.
type browsed interface {
	content() any
	dataType() reflect.Type
}

// content returns what is sent.
func (b Browsed[T]) content() any {
	if b.Page == nil {
		return b.Data
	}
	return *b.Page
}

func (b Browsed[T]) dataType() reflect.Type { return reflect.TypeFor[T]() }

// noteShownFailure records the status of a failure that the answer tells a person by a page or a redirect.
func noteShownFailure(ctx context.Context, op *Op, err error) {
	x, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		return
	}
	x.shown = http.StatusInternalServerError
	if e, ok := clientError(ctx, op, err).(huma.StatusError); ok { //nolint:errorlint // clientError wraps nothing
		x.shown = e.GetStatus()
	}
}

// isBrowsed reports whether the operation also answers browsers.
func (o *operation) isBrowsed() bool {
	_, ok := reflect.TypeAssert[browsed](reflect.Zero(o.output))
	return ok
}

// describeBrowsed adds the redirect of a browser to the description of an operation, and its page if it has one.
func (o *operation) describeBrowsed(hop *huma.Operation) {
	if !o.isBrowsed() {
		return
	}
	hop.Responses[strconv.Itoa(http.StatusSeeOther)] = &huma.Response{
		Description: "To the web console, for a browser that began there",
		Headers: map[string]*huma.Param{"Location": {
			Description: "Path of the console; it has no token and no code",
			Schema:      &huma.Schema{Type: huma.TypeString},
		}},
	}
	for _, kind := range o.contentTypes() {
		hop.Responses[strconv.Itoa(o.Status)].Content[mediaType(kind)] = &huma.MediaType{}
	}
}
