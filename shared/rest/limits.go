package rest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// The limits of the contract. The gateway refuses earlier, with a page; these hold where it does not.
const (
	MaxBody  = 1 << 20 // bytes
	MaxURI   = 8 << 10 // bytes
	MaxDepth = 32      // levels of JSON
)

// panicked is a panic as the cause of a 500.
type panicked struct{ value any }

// Error shows the value.
func (p panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// admit reads the body into memory and refuses what no handler should see.
func (x *exchange) admit() huma.StatusError {
	if x.r.Body == nil || x.r.Body == http.NoBody {
		return nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(x.ResponseWriter, x.r.Body, MaxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return shape(x.op(), http.StatusRequestEntityTooLarge, "the body is larger than 1 MiB")
	}
	if err != nil {
		return shape(x.op(), http.StatusBadRequest, "the body could not be read")
	}
	x.r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}
