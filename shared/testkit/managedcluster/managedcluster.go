// Package managedcluster makes accounts of each cloud that runs one Kubernetes cluster, all in this process. The cloud
// is its twin, and gives access to the cluster to the same callers as the real one. It exists so that tests of
// clusters that are entered through their account run for EKS, AKS and GKE alike.
package managedcluster

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/cloud/azure"
	"lamplighter.dev/shared/cloud/gcp"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

// Name is the name of the cluster in each account.
const Name = "prod"

// Host is an account with the cluster Name in Region. UID is the cloud's name of the cluster.
type Host struct {
	Provider, Region, UID string
	Account               cloud.Account
	Cloud                 cloud.Provider
	Twin                  http.RoundTripper // the twin of the cloud
}

// Providers are the providers that have a host.
func Providers() []string { return []string{aws.Name, azure.Name, gcp.Name} }

// Open adds the cluster to an account of the provider. The cluster accepts the account's credentials.
func Open(provider string, at clock.Clock, cluster *kubernetestwin.Cluster) Host {
	switch provider {
	case azure.Name:
		return openAKS(at, cluster)
	case gcp.Name:
		return openGKE(at, cluster)
	default:
		return openEKS(at, cluster)
	}
}

func openEKS(at clock.Clock, cluster *kubernetestwin.Cluster) Host {
	tw := &awstwin.Cloud{}
	k := tw.AddCluster(awstwin.Cluster{
		Name: Name, Region: "eu-west-1", Endpoint: cluster.URL(),
		Authority: cluster.Authority(),
	})
	cluster.Accept = awstwin.OpensClusters
	return Host{aws.Name, k.Region, k.ARN(), cloud.Account{
		Org: "org_1", ID: "ca_1", Provider: aws.Name, NativeID: awstwin.Account, AuthMethod: "static_keys",
		Credentials: map[string]string{"accessKeyID": awstwin.AccessKey, "secretAccessKey": "a secret of the account"},
	}, aws.New(aws.Options{Clock: at, Transport: tw}), tw}
}

func openAKS(at clock.Clock, cluster *kubernetestwin.Cluster) Host {
	tw := &azuretwin.Cloud{}
	k := tw.AddEntraCluster(Name, "westeurope", cluster.URL(), cluster.Authority())
	cluster.Accept = tw.OpensClusters
	return Host{azure.Name, "westeurope", k.UID(), cloud.Account{
		Org: "org_1", ID: "ca_1", Provider: azure.Name, NativeID: azuretwin.Subscription,
		AuthMethod: "service_principal",
		Credentials: map[string]string{
			"tenantID": azuretwin.Tenant, "clientID": azuretwin.Client,
			"clientSecret": azuretwin.Secret,
		},
	}, azure.New(azure.Options{Clock: at, Transport: tw, Limits: map[string]azure.Limit{"": {}}}), tw}
}

func openGKE(at clock.Clock, cluster *kubernetestwin.Cluster) Host {
	tw := &gcptwin.Cloud{}
	server, _ := strings.CutPrefix(cluster.URL(), "https://")
	k := tw.AddCluster(gcptwin.Cluster{
		Name: Name, Location: "europe-west1", Endpoint: server,
		Authority: base64.StdEncoding.EncodeToString(cluster.Authority()),
	})
	cluster.Accept = tw.KnowsToken
	return Host{gcp.Name, k.Location, k.UID(), cloud.Account{
		Org: "org_1", ID: "ca_1", Provider: gcp.Name, NativeID: gcptwin.Project, AuthMethod: "service_account",
		Credentials: map[string]string{"serviceAccountKey": gcptwin.KeyFile()},
	}, gcp.New(gcp.Options{Clock: at, Transport: tw, Limits: map[string]gcp.Limit{"": {}}}), tw}
}

// Regions are the regions of the host's cloud with the cluster, and one without it.
func (h Host) Regions() []string {
	other := map[string]string{aws.Name: "us-east-1", azure.Name: "northeurope", gcp.Name: "us-central1"}[h.Provider]
	return slices.Sorted(slices.Values([]string{h.Region, other}))
}
