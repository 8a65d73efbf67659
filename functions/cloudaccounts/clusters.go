package cloudaccounts

import (
	"context"
	"strings"
	"time"

	"lamplighter.dev/functions/cloudaccounts/onboarding"
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

// noAccess is the access method of a cluster that is not registered.
const noAccess = "none"

// Cluster is the record of a Kubernetes cluster of an account.
type Cluster struct {
	Name       string              `json:"name" example:"prod"`
	Region     string              `json:"region" example:"eu-west-1"`
	Provider   string              `json:"provider" example:"aws"`
	Status     cloud.ClusterStatus `json:"status" enum:"creating,active,updating,deleting,failed,deleted,unknown" doc:"deleted: registered, but gone in the cloud; unknown: it could not be read, see failures"`
	Version    string              `json:"version" doc:"Of Kubernetes; empty when it could not be read" example:"1.33"`
	NodeCount  *int                `json:"nodeCount" doc:"Configured nodes of its managed node groups; null if they could not be read"`
	Access     string              `json:"access" enum:"none,cloud_iam,kubeconfig" doc:"How it is entered"`
	Registered bool                `json:"registered" doc:"Whether it may be deployed to"`
	Check      *AccessCheck        `json:"accessCheck" doc:"Its permissions at the time of registration; null if not registered. Register it again for a new check"`
}

// AccessCheck is a cluster's answer about the permissions in it.
type AccessCheck struct {
	Status    string                   `json:"status" enum:"granted,missing,unknown" doc:"unknown: the check failed, see error"`
	CheckedAt *time.Time               `json:"checkedAt" doc:"Null where it was never asked"`
	Missing   []MissingAction          `json:"missing" doc:"Needed actions that no role grants in all namespaces; for a read_only account only those of discovery"`
	Rules     []onboarding.ClusterRule `json:"rules" doc:"The rules to add to the ClusterRole of the credentials, in the cluster's syntax"`
	Error     *string                  `json:"error" doc:"The error text of the cluster or the cloud; null if the check succeeded"`
}

// MissingAction is one verb on one resource.
type MissingAction struct {
	Capability string `json:"capability" enum:"discover,start_stop,scale"`
	Action     string `json:"action" example:"patch deployments.apps"`
}

// ClusterList is a page of clusters. It is complete except for its failures.
type ClusterList struct {
	Items    []Cluster        `json:"items" doc:"The clusters of this page"`
	Total    int              `json:"total" doc:"How many there are on all pages"`
	Page     int              `json:"page" doc:"Which page this is, from 1"`
	Limit    int              `json:"limit" doc:"Clusters a page"`
	Failures []ClusterFailure `json:"failures" doc:"Regions that could not be listed, and clusters that could not be described"`
}

// ClusterFailure is a region whose clusters could not be listed, or a cluster that could not be described.
type ClusterFailure struct {
	Region string  `json:"region"`
	Name   *string `json:"name" doc:"The cluster that could not be described; null when the region could not be listed"`
	Error  string  `json:"error" doc:"The cloud's own words"`
}

// newCluster returns the record of a cluster from the cloud's description. r is its registration, or nil.
func newCluster(a inventory.Account, c cloud.Cluster, r *inventory.Registration) Cluster {
	out := Cluster{
		Name: c.Name, Region: c.Region, Provider: a.Provider, Status: c.Status, Version: c.Version,
		NodeCount: c.NodeCount,
		Access:    noAccess,
	}
	if r != nil {
		out.Access, out.Registered, out.Check = r.Method, true, newAccessCheck(a, r.Check)
	}
	return out
}

// newAccessCheck returns the client's view of a check, without the actions that the account is not to perform. A change
// that a recommendation asks for names what it lacks itself.
func newAccessCheck(a inventory.Account, c inventory.ClusterCheck) *AccessCheck {
	out := &AccessCheck{Status: "granted", Missing: []MissingAction{}, Error: rest.Optional(c.Error)}
	if !c.At.IsZero() {
		out.CheckedAt = &c.At
	}
	var actions []string
	for _, p := range c.Missing {
		if p.Capability == "discover" || !a.ReadOnly() && p.Capability != cloud.RemediateCapability {
			out.Missing, actions = append(out.Missing, MissingAction{p.Capability, p.Action}), append(actions, p.Action)
		}
	}
	out.Rules = onboarding.RulesOf(actions)
	switch {
	case len(out.Missing) > 0:
		out.Status = "missing"
	case out.CheckedAt == nil || out.Error != nil:
		out.Status = "unknown"
	}
	return out
}

// clusterOrders are the sort orders of clusters. The connector sorts them.
type clusterOrders struct{}

var _ rest.Orders[inventory.ClusterName] = clusterOrders{}

func (clusterOrders) Orders() []rest.Order[inventory.ClusterName] {
	return []rest.Order[inventory.ClusterName]{{}, {Field: "region"}, {Field: "name"}}
}

type clustersInput struct {
	rest.Page
	rest.Sort[inventory.ClusterName, clusterOrders]
	AccountID string `path:"accountID" maxLength:"64"`
	Region    string `query:"region" maxLength:"64" doc:"Only clusters of this region"`
}

func (s *service) listClusters(ctx context.Context, in *clustersInput) (ClusterList, error) {
	org := identity.CallerOrg(ctx)
	a, err := s.readAccount(ctx, org, in.AccountID)
	if err != nil {
		return ClusterList{}, err
	}
	known, err := inventory.ReadRegistrations(ctx, s.p.Table, org, a.ID)
	if err != nil {
		return ClusterList{}, err
	}
	var found inventory.ClustersFound
	err = s.opener.Ask(ctx,
		inventory.Question{Ask: inventory.AskClusters, Org: org, Account: a, Clusters: in.toQuery(known)}, &found)
	if err != nil {
		return ClusterList{}, err
	}
	return in.toList(a, known, found), nil
}

func (in *clustersInput) toQuery(known []inventory.Registration) inventory.ClusterQuery {
	q := inventory.ClusterQuery{
		Region: in.Region, ByName: in.Field() == "name", Last: in.Descending(), Skip: in.Skip(), Limit: in.Limit,
	}
	for i := range known {
		q.Known = append(q.Known, known[i].ClusterName)
	}
	return q
}

func (in *clustersInput) toList(a inventory.Account, known []inventory.Registration,
	found inventory.ClustersFound,
) ClusterList {
	registered := make(map[inventory.ClusterName]*inventory.Registration, len(known))
	for i := range known {
		registered[known[i].ClusterName] = &known[i]
	}
	out := ClusterList{
		Items: make([]Cluster, len(found.Clusters)), Total: found.Total, Page: in.Page.Page, Limit: in.Limit,
		Failures: make([]ClusterFailure, len(found.Failures)),
	}
	for i, f := range found.Failures {
		out.Failures[i] = ClusterFailure{f.Region, rest.Optional(f.Name), f.Error}
	}
	for i, c := range found.Clusters {
		out.Items[i] = newCluster(a, c, registered[inventory.ClusterName{Region: c.Region, Name: c.Name}])
	}
	return out
}

// ClusterPath names a cluster in a path.
type ClusterPath struct {
	AccountID   string `path:"accountID" maxLength:"64"`
	Region      string `path:"region" maxLength:"64" example:"eu-west-1"`
	ClusterName string `path:"clusterName" maxLength:"128" example:"prod"`
}

// clusterToChange returns the cluster of a request that changes it.
func (in *ClusterPath) clusterToChange(ctx context.Context) (inventory.ClusterName, error) {
	audit.NoteChange(ctx, audit.Change{Target: in.AccountID + "/" + in.Region + "/" + in.ClusterName})
	return in.clusterOf()
}

// clusterOf returns the cluster that the path names. A # is refused, because keys are separated by it and no cloud
// allows it in a region or a cluster name.
func (in *ClusterPath) clusterOf() (inventory.ClusterName, error) {
	if strings.Contains(in.Region+in.ClusterName, "#") {
		return inventory.ClusterName{},
			fault.New(fault.NotFound, "cloud account %.64q has no cluster %.128q in region %.64q", in.AccountID,
				in.ClusterName, in.Region)
	}
	return inventory.ClusterName{Region: in.Region, Name: in.ClusterName}, nil
}
