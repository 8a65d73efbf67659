package connector

import (
	"cmp"
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

// How long a page of clusters may take in all: less than the caller waits. What has not answered by then is a failure of
// its region, not of the page.
const (
	listing    = 10 * time.Second
	describing = 11 * time.Second
	width      = 16 // calls under way at once; the provider paces them
)

// listClusters returns a page of the account's clusters. Names are cheap and are listed everywhere; only the page is described.
func listClusters(ctx context.Context, conn cloud.Conn, q inventory.Question) (inventory.ClustersFound, error) {
	c, ok := conn.(cloud.Clusters)
	if !ok {
		return inventory.ClustersFound{}, nil // its provider runs no clusters
	}
	regions, err := regionsOf(ctx, conn, q.Account)
	if err != nil {
		return inventory.ClustersFound{}, clientFault(err)
	}
	if only := q.Clusters.Region; only != "" {
		regions = slices.DeleteFunc(regions, func(r string) bool { return r != only })
	}
	s := survey{cloud: c, query: q.Clusters}
	if err := s.list(ctx, regions); err != nil {
		return inventory.ClustersFound{}, clientFault(err)
	}
	return s.page(ctx), nil
}

// regionsOf returns the enabled regions among those that the account names. Where they may not be listed, the named ones are
// taken at their word.
func regionsOf(ctx context.Context, conn cloud.Conn, a inventory.Account) ([]string, error) {
	enabled, err := conn.Regions(ctx)
	if err != nil && cloud.ClassOf(err) == cloud.Denied && len(a.Regions) > 0 {
		return slices.Clone(a.Regions), nil
	}
	return slices.DeleteFunc(enabled, func(r string) bool {
		return len(a.Regions) > 0 && !slices.Contains(a.Regions, r)
	}), err
}

// survey is one page in the making.
type survey struct {
	cloud    cloud.Clusters
	query    inventory.ClusterQuery
	names    []inventory.ClusterName        // the clusters that the cloud has, and those known
	absent   map[inventory.ClusterName]bool // known, and not there where their region was listed
	read     map[string]bool                // regions that were listed
	failures []inventory.ClusterFailure
}

// list asks every region for its names. When no region answers, it is not the regions that are at fault.
func (s *survey) list(ctx context.Context, regions []string) error {
	ctx, cancel := context.WithTimeout(ctx, listing)
	defer cancel()
	names, errs := make([][]string, len(regions)), make([]error, len(regions))
	cloud.InParallel(len(regions), width, func(i int) { names[i], errs[i] = s.cloud.ClusterNames(ctx, regions[i]) })
	s.read, s.absent = map[string]bool{}, map[inventory.ClusterName]bool{}
	for i, region := range regions {
		if s.read[region] = errs[i] == nil; errs[i] != nil {
			s.failures = append(s.failures, inventory.ClusterFailure{Region: region, Error: errs[i].Error()})
		}
		for _, name := range names[i] {
			s.names = append(s.names, inventory.ClusterName{Region: region, Name: name})
		}
	}
	if len(regions) > 0 && len(s.failures) == len(regions) {
		return errs[0]
	}
	s.remember()
	return nil
}

// remember adds the known clusters that no region named.
func (s *survey) remember() {
	have := map[inventory.ClusterName]bool{}
	for _, n := range s.names {
		have[n] = true
	}
	for _, n := range s.query.Known {
		if have[n] || s.query.Region != "" && s.query.Region != n.Region {
			continue
		}
		s.names, s.absent[n] = append(s.names, n), s.read[n.Region]
	}
}

// page orders the names and describes those of the page.
func (s *survey) page(ctx context.Context) inventory.ClustersFound {
	ctx, cancel := context.WithTimeout(ctx, describing)
	defer cancel()
	s.sort()
	total := len(s.names)
	from := min(max(s.query.Skip, 0), total)
	here := s.names[from:min(from+max(s.query.Limit, 0), total)]
	found, errs := make([]cloud.Cluster, len(here)), make([]error, len(here))
	cloud.InParallel(len(here), width, func(i int) { found[i], errs[i] = s.describe(ctx, here[i]) })
	for i, err := range errs {
		if err != nil {
			s.failures = append(s.failures,
				inventory.ClusterFailure{Region: here[i].Region, Name: here[i].Name, Error: err.Error()})
		}
	}
	return inventory.ClustersFound{Clusters: found, Total: total, Failures: s.failures}
}

func (s *survey) sort() {
	slices.SortFunc(s.names, func(a, b inventory.ClusterName) int {
		region, name := cmp.Compare(a.Region, b.Region), cmp.Compare(a.Name, b.Name)
		if s.query.ByName {
			return cmp.Or(name, region)
		}
		return cmp.Or(region, name)
	})
	if s.query.Last {
		slices.Reverse(s.names)
	}
}

// describe returns how a cluster is, or that it is not known how: what could not be read is still listed.
func (s *survey) describe(ctx context.Context, n inventory.ClusterName) (cloud.Cluster, error) {
	bare := cloud.Cluster{Region: n.Region, Name: n.Name, Status: cloud.ClusterUnknown}
	switch {
	case !s.read[n.Region]:
		return bare, nil // its region is among the failures, or left out of the account
	case s.absent[n]:
		bare.Status = cloud.ClusterDeleted
		return bare, nil
	}
	got, err := s.cloud.Cluster(ctx, n.Region, n.Name)
	switch {
	case err == nil:
		return got, nil
	case cloud.ClassOf(err) == cloud.NotFound: // it went between the two calls
		bare.Status = cloud.ClusterDeleted
		return bare, nil
	default:
		return bare, err
	}
}

// describeCluster describes one cluster. One in a region that the account does not have, or that is left out of it, does not exist.
func describeCluster(ctx context.Context, conn cloud.Conn, q inventory.Question) (cloud.Cluster, error) {
	missing := fault.New(fault.NotFound, "cloud account %s has no cluster %.100q in region %.64q", q.Account.ID,
		q.Clusters.Name, q.Clusters.Region)
	c, ok := conn.(cloud.Clusters)
	if !ok {
		return cloud.Cluster{}, missing
	}
	regions, err := regionsOf(ctx, conn, q.Account)
	if err != nil && cloud.ClassOf(err) != cloud.Denied {
		return cloud.Cluster{}, clientFault(err)
	}
	if err == nil && !slices.Contains(regions, q.Clusters.Region) {
		return cloud.Cluster{}, missing
	}
	got, err := c.Cluster(ctx, q.Clusters.Region, q.Clusters.Name)
	if err != nil && cloud.ClassOf(err) == cloud.NotFound {
		return cloud.Cluster{}, missing
	}
	return got, clientFault(err)
}
