package kubernetes_test

import (
	"context"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

type fields = map[string]any

// hasty is a clock whose Sleep advances the time and returns at once.
type hasty struct{ *clock.Manual }

func (h hasty) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h.Advance(d)
	return nil
}

var morning = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// fixture is a twin, a provider and a connection to it.
type fixture struct {
	*testing.T
	*kubernetestwin.Cluster
	clk      hasty
	provider *kubernetes.Provider
	conn     cloud.Conn
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t, Cluster: kubernetestwin.New(), clk: hasty{clock.NewManual(morning)}}
	t.Cleanup(f.Close)
	f.provider = kubernetes.New(kubernetes.Options{Clock: f.clk, PrivateAddresses: true})
	f.conn = f.connect(f.account(kubernetestwin.Token))
	return f
}

func (f *fixture) connect(a cloud.Account) cloud.Conn {
	f.Helper()
	c, err := f.provider.Connect(f.Context(), a)
	if err != nil {
		f.Fatalf("Connect: %v", err)
	}
	return c
}

// account is the twin's, opened by a token.
func (f *fixture) account(token string) cloud.Account {
	return cloud.Account{
		Org: "org_1", ID: "ca_1", Provider: "kubernetes", AuthMethod: "kubeconfig",
		Credentials: map[string]string{"kubeconfig": f.Kubeconfig(token)},
	}
}

func uid(resource, at string) string {
	ns, name, _ := cut(at)
	return kubernetestwin.UID + "/" + ns + "/" + resource + "/" + name
}

func TestKubernetesOverItsTwinKeepsTheContractOfClouds(t *testing.T) {
	f := newFixture(t)
	f.Page = 2
	refused := f.account("token-of-nobody")
	groups := []cloudtest.Group{f.deployments(), f.statefulSets(), f.cronJobs(), f.daemonSets()}
	groups = append(groups, f.namespaces())
	cloudtest.Run(t, f.provider, cloudtest.Fixture{
		Account: f.account(kubernetestwin.Token), NativeID: kubernetestwin.UID, Refused: &refused, Groups: groups,
		Settle:   func() { f.Settle(); f.clk.Advance(10 * time.Second) },
		Throttle: f.ThrottleCalls,
		Deny: func(on bool) {
			f.Deny()
			if on {
				f.Deny("patch deployments.apps", "patch statefulsets.apps", "patch cronjobs.batch",
					"patch daemonsets.apps", "patch scaledobjects.keda.sh")
			}
		},
	})
}

func (f *fixture) deployments() cloudtest.Group {
	g := cloudtest.Group{
		Kind: "kubernetes-deployment", Region: "cluster", Missing: uid("deployments", "shop/nothing"),
		Pages: 3, Tied: map[string]string{},
	}
	f.Add("namespaces", fields{"metadata": fields{"name": "shop"}})
	for i, name := range []string{"web", "api", "worker"} {
		g.Free = append(g.Free, uid("deployments", f.Add("deployments", kubernetestwin.Named("shop", name, i+1))))
	}
	managed := kubernetestwin.Named("shop", "managed", 2)
	managed["metadata"].(fields)["annotations"] = fields{
		"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:shop/managed",
	}
	g.Free = append(g.Free, uid("deployments", f.Add("deployments", managed)))
	f.Add("horizontalpodautoscalers",
		kubernetestwin.Targeting("shop", "api", fields{"minReplicas": 1, "maxReplicas": 9}))
	g.Tied[uid("deployments",
		f.Add("deployments", kubernetestwin.Named("kube-system", "coredns", 2)))] = "belongs to the cluster itself"
	return g
}

func (f *fixture) statefulSets() cloudtest.Group {
	g := cloudtest.Group{
		Kind: "kubernetes-statefulset", Region: "cluster",
		Missing: uid("statefulsets", "data/nothing"), Pages: 2, Tied: map[string]string{},
	}
	f.Add("namespaces", fields{"metadata": fields{"name": "data"}})
	g.Free = []string{
		uid("statefulsets", f.Add("statefulsets", kubernetestwin.Named("data", "db", 3))),
		uid("statefulsets", f.Add("statefulsets", keeping("data", "queue", "Retain"))),
	}
	g.Tied[uid("statefulsets",
		f.Add("statefulsets", keeping("data", "scratch", "Delete")))] = "volume claims would be deleted"
	return g
}

// keeping is a StatefulSet with volume claims and this policy for them.
func keeping(ns, name, whenScaled string) fields {
	o := kubernetestwin.Named(ns, name, 2)
	o["spec"].(fields)["persistentVolumeClaimRetentionPolicy"] = fields{
		"whenScaled":  whenScaled,
		"whenDeleted": "Retain",
	}
	o["spec"].(fields)["volumeClaimTemplates"] = []any{fields{"metadata": fields{"name": "data"}}}
	return o
}

func (f *fixture) cronJobs() cloudtest.Group {
	g := cloudtest.Group{
		Kind: "kubernetes-cronjob", Region: "cluster", Missing: uid("cronjobs", "jobs/nothing"),
		Pages: 2, Tied: map[string]string{},
	}
	f.Add("namespaces", fields{"metadata": fields{"name": "jobs"}})
	for _, name := range []string{"nightly", "hourly", "weekly"} {
		g.Free = append(g.Free, uid("cronjobs", f.Add("cronjobs", cronJob("jobs", name, false))))
	}
	return g
}

func (f *fixture) daemonSets() cloudtest.Group {
	g := cloudtest.Group{
		Kind: "kubernetes-daemonset", Region: "cluster", Missing: uid("daemonsets", "nodes/nothing"),
		Pages: 2, Tied: map[string]string{},
	}
	f.Add("namespaces", fields{"metadata": fields{"name": "nodes"}})
	for name, selector := range map[string]fields{
		"agent": nil, "cache": {"disk": "ssd"},
		"logs": {"kubernetes.io/os": "linux"},
	} {
		g.Free = append(g.Free, uid("daemonsets", f.Add("daemonsets", daemon("nodes", name, selector))))
	}
	silent := daemon("nodes", "silent", nil)
	delete(silent["metadata"].(fields), "annotations")
	g.Tied[uid("daemonsets", f.Add("daemonsets", silent))] = "only where it says so"
	g.Tied[uid("daemonsets",
		f.Add("daemonsets", daemon("kube-system", "proxy", nil)))] = "belongs to the cluster itself"
	return g
}

// daemon is a DaemonSet that may be stopped.
func daemon(ns, name string, selector fields) fields {
	o := kubernetestwin.Named(ns, name, 0)
	delete(o["spec"].(fields), "replicas")
	o["metadata"].(fields)["annotations"] = fields{"lamplighter.dev/allow-stop": "true"}
	if selector != nil {
		at(o, "spec", "template")["spec"] = fields{"nodeSelector": selector}
	}
	return o
}

func cronJob(ns, name string, suspended bool) fields {
	return fields{
		"metadata": fields{"namespace": ns, "name": name},
		"spec":     fields{"schedule": "0 3 * * *", "suspend": suspended},
	}
}

// namespaces are those of the other groups, which a stop of the whole leaves as they were.
func (f *fixture) namespaces() cloudtest.Group {
	return cloudtest.Group{
		Kind: "kubernetes-namespace", Region: "cluster", Missing: kubernetestwin.UID + "/nowhere", Pages: 3,
		Free: []string{kubernetestwin.UID + "/shop", kubernetestwin.UID + "/jobs"},
		Tied: map[string]string{
			kubernetestwin.UID + "/kube-system": "belongs to the cluster itself",
			kubernetestwin.UID + "/default":     "nothing that can be stopped",
			kubernetestwin.UID + "/nodes":       "nothing that can be stopped",
			kubernetestwin.UID + "/data":        "StatefulSet scratch: its volume claims would be deleted",
		},
	}
}

// state reads one object.
func (f *fixture) state(kind, uid string) cloud.State {
	f.Helper()
	got, err := f.conn.Read(f.Context(), kind, "cluster", []string{uid})
	if err != nil || len(got) != 1 {
		f.Fatalf("Read(%s) = %+v, %v; want one state", uid, got, err)
	}
	return got[0]
}

// act does one act and returns its error.
func (f *fixture) act(v cloud.Verb, kind string, target cloud.Target) error {
	f.Helper()
	got := f.conn.Act(f.Context(), v, kind, "cluster", []cloud.Target{target})
	if len(got) != 1 {
		f.Fatalf("Act(%s) = %+v; want one result", target.UID, got)
	}
	return got[0].Err
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) wantClass(what string, err error, want cloud.Class) {
	f.Helper()
	if err == nil || cloud.ClassOf(err) != want {
		f.Errorf("%s: %v of class %d; want class %d", what, err, cloud.ClassOf(err), want)
	}
}
