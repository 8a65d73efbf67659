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

// assetFields are the fields that are requested. The versioned resource is the resource as its own API returns it, a
// few minutes old. The waste rules read it without a call for each type.
const assetFields = "name,assetType,displayName,location,labels,createTime,state,parentFullResourceName," +
	"versionedResources"

// listOthers reads a page of the resources of the region that have no kind, from Cloud Asset Inventory, which knows
// all types. Resources without a region (global ones and those of several regions) are in region Global. It returns an
// error when the inventory may not be read, because an empty list would mean that there are no resources.
func (c *conn) listOthers(ctx context.Context, region, page string) (cloud.ResourcePage, error) {
	search := c.searchAssets(page, assetFields)
	switch {
	case region == cloud.Global:
	case regionName.MatchString(region):
		search.Set("query", "location:"+region+"*")
	default:
		return cloud.ResourcePage{}, cloud.ErrInvalid("%.64q is not the name of a Google Cloud region", region)
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
	c.addPublic(ctx, got.Resources, out.Results)
	return got, nil
}

// searchAssets returns the request for a page of the assets of the project, with these fields.
func (c *conn) searchAssets(page, fields string) *googlerest.Request {
	scope := "projects/" + c.project
	return googlerest.NewGet(assetsNeed, googlerest.AssetInventory+"{+scope}:searchAllResources", scope).
		SetInt("pageSize", 500).Set("pageToken", page).Set("readMask", fields)
}

// newOther returns the resource of an asset. It returns false for resources that have a kind, and for projects and
// folders. A type without a name in the catalogue is "gcp-other", with Google's type in its facts.
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
	if owner := ownerOf(r.Type, a); owner != "" {
		r.ParentUID = owner
	}
	if r.Type == "" {
		r.Type, r.Facts = cloud.OtherType(Name), cloud.Facts{cloud.NativeType: a.AssetType}
	}
	kept := a.Name != "" && !slices.Contains(notListed, r.Type)
	return r, kept && !slices.ContainsFunc(registry, func(k kind) bool { return k.Type == r.Type })
}

// notListed are the types that are accounts here, or contain accounts.
var notListed = []string{"gcp-project", "gcp-folder"}

// ownerOf returns the uid of the instance that uses a disk or an address, and of the disk that a snapshot is of, "" if
// there is none.
func ownerOf(kindType string, a *googlerest.Asset) string {
	t, told := resourceOf(a)
	owner := t.SourceDisk
	if kindType == "gcp-disk" || kindType == "gcp-address" {
		owner = ""
		if len(t.Users) > 0 && strings.Contains(t.Users[0], "/instances/") {
			owner = t.Users[0]
		}
	} else if kindType != "gcp-snapshot" {
		return ""
	}
	if !told || owner == "" {
		return ""
	}
	return fullName("compute.googleapis.com", owner)
}

// resourceOf returns the resource of an asset as its own API returns it, false if the inventory does not hold it.
func resourceOf(a *googlerest.Asset) (t assetResource, told bool) {
	n := len(a.VersionedResources)
	return t, n > 0 && json.Unmarshal(a.VersionedResources[n-1].Resource, &t) == nil
}

// assetFacts returns the facts of an asset. It returns nil if the inventory does not hold the resource itself, or if
// its type has no facts.
func assetFacts(kindType string, a *googlerest.Asset, n neighbours) cloud.Facts {
	if read := documentFacts[kindType]; read != nil {
		if d, told := documentOf(a); told {
			return read(d, a)
		}
		return nil
	}
	read := factsOf[kindType]
	if read == nil {
		return nil
	}
	t, told := resourceOf(a)
	if !told {
		return nil
	}
	return read(t, a, n)
}
