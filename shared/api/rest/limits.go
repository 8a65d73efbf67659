package rest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// The limits of the interface. The gateway refuses some requests earlier, with a page; these apply to all others.
const (
	MaxBody  = 1 << 20 // bytes
	MaxURI   = 8 << 10 // bytes
	MaxDepth = 32      // levels of JSON
)

// panicked is a panic as the cause of a 500.
type panicked struct{ value any }

// Error returns the value.
func (p panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// readBody reads the body into memory, and refuses bodies and queries that no handler should see.
func (x *exchange) readBody() huma.StatusError {
	if err := x.checkQuery(); err != nil {
		return errorForStatus(x.operation(), http.StatusBadRequest, err.Error())
	}
	if x.r.Body == nil || x.r.Body == http.NoBody {
		return nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(x.ResponseWriter, x.r.Body, MaxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return errorForStatus(x.operation(), http.StatusRequestEntityTooLarge, "the body is larger than 1 MiB")
	}
	if err != nil {
		return errorForStatus(x.operation(), http.StatusBadRequest, "the body could not be read")
	}
	x.body, x.r.Body = body, io.NopCloser(bytes.NewReader(body))
	if err := x.checkBody(); err != nil {
		return errorForStatus(x.operation(), http.StatusBadRequest, err.Error())
	}
	return nil
}

// checkBody checks the body of an operation with JSON.
func (x *exchange) checkBody() error {
	body := x.route.hop.RequestBody
	if body == nil || body.Content[contentJSON] == nil || len(x.body) == 0 {
		return nil
	}
	if t := x.r.Header.Get("Content-Type"); !isJSON(t) {
		return fmt.Errorf("body: Content-Type %.64q is not supported, send application/json", t)
	}
	if e := x.r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return fmt.Errorf("body: Content-Encoding %.32q is not supported, send it plain", e)
	}
	return checkStrictJSON(x.body, x.route.body)
}

// isJSON reports whether a Content-Type is JSON. An empty one is.
func isJSON(kind string) bool {
	if kind == "" {
		return true
	}
	t, _, err := mime.ParseMediaType(kind)
	return err == nil && (t == contentJSON || strings.HasSuffix(t, "+json"))
}
