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

// These constants limit how long a page of clusters may take: less than the caller waits. A region that has not
// answered by then is listed as a failure; the page still succeeds.
const (
	listPatience     = 10 * time.Second
	describePatience = 11 * time.Second
	width            = 16 // calls under way at once; the provider paces them
)

// listClusters returns a page of the account's clusters. Names are cheap and are listed in every region; only the
// clusters of the page are described.
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
	if err := s.listNames(ctx, regions); err != nil {
		return inventory.ClustersFound{}, clientFault(err)
	}
	return s.describePage(ctx), nil
}

// regionsOf returns the account's regions that are enabled. If the regions may not be listed, it returns the
// account's regions unchecked.
func regionsOf(ctx context.Context, conn cloud.Conn, a inventory.Account) ([]string, error) {
	enabled, err := conn.Regions(ctx)
	if err != nil && cloud.ClassOf(err) == cloud.Denied && len(a.Regions) > 0 {
		return slices.Clone(a.Regions), nil
	}
	return slices.DeleteFunc(enabled, func(r string) bool {
		return len(a.Regions) > 0 && !slices.Contains(a.Regions, r)
	}), err
}

// survey collects one page of clusters.
type survey struct {
	cloud    cloud.Clusters
	query    inventory.ClusterQuery
	names    []inventory.ClusterName        // the clusters that the cloud has, and those known
	absent   map[inventory.ClusterName]bool // known, and not there where their region was listed
	read     map[string]bool                // regions that were listed
	failures []inventory.ClusterFailure
}

// listNames asks every region for its cluster names. If no region answers, it returns the error of one, because the
// regions are not the cause.
func (s *survey) listNames(ctx context.Context, regions []string) error {
	ctx, cancel := context.WithTimeout(ctx, listPatience)
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
	s.addKnown()
	return nil
}

// addKnown adds the registered clusters that no region has listed.
func (s *survey) addKnown() {
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

// describePage sorts the names and describes the clusters of the page.
func (s *survey) describePage(ctx context.Context) inventory.ClustersFound {
	ctx, cancel := context.WithTimeout(ctx, describePatience)
	defer cancel()
	s.sortNames()
	total := len(s.names)
	from := min(max(s.query.Skip, 0), total)
	here := s.names[from:min(from+max(s.query.Limit, 0), total)]
	found, errs := make([]cloud.Cluster, len(here)), make([]error, len(here))
	cloud.InParallel(len(here), width, func(i int) { found[i], errs[i] = s.describeOne(ctx, here[i]) })
	for i, err := range errs {
		if err != nil {
			s.failures = append(s.failures,
				inventory.ClusterFailure{Region: here[i].Region, Name: here[i].Name, Error: err.Error()})
		}
	}
	return inventory.ClustersFound{Clusters: found, Total: total, Failures: s.failures}
}

func (s *survey) sortNames() {
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

// describeOne returns the description of a cluster, or one with status unknown: a cluster that could not be read is
// still listed.
func (s *survey) describeOne(ctx context.Context, n inventory.ClusterName) (cloud.Cluster, error) {
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

// describeCluster describes one cluster. A cluster in a region that the account does not have, or that is excluded
// from it, does not exist.
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
