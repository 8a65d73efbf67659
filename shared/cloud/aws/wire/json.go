package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/restjson"
	"github.com/aws/smithy-go/encoding/httpbinding"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// JSON is the protocol AWS JSON 1.0 or 1.1.
type JSON struct {
	Version string // "1.0" or "1.1"
	Target  string // prefix of the operation in the header X-Amz-Target
	// QueryCompatible says that the service used the protocol Query before and still reports errors with its codes.
	QueryCompatible bool
}

func (j JSON) encode(req *smithyhttp.Request, op Operation, in any) (*smithyhttp.Request, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-Amz-Target", j.Target+"."+op.Name)
	if j.QueryCompatible {
		req.Header.Set("X-Amzn-Query-Mode", "true")
	}
	return newPost(req, "application/x-amz-json-"+j.Version, body)
}

func (JSON) decode(body io.Reader, _ Operation, out any) error { return decodeJSON(body, out) }

func (j JSON) decodeError(h http.Header, body []byte) (failure, error) {
	f, err := decodeJSONError(h, body)
	if code, _, _ := strings.Cut(h.Get("X-Amzn-Query-Error"), ";"); j.QueryCompatible && code != "" {
		f.code = code
	}
	return f, err
}

// RESTJSON is the protocol AWS REST JSON 1.
type RESTJSON struct{}

func (RESTJSON) encode(req *smithyhttp.Request, op Operation, in any) (*smithyhttp.Request, error) {
	enc, err := bindRequest(req, op, in)
	if err != nil {
		return nil, err
	}
	if op.Body {
		body, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		enc.SetHeader("Content-Type").String("application/json")
		if req, err = req.SetStream(bytes.NewReader(body)); err != nil {
			return nil, err
		}
	}
	req.Request, err = enc.Encode(req.Request)
	return req, err
}

func (RESTJSON) decode(body io.Reader, _ Operation, out any) error { return decodeJSON(body, out) }

func (RESTJSON) decodeError(h http.Header, body []byte) (failure, error) {
	return decodeJSONError(h, body)
}

func decodeJSON(body io.Reader, out any) error {
	if err := orEnd(json.NewDecoder(body).Decode(out)); err != nil {
		return fmt.Errorf("failed to decode response body, %w", err)
	}
	return nil
}

// decodeJSONError reads an error as the SDK does: the header comes first, then the type, then the code.
func decodeJSONError(h http.Header, body []byte) (failure, error) {
	var info struct {
		Type    string `json:"__type"`
		Message string
		Code    any
	}
	if err := decodeJSON(bytes.NewReader(body), &info); err != nil {
		return failure{}, err
	}
	code, _ := info.Code.(string)
	for _, first := range []string{info.Type, h.Get("X-Amzn-ErrorType")} {
		if first != "" {
			code = first
		}
	}
	return failure{code: restjson.SanitizeErrorCode(code), message: info.Message}, nil
}

// bindFields writes the fields of in that belong to the path, the query and the headers.
func bindFields(enc *httpbinding.Encoder, in any) error {
	if p, is := in.(*Params); is {
		return p.bind(enc)
	}
	v := reflect.Indirect(reflect.ValueOf(in))
	for f, field := range v.Fields() {
		text := textOf(field)
		if name := f.Tag.Get("uri"); name != "" {
			if text == "" {
				return fmt.Errorf("input member %s must not be empty", name)
			}
			if err := enc.SetURI(name).String(text); err != nil {
				return err
			}
		}
		if field.IsZero() {
			continue
		}
		if name := f.Tag.Get("query"); name != "" {
			bindQuery(enc, name, field)
		}
		if name := f.Tag.Get("header"); name != "" {
			enc.SetHeader(name).String(text)
		}
	}
	return nil
}

// bindQuery adds a parameter to the address; a list is added once for each member.
func bindQuery(enc *httpbinding.Encoder, name string, v reflect.Value) {
	if v.Kind() != reflect.Slice {
		enc.SetQuery(name).String(textOf(v))
		return
	}
	for i := range v.Len() {
		enc.AddQuery(name).String(textOf(v.Index(i)))
	}
}
