package cloud

import "context"

// ClusterEntry is what opens a Kubernetes cluster: no file, no plugin. Token makes the bearer token of one call; it is asked
// before each, keeps what it has made while that lasts, and returns *Error. It is nil where a client certificate opens.
type ClusterEntry struct {
	UID        string // native identifier of the cluster, as Cluster.UID; empty when it is not known
	Server     string // https://…
	ServerName string // that the server's certificate has to bear, when it is not the server's host
	Authority  []byte // PEM; empty: the authorities of the system
	Token      func(context.Context) (string, error)
}

// ErrNoPublicEndpoint says that a cluster, such as "the EKS cluster prod", answers in its own network alone.
func ErrNoPublicEndpoint(cluster string) error {
	return &Error{
		Class: Unsupported, Code: "PrivateCluster",
		Message: cluster +
			" is private: its API server has no public endpoint, so that it cannot be reached from here; give it one, " +
			"or, where this installation stands in a network that leads to it, register the cluster with a kubeconfig",
	}
}

// RegisteredCluster is a cluster of an account that may be looked into. Kubeconfig is what was handed over for it, as JSON of
// kubernetes/kubeconfig.Access; nil for one that the account's own credentials open.
type RegisteredCluster struct {
	Region, Name string
	Kubeconfig   []byte
}

// ClusterOpener is the provider that looks into clusters.
type ClusterOpener interface {
	// WithClusters returns a connection to the account of conn and to what is in its clusters: what the opener's kinds are,
	// it lists, reads and acts on in the clusters of a region, everything else conn does.
	WithClusters(conn Conn, clusters []RegisteredCluster) Conn
}

// Inside is what a connection of a ClusterOpener can be asked besides.
type Inside interface {
	// KindsInside are the kinds that are found in the clusters of a region: none where no cluster is registered.
	KindsInside(region string) []Kind
	// PermissionsInside asks a registered cluster what its credentials may do in it, as Conn.Permissions does.
	PermissionsInside(ctx context.Context, region, name string) ([]Permission, error)
}

// ClusterAccess is what a Conn can be asked besides, where its credentials open the clusters that its provider runs. Errors
// and deadlines are as for Conn; the entry is of use as long as the Conn is.
type ClusterAccess interface {
	// EnterCluster tells how a cluster is entered; one that does not exist is class NotFound, one whose server is not known
	// yet class Moving.
	EnterCluster(ctx context.Context, region, name string) (ClusterEntry, error)
}
