package inventory

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// ClusterProvider is the provider of resources inside clusters, in any account.
const ClusterProvider = "kubernetes"

// ReadRegistrations reads the registered clusters of an account: never more than MaxClusters.
func ReadRegistrations(ctx context.Context, s table.Store, org, accountID string) ([]Registration, error) {
	q := table.Query{
		PK: ClusterKey(org, accountID, ClusterName{}).PK, Prefix: ClusterPrefix(accountID),
		Limit: MaxClusters + 1,
	}
	all, _, err := table.ReadPage[Registration](ctx, s, q)
	return all, fault.Wrap("list clusters of "+accountID, err)
}

// ConnectInside is Connect for an account with registered clusters. The connection also reads inside the clusters, and
// ConnectInside opens their kubeconfigs.
func (c Clouds) ConnectInside(ctx context.Context, org string, a Account, known []Registration) (cloud.Conn, error) {
	conn, err := c.Connect(ctx, org, a)
	if err != nil {
		return nil, err
	}
	return c.LookInside(ctx, conn, org, a, known)
}

// LookInside is ConnectInside for an account that has been connected to.
func (c Clouds) LookInside(ctx context.Context, conn cloud.Conn, org string, a Account,
	known []Registration,
) (cloud.Conn, error) {
	opener, ok := c.Providers[ClusterProvider].(cloud.ClusterOpener)
	if _, own := c.Providers.Kind(a.Provider, cloud.KubernetesNamespace); own || !ok || len(known) == 0 {
		return conn, nil // it is a cluster itself, has clusters of its own making, or none that is registered
	}
	clusters := make([]cloud.RegisteredCluster, len(known))
	var err error
	for i, r := range known {
		clusters[i] = cloud.RegisteredCluster{Region: r.Region, Name: r.Name}
		if r.Method != Kubeconfig {
			continue
		}
		if clusters[i].Kubeconfig, err = c.Sealer.Open(ctx, ClusterPlace(org, a.ID, r.ClusterName),
			r.Sealed); err != nil {
			return nil, fmt.Errorf("open kubeconfig of cluster %s: %w", r.Name, err)
		}
	}
	return opener.WithClusters(conn, clusters), nil
}
