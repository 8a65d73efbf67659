package cloud

import "context"

// ClusterStatus is the state of a cluster, the same for all providers.
type ClusterStatus string

// The statuses of clusters.
const (
	ClusterCreating ClusterStatus = "creating"
	ClusterActive   ClusterStatus = "active"
	ClusterUpdating ClusterStatus = "updating"
	ClusterDeleting ClusterStatus = "deleting"
	ClusterFailed   ClusterStatus = "failed"
	ClusterDeleted  ClusterStatus = "deleted" // it is remembered, and the provider has it no more
	ClusterUnknown  ClusterStatus = "unknown" // it could not be read
)

// ClusterStopped is the Code of an Error, of class Moving, about the contents of a cluster that its owner has stopped:
// they exist, and cannot be read until the cluster is started. A discovery does not count it as a failure.
const ClusterStopped = "ClusterStopped"

// Cluster is a Kubernetes cluster that a provider runs. Name and Region together are unique in an account.
type Cluster struct {
	UID     string        `json:"uid"` // native identifier, which is the ParentUID of its node groups
	Name    string        `json:"name"`
	Region  string        `json:"region"`
	Status  ClusterStatus `json:"status"`
	Version string        `json:"version"` // of Kubernetes: "1.33"
	// that its node groups are set to; nil when they may not be read
	NodeCount *int `json:"nodeCount,omitempty"`
}

// Clusters is an optional interface of a Conn whose provider runs Kubernetes clusters. Errors and deadlines are as for
// Conn.
type Clusters interface {
	// ClusterNames names the clusters of a region.
	ClusterNames(ctx context.Context, region string) ([]string, error)
	// Cluster describes a cluster. A cluster that does not exist is class NotFound.
	Cluster(ctx context.Context, region, name string) (Cluster, error)
}
