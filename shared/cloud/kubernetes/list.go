package kubernetes

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"sigs.k8s.io/json"

	"lamplighter.dev/shared/cloud"
)

// namesAlone is the Accept header of listings that return names, labels and times, and nothing else of an object.
const namesAlone = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// typedList is a page of a listing. T has the fields that are read of an object; everything else is skipped.
type typedList[T any] struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
	Items []T `json:"items"`
}

// listTyped reads the page of a listing in all namespaces; token "" is the first. If the cluster has dropped an expired
// listing, it continues with the token that the cluster offers. accept is an Accept header, "" for whole objects.
func listTyped[T any](ctx context.Context, c *cluster, r apiResource, accept, token string) (typedList[T], error) {
	ask := func(token string) ([]byte, error) {
		query := url.Values{"limit": {strconv.Itoa(pageSize)}}
		if token != "" {
			query.Set("continue", token)
		}
		return c.client.callAPI(ctx, apiCall{
			method: http.MethodGet, path: append(r.groupPath(), r.Resource), accept: accept, query: query,
		})
	}
	body, err := ask(token)
	if instead := continueToken(err); instead != "" {
		body, err = ask(instead)
	}
	var list typedList[T]
	if err == nil {
		err = unreadableError(json.UnmarshalCaseSensitivePreserveInts(body, &list))
	}
	if err == nil {
		err = checkKind(list.Kind, body)
	}
	return list, classifyError(permissionName("list", r), err)
}

// eachTyped calls do with each object of a listing in all namespaces. It holds one page in memory. More than maxPages
// pages are class Unsupported.
func eachTyped[T any](ctx context.Context, c *cluster, r apiResource, accept string, do func(*T)) error {
	token := ""
	for range maxPages {
		list, err := listTyped[T](ctx, c, r, accept, token)
		if err != nil {
			return err
		}
		for i := range list.Items {
			do(&list.Items[i])
		}
		if token = list.Metadata.Continue; token == "" {
			return nil
		}
	}
	return &cloud.Error{
		Class: cloud.Unsupported, Op: permissionName("list", r), Code: "TooMany",
		Message: fmt.Sprintf("the cluster has more than %d", maxPages*pageSize),
	}
}

// listByNamespace lists a resource in all namespaces.
func listByNamespace[T headed](ctx context.Context, c *cluster, r apiResource, accept string) (map[string][]T, error) {
	out := map[string][]T{}
	err := eachTyped(ctx, c, r, accept, func(o *T) {
		ns := (*o).head().Namespace
		out[ns] = append(out[ns], *o)
	})
	return out, err
}
