package cloud

import "context"

// ClusterEntry is what opens a Kubernetes cluster: no file, no plugin. Token makes the bearer token of one call; it is asked
// before each, keeps what it has made while that lasts, and returns *Error. It is nil where a client certificate opens.
type ClusterEntry struct {
	Server     string // https://…
	ServerName string // that the server's certificate has to bear, when it is not the server's host
	Authority  []byte // PEM; empty: the authorities of the system
	Token      func(context.Context) (string, error)
}

// ClusterAccess is what a Conn can be asked besides, where its credentials open the clusters that its provider runs. Errors
// and deadlines are as for Conn; the entry is of use as long as the Conn is.
type ClusterAccess interface {
	// EnterCluster tells how a cluster is entered; one that does not exist is class NotFound, one whose server is not known
	// yet class Moving.
	EnterCluster(ctx context.Context, region, name string) (ClusterEntry, error)
}
