package gcp

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// neighbours are the instances and snapshots of the inventory that the facts of disks and addresses refer to.
type neighbours struct {
	told      bool
	instances map[string]assetResource // by uid
	snapshots map[string]time.Time     // of the newest snapshot, by the uid of the disk
}

// neighbourCache keeps the neighbours of a region for the next page of its listing.
type neighbourCache struct {
	mu     sync.Mutex
	region string
	at     time.Time
	known  neighbours
}

const (
	instanceAsset = "compute.googleapis.com/Instance"
	snapshotAsset = "compute.googleapis.com/Snapshot"
)

// typesWithNeighbours are the types of assets that need neighbours.
var typesWithNeighbours = []string{
	"compute.googleapis.com/Disk", "compute.googleapis.com/RegionDisk",
	"compute.googleapis.com/Address",
}

// neighbourTTL is how long neighbours are kept for the next page of the same region.
const neighbourTTL = 30 * time.Second

// neighboursOf reads the neighbours of a page: two searches for all pages of a region, none when there is nothing to
// judge by them.
func (c *conn) neighboursOf(ctx context.Context, region string, page []*googlerest.Asset) (neighbours,
	error,
) {
	if region == cloud.Global || !slices.ContainsFunc(page, func(a *googlerest.Asset) bool {
		return slices.Contains(typesWithNeighbours, a.AssetType)
	}) {
		return neighbours{}, nil
	}
	c.beside.mu.Lock()
	defer c.beside.mu.Unlock()
	now := c.provider.options.Clock.Now()
	if c.beside.region == region && now.Sub(c.beside.at) <= neighbourTTL {
		return c.beside.known, nil
	}
	n := neighbours{told: true, instances: map[string]assetResource{}, snapshots: map[string]time.Time{}}
	if err := c.searchThings(ctx, instanceAsset, "location:"+region+"*", func(name string, t assetResource) {
		n.instances[name] = t
	}); err != nil {
		return n, err
	}
	err := c.searchThings(ctx, snapshotAsset, "", func(_ string, t assetResource) {
		disk, at := fullName("compute.googleapis.com", t.SourceDisk), timeOf(t.CreationTimestamp)
		if at.After(n.snapshots[disk]) {
			n.snapshots[disk] = at
		}
	})
	c.beside.region, c.beside.at, c.beside.known = region, now, n
	return n, err
}

// searchThings reads all assets of a type, and hands on the things themselves.
func (c *conn) searchThings(ctx context.Context, assetType, query string,
	take func(name string, t assetResource),
) error {
	for page, n := "", 0; n < maxPages; n++ {
		search := c.searchAssets(page, "name,assetType,versionedResources").Set("assetTypes", assetType)
		out, err := call[googlerest.AssetList](ctx, c.session, search.Set("query", query))
		if err != nil {
			return err
		}
		for _, a := range out.Results {
			var t assetResource
			if len(a.VersionedResources) > 0 &&
				json.Unmarshal(a.VersionedResources[len(a.VersionedResources)-1].Resource, &t) == nil {
				take(a.Name, t)
			}
		}
		if page = out.NextPageToken; page == "" {
			return nil
		}
	}
	return cloud.ErrUnsupported("there are more than %d pages of %s", maxPages, assetType)
}
