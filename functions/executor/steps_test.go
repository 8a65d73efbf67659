package executor

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clocktest"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

// newNamespace returns a fixture on a cluster with the namespace shop: a database, its users, and a job.
func newNamespace(t *testing.T) (*fixture, *kubernetestwin.Cluster) {
	t.Helper()
	tw := kubernetestwin.New()
	t.Cleanup(tw.Close)
	tw.Add("namespaces", map[string]any{"metadata": map[string]any{"name": "shop"}})
	tw.Add("statefulsets", kubernetestwin.Named("shop", "db", 3))
	tw.Add("deployments", kubernetestwin.Named("shop", "web", 2))
	tw.Add("deployments", kubernetestwin.Named("shop", "asleep", 0))
	tw.Add("cronjobs", map[string]any{
		"metadata": map[string]any{"namespace": "shop", "name": "nightly"}, "spec": map[string]any{"suspend": false},
	})
	c := clocktest.Skipping{Manual: clock.NewManual(noon)}
	p := apitest.PlatformAt(t, c)
	e := New(p, cloud.Providers{"kubernetes": kubernetes.New(kubernetes.Options{Clock: c, PrivateAddresses: true})})
	w := &fixture{Fixture: apitest.On(t, p), ctx: table.WithOrg(t.Context(), org), e: e}
	w.Clock = c.Manual
	w.account = inventory.Account{
		ID: id.New("ca", noon), Provider: "kubernetes", CloudAccountID: kubernetestwin.UID, Name: "shop",
		AuthMethod:      "kubeconfig",
		PermissionLevel: "read_write", Status: "connected", CreatedAt: noon,
	}
	w.sealCredentials(map[string]string{"kubeconfig": tw.Kubeconfig(kubernetestwin.Token)})
	w.conn = apitest.Value(e.newClouds().Connect(w.ctx, org, w.account))(w)
	w.listResources(cloud.KubernetesNamespace, kubernetes.Region)
	return w, tw
}

// driveBeside is drive while the controllers of the cluster take a step between two runs.
func (w *fixture) driveBeside(tw *kubernetestwin.Cluster, a execution.Action) execution.Action {
	w.Helper()
	in := execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled}
	for range 100 {
		got := apitest.Value(w.e.RunActions(w.ctx, in))(w)
		if got.Done {
			return w.action(a.ID)
		}
		w.Clock.Advance(time.Duration(got.WaitSeconds) * time.Second)
		tw.Settle()
	}
	w.Fatalf("not done after 100 runs: %+v", w.action(a.ID))
	return execution.Action{}
}

func TestNamespace_ItsStepsAreInTheStateHistory(t *testing.T) {
	w, tw := newNamespace(t)
	ns := w.pick(cloud.KubernetesNamespace, cloud.Running)
	if a := w.driveBeside(tw, w.submit(ns, cloud.Stop)); a.Status != execution.Succeeded || a.Attempts != 1 {
		t.Fatalf("stop: %+v", a)
	}
	if a := w.driveBeside(tw, w.submit(ns, cloud.Start)); a.Status != execution.Succeeded || a.Attempts != 1 {
		t.Fatalf("start: %+v", a)
	}
	for at, want := range map[string]int64{"web": 2, "asleep": 0} {
		if got := kubernetestwin.Replicas(tw.Get("deployments", "shop/"+at)); got != want {
			t.Errorf("%s has %d replicas; want %d", at, got, want)
		}
	}
	history := w.readHistory()
	if len(history) != 2 {
		t.Fatalf("history: %+v; want the stop and the start", history)
	}
	for i, want := range []struct {
		status, last string
		order        []string
	}{
		{"stopped", "statefulsets", []string{"cronjobs", "deployments", "statefulsets"}},
		{"running", "cronjobs", []string{"statefulsets", "deployments", "cronjobs"}},
	} {
		var got struct {
			Step, Status string
			Steps        []cloud.Step
		}
		w.Must(json.Unmarshal(apitest.Value(json.Marshal(history[i].ExecutionState))(w), &got))
		var order []string
		for _, s := range got.Steps {
			order = append(order, s.Name)
		}
		if got.Step != want.last || got.Status != want.status || !slices.Equal(order, want.order) {
			t.Errorf("change %d: %+v; want %+v", i, got, want)
		}
	}
}

// A deployment that the cluster refuses to scale ends the action, and the history names the failed step.
func TestNamespace_AStepThatIsRefusedIsTheOneThatFailed(t *testing.T) {
	w, tw := newNamespace(t)
	tw.AddFault(kubernetestwin.Fault{
		Op: "patch deployments.apps", Code: 403, Reason: "Forbidden", Times: -1,
		Message: `admission webhook "guard.example" denied the request: web is frozen`,
	})
	a := w.driveBeside(tw, w.submit(w.pick(cloud.KubernetesNamespace, cloud.Running), cloud.Stop))
	if a.Status != execution.Failed || w.storedAccount().Status == inventory.AccountDegraded {
		t.Fatalf("%+v; want it failed, and the account as it was", a)
	}
	got := w.readHistory()[0]
	if got.ExecutionState["step"] != "deployments" || got.ExecutionState["status"] != "running" {
		t.Errorf("%+v", got)
	}
	if n := kubernetestwin.Replicas(tw.Get("statefulsets", "shop/db")); n != 3 {
		t.Errorf("the database has %d replicas, although what uses it could not be stopped", n)
	}
}

func (w *fixture) storedAccount() inventory.Account {
	w.Helper()
	return apitest.Read[inventory.Account](w.Fixture, inventory.AccountKey(org, w.account.ID))
}

// TestNamespace_AStopThatDiesIsTakenUpAgain makes every run of the executor the last one of its process. Its memory
// is lost, and the database was still running when the first process died.
func TestNamespace_AStopThatDiesIsTakenUpAgain(t *testing.T) {
	w, tw := newNamespace(t)
	ns := w.pick(cloud.KubernetesNamespace, cloud.Running)
	first := w.submit(ns, cloud.Stop)
	in := execution.RunInput{Org: org, Actions: []string{first.ID}, Until: execution.UntilSettled}
	apitest.Value(w.e.RunActions(w.ctx, in))(w)
	if web, db := kubernetestwin.Replicas(tw.Get("deployments", "shop/web")),
		kubernetestwin.Replicas(tw.Get("statefulsets", "shop/db")); web != 0 || db != 3 {
		t.Fatalf("after one run web has %d and db %d replicas; want 0 and 3", web, db)
	}
	// The first action is given up for good, and another one comes: it must not remember less than the first.
	tw.Settle()
	tw.Settle()
	apitest.Value(w.e.giveUp(w.ctx, in, "killed"))(w)
	w.Clock.Advance(time.Hour)
	apitest.Value(w.e.giveUp(w.ctx, in, "killed"))(w)
	if a := w.action(first.ID); a.Status != execution.Failed {
		t.Fatalf("%+v", a)
	}
	if a := w.driveBeside(tw, w.submit(ns, cloud.Stop)); a.Status != execution.Succeeded {
		t.Fatalf("%+v", a)
	}
	if a := w.driveBeside(tw, w.submit(ns, cloud.Start)); a.Status != execution.Succeeded {
		t.Fatalf("%+v", a)
	}
	if web, db := kubernetestwin.Replicas(tw.Get("deployments", "shop/web")),
		kubernetestwin.Replicas(tw.Get("statefulsets", "shop/db")); web != 2 || db != 3 {
		t.Errorf("started with %d and %d replicas; want 2 and 3", web, db)
	}
}
