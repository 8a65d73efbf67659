package aws

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
)

// source is one listing of AWS's that finds resources which no kind lists. Most are of one type and tell its facts; the last is
// the index that AWS keeps of all types.
type source struct {
	name  string   // in the names of pages
	needs []string // permissions, that of the listing first
	list  func(ctx context.Context, at place, page string) (cloud.ResourcePage, error)
}

// place is where a source is asked.
type place struct {
	cfg     sdk.Config // of the region that is called
	region  string     // whose resources are wanted; may be cloud.Global
	account string     // number
	custom  bool       // an emulator or a private cloud, which have no index
	now     time.Time
	seen    *sightings
	// closed when what is asked for beside this source has answered; nil when it is not
	volumes, snapshots chan struct{}
}

// awaitVolumes waits until the volumes that are listed side by side were seen.
func (p place) awaitVolumes(ctx context.Context) { await(ctx, p.volumes) }

// awaitSnapshots waits until the snapshots that are listed side by side were seen, but not for their facts.
func (p place) awaitSnapshots(ctx context.Context) { await(ctx, p.snapshots) }

// tellSnapshots ends the wait for the snapshots.
func (p place) tellSnapshots() {
	if p.snapshots != nil {
		close(p.snapshots)
	}
}

func await(ctx context.Context, answered <-chan struct{}) {
	if answered == nil {
		return
	}
	select {
	case <-answered:
	case <-ctx.Done():
	}
}

// sources are what a region is asked; what belongs to none, the index alone knows.
var sources = []source{
	volumes, snapshots, addresses, natGateways, loadBalancers, classicBalancers, buckets, functions, queues,
	repositories, caches, domains, everything,
}

// indexRegion is where what belongs to no region is indexed.
const indexRegion = "us-east-1"

// arn makes the ARN of a resource of EC2, which its answers mostly do not hold.
func (p place) arn(resource string) string {
	return "arn:" + partitionOf(p.cfg.Region) + ":ec2:" + p.cfg.Region + ":" + p.account + ":" + resource
}

func partitionOf(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "aws-us-gov"
	default:
		return "aws"
	}
}

// listOthers reads the next page of everything that has no kind of its own: a page of each source that is not through, side by
// side, for a region in which there is little would else take a dozen calls one after the other. page holds the pages of those
// sources. One that fails is asked again with the next page; when all that are left fail, so does the listing, after what the
// others found was taken in.
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
	if _, ok := left[volumes.name]; ok {
		at.volumes = make(chan struct{})
	}
	if _, ok := left[snapshots.name]; ok {
		at.snapshots = make(chan struct{})
	}
	cloud.InParallel(len(names), width, func(i int) {
		pages[i], errs[i] = sourceOf(names[i]).list(ctx, at, left[names[i]])
		if names[i] == volumes.name {
			close(at.volumes)
		}
	})
	if err := mostLasting(errs); err != nil {
		return cloud.ResourcePage{}, err
	}
	return joinPages(names, pages, errs, left), nil
}

// inOrder returns the names of the sources that are left, those first for which others wait.
func inOrder(left map[string]string) (names []string) {
	for _, s := range sources {
		if _, ok := left[s.name]; ok {
			names = append(names, s.name)
		}
	}
	return names
}

func (c *conn) placeOf(ctx context.Context, region string) (place, error) {
	at := place{
		region: region, account: c.account.NativeID, custom: c.account.EndpointURL != "",
		now: c.provider.options.Clock.Now(), seen: c.seen,
	}
	if region != cloud.Global && !regionName.MatchString(region) {
		return at, errInvalid("%.64q is not the name of an AWS region", region)
	}
	if at.cfg = c.regionConfig(region); region == cloud.Global {
		at.cfg = c.regionConfig(indexRegion)
	}
	if at.account != "" {
		return at, nil
	}
	var err error
	at.account, err = c.Identify(ctx)
	return at, err
}

func sourceOf(name string) source {
	return sources[slices.IndexFunc(sources, func(s source) bool { return s.name == name })]
}

// sourcesLeft returns the next page of each source that is not through.
func sourcesLeft(region, page string) (map[string]string, error) {
	left := map[string]string{}
	switch {
	case page != "":
		if err := json.Unmarshal([]byte(page), &left); err != nil {
			return nil, errInvalid("page %q is not one of this listing", page)
		}
	case region == cloud.Global:
		left[everything.name] = ""
	default:
		for _, s := range sources {
			left[s.name] = ""
		}
	}
	for name := range left {
		if !slices.ContainsFunc(sources, func(s source) bool { return s.name == name }) {
			return nil, errInvalid("page %q is not one of this listing", page)
		}
	}
	return left, nil
}

// mostLasting returns nil when something succeeded, else an error that may pass rather than one that will not: then what is to
// pass is waited for, and what will not has the last word.
func mostLasting(errs []error) error {
	var last error
	for _, err := range errs {
		if err = classifyError(err); err == nil {
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
		out.Next = string(encodeSnapshot(left))
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
	cloud.InParallel(len(sources), width, func(i int) {
		_, err := sources[i].list(ctx, at, "")
		if err = classifyError(err); err != nil && cloud.ClassOf(err) == cloud.Refused {
			errs[i] = err
		}
		out[i] = newPermission("discover", sources[i].needs[0], err)
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// othersNeeds lists the permissions of all sources.
func othersNeeds() []string {
	var all []string
	for _, s := range sources {
		all = append(all, s.needs...)
	}
	return all
}
