package wire

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/aws/smithy-go/encoding/httpbinding"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Protocol is one of AWS's ways to write requests and responses. EC2 and Query read the names of parameters from the
// struct tag "form"; JSON and RESTJSON from "json". The REST protocols read the names of labels in the path from "uri",
// of parameters in the address from "query" and of headers from "header".
type Protocol interface {
	encode(req *smithyhttp.Request, op Operation, in any) (*smithyhttp.Request, error)
	decode(body io.Reader, op Operation, out any) error
	decodeError(h http.Header, body []byte) (failure, error)
}

// failure is an error that a service reports.
type failure struct{ code, message, requestID string }

// newPost makes the request of a protocol that sends every operation as a POST to the root of the endpoint.
func newPost(req *smithyhttp.Request, contentType string, body []byte) (*smithyhttp.Request, error) {
	req.Method, req.URL.Path = http.MethodPost, smithyhttp.JoinPath(req.URL.Path, "/")
	req.Header.Set("Content-Type", contentType)
	return req.SetStream(bytes.NewReader(body))
}

// bindRequest makes the request of a REST protocol, without a body.
func bindRequest(req *smithyhttp.Request, op Operation, in any) (*httpbinding.Encoder, error) {
	path, query := httpbinding.SplitURI(op.URI)
	req.Method, req.URL.Path = op.Method, smithyhttp.JoinPath(req.URL.Path, path)
	req.URL.RawQuery = smithyhttp.JoinRawQuery(req.URL.RawQuery, query)
	enc, err := httpbinding.NewEncoder(req.URL.Path, req.URL.RawQuery, req.Header)
	if err != nil {
		return nil, err
	}
	return enc, bindFields(enc, in)
}

// orEnd returns nil for the end of an empty response, because the SDK treats it as a response without data.
func orEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
