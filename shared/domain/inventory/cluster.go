package inventory

import (
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/seal"
)

// The ways into a registered cluster.
const (
	CloudIAM   = "cloud_iam"  // the credentials of its account
	Kubeconfig = "kubeconfig" // a kubeconfig that was handed over
)

// MaxClusters is how many clusters of one account can be registered. They are deleted with the account in one
// transaction.
const MaxClusters = 90

// ClusterName names a cluster in an account.
type ClusterName struct {
	Region string `json:"region"`
	Name   string `json:"name"`
}

// Registration is a cluster that may be deployed to. Its account counts its registrations.
type Registration struct {
	ClusterName
	AccountID    string       `json:"cloudAccountID"`   // ca_…
	Method       string       `json:"method"`           // CloudIAM, Kubeconfig
	Sealed       []byte       `json:"sealed,omitempty"` // method Kubeconfig: a kubeconfig.Access, for ClusterPlace
	RegisteredAt time.Time    `json:"registeredAt"`
	Check        ClusterCheck `json:"check,omitzero"`
}

// ClusterKey returns the key of a cluster's registration. The sort keys of an account's registrations begin with
// ClusterPrefix.
func ClusterKey(org, accountID string, c ClusterName) table.Key {
	return table.Key{PK: table.OrgPK(org) + "CLUSTER", SK: ClusterPrefix(accountID) + c.Region + "#" + c.Name}
}

// ClusterPrefix begins the sort keys of the registrations of an account.
func ClusterPrefix(accountID string) string { return accountID + "#" }

// ClusterPlace returns the seal place of a cluster's kubeconfig. The kubeconfig cannot be opened for another place.
func ClusterPlace(org, accountID string, c ClusterName) seal.Place {
	return seal.Place{Org: org, Kind: ClusterSecret, ID: ClusterPrefix(accountID) + c.Region + "#" + c.Name}
}

// ClusterQuery is the question to Connector about clusters. AskClusterReview reads the cluster Region and Name.
// AskClusters reads a page of all clusters, including those in Known, even if the cloud does not have them.
type ClusterQuery struct {
	Region string        `json:"region,omitempty"` // with AskClusters: only this one
	Name   string        `json:"name,omitempty"`
	Known  []ClusterName `json:"known,omitempty"`
	ByName bool          `json:"byName,omitempty"` // by name, then region; else by region, then name
	Last   bool          `json:"last,omitempty"`   // the last one first
	Skip   int           `json:"skip,omitempty"`
	Limit  int           `json:"limit,omitempty"`
}

// ClustersFound is a page of clusters, and the failures to read some of them.
type ClustersFound struct {
	Clusters []cloud.Cluster  `json:"clusters"`
	Total    int              `json:"total"` // on all pages
	Failures []ClusterFailure `json:"failures"`
}

// ClusterFailure is a region whose clusters could not be listed, or a cluster that could not be described.
type ClusterFailure struct {
	Region string `json:"region"`
	// the cluster that could not be described; empty when the region could not be listed
	Name  string `json:"name,omitempty"`
	Error string `json:"error"` // the cloud's own words
}
