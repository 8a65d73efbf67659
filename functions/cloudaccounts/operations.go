package cloudaccounts

import (
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

// These are the documented error statuses of the operations.
var (
	writes = []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}
	reads  = []int{http.StatusNotFound}
)

const (
	accounts   = "/cloud-accounts"
	account    = accounts + "/{accountID}"
	clusters   = account + "/clusters"
	accessPath = clusters + "/{region}/{clusterName}/access"
)

// Operations returns the operations of the group, except those of functions/cloudorganisations.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Cloud Accounts")
	s := newService(p)
	s.recordOperations(g)
	s.cloudOperations(g)
	s.clusterOperations(g)
	return g
}

func (s *service) recordOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listCloudAccounts", Method: http.MethodGet, Path: accounts, Policy: "cloud-accounts:read",
		Statuses: []int{http.StatusBadRequest}, Summary: "List cloud accounts",
		Description: "Oldest first, or by sort_by: name, provider, status, resourceCount, createdAt.",
	}, s.listAccounts)
	rest.Handle(g, rest.Op{
		ID: "connectCloudAccount", Method: http.MethodPost, Path: accounts, Policy: "cloud-accounts:write",
		Statuses: []int{http.StatusBadRequest, http.StatusConflict}, Summary: "Connect a cloud account",
		Description: "The credentials are verified before anything is stored; refused ones are 400 with the " +
			"cloud's error text. An unknown region is 400 before any call, and so is an endpointURL or a cluster " +
			"that does not answer within 5 seconds. Credentials are stored encrypted and never returned. A discovery " +
			"starts at once; jobID identifies it. For authMethod assume_role, GET /cloud-accounts/aws/onboarding " +
			"returns the external id " +
			"that the role must demand.",
	}, s.connectAccount)
	rest.Handle(g, rest.Op{
		ID: "getCloudAccount", Method: http.MethodGet, Path: account, Policy: "cloud-accounts:read", Statuses: reads,
		Summary: "Get a cloud account",
	}, s.getAccount)
	rest.Handle(g, rest.Op{
		ID: "updateCloudAccount", Method: http.MethodPut, Path: account, Policy: "cloud-accounts:write",
		Statuses: writes,
		Summary:  "Change a cloud account",
		Description: "Changes the fields that are present. provider and cloudAccountID never change: another value " +
			"is 400. If authMethod, " +
			"credentials, regions or endpointURL change, the account is verified before anything is stored, and then " +
			"discovered again. credentials replaces all credentials. Stored credentials are never sent to another " +
			"endpoint: a request that changes endpointURL must contain credentials.",
	}, s.updateAccount)
	rest.Handle(g, rest.Op{
		ID: "deleteCloudAccount", Method: http.MethodDelete, Path: account, Policy: "cloud-accounts:write",
		Statuses: writes[1:],
		Summary:  "Disconnect a cloud account",
		Description: "The credentials are deleted at once, the resources leave the inventory a little later. " +
			"Nothing changes in the cloud. While actions are in flight in the account, the answer is 409 and names " +
			"one. While the account is in use, the answer is 409 and lists the uses by id and name. With " +
			"detach=true its resources are removed from resource groups, teams and schedules. Wake links to them, " +
			"autoscaler policies that were never applied, and budgets, subscriptions, webhooks and integrations " +
			"for the account are deleted. Overrides on its resources, applied autoscaler policies, and policies " +
			"that event readiness plans use keep the account even then: their ends act on its cloud.",
	}, s.removeAccount)
}

func (s *service) cloudOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "discoverCloudAccount", Method: http.MethodPost, Path: account + "/discover",
		Policy: "cloud-accounts:write",
		Status: http.StatusAccepted, Statuses: writes[1:], Summary: "Discover the resources of the account",
		Description: "If a discovery of the account is under way, the answer is that one. Poll statusURL until " +
			"status is succeeded, partial or failed.",
	}, s.startDiscovery)
	rest.Handle(g, rest.Op{
		ID: "getDiscovery", Method: http.MethodGet, Path: account + "/discover/{jobID}", Policy: "cloud-accounts:read",
		Statuses: reads, Summary: "Follow a discovery",
		Description: "Progress by partitions: each kind of resource in each region. A partition that could not be " +
			"read leaves its known resources unchanged and is listed in failures. Kept for 30 days.",
	}, s.getProgress)
	rest.Handle(g, rest.Op{
		ID: "getCloudAccountPermissions", Method: http.MethodGet, Path: account + "/permissions",
		Policy:      "cloud-accounts:read",
		Statuses:    []int{http.StatusBadRequest, http.StatusNotFound},
		Summary:     "Check the permissions of the credentials",
		Description: "Asks the cloud now. Each permission is granted, denied or unknown, with the cloud's error text.",
	}, s.listPermissions)
	rest.Handle(g, rest.Op{
		ID: "getCloudAccountOnboarding", Method: http.MethodGet, Path: account + "/onboarding",
		Policy:   "cloud-accounts:read",
		Statuses: reads, Summary: "Get the steps to set up in the cloud",
		Description: "The exact policies, the role template and the commands. Each level contains those before it; " +
			"level remediate is needed to carry out recommendations, and a plan whose account lacks a permission " +
			"names it. Before an account exists, accountID " +
			"is the provider: /cloud-accounts/aws/onboarding. The external id belongs to the organization and " +
			"never changes. If this deployment has no identity of its own, assume_role is left out.",
	}, s.getOnboarding)
}

func (s *service) clusterOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listClusters", Method: http.MethodGet, Path: clusters, Policy: "cloud-accounts:read",
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound},
		Summary:  "List the Kubernetes clusters of an account",
		Description: "Asks the cloud now, in every region of the account. Sorted by region and name, or by " +
			"sort_by: region, name. A region that cannot be read does not fail the list; it is in failures. " +
			"Registered clusters are listed even if they no longer exist in the cloud. The list is empty for a " +
			"provider without clusters.",
	}, s.listClusters)
	rest.Handle(g, rest.Op{
		ID: "registerCluster", Method: http.MethodPut, Path: accessPath, Policy: "cloud-accounts:write",
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound},
		Summary:  "Register a cluster, so that it can be deployed to",
		Description: "The cluster must exist, and for method cloud_iam it must be active. A kubeconfig must " +
			"contain its token or client certificate and its authority as data, and an https server. Exec plugins, " +
			"auth-provider, file paths, passwords, impersonation, proxies and insecure-skip-tls-verify are " +
			"refused. Registering again replaces the registration. Nothing changes in the cloud. At most 90 " +
			"clusters an account.",
	}, s.registerCluster)
	rest.Handle(g, rest.Op{
		ID: "deregisterCluster", Method: http.MethodDelete, Path: accessPath, Policy: "cloud-accounts:write",
		Statuses: reads,
		Summary:  "Deregister a cluster",
		Description: "Its kubeconfig is deleted at once. Spaces on it stop deploying until it is registered again. " +
			"The id in the answer is region/name. Nothing changes in the cloud.",
	}, s.deregisterCluster)
}
