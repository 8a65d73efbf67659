package executor

import (
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
	"lamplighter.dev/shared/testkit/managedcluster"
)

// newInside returns a fixture on an account of the provider with a registered cluster, and a Deployment in that
// cluster.
func newInside(t *testing.T, provider string) (*fixture, *kubernetestwin.Cluster, inventory.Resource) {
	t.Helper()
	w, cluster := newNamespace(t)
	h := managedcluster.Open(provider, w.e.p.Clock, cluster)
	w.e.providers[provider] = h.Cloud
	w.account.Provider, w.account.AuthMethod, w.account.CloudAccountID, w.account.Clusters = provider,
		h.Account.AuthMethod, h.Account.NativeID, 1
	w.sealCredentials(h.Account.Credentials)
	r := inventory.Registration{
		ClusterName: inventory.ClusterName{Region: h.Region, Name: managedcluster.Name},
		AccountID:   w.account.ID, Method: inventory.CloudIAM,
	}
	w.Put(inventory.ClusterKey(org, w.account.ID, r.ClusterName), r)
	w.conn = apitest.Value(w.e.newClouds().ConnectInside(w.ctx, org, w.account, []inventory.Registration{r}))(w)
	w.resources = nil
	w.listAs(kubernetes.Name, cloud.KubernetesDeployment, h.Region)
	return w, cluster, w.pick(cloud.KubernetesDeployment, cloud.Running)
}

func TestAnActionInARegisteredClusterGoesThroughItsAccount(t *testing.T) {
	for _, provider := range managedcluster.Providers() {
		t.Run(provider, func(t *testing.T) { stopsAndStartsInside(t, provider) })
	}
}

func stopsAndStartsInside(t *testing.T, provider string) {
	t.Helper()
	w, cluster, web := newInside(t, provider)
	for _, step := range []struct {
		verb cloud.Verb
		want int64
	}{{cloud.Stop, 0}, {cloud.Start, 2}} {
		if a := w.driveBeside(cluster, w.submit(web, step.verb)); a.Status != execution.Succeeded {
			t.Fatalf("%s: %+v", step.verb, a)
		}
		if got := kubernetestwin.Replicas(cluster.Get("deployments", "shop/web")); got != step.want {
			t.Errorf("after a %s it has %d replicas; want %d", step.verb, got, step.want)
		}
	}
}

func TestAnActionInAClusterThatIsDeregisteredFails(t *testing.T) {
	w, cluster, web := newInside(t, "aws")
	a := w.submit(web, cloud.Stop)
	w.Must(w.Table.Transact(w.ctx,
		table.Delete(inventory.ClusterKey(org, w.account.ID,
			inventory.ClusterName{Region: web.Region, Name: managedcluster.Name}))))
	if a = w.driveBeside(cluster, a); a.Status != execution.Failed {
		t.Errorf("%+v; want it failed", a)
	}
	if got := kubernetestwin.Replicas(cluster.Get("deployments", "shop/web")); got != 2 {
		t.Errorf("it has %d replicas", got)
	}
}
