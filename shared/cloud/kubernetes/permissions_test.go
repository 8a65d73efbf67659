package kubernetes_test

import (
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

// A customer's ClusterRole consists of the required rules. On a cluster that denies everything else all calls work, at
// each level, and no rule is unused.
func TestRequiredActions_AreExactlyWhatIsCalled(t *testing.T) {
	need := kubernetes.ListRequiredActions()
	for _, level := range []struct {
		name        string
		actions     []string
		stop, scale bool
	}{
		{"discover", need.Discover, false, false},
		{"start and stop", need.StartStop, true, false},
		{"scale", need.Scale, true, true},
	} {
		t.Run(level.name, func(t *testing.T) {
			f := newShop(t)
			f.Add("horizontalpodautoscalers",
				kubernetestwin.Targeting("shop", "web", fields{"minReplicas": 1, "maxReplicas": 9}))
			f.add("daemonsets", daemon("shop", "agent", nil))
			f.add("deployments", kubernetestwin.Named("shop", "plain", 2))
			for _, resource := range []string{"services", "rolebindings"} { // whose facts need other objects
				f.Add(resource, fields{"metadata": fields{"namespace": "shop", "name": "web"}})
			}
			f.Allow(level.actions...)
			used := f.use(level.stop, level.scale)
			for _, op := range used {
				if !slices.Contains(level.actions, op) {
					t.Errorf("%s is called, and customers are not told to allow it", op)
				}
			}
			for _, op := range level.actions {
				if !slices.Contains(used, op) {
					t.Errorf("%s is asked for and not needed", op)
				}
			}
		})
	}
}

// use does all that a level allows, and returns the calls about resources: discovery and reviews are for everybody.
func (f *fixture) use(stop, scale bool) []string {
	f.Helper()
	var used []string
	note := func() {
		for _, c := range f.Calls("") {
			if c.Code == 403 {
				f.Errorf("%s is denied", c.Op)
			}
			if !strings.HasPrefix(c.Op, "get .") && c.Op != "get " && !strings.HasPrefix(c.Op, "create selfsubject") {
				used = append(used, c.Op)
			}
		}
		f.ForgetCalls()
	}
	_, err := f.conn.Identify(f.Context())
	f.must(err)
	_, err = f.conn.Permissions(f.Context())
	f.must(err)
	for _, k := range f.provider.Kinds() {
		_, err := f.conn.List(f.Context(), k.Type, "cluster", "")
		f.must(err)
	}
	uids := map[string]string{
		deployment: uid("deployments", "shop/web"), statefulSet: uid("statefulsets", "shop/db"),
		cronJobKind: uid("cronjobs", "shop/nightly"), namespace: shop,
		daemonSet: uid("daemonsets", "shop/agent"),
	}
	before := map[string]cloud.State{}
	for kind, u := range uids {
		before[kind] = f.state(kind, u)
	}
	f.state(deployment, uid("deployments", "shop/asleep")) // whose pods are counted
	note()
	if stop {
		f.race("scaledobjects", "shop/worker", "patch scaledobjects.keda.sh")
		f.finish(cloud.Stop, nil)
		note()
		f.race("rollouts", "shop/canary", "patch rollouts.argoproj.io")
		f.finish(cloud.Start, before[namespace].Snapshot)
		note()
		f.must(f.act(cloud.Stop, daemonSet, cloud.Target{UID: uids[daemonSet]}))
		f.settle()
		f.wantStatus("the agent", daemonSet, uids[daemonSet], cloud.Stopped)
		f.refuseOnce("patch deployments.apps")
		f.wantClass("a stop that is refused", f.act(cloud.Stop, deployment, cloud.Target{UID: uids[deployment]}),
			cloud.Unsupported)
		note()
	}
	if scale {
		five := int64(5)
		for _, kind := range []string{deployment, statefulSet} {
			f.must(f.conn.Scale(f.Context(), kind, "cluster", uids[kind], cloud.Capacity{Desired: &five}))
		}
		for _, name := range []string{"web", "plain"} { // one with an autoscaler, and one that gets an autoscaler
			a, u := f.conn.(cloud.Autoscaler), uid("deployments", "shop/"+name)
			found, err := a.ReadAutoscaling(f.Context(), deployment, "cluster", u)
			f.must(err)
			f.must(a.SetAutoscaling(f.Context(), deployment, "cluster", u,
				cloud.Autoscaling{Min: 1, Max: 8, Desired: 6}))
			f.must(a.SetAutoscaling(f.Context(), deployment, "cluster", u, found))
		}
		note()
	}
	return used
}

// race has somebody else change an object just before the op, so that it has to be read again.
func (f *fixture) race(resource, at, op string) {
	f.Between(op, func() { f.ChangeLocked(resource, at, func(fields) {}) })
}

// refuseOnce has an admission refuse the next call of the op, which is told with the budgets that may be behind it.
func (f *fixture) refuseOnce(op string) {
	f.AddFault(kubernetestwin.Fault{
		Op: op, Code: 400, Reason: "BadRequest",
		Message: `admission webhook "guard.example" denied the request`, Times: 1,
	})
}
