package gcp

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// policiesNeed is the permission to search policies.
const policiesNeed = "cloudasset.assets.searchAllIamPolicies"

// anybody selects the policies that admit everybody, or everybody with a Google account.
const anybody = "memberTypes:(allUsers OR allAuthenticatedUsers)"

const (
	bucketAsset  = "storage.googleapis.com/Bucket"
	datasetAsset = "bigquery.googleapis.com/Dataset"
	projectAsset = "cloudresourcemanager.googleapis.com/Project"
)

// policyCache keeps the policies of the project that admit anybody for the next page of a listing.
type policyCache struct {
	mu    sync.Mutex
	at    time.Time
	found publicPolicies
	err   error
}

// publicPolicies are the uids of the resources whose own policies admit anybody. If a policy of the project does, the
// resources below inherit it.
type publicPolicies struct {
	uids      map[string]bool
	inherited bool
}

// addPublic adds whether anybody may read the buckets and datasets of a page. One search answers for all pages of a
// listing.
func (c *conn) addPublic(ctx context.Context, found []cloud.Resource, assets []*googlerest.Asset) {
	if !slices.ContainsFunc(assets, func(a *googlerest.Asset) bool {
		return a.AssetType == bucketAsset || a.AssetType == datasetAsset
	}) {
		return
	}
	public, err := c.readPublicPolicies(ctx)
	for i := range found {
		r := &found[i]
		switch r.Type {
		case "gcp-gcs", "gcp-bigquery-dataset":
		default:
			continue
		}
		if r.Facts == nil {
			r.Facts = cloud.Facts{}
		}
		// lists of a bucket may admit anybody to single objects, unless only policies count
		unlisted := r.Type == "gcp-gcs" && r.Facts["uniform_access"] != true
		switch {
		case err != nil:
			r.Facts.Miss(policiesNeed+": "+codeOf(err), "public")
		case public.uids[r.UID]:
			r.Facts["public"] = true
		case !unlisted && !public.inherited:
			r.Facts["public"] = false
		}
	}
}

// codeOf returns the code of Google's error: it is the same each time.
func codeOf(err error) string {
	if e, ok := errors.AsType[*cloud.Error](err); ok {
		return e.Code
	}
	return "Unknown"
}

// readPublicPolicies searches the policies that admit anybody.
func (c *conn) readPublicPolicies(ctx context.Context) (publicPolicies, error) {
	c.policies.mu.Lock()
	defer c.policies.mu.Unlock()
	now := c.provider.options.Clock.Now()
	if c.policies.found.uids != nil && now.Sub(c.policies.at) <= neighbourTTL {
		return c.policies.found, c.policies.err
	}
	found := publicPolicies{uids: map[string]bool{}}
	err := c.searchPolicies(ctx, func(p *googlerest.PolicyResult) {
		found.uids[p.Resource] = true
		found.inherited = found.inherited || p.AssetType == projectAsset
	})
	c.policies.at, c.policies.found, c.policies.err = now, found, err
	return found, err
}

// searchPolicies reads all pages of the policies that admit anybody.
func (c *conn) searchPolicies(ctx context.Context, take func(*googlerest.PolicyResult)) error {
	scope := "projects/" + c.project
	search := googlerest.NewGet(policiesNeed, googlerest.AssetInventory+"{+scope}:searchAllIamPolicies", scope).
		SetInt("pageSize", 500).Set("query", anybody)
	for page, n := "", 0; n < maxPages; n++ {
		out, err := call[googlerest.PolicyResultList](ctx, c.session, search.Set("pageToken", page))
		if err != nil {
			return classifyError(policiesNeed, err)
		}
		for _, p := range out.Results {
			take(p)
		}
		if page = out.NextPageToken; page == "" {
			return nil
		}
	}
	return cloud.ErrUnsupported("there are more than %d pages of public policies", maxPages)
}
