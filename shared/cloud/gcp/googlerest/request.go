// Package googlerest calls the REST APIs of Google Cloud without the generated clients of google.golang.org/api.
// Twelve of those packages compile to 128 MB (docs/decisions/059-google-rest-without-generated-clients.md). It builds
// the same requests and returns the same *googleapi.Error. The structs hold the fields that shared/cloud/gcp reads or
// sends, under the JSON names of Google's reference.
package googlerest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/api/googleapi"
)

// The addresses of the APIs, with their versions.
const (
	AlloyDB         = "https://alloydb.googleapis.com/v1/"
	AssetInventory  = "https://cloudasset.googleapis.com/v1/"
	BigQuery        = "https://bigquery.googleapis.com/bigquery/v2/"
	Compute         = "https://compute.googleapis.com/compute/v1/"
	Container       = "https://container.googleapis.com/v1/"
	Dataproc        = "https://dataproc.googleapis.com/v1/"
	Monitoring      = "https://monitoring.googleapis.com/v3/"
	Notebooks       = "https://notebooks.googleapis.com/v2/"
	ResourceManager = "https://cloudresourcemanager.googleapis.com/v3/"
	Run             = "https://run.googleapis.com/v2/"
	SQLAdmin        = "https://sqladmin.googleapis.com/v1/"
	Workstations    = "https://workstations.googleapis.com/v1/"
)

// computeVersion is the version of Compute Engine's answers that the structs of this package follow. Only Compute
// Engine takes a version in a header.
const computeVersion = "2026-09-01"

// Request is one call of a method. Permission is the IAM permission of the call; its errors name it.
type Request struct {
	Permission string

	method, address string
	names           []string // the values of the address's placeholders
	query           url.Values
	body            any // nil for a request without a body
}

func newRequest(method, permission, address string, names []string) *Request {
	return &Request{Permission: permission, method: method, address: address, names: names, query: url.Values{}}
}

// NewGet returns a call that reads. The names replace the placeholders of the address in order: {name} is one segment
// of the path, {+name} may hold several.
func NewGet(permission, address string, names ...string) *Request {
	return newRequest(http.MethodGet, permission, address, names)
}

// NewPost returns the call of a method that changes something, or that takes its question in a body.
func NewPost(permission, address string, names ...string) *Request {
	return newRequest(http.MethodPost, permission, address, names)
}

// NewPatch returns a call that changes the fields in its body.
func NewPatch(permission, address string, names ...string) *Request {
	return newRequest(http.MethodPatch, permission, address, names)
}

// NewDelete returns a call that deletes.
func NewDelete(permission, address string, names ...string) *Request {
	return newRequest(http.MethodDelete, permission, address, names)
}

// Set sets a parameter of the query. A parameter that is set to "" is sent, as the generated clients do.
func (r *Request) Set(name string, values ...string) *Request {
	r.query[name] = values
	return r
}

// SetInt sets a parameter of the query that is a number.
func (r *Request) SetInt(name string, value int64) *Request {
	return r.Set(name, strconv.FormatInt(value, 10))
}

// Body sets the value that is sent as JSON.
func (r *Request) Body(v any) *Request {
	r.body = v
	return r
}

// Do makes the call and decodes its answer. An answer of an other status than 2xx is a *googleapi.Error with the body
// that Google sent; a call whose context has ended returns the context's error.
func Do[T any](ctx context.Context, client *http.Client, r *Request) (*T, error) {
	request, err := r.httpRequest(ctx)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(request) //nolint:bodyclose // googleapi.CloseBody does
	if err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	defer googleapi.CloseBody(resp)
	if err := googleapi.CheckResponse(resp); err != nil {
		return nil, err
	}
	out := new(T)
	if resp.StatusCode == http.StatusNoContent {
		return out, nil
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal(raw, out)
}

// httpRequest builds the request as the generated clients do: parameters in alphabetical order, placeholders escaped by
// googleapi.Expand.
func (r *Request) httpRequest(ctx context.Context) (*http.Request, error) {
	values, err := r.placeholders()
	if err != nil {
		return nil, err
	}
	body, err := r.encodeBody()
	if err != nil {
		return nil, err
	}
	r.query.Set("alt", "json")
	r.query.Set("prettyPrint", "false")
	out, err := http.NewRequestWithContext(ctx, r.method, r.address+"?"+r.query.Encode(), body)
	if err != nil {
		return nil, fmt.Errorf("call %s %s: %w", r.method, r.address, err)
	}
	googleapi.Expand(out.URL, values)
	out.Header.Set("User-Agent", googleapi.UserAgent)
	if r.body != nil {
		out.Header.Set("Content-Type", "application/json")
	}
	if strings.HasPrefix(r.address, Compute) {
		out.Header.Set("X-Goog-Api-Version", computeVersion)
	}
	return out, nil
}

var placeholder = regexp.MustCompile(`\{\+?(\w+)\}`)

func (r *Request) placeholders() (map[string]string, error) {
	found := placeholder.FindAllStringSubmatch(r.address, -1)
	if len(found) != len(r.names) {
		return nil, fmt.Errorf(
			"the address %s has %d placeholders and is given %d names", r.address, len(found), len(r.names))
	}
	values := map[string]string{}
	for i, f := range found {
		values[f[1]] = r.names[i]
	}
	return values, nil
}

// encodeBody returns the body in a reader that http.NewRequest can read again, because the transport repeats calls.
func (r *Request) encodeBody() (io.Reader, error) {
	if r.body == nil {
		return nil, nil //nolint:nilnil // http.NewRequest takes nil for a request without a body
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(r.body); err != nil {
		return nil, fmt.Errorf("encode the body of %s %s: %w", r.method, r.address, err)
	}
	return &b, nil
}
