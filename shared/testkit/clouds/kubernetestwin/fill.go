package kubernetestwin

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// Fill adds a namespace with everything that can be stopped, and with objects that are refused: a StatefulSet that
// would lose its claims, and a DaemonSet without the owner's permission.
func (c *Cluster) Fill() {
	for _, ns := range []string{"shop", "scratch"} {
		c.Add("namespaces", fields{"metadata": fields{"name": ns, "labels": fields{"team": ns}}})
	}
	c.Add("statefulsets", Named("shop", "db", 2))
	c.Add("deployments", Named("shop", "web", 3))
	c.Add("deployments", Named("shop", "worker", 2))
	c.Add("scaledobjects", Targeting("shop", "worker", fields{"minReplicaCount": 2}))
	c.Add("deployments", Named("shop", "asleep", 0))
	c.Add("cronjobs",
		fields{
			"metadata": fields{"namespace": "shop", "name": "nightly"},
			"spec":     fields{"schedule": "0 3 * * *", "suspend": false},
		})
	cache := Named("scratch", "cache", 1)
	cache["spec"].(fields)["persistentVolumeClaimRetentionPolicy"] = fields{"whenScaled": "Delete"}
	cache["spec"].(fields)["volumeClaimTemplates"] = []any{fields{"metadata": fields{"name": "data"}}}
	c.Add("statefulsets", cache)
	agent := Named("scratch", "agent", 0)
	delete(agent["spec"].(fields), "replicas")
	c.Add("daemonsets", agent)
}

// Move lets the controllers take a step every pace, until ctx ends.
func (c *Cluster) Move(ctx context.Context, at clock.Clock, pace time.Duration) {
	for at.Sleep(ctx, pace) == nil {
		c.Settle()
	}
}

// ServeKubeconfig answers with a kubeconfig of the cluster, as a text of JSON.
func (c *Cluster) ServeKubeconfig(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(c.Kubeconfig(Token))
}
