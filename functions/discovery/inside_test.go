package discovery

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	awstwin "lamplighter.dev/shared/cloud/aws/twin"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/cloud/kubernetes/kubeconfig"
	"lamplighter.dev/shared/cloud/kubernetes/twin"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/testkit/apitest"
)

// newInside returns an account of AWS with an EKS cluster that is registered as method says, and a Deployment in it.
func newInside(t *testing.T, method string) (*fixture, *twin.Cluster) {
	t.Helper()
	s := newFixture(t, settings{"size": "1"})
	tw, cluster := &awstwin.Cloud{}, twin.New()
	t.Cleanup(cluster.Close)
	cluster.Accept = func(token string) bool {
		return method == inventory.CloudIAM && strings.HasPrefix(token, "k8s-aws-v1.")
	}
	cluster.Add("namespaces", map[string]any{"metadata": map[string]any{"name": "shop"}})
	cluster.Add("deployments", twin.Named("shop", "web", 2))
	tw.AddCluster(awstwin.Cluster{Name: "prod", Region: "eu-west-1", Endpoint: cluster.URL(), Authority: cluster.Authority()})
	s.providers["aws"] = aws.New(aws.Options{Clock: s.clk, Transport: tw})
	s.providers["kubernetes"] = kubernetes.New(kubernetes.Options{Clock: s.clk, PrivateAddresses: true})
	s.account.Provider, s.account.AuthMethod, s.account.CloudAccountID, s.account.Clusters = "aws", "static_keys", awstwin.Account, 1
	s.account.Regions = []string{"eu-west-1", "us-east-1"}
	s.settings(settings{"accessKeyID": awstwin.AccessKey, "secretAccessKey": "secret"})
	r := inventory.Registration{ClusterName: inventory.ClusterName{Region: "eu-west-1", Name: "prod"}, AccountID: s.account.ID, Method: method}
	if method == inventory.Kubeconfig {
		access := kubeconfig.Access{Server: cluster.URL(), Authority: cluster.Authority(), Token: twin.Token}
		plain := apitest.Value(json.Marshal(access))(s)
		r.Sealed = apitest.Value(s.Sealer.Seal(s.ctx, inventory.ClusterPlace(org, s.account.ID, r.ClusterName), plain))(s)
	}
	s.Put(inventory.ClusterKey(org, s.account.ID, r.ClusterName), r)
	return s, cluster
}

func TestADiscoveryLooksIntoRegisteredClusters(t *testing.T) {
	for _, method := range []string{inventory.CloudIAM, inventory.Kubeconfig} {
		t.Run(method, func(t *testing.T) {
			s, cluster := newInside(t, method)
			j, _ := s.pass(discovery.Succeeded)
			own := slices.DeleteFunc(s.providers["aws"].Kinds(), func(k cloud.Kind) bool { return k.Collected })
			inside := len(s.providers["kubernetes"].Kinds())
			if j.Partitions != 2*len(own)+inside {
				t.Errorf("%d partitions; want %d: what is in clusters only where one is registered", j.Partitions, 2*len(own)+inside)
			}
			web, there := s.records()[twin.UID+"/shop/deployments/web"]
			if !there || web.Provider != "kubernetes" || web.Region != "eu-west-1" || web.CloudAccountID != s.account.ID || web.Status != cloud.Running {
				t.Fatalf("web: %+v", web)
			}
			cluster.Deny("list deployments.apps")
			s.clk.Advance(time.Hour)
			s.account = s.stored()
			j, _ = s.pass(discovery.Partial)
			_, parts, err := discovery.ReadJob(s.ctx, s.Table, org, j.ID)
			s.Must(err)
			if !slices.ContainsFunc(parts, func(p discovery.Part) bool {
				return p.Kind == cloud.KubernetesDeployment && p.Status == discovery.PartDenied
			}) {
				t.Errorf("%+v; want the Deployments denied", parts)
			}
			if web := s.records()[twin.UID+"/shop/deployments/web"]; web.Status != cloud.Running {
				t.Errorf("what could not be read is %s; want it as it was", web.Status)
			}
		})
	}
}

// The account's cloud accepts the credentials; only the cluster has no access entry for them.
func TestADiscoveryThatAClusterDoesNotLetInKeepsTheAccount(t *testing.T) {
	s, cluster := newInside(t, inventory.CloudIAM)
	cluster.Accept = nil
	s.pass(discovery.Partial)
	if a := s.stored(); a.Status != inventory.AccountDegraded || !strings.Contains(a.Error, "does not let these credentials in") {
		t.Errorf("%s: %s; want it degraded, and why", a.Status, a.Error)
	}
}
