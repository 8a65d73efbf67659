package executor

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	awstwin "lamplighter.dev/shared/cloud/aws/twin"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/cloud/kubernetes/twin"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// newInside returns a fixture on an account of AWS with a registered EKS cluster, and the Deployment that is in it.
func newInside(t *testing.T) (*fixture, *twin.Cluster, inventory.Resource) {
	t.Helper()
	w, cluster := newNamespace(t)
	cloudly := &awstwin.Cloud{}
	cloudly.AddCluster(awstwin.Cluster{Name: "prod", Region: "eu-west-1", Endpoint: cluster.URL(), Authority: cluster.Authority()})
	cluster.Accept = func(token string) bool { return strings.HasPrefix(token, "k8s-aws-v1.") }
	w.e.providers["aws"] = aws.New(aws.Options{Clock: w.e.p.Clock, Transport: cloudly})
	w.account.Provider, w.account.AuthMethod, w.account.CloudAccountID, w.account.Clusters = "aws", "static_keys", awstwin.Account, 1
	w.seal(map[string]string{"accessKeyID": awstwin.AccessKey, "secretAccessKey": "secret"})
	r := inventory.Registration{ClusterName: inventory.ClusterName{Region: "eu-west-1", Name: "prod"}, AccountID: w.account.ID, Method: inventory.CloudIAM}
	w.Put(inventory.ClusterKey(org, w.account.ID, r.ClusterName), r)
	w.conn = apitest.Value(w.e.newClouds().ConnectInside(w.ctx, org, w.account, []inventory.Registration{r}))(w)
	w.resources = nil
	w.listAs(kubernetes.Name, cloud.KubernetesDeployment, "eu-west-1")
	return w, cluster, w.pick(cloud.KubernetesDeployment, cloud.Running)
}

func TestAnActionInARegisteredClusterGoesThroughItsAccount(t *testing.T) {
	w, cluster, web := newInside(t)
	for _, step := range []struct {
		verb cloud.Verb
		want int64
	}{{cloud.Stop, 0}, {cloud.Start, 2}} {
		if a := w.driveBeside(cluster, w.submit(web, step.verb)); a.Status != execution.Succeeded {
			t.Fatalf("%s: %+v", step.verb, a)
		}
		if got := twin.Replicas(cluster.Get("deployments", "shop/web")); got != step.want {
			t.Errorf("after a %s it has %d replicas; want %d", step.verb, got, step.want)
		}
	}
}

func TestAnActionInAClusterThatIsDeregisteredFails(t *testing.T) {
	w, cluster, web := newInside(t)
	a := w.submit(web, cloud.Stop)
	w.Must(w.Table.Transact(w.ctx, table.Delete(inventory.ClusterKey(org, w.account.ID, inventory.ClusterName{Region: "eu-west-1", Name: "prod"}))))
	if a = w.driveBeside(cluster, a); a.Status != execution.Failed {
		t.Errorf("%+v; want it failed", a)
	}
	if got := twin.Replicas(cluster.Get("deployments", "shop/web")); got != 2 {
		t.Errorf("it has %d replicas", got)
	}
}
