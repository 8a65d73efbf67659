package cloud

import "context"

// ClusterEntry opens a Kubernetes cluster without files and plugins. Token returns the bearer token for one call. It
// is called before each call, caches its token while that is valid, and returns *Error. It is nil if a client
// certificate opens the cluster.
type ClusterEntry struct {
	UID        string // native identifier of the cluster, as Cluster.UID; empty when it is not known
	Server     string // https://…
	ServerName string // that the server's certificate has to bear, when it is not the server's host
	Authority  []byte // PEM; empty: the authorities of the system
	Token      func(context.Context) (string, error)
}

// ErrNoPublicEndpoint returns the error of a cluster, such as "the EKS cluster prod", that answers only in its own
// network.
func ErrNoPublicEndpoint(cluster string) error {
	return &Error{
		Class: Unsupported, Code: "PrivateCluster",
		Message: cluster +
			" is private: its API server has no public endpoint, so that it cannot be reached from here; give it " +
			"one, or, where this installation stands in a network that leads to it, register the cluster with a " +
			"kubeconfig",
	}
}

// RegisteredCluster is a cluster of an account whose contents may be read. Kubeconfig is the user's kubeconfig for it,
// as JSON of kubernetes/kubeconfig.Access; nil if the account's own credentials open the cluster.
type RegisteredCluster struct {
	Region, Name string
	Kubeconfig   []byte
}

// ClusterOpener is the provider that looks into clusters.
type ClusterOpener interface {
	// WithClusters returns a connection to the account of conn and to the contents of its clusters. For the opener's
	// kinds it lists, reads and acts in the clusters of a region; for all other kinds it uses conn.
	WithClusters(conn Conn, clusters []RegisteredCluster) Conn
}

// Inside is an optional interface of a connection of a ClusterOpener.
type Inside interface {
	// KindsInside returns the kinds inside the clusters of a region; none if no cluster is registered.
	KindsInside(region string) []Kind
	// PermissionsInside returns the permissions of a registered cluster's credentials in it, as Conn.Permissions does.
	PermissionsInside(ctx context.Context, region, name string) ([]Permission, error)
}

// ClusterAccess is an optional interface of a Conn whose credentials open the clusters that its provider runs. Errors
// and deadlines are as for Conn; the entry is valid as long as the Conn.
type ClusterAccess interface {
	// EnterCluster returns the entry of a cluster. A missing cluster is class NotFound, one without an address yet
	// class Moving.
	EnterCluster(ctx context.Context, region, name string) (ClusterEntry, error)
}
