package inventory

import (
	"context"
	"errors"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/foundation/fault"
)

// Connector is the name of the worker that sends questions about an account to its cloud while a caller waits.
const Connector = "connector"

// The questions to Connector.
const (
	AskVerify = "verify" // do the credentials open the account? The answer is a Verified
	// which permissions do they grant? The answer is a list of cloud.Permission; for one group if Autoscaling names it.
	AskPermissions = "permissions"
	AskClusters    = "clusters" // which Kubernetes clusters are there? The answer is a ClustersFound
	AskMetrics     = "metrics"  // how was a resource used? The answer is a cloud.MetricAnswer
)

// AskOrganisation asks for the organization whose accounts the credentials list. The answer is a Verified without
// regions.
const AskOrganisation = "organisation"

// AskClusterReview asks for the state of a cluster, and for the permissions of the Registration in the question. The
// Registration need not be stored. The answer is a ClusterReview.
const AskClusterReview = "clusterReview"

// The questions to Connector about a group that its provider scales. Both answers are a cloud.Autoscaling: the scaling
// after the call. A group that does not exist is fault.NotFound.
const (
	AskAutoscaling    = "autoscaling"    // how is it scaled?
	AskSetAutoscaling = "setAutoscaling" // set the scaling; does nothing if it is set already
)

// AutoscalingQuestion names the group of a question to Connector. Want is only for AskSetAutoscaling.
type AutoscalingQuestion struct {
	Type   string            `json:"type"`
	Region string            `json:"region"`
	UID    string            `json:"uid"`
	Want   cloud.Autoscaling `json:"want,omitzero"`
}

// Question is the input of Connector. The account need not be stored; its credentials are sealed for its id.
type Question struct {
	Ask      string              `json:"ask"`
	Org      string              `json:"org"`
	Account  Account             `json:"account"`
	Clusters ClusterQuery        `json:"clusters,omitzero"`
	Metrics  cloud.MetricRequest `json:"metrics,omitzero"`

	Registration Registration `json:"registration,omitzero"`

	Autoscaling   AutoscalingQuestion `json:"autoscaling,omitzero"`
	Registrations []Registration      `json:"registrations,omitempty"` // those of the account; for a group in a cluster
}

// patience is how long a request handler waits for the answer to a question. The questions of one handler together
// stay below the 29 seconds of API Gateway.
var patience = map[string]time.Duration{
	AskVerify: 15 * time.Second, AskOrganisation: 15 * time.Second, AskPermissions: 20 * time.Second,
	AskClusters:      22 * time.Second,
	AskClusterReview: 20 * time.Second, AskMetrics: 20 * time.Second, AskAutoscaling: 6 * time.Second,
	AskSetAutoscaling: 10 * time.Second,
}

// AskConnector sends a question to Connector while a client waits, and decodes the answer. A cloud that does not
// answer in time is fault.Unavailable.
func AskConnector(ctx context.Context, workers lambdacall.Invoker, q Question, answer any) error {
	limit, known := patience[q.Ask]
	if !known {
		return fault.New(fault.Internal, "the connector knows no question %q", q.Ask)
	}
	asking, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := workers.Invoke(asking, Connector, q, answer)
	if err != nil && errors.Is(asking.Err(), context.DeadlineExceeded) && fault.KindOf(err) == fault.Internal {
		return fault.NewWithCause(fault.Unavailable, err, "the cloud of account %s did not answer in time: try again",
			q.Account.ID)
	}
	return err
}

// Verified is the account that the credentials open.
type Verified struct {
	NativeID string   `json:"nativeID"` // as the cloud says
	Regions  []string `json:"regions"`  // discoverable regions; nil if the credentials may not list them
}
