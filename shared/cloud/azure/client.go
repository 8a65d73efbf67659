package azure

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"lamplighter.dev/shared/cloud"
)

// maxPages is the maximum number of pages of a listing that would not end. Azure chooses the size of the pages of a
// management group.
const maxPages = 1_000

// armClient makes calls of the resource manager: all of Azure's kinds are the same few calls of different paths and
// versions.
type armClient struct {
	pipeline runtime.Pipeline
	endpoint string
}

// call is one call. Path begins with a slash; its parts are not escaped.
type call struct {
	method, path, version string
	query                 url.Values
	ifMatch               string // the version of the resource that a change was made from; "" is any
	body                  any
}

// callARM makes the call and decodes the answer into out, unless out is nil. An act that Azure has accepted (202)
// counts as made. Its outcome shows in the state of the resource, which every process can read.
func (c *armClient) callARM(ctx context.Context, k call, out any) error {
	resp, err := c.sendCall(ctx, k)
	if err != nil {
		return classifyError(permissionOf(k.method, k.path), err)
	}
	defer resp.Body.Close()
	if !runtime.HasStatusCode(resp, http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent) {
		return classifyError(permissionOf(k.method, k.path), runtime.NewResponseError(resp))
	}
	if out == nil {
		runtime.Drain(resp)
		return nil
	}
	if err := runtime.UnmarshalAsJSON(resp, out); err != nil {
		return errUnreadable(k.path, err)
	}
	return nil
}

func (c *armClient) sendCall(ctx context.Context, k call) (*http.Response, error) {
	req, err := runtime.NewRequest(ctx, k.method, runtime.JoinPaths(c.endpoint, escapePath(k.path)))
	if err != nil {
		return nil, cloud.ErrInvalid("%.256q is not a path of Azure: %v", k.path, err)
	}
	q := url.Values{"api-version": {k.version}}
	maps.Copy(q, k.query)
	req.Raw().URL.RawQuery = q.Encode()
	req.Raw().Header.Set("Accept", "application/json")
	if k.ifMatch != "" {
		req.Raw().Header.Set("If-Match", k.ifMatch)
	}
	if k.body != nil {
		if err := runtime.MarshalAsJSON(req, k.body); err != nil {
			return nil, cloud.ErrInvalid("%s: the body cannot be written: %v", k.path, err)
		}
	}
	return c.pipeline.Do(req)
}

// escapePath escapes the parts of a path: names of resource groups may hold parentheses and letters of any language.
func escapePath(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// listAll reads all pages of a list.
func listAll[T any](ctx context.Context, c *armClient, path, version string) ([]T, error) {
	return listSelected[T](ctx, c, path, version, nil)
}

// listSelected is listAll with a query, such as a filter.
func listSelected[T any](ctx context.Context, c *armClient, path, version string, query url.Values) ([]T, error) {
	var all []T
	k := call{method: http.MethodGet, path: path, version: version, query: query}
	for range maxPages {
		var page struct {
			Value []T    `json:"value"`
			Next  string `json:"nextLink"`
		}
		if err := c.callARM(ctx, k, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Value...)
		if page.Next == "" {
			return all, nil
		}
		next, err := url.Parse(page.Next)
		if err != nil {
			return nil, errUnreadable(path, err)
		}
		k.query = next.Query() // of the link no more than that: a token is not sent to wherever an answer says
	}
	return nil, cloud.ErrUnsupported("%s has more than %d pages", path, maxPages)
}

// getResource returns the whole resource, to be changed and written back.
func (c *armClient) getResource(ctx context.Context, uid, version string, query url.Values) (json.RawMessage, resource,
	error,
) {
	var raw json.RawMessage
	var r resource
	if err := c.callARM(ctx, call{method: http.MethodGet, path: uid, version: version, query: query},
		&raw); err != nil {
		return nil, r, err
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, r, errUnreadable(uid, err)
	}
	return raw, r, nil
}

// permissionOf names a call as Azure's roles do: Microsoft.Compute/virtualMachines/start/action.
func permissionOf(method, path string) string {
	at := strings.LastIndex(strings.ToLower(path), "/providers/")
	if at < 0 {
		if strings.HasSuffix(path, "/metrics:getBatch") {
			return metricsNeed
		}
		if strings.HasSuffix(path, "/locations") {
			return "Microsoft.Resources/subscriptions/locations/read"
		}
		return "Microsoft.Resources/subscriptions/read"
	}
	parts := strings.Split(path[at+len("/providers/"):], "/")
	named := parts[:1]
	for i := 1; i < len(parts); i += 2 {
		named = append(named, parts[i])
	}
	words := map[string]string{
		http.MethodGet: "read", http.MethodPut: "write", http.MethodPatch: "write",
		http.MethodPost: "action", http.MethodDelete: "delete",
	}
	if strings.EqualFold(named[0], "Microsoft.ResourceGraph") {
		return "Microsoft.ResourceGraph/resources/read"
	}
	return strings.Join(append(named, words[method]), "/")
}
