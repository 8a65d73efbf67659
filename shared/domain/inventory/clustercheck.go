package inventory

import (
	"time"

	"lamplighter.dev/shared/cloud"
)

// ClusterCheck is the last answer of a registered cluster about the permissions of its registration.
type ClusterCheck struct {
	At time.Time `json:"at,omitzero"` // zero: it was never asked
	// permissions that no role of the cluster grants; Action is "patch deployments.apps"
	Missing []cloud.Permission `json:"missing,omitempty"`
	Error   string             `json:"error,omitempty"` // why it could not be asked, or not about everything
}

// ClusterReview is the state of a cluster, and the check of its registration's permissions.
type ClusterReview struct {
	cloud.Cluster
	Check ClusterCheck `json:"check"`
}
