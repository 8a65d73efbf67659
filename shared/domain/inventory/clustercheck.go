package inventory

import (
	"time"

	"lamplighter.dev/shared/cloud"
)

// ClusterCheck is what a registered cluster said, when it was asked, of what its registration may do in it.
type ClusterCheck struct {
	At time.Time `json:"at,omitzero"` // zero: it was never asked
	// what no role of the cluster grants; Action is "patch deployments.apps"
	Missing []cloud.Permission `json:"missing,omitempty"`
	Error   string             `json:"error,omitempty"` // why it could not be asked, or not about everything
}

// ClusterReview is how a cluster is, and what a registration of it may do.
type ClusterReview struct {
	cloud.Cluster
	Check ClusterCheck `json:"check"`
}
