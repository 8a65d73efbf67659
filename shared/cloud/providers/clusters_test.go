package providers_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/cloud/kubernetes/kubeconfig"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
	"lamplighter.dev/shared/testkit/managedcluster"
)

const region = "eu-west-1"

// registered is an account of AWS with registered clusters in one region, each with a Deployment of its name.
type registered struct {
	*testing.T
	aws      *awstwin.Cloud
	clusters map[string]*kubernetestwin.Cluster
	conn     cloud.Conn
}

// newRegistered registers the cluster prod, which the account's credentials open, and stage, which has its own
// kubeconfig.
func newRegistered(t *testing.T) *registered {
	t.Helper()
	r := &registered{T: t, aws: &awstwin.Cloud{}, clusters: map[string]*kubernetestwin.Cluster{}}
	for _, name := range []string{"prod", "stage"} {
		c := kubernetestwin.New()
		t.Cleanup(c.Close)
		c.Accept = func(token string) bool { return name == "prod" && awstwin.OpensClusters(token) }
		c.ChangeUID("uid-of-" + name)
		c.Add("namespaces", map[string]any{"metadata": map[string]any{"name": "shop"}})
		c.Add("deployments", kubernetestwin.Named("shop", name, 2))
		r.clusters[name] = c
		r.aws.AddCluster(awstwin.Cluster{Name: name, Region: region, Endpoint: c.URL(), Authority: c.Authority()})
	}
	clk := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	account, err := cloud.ConnectRedacted(t.Context(), aws.New(aws.Options{Clock: clk, Transport: r.aws}),
		cloud.Account{
			Provider: "aws", AuthMethod: "static_keys",
			Credentials: map[string]string{
				"accessKeyID":     awstwin.AccessKey,
				"secretAccessKey": "a secret of the account",
			},
		})
	if err != nil {
		t.Fatal(err)
	}
	handed, err := json.Marshal(kubeconfig.Access{
		Server:    r.clusters["stage"].URL(),
		Authority: r.clusters["stage"].Authority(), Token: kubernetestwin.Token,
	})
	if err != nil {
		t.Fatal(err)
	}
	opener := kubernetes.New(kubernetes.Options{Clock: clk, PrivateAddresses: true, Attempts: 1})
	r.conn = opener.WithClusters(account,
		[]cloud.RegisteredCluster{{Region: region, Name: "prod"}, {Region: region, Name: "stage", Kubeconfig: handed}})
	return r
}

// list returns the uids of the Deployments of the region.
func (r *registered) list() (uids []string, err error) {
	r.Helper()
	for page := ""; ; {
		got, err := r.conn.List(r.Context(), cloud.KubernetesDeployment, region, page)
		if err != nil {
			return uids, err
		}
		for _, found := range got.Resources {
			uids = append(uids, found.UID)
			if found.Region != region || found.Type != cloud.KubernetesDeployment {
				r.Errorf("%+v", found)
			}
		}
		if page = got.Next; page == "" {
			return uids, nil
		}
	}
}

func uidOf(name string) string { return "uid-of-" + name + "/shop/deployments/" + name }

func TestRegisteredClusters_AreListedThroughTheirAccount(t *testing.T) {
	r := newRegistered(t)
	got, err := r.list()
	if want := []string{uidOf("prod"), uidOf("stage")}; err != nil || !slices.Equal(got, want) {
		t.Errorf("listed %v, %v; want %v", got, err, want)
	}
	namespaces, err := r.conn.List(t.Context(), cloud.KubernetesNamespace, region, "")
	if err != nil || len(namespaces.Resources) != 3 ||
		namespaces.Resources[0].ParentUID != "arn:aws:eks:eu-west-1:111122223333:cluster/prod" {
		t.Errorf("namespaces %+v, %v; want those of prod, whose parent is the cluster", namespaces, err)
	}
	if none, err := r.conn.List(t.Context(), cloud.KubernetesDeployment, "us-east-1", ""); err != nil ||
		len(none.Resources) != 0 {
		t.Errorf("a region without clusters: %+v, %v", none, err)
	}
	if n := len(r.aws.Calls("eks:DescribeCluster")); n != 1 {
		t.Errorf("prod was described %d times; want once a connection", n)
	}
}

func TestRegisteredClusters_AreActedOnByTheirUIDs(t *testing.T) {
	r := newRegistered(t)
	results := r.conn.Act(t.Context(), cloud.Stop, cloud.KubernetesDeployment, region,
		[]cloud.Target{{UID: uidOf("stage")}, {UID: uidOf("nowhere")}, {UID: uidOf("prod")}})
	if results[0].Err != nil || results[2].Err != nil || cloud.ClassOf(results[1].Err) != cloud.NotFound ||
		results[1].Err == nil {
		t.Errorf("%+v", results)
	}
	for name, c := range r.clusters {
		if n := kubernetestwin.Replicas(c.Get("deployments", "shop/"+name)); n != 0 {
			t.Errorf("%s has %d replicas", name, n)
		}
		c.Settle()
		c.Settle()
	}
	states, err := r.conn.Read(t.Context(), cloud.KubernetesDeployment, region,
		[]string{uidOf("prod"), uidOf("stage"), uidOf("nowhere")})
	if err != nil || len(states) != 2 || states[0].Status != cloud.Stopped || states[1].Status != cloud.Stopped {
		t.Errorf("%+v, %v", states, err)
	}
	three := int64(3)
	if err := r.conn.Scale(t.Context(), cloud.KubernetesDeployment, region, uidOf("prod"),
		cloud.Capacity{Desired: &three}); err != nil {
		t.Error(err)
	}
}

// A cluster that could not be read is not gone, and does not hide the clusters that could.
func TestRegisteredClusters_OneThatDoesNotAnswerHidesNothing(t *testing.T) {
	for _, down := range []string{"prod", "stage"} {
		r := newRegistered(t)
		r.clusters[down].AddFault(kubernetestwin.Fault{
			Op: "get namespaces", Code: 503, Reason: "ServiceUnavailable",
			Message: "etcd is away", Times: -1,
		})
		up := map[string]string{"prod": "stage", "stage": "prod"}[down]
		got, err := r.list()
		if !slices.Equal(got, []string{uidOf(up)}) || cloud.ClassOf(err) != cloud.Transient || err == nil ||
			!strings.Contains(err.Error(), down) {
			t.Errorf("%s is down: listed %v, %v", down, got, err)
		}
		if _, err := r.conn.Read(t.Context(), cloud.KubernetesDeployment, region, []string{uidOf(down)}); err == nil ||
			cloud.ClassOf(err) != cloud.Transient {
			t.Errorf("%s is down: Read says %v; want that it is not known", down, err)
		}
		if states, err := r.conn.Read(t.Context(), cloud.KubernetesDeployment, region,
			[]string{uidOf(up)}); err != nil || len(states) != 1 {
			t.Errorf("%s is down: Read of %s = %+v, %v", down, up, states, err)
		}
	}
}

func TestRegisteredClusters_WhatIsOfTheCloudIsLeftToIt(t *testing.T) {
	r := newRegistered(t)
	r.aws.AddInstance(awstwin.Instance{ID: awstwin.InstanceID(1), Region: region})
	got, err := r.conn.List(t.Context(), cloud.AWSEC2, region, "")
	if err != nil || len(got.Resources) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A cluster may echo its requests.
func TestRegisteredClusters_TellNoToken(t *testing.T) {
	r := newRegistered(t)
	r.clusters["stage"].AddFault(kubernetestwin.Fault{
		Op: "list deployments.apps", Code: 400, Reason: "BadRequest",
		Message: "you sent " + kubernetestwin.Token, Times: -1,
	})
	if _, err := r.list(); err == nil || strings.Contains(err.Error(), kubernetestwin.Token) ||
		!strings.Contains(err.Error(), "you sent (secret)") {
		t.Errorf("%v", err)
	}
}

// The wrappers of a connection, which hide secrets and read clusters, pass the optional interfaces of the connection
// on.
func TestRegisteredClusters_TheirAccountCanStillBeAskedEverything(t *testing.T) {
	for _, provider := range managedcluster.Providers() {
		cluster := kubernetestwin.New()
		t.Cleanup(cluster.Close)
		clk := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
		h := managedcluster.Open(provider, clk, cluster)
		account, err := cloud.ConnectRedacted(t.Context(), h.Cloud, h.Account)
		if err != nil {
			t.Fatal(err)
		}
		entry, err := account.(cloud.ClusterAccess).EnterCluster(t.Context(), h.Region, managedcluster.Name)
		if err != nil || entry.UID != h.UID || entry.Server != cluster.URL() {
			t.Errorf("%s: entered as %+v, %v; want %s at %s", provider, entry, err, h.UID, cluster.URL())
		}
		inner := kubernetes.New(kubernetes.Options{Clock: clk, PrivateAddresses: true}).WithClusters(account,
			[]cloud.RegisteredCluster{{Region: h.Region, Name: managedcluster.Name}})
		for name, conn := range map[string]cloud.Conn{"of the account": account, "into its clusters": inner} {
			_, measures := conn.(cloud.Metered)
			_, admits := conn.(cloud.Admitter)
			_, verifies := conn.(cloud.Verifier)
			if !measures || !admits || !verifies {
				t.Errorf("%s, the connection %s: measures %t, admits %t, verifies %t", provider, name, measures, admits,
					verifies)
			}
		}
	}
}
