package discovery

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/cloud/kubernetes/kubeconfig"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
	"lamplighter.dev/shared/testkit/managedcluster"
)

// newInside returns an account of the provider with a cluster, registered with the given method, and a Deployment in
// it.
func newInside(t *testing.T, provider, method string) (*fixture, *kubernetestwin.Cluster, managedcluster.Host) {
	t.Helper()
	s := newFixture(t, settings{"size": "1"})
	cluster := kubernetestwin.New()
	t.Cleanup(cluster.Close)
	h := managedcluster.Open(provider, s.clk, cluster)
	if method == inventory.Kubeconfig {
		cluster.Accept = nil
	}
	cluster.Add("namespaces", map[string]any{"metadata": map[string]any{"name": "shop"}})
	cluster.Add("deployments", kubernetestwin.Named("shop", "web", 2))
	s.providers[provider] = h.Cloud
	s.providers["kubernetes"] = kubernetes.New(kubernetes.Options{Clock: s.clk, PrivateAddresses: true})
	s.account.Provider, s.account.AuthMethod, s.account.CloudAccountID, s.account.Clusters = provider,
		h.Account.AuthMethod, h.Account.NativeID, 1
	s.account.Regions = h.Regions()
	s.setSettings(h.Account.Credentials)
	r := inventory.Registration{
		ClusterName: inventory.ClusterName{Region: h.Region, Name: managedcluster.Name},
		AccountID:   s.account.ID, Method: method,
	}
	if method == inventory.Kubeconfig {
		access := kubeconfig.Access{Server: cluster.URL(), Authority: cluster.Authority(), Token: kubernetestwin.Token}
		plain := apitest.Value(json.Marshal(access))(s)
		r.Sealed = apitest.Value(s.Sealer.Seal(s.ctx, inventory.ClusterPlace(org, s.account.ID, r.ClusterName),
			plain))(s)
	}
	s.Put(inventory.ClusterKey(org, s.account.ID, r.ClusterName), r)
	return s, cluster, h
}

func TestADiscoveryLooksIntoRegisteredClusters(t *testing.T) {
	for _, provider := range managedcluster.Providers() {
		for _, method := range []string{inventory.CloudIAM, inventory.Kubeconfig} {
			t.Run(provider+" by "+method, func(t *testing.T) { looksInside(t, provider, method) })
		}
	}
}

func looksInside(t *testing.T, provider, method string) {
	t.Helper()
	s, cluster, h := newInside(t, provider, method)
	j, _ := s.runPass(discovery.Succeeded)
	inside := 0
	for _, p := range s.readParts(j) {
		if strings.HasPrefix(p.Kind, "kubernetes-") {
			inside++
			if p.Region != h.Region {
				t.Errorf("%+v; want what is in clusters only where one is registered", p)
			}
		}
	}
	if inside != len(s.providers["kubernetes"].Kinds()) {
		t.Errorf("%d partitions of what is in the cluster; want %d", inside, len(s.providers["kubernetes"].Kinds()))
	}
	web, there := s.readRecords()[kubernetestwin.UID+"/shop/deployments/web"]
	if !there || web.Provider != "kubernetes" || web.Region != h.Region || web.CloudAccountID != s.account.ID ||
		web.Status != cloud.Running {
		t.Fatalf("web: %+v", web)
	}
	cluster.Deny("list deployments.apps")
	s.clk.Advance(time.Hour)
	s.account = s.storedAccount()
	j, _ = s.runPass(discovery.Partial)
	if parts := s.readParts(j); !slices.ContainsFunc(parts, func(p discovery.Part) bool {
		return p.Kind == cloud.KubernetesDeployment && p.Status == discovery.PartDenied
	}) {
		t.Errorf("%+v; want the Deployments denied", parts)
	}
	if web := s.readRecords()[kubernetestwin.UID+"/shop/deployments/web"]; web.Status != cloud.Running {
		t.Errorf("what could not be read is %s; want it as it was", web.Status)
	}
}

func (s *fixture) readParts(j discovery.Job) []discovery.Part {
	s.Helper()
	_, parts, err := discovery.ReadJob(s.ctx, s.Table, org, j.ID)
	s.Must(err)
	return parts
}

// The account's cloud accepts the credentials; only the cluster has no access entry for them.
func TestADiscoveryThatAClusterDoesNotLetInKeepsTheAccount(t *testing.T) {
	s, cluster, _ := newInside(t, "aws", inventory.CloudIAM)
	cluster.Accept = nil
	s.runPass(discovery.Partial)
	if a := s.storedAccount(); a.Status != inventory.AccountDegraded ||
		!strings.Contains(a.Error, "does not let these credentials in") {
		t.Errorf("%s: %s; want it degraded, and why", a.Status, a.Error)
	}
}

// The connection to the clusters wraps the account's own connection, which still does the measurements.
func TestADiscoveryThatLooksIntoClustersMeasuresTheAccount(t *testing.T) {
	for name, clusters := range map[string]int{"none is registered": 0, "one is registered": 1} {
		t.Run(name, func(t *testing.T) {
			s, _, h := newInside(t, "aws", inventory.CloudIAM)
			h.Twin.(*awstwin.Cloud).AddInstance(awstwin.Instance{ID: awstwin.InstanceID(1), Region: "eu-west-1"})
			s.account.Clusters = clusters
			s.setSettings(h.Account.Credentials)
			s.runPass(discovery.Succeeded)
			s.account = s.storedAccount()
			s.advanceDays(1)
			c := s.readCollection()
			if c.Day != "2026-03-01" || c.Resources < 1 || c.Calls != 1 {
				t.Errorf("%+v; want the day before measured", c)
			}
			if told := strings.Contains(c.Error, "prometheusURL"); told != (clusters > 0) {
				t.Errorf("%q; want the way out for a cluster without a Prometheus, and for it alone", c.Error)
			}
		})
	}
}

// An account with a registered cluster has two collective kinds. A resource that one of them does not find is not
// deleted for that reason.
func TestADiscoveryOfTheRestKeepsTheRestOfClusters(t *testing.T) {
	s, cluster, h := newInside(t, "aws", inventory.CloudIAM)
	tw := h.Twin.(*awstwin.Cloud)
	tw.AddVolume(awstwin.Volume{ID: "vol-1", Region: "eu-west-1", SizeGB: 8})
	cluster.Add("nodes", map[string]any{"metadata": map[string]any{"name": "node-1"}})
	cluster.Add("persistentvolumeclaims",
		map[string]any{"metadata": map[string]any{"namespace": "shop", "name": "data"}})
	rest := []string{
		kubernetestwin.UID + "//nodes/node-1", kubernetestwin.UID + "/shop/persistentvolumeclaims/data",
		"arn:aws:ec2:eu-west-1:" + awstwin.Account + ":volume/vol-1",
	}
	types := []string{"kubernetes-node", "kubernetes-persistentvolumeclaim", "aws-ebs"}
	for range 3 {
		s.runPass(discovery.Succeeded)
		for i, uid := range rest {
			if r, there := s.readRecords()[uid]; !there || r.Type != types[i] || r.Status == cloud.Terminated {
				t.Fatalf("%s is %+v; want %s there", uid, r, types[i])
			}
		}
		s.account = s.storedAccount()
		s.clk.Advance(6 * time.Hour)
	}
	cluster.Remove("nodes", "node-1")
	for range 2 { // nodes cannot be read by id
		s.runPass(discovery.Succeeded)
		s.account = s.storedAccount()
		s.clk.Advance(6 * time.Hour)
	}
	if r := s.readRecords()[rest[0]]; r.Status != cloud.Terminated {
		t.Errorf("the node that is gone is %+v", r)
	}
	if r := s.readRecords()[rest[2]]; r.Status == cloud.Terminated {
		t.Error("the volume went with the node")
	}
}

// A cluster that its owner has stopped is not a failure: its resources stay as they were last seen.
func TestADiscovery_AClusterThatIsStoppedIsNoFailure(t *testing.T) {
	s, _, h := newInside(t, "azure", inventory.CloudIAM)
	s.runPass(discovery.Succeeded)
	tw := h.Twin.(*azuretwin.Cloud)
	act := func(v cloud.Verb) {
		_, conn, err := s.newWorker().connectAccount(s.ctx, s.newShare("").Input)
		s.Must(err)
		s.Must(conn.Act(s.ctx, v, cloud.AzureAKS, h.Region, []cloud.Target{{UID: h.UID}})[0].Err)
		tw.SettleAll()
		s.account = s.storedAccount()
		s.clk.Advance(6 * time.Hour)
	}
	act(cloud.Stop)
	j, _ := s.runPass(discovery.Succeeded)
	if a := s.storedAccount(); a.Status != inventory.AccountConnected || a.Error != "" {
		t.Errorf("the account is %s: %s", a.Status, a.Error)
	}
	told := slices.ContainsFunc(s.readParts(j), func(p discovery.Part) bool {
		return p.Kind == cloud.KubernetesDeployment && strings.Contains(p.Error, "is stopped")
	})
	if web := s.readRecords()[kubernetestwin.UID+"/shop/deployments/web"]; web.Status == cloud.Terminated || !told {
		t.Errorf("what is in it is %s, told why: %t", web.Status, told)
	}
	act(cloud.Start)
	s.runPass(discovery.Succeeded)
	if web := s.readRecords()[kubernetestwin.UID+"/shop/deployments/web"]; web.Status != cloud.Running {
		t.Errorf("after it was started: %s", web.Status)
	}
}
