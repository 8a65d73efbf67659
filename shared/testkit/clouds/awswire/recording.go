package awswire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Recording holds how the SDK's client of one service behaves.
type Recording struct {
	Service string
	// Endpoints are the host and the signing region by region.
	Endpoints  map[string][2]string
	Operations []Operation
}

// Operation is one operation in a recording.
type Operation struct {
	Name string
	// Request is sent for the input that Fill writes. AtAddress is the URL of the same request to Address.
	Request   Request
	AtAddress string
	Answers   []Answer
}

// Request is a request on the wire, without the parts that change from one request to the next.
type Request struct {
	Method, URL string
	Header      map[string]string
	// Signed names the credential scope without its day, and the headers in the signature.
	Signed string
	Body   any
}

// Answer is a response of the service, and the result or the error that the client makes of it.
type Answer struct {
	Name   string
	Status int
	Header map[string]string `json:",omitempty"`
	Body   string
	Want   any    `json:",omitempty"`
	Code   string `json:",omitempty"`
	// Message is the words of the service, empty where it gives none.
	Message string `json:",omitempty"`
	// Failed says that the answer cannot be read.
	Failed bool `json:",omitempty"`
}

// Region is where recordings are made, Address is the endpoint of an emulator.
const (
	Region  = "us-west-2"
	Address = "https://emulator.example:8443/aws"
)

// wireClient answers each request with one response, and keeps the request.
type wireClient struct {
	answer Answer
	sent   *http.Request
	body   []byte
}

// Do implements aws.HTTPClient. It records the request and returns the recorded answer.
func (w *wireClient) Do(r *http.Request) (*http.Response, error) {
	w.sent, w.body = r, nil
	if r.Body != nil {
		w.body, _ = io.ReadAll(r.Body)
	}
	h := http.Header{}
	for k, v := range w.answer.Header {
		h.Set(k, v)
	}
	return &http.Response{
		StatusCode: w.answer.Status, Header: h, Request: r,
		Body: io.NopCloser(strings.NewReader(w.answer.Body)),
	}, nil
}

// Client makes a client of a service, of this repository or of the SDK: New is its NewFromConfig.
type Client struct{ New any }

// Call calls an operation, which gets the answer, and returns its result, the request that was sent, and its error.
func (c Client) Call(region, address, op string, in any, a Answer) (reflect.Value, Request, error) {
	w := &wireClient{answer: a}
	cfg := aws.Config{
		Region: region, HTTPClient: w, AppID: "lamplighter",
		Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "secret", ""),
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
	}
	if address != "" {
		cfg.BaseEndpoint = &address
	}
	client := reflect.ValueOf(c.New).Call([]reflect.Value{reflect.ValueOf(cfg)})[0]
	out := client.MethodByName(op).Call([]reflect.Value{reflect.ValueOf(context.Background()), reflect.ValueOf(in)})
	err, _ := reflect.TypeAssert[error](out[1])
	return out[0], w.request(), err
}

// Input returns a new input of an operation.
func (c Client) Input(op string) any {
	t := reflect.TypeOf(c.New).Out(0)
	m, _ := t.MethodByName(op)
	return reflect.New(m.Type.In(2).Elem()).Interface()
}

// Output returns a new output of an operation.
func (c Client) Output(op string) any {
	t := reflect.TypeOf(c.New).Out(0)
	m, _ := t.MethodByName(op)
	return reflect.New(m.Type.Out(0).Elem()).Interface()
}

// dropped are headers that change from one request to the next, or name the SDK's packages.
var dropped = map[string]bool{
	"Authorization": true, "X-Amz-Date": true, "Amz-Sdk-Invocation-Id": true, "User-Agent": true,
	"X-Amz-User-Agent": true,
}

var (
	scope = regexp.MustCompile(`Credential=AKIDEXAMPLE/\d{8}/([^,]+), (SignedHeaders=[^,]+),`)
	uuid  = regexp.MustCompile(`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)
)

func (w *wireClient) request() Request {
	if w.sent == nil {
		return Request{}
	}
	r := Request{Method: w.sent.Method, URL: w.sent.URL.String(), Header: map[string]string{}}
	for k := range w.sent.Header {
		if !dropped[k] {
			r.Header[k] = w.sent.Header.Get(k)
		}
	}
	if m := scope.FindStringSubmatch(w.sent.Header.Get("Authorization")); m != nil {
		r.Signed = m[1] + " " + m[2]
	}
	r.Body = decodeBody(w.sent.Header.Get("Content-Type"), uuid.ReplaceAll(w.body, []byte("a UUID")))
	return r
}

// decodeBody returns the members of a body, so that their order does not matter.
func decodeBody(contentType string, body []byte) any {
	if len(body) == 0 {
		return nil
	}
	if strings.Contains(contentType, "urlencoded") {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return err.Error()
		}
		return form
	}
	var v any
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&v); err != nil {
		return err.Error()
	}
	return v
}

// Read returns the answer with the result or the error that the client made of it.
func Read(a Answer, out reflect.Value, err error, as reflect.Type) Answer {
	if err == nil {
		a.Want = ConvertToPlain(out, as)
		return a
	}
	api, ok := errors.AsType[smithy.APIError](err)
	response, answered := errors.AsType[*smithyhttp.ResponseError](err)
	operation, named := errors.AsType[*smithy.OperationError](err)
	if !ok || !answered || response.HTTPStatusCode() != a.Status || !named || operation.OperationName == "" {
		a.Failed = true
		return a
	}
	a.Code, a.Message = api.ErrorCode(), api.ErrorMessage()
	if a.Message == "UnknownError" { // the SDK's word for none
		a.Message = ""
	}
	return a
}

// NormalizeJSON writes v as JSON, reads it again, and returns the result.
func NormalizeJSON(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		panic(err)
	}
	return out
}
