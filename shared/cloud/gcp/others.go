package gcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// assetsNeed is the permission of Cloud Asset Inventory.
const assetsNeed = "cloudasset.assets.searchAllResources"

// assetFields are asked for. The versioned resource is the thing itself as its own API tells it, a few minutes old: what waste is
// judged by is in it, without a call for each type.
const assetFields = "name,assetType,displayName,location,labels,createTime,state,parentFullResourceName,versionedResources"

// listOthers reads a page of everything in the region that no kind lists, from Cloud Asset Inventory, which knows all types. What is
// in no region (global things, those of several regions) is in region Global. An inventory that may not be asked is an error: that
// nothing is known does not mean that nothing is there.
func (c *conn) listOthers(ctx context.Context, region, page string) (cloud.ResourcePage, error) {
	search := c.searchAssets(page, assetFields)
	switch {
	case region == cloud.Global:
	case regionName.MatchString(region):
		search.Set("query", "location:"+region+"*")
	default:
		return cloud.ResourcePage{}, errInvalid("%.64q is not the name of a Google Cloud region", region)
	}
	out, err := call[googlerest.AssetList](ctx, c.session, search)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	got := cloud.ResourcePage{Next: out.NextPageToken}
	beside, err := c.neighboursOf(ctx, region, out.Results)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	for _, a := range out.Results {
		if r, ok := newOther(a, beside); ok && r.Region == region {
			got.Resources = append(got.Resources, r)
		}
	}
	return got, nil
}

// searchAssets returns the request for a page of the assets of the project, with these fields.
func (c *conn) searchAssets(page, fields string) *googlerest.Request {
	return googlerest.Get(assetsNeed, googlerest.AssetInventory+"{+scope}:searchAllResources", "projects/"+c.project).
		SetInt("pageSize", 500).Set("pageToken", page).Set("readMask", fields)
}

// newOther makes the resource of an asset; false of one that a kind lists, and of what an account of ours is itself. What the
// catalogue has no name for is kept as "gcp-other" with Google's word for it.
func newOther(a *googlerest.Asset, n neighbours) (cloud.Resource, bool) {
	r := cloud.Resource{
		UID: a.Name, Name: a.DisplayName, Type: cloud.TypeOf(Name, a.AssetType), Region: cloud.Global,
		Status: cloud.Running,
		Tags:   tagsOf(a.Labels), CreatedAt: timeOf(a.CreateTime), ParentUID: a.ParentFullResourceName,
	}
	if r.Name == "" {
		r.Name = lastPart(a.Name)
	}
	if in := regionOf(a.Location); regionName.MatchString(in) {
		r.Region = in
	}
	if r.Region != a.Location && r.Region != cloud.Global {
		r.Zone = a.Location
	}
	if strings.HasPrefix(r.ParentUID, "//cloudresourcemanager.googleapis.com/") {
		r.ParentUID = "" // the project, which the account is
	}
	r.Facts = assetFacts(r.Type, a, n)
	if r.Type == "" {
		r.Type, r.Facts = cloud.OtherType(Name), cloud.Facts{cloud.NativeType: a.AssetType}
	}
	kept := a.Name != "" && !slices.Contains(notListed, r.Type)
	return r, kept && !slices.ContainsFunc(registry, func(k kind) bool { return k.Type == r.Type })
}

// notListed are what contains an account of ours, or is one.
var notListed = []string{"gcp-project", "gcp-folder"}

// assetFacts returns the facts of an asset of which the inventory has the thing itself; nil when it has not, or the type has none.
func assetFacts(kindType string, a *googlerest.Asset, n neighbours) cloud.Facts {
	read := factsOf[kindType]
	if read == nil || len(a.VersionedResources) == 0 {
		return nil
	}
	var t thing
	if json.Unmarshal(a.VersionedResources[len(a.VersionedResources)-1].Resource, &t) != nil {
		return nil
	}
	return read(t, a, n)
}
