package connector

import (
	"context"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

// reviewPatience is how long a cluster may take to answer about permissions. Together with describing it, that is
// less than the caller waits.
const reviewPatience = 8 * time.Second

// reviewCluster describes a cluster and asks it for the permissions of its registration. A failed question is part of
// the answer, because the cluster may not be ready, or may accept the credentials later. A cluster that the account's
// credentials cannot enter yet is not asked.
func (c connector) reviewCluster(ctx context.Context, conn cloud.Conn, q inventory.Question) (inventory.ClusterReview,
	error,
) {
	got, err := describeCluster(ctx, conn, q)
	if err != nil || q.Registration.Method == inventory.CloudIAM && got.Status != cloud.ClusterActive {
		return inventory.ClusterReview{Cluster: got}, err
	}
	conn, err = inventory.Clouds{Sealer: c.p.Sealer, Providers: c.providers}.
		LookInside(table.WithOrg(ctx, q.Org), conn, q.Org, q.Account, []inventory.Registration{q.Registration})
	if err != nil {
		return inventory.ClusterReview{}, err
	}
	return inventory.ClusterReview{Cluster: got, Check: c.checkCluster(ctx, conn, q.Registration)}, nil
}

func (c connector) checkCluster(ctx context.Context, conn cloud.Conn, r inventory.Registration) inventory.ClusterCheck {
	out := inventory.ClusterCheck{At: c.p.Clock.Now()}
	inside, ok := conn.(cloud.Inside)
	if !ok {
		out.Error = "the clusters of this provider cannot be asked here"
		return out
	}
	ctx, cancel := context.WithTimeout(ctx, reviewPatience)
	defer cancel()
	all, err := inside.PermissionsInside(ctx, r.Region, r.Name)
	if err != nil {
		out.Error = err.Error()
	}
	for _, p := range all {
		switch {
		case p.Status == "denied":
			out.Missing = append(out.Missing, p)
		case p.Status == "unknown" && out.Error == "":
			out.Error = p.Action + ": " + p.Message
		}
	}
	return out
}
