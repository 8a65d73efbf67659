package inventory

import "lamplighter.dev/shared/cloud"

// Connector is the name of the worker that asks a cloud about an account while a caller waits.
const Connector = "connector"

// What Connector can be asked.
const (
	AskVerify      = "verify"      // do the credentials open the account? The answer is a Verified
	AskPermissions = "permissions" // what may they do? The answer is a list of cloud.Permission
	AskClusters    = "clusters"    // which Kubernetes clusters are there? The answer is a ClustersFound
	AskMetrics     = "metrics"     // how was a resource used? The answer is a cloud.MetricAnswer
)

// AskOrganisation asks which organization of accounts the credentials list. The answer is a Verified without regions.
const AskOrganisation = "organisation"

// AskClusterReview asks how a cluster is, and what the Registration beside it, which need not be stored, may do in it. The answer
// is a ClusterReview.
const AskClusterReview = "clusterReview"

// What Connector can be asked of a group that its provider scales. Both answers are how it is scaled then, a cloud.Autoscaling; a group
// that is not there is fault.NotFound.
const (
	AskAutoscaling    = "autoscaling"    // how is it scaled?
	AskSetAutoscaling = "setAutoscaling" // scale it so; nothing is done where it is so already
)

// AutoscalingQuestion names the group that Connector is asked about. Want is of AskSetAutoscaling.
type AutoscalingQuestion struct {
	Type   string            `json:"type"`
	Region string            `json:"region"`
	UID    string            `json:"uid"`
	Want   cloud.Autoscaling `json:"want,omitzero"`
}

// Question is what Connector is sent. The account need not be stored; its credentials are sealed for its id.
type Question struct {
	Ask      string              `json:"ask"`
	Org      string              `json:"org"`
	Account  Account             `json:"account"`
	Clusters ClusterQuery        `json:"clusters,omitzero"`
	Metrics  cloud.MetricRequest `json:"metrics,omitzero"`

	Registration Registration `json:"registration,omitzero"`

	Autoscaling   AutoscalingQuestion `json:"autoscaling,omitzero"`
	Registrations []Registration      `json:"registrations,omitempty"` // of the account; for a group in a cluster
}

// Verified is what credentials open.
type Verified struct {
	NativeID string   `json:"nativeID"` // as the cloud says
	Regions  []string `json:"regions"`  // that can be discovered; nil when the credentials may not list them
}
