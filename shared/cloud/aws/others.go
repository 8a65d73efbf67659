package aws

import (
	"context"
	"encoding/json"
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/compute"
	"lamplighter.dev/shared/cloud/aws/databases"
	"lamplighter.dev/shared/cloud/aws/details"
	"lamplighter.dev/shared/cloud/aws/network"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/storage"
)

// sources are the listings of a region. Resources that belong to no region are only in the index.
var sources = []resource.Source{
	storage.Volumes, storage.Snapshots, network.Addresses, network.NatGateways, network.LoadBalancers,
	network.ClassicBalancers, storage.Buckets, compute.Functions, storage.Queues,
	storage.Repositories, databases.Caches, databases.Domains, everything,
}

// listOthers reads the next page of all resources without a kind of their own: one page of each unfinished source,
// side by side, because a nearly empty region would else take a dozen calls one after the other. page holds the pages
// of these sources. A source that fails is asked again with the next page. When all unfinished sources fail, the
// listing fails, after the results of the others were returned.
func (c *conn) listOthers(ctx context.Context, region, page string) (cloud.ResourcePage, error) {
	at, err := c.placeOf(ctx, region)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	left, err := sourcesLeft(region, page)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	names := inOrder(left)
	pages, errs := make([]cloud.ResourcePage, len(names)), make([]error, len(names))
	if _, ok := left[storage.Volumes.Name]; ok {
		at.Volumes = make(chan struct{})
	}
	if _, ok := left[storage.Snapshots.Name]; ok {
		at.Snapshots = make(chan struct{})
	}
	cloud.InParallel(len(names), resource.Width, func(i int) {
		pages[i], errs[i] = sourceOf(names[i]).List(ctx, at, left[names[i]])
		if names[i] == storage.Volumes.Name {
			close(at.Volumes)
		}
	})
	if err := mostLasting(errs); err != nil {
		return cloud.ResourcePage{}, err
	}
	return joinPages(names, pages, errs, left), nil
}

// inOrder returns the names of the unfinished sources. Sources that others wait for come first.
func inOrder(left map[string]string) (names []string) {
	for _, s := range sources {
		if _, ok := left[s.Name]; ok {
			names = append(names, s.Name)
		}
	}
	return names
}

func (c *conn) placeOf(ctx context.Context, region string) (resource.Place, error) {
	at := resource.Place{
		Region: region, Account: c.account.NativeID, Custom: c.account.EndpointURL != "",
		Now: c.provider.options.Clock.Now(), Seen: c.seen,
	}
	if region != cloud.Global && !regionName.MatchString(region) {
		return at, cloud.ErrInvalid("%.64q is not the name of an AWS region", region)
	}
	if at.Cfg = c.regionConfig(region); region == cloud.Global {
		at.Cfg = c.regionConfig(resource.IndexRegion)
	}
	if at.Account != "" {
		return at, nil
	}
	var err error
	at.Account, err = c.Identify(ctx)
	return at, err
}

func sourceOf(name string) resource.Source {
	return sources[slices.IndexFunc(sources, func(s resource.Source) bool { return s.Name == name })]
}

// sourcesLeft returns the next page of each unfinished source.
func sourcesLeft(region, page string) (map[string]string, error) {
	left := map[string]string{}
	switch {
	case page != "":
		if err := json.Unmarshal([]byte(page), &left); err != nil {
			return nil, cloud.ErrInvalid("page %q is not one of this listing", page)
		}
	case region == cloud.Global:
		left[everything.Name] = ""
	default:
		for _, s := range sources {
			left[s.Name] = ""
		}
	}
	for name := range left {
		if !slices.ContainsFunc(sources, func(s resource.Source) bool { return s.Name == name }) {
			return nil, cloud.ErrInvalid("page %q is not one of this listing", page)
		}
	}
	return left, nil
}

// mostLasting returns nil if any source succeeded. Else it prefers the last retryable error over a permanent one: the
// caller retries until only permanent errors are left.
func mostLasting(errs []error) error {
	var last error
	for _, err := range errs {
		if err = resource.ClassifyError(err); err == nil {
			return nil
		}
		if last == nil || cloud.ClassOf(err).Retryable() {
			last = err
		}
	}
	return last
}

func joinPages(names []string, pages []cloud.ResourcePage, errs []error, left map[string]string) cloud.ResourcePage {
	var out cloud.ResourcePage
	for i, name := range names {
		if errs[i] != nil {
			continue
		}
		out.Resources = append(out.Resources, pages[i].Resources...)
		if left[name] = pages[i].Next; left[name] == "" {
			delete(left, name)
		}
	}
	if len(left) > 0 {
		out.Next = string(cloud.EncodeSnapshot(left))
	}
	return out
}

// probeOthers tries each source in the region.
func (c *conn) probeOthers(ctx context.Context, region string) ([]cloud.Permission, error) {
	at, err := c.placeOf(ctx, region)
	if err != nil {
		return nil, err
	}
	out, errs := make([]cloud.Permission, len(sources)), make([]error, len(sources))
	cloud.InParallel(len(sources), resource.Width, func(i int) {
		_, err := sources[i].List(ctx, at, "")
		if err = resource.ClassifyError(err); err != nil && cloud.ClassOf(err) == cloud.Refused {
			errs[i] = err
		}
		out[i] = newPermission("discover", sources[i].Needs[0], err)
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// othersNeeds lists the permissions of all sources and details.
func othersNeeds() []string {
	var all []string
	for _, s := range sources {
		all = append(all, s.Needs...)
	}
	for _, d := range details.All {
		all = append(all, d.Needs...)
	}
	return all
}
