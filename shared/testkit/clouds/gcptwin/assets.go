package gcptwin

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// Asset is a resource as Cloud Asset Inventory lists it.
type Asset struct {
	Name      string            `json:"name"`
	AssetType string            `json:"assetType"`
	Display   string            `json:"displayName"`
	Location  string            `json:"location"`
	Labels    map[string]string `json:"labels,omitempty"`
	Created   string            `json:"createTime,omitempty"`
	Parent    string            `json:"parentFullResourceName,omitempty"`
	State     string            `json:"state,omitempty"`
	Public    bool              `json:"-"` // its policy admits everybody
	Thing     string            `json:"-"` // the resource itself, in the JSON of its API; "" is not told
}

// AddAsset adds a resource to the inventory.
func (c *Cloud) AddAsset(a Asset) { c.ChangeLocked(func() { c.assets = append(c.assets, a) }) }

// searchAssets answers a query for a beginning of a location. The resource itself is only told when it is asked for.
func (c *Cloud) searchAssets(q request) (any, *failure) {
	types := q.URL.Query()["assetTypes"]
	begin := strings.TrimSuffix(strings.TrimPrefix(q.URL.Query().Get("query"), "location:"), "*")
	var found []any
	for _, a := range c.assets {
		if strings.HasPrefix(a.Location, begin) && (len(types) == 0 || slices.Contains(types, a.AssetType)) {
			found = append(found, a.render(strings.Contains(q.URL.Query().Get("readMask"), "versionedResources")))
		}
	}
	from, to, next := c.cutPage(q, len(found), "pageSize")
	return map[string]any{"results": found[from:to], "nextPageToken": next}, nil
}

// searchPolicies answers a search of the policies that admit everybody.
func (c *Cloud) searchPolicies(q request) (any, *failure) {
	if query := q.URL.Query().Get("query"); query != "memberTypes:(allUsers OR allAuthenticatedUsers)" {
		return nil, newFailure(http.StatusBadRequest, "INVALID_ARGUMENT", "%s is not searched for", query)
	}
	found := []any{}
	for _, a := range c.assets {
		if a.Public {
			found = append(found, map[string]any{"resource": a.Name, "assetType": a.AssetType})
		}
	}
	from, to, next := c.cutPage(q, len(found), "pageSize")
	return map[string]any{"results": found[from:to], "nextPageToken": next}, nil
}

func (a Asset) render(whole bool) any {
	if !whole || a.Thing == "" {
		return a
	}
	return struct {
		Asset
		Versioned []any `json:"versionedResources"`
	}{a, []any{map[string]any{"version": "v1", "resource": json.RawMessage(a.Thing)}}}
}
