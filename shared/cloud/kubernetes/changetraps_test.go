package kubernetes_test

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

// refusals are what forbids a change, and the words that the refusal must have.
var refusals = map[string]struct {
	change string // the case that is changed
	says   string
	meddle func(s twinStage)
}{
	"an acting VPA": {"less CPU", "VerticalPodAutoscaler guide sets", func(s twinStage) {
		s.Add("verticalpodautoscalers", fields{"metadata": meta("guide"), "spec": fields{
			"targetRef": fields{"kind": "Deployment", "name": "web"}, "updatePolicy": fields{"updateMode": "Auto"},
		}})
	}},
	"an HPA on the CPU": {"less CPU", "HorizontalPodAutoscaler web scales on its cpu", func(s twinStage) {
		s.Add("horizontalpodautoscalers",
			kubernetestwin.Targeting("changes", "web", fields{"minReplicas": 1, "maxReplicas": 9}))
	}},
	"two containers with requests": {"less CPU", "2 of its containers have requests of cpu", func(s twinStage) {
		s.Change("deployments", "changes/web", func(o fields) {
			inner := o["spec"].(fields)["template"].(fields)["spec"].(fields)
			second := copied(inner["containers"].([]any)[0].(fields))
			second["name"] = "second"
			inner["containers"] = append(inner["containers"].([]any), second)
		})
	}},
	"a limit below the wanted request": {"less memory", "its limit of memory is 0.25: raise that first", func(s twinStage) {
		s.Change("deployments", "changes/web", func(o fields) {
			containerIn(o)["resources"] = fields{
				"requests": fields{"memory": "128Mi"}, "limits": fields{"memory": "256Mi"},
			}
		})
	}},
	"a smaller limit": {"a larger memory limit", "give a larger one", func(s twinStage) {
		s.Change("deployments", "changes/web", func(o fields) {
			containerIn(o)["resources"].(fields)["limits"] = fields{"memory": "8Gi"}
		})
	}},
	"GitOps":   {"less CPU", "Argo CD (shop) manages it", annotated("deployments", "argocd.argoproj.io/tracking-id")},
	"Helm":     {"an unused budget", "Helm (shop) manages it", annotatedAt("poddisruptionbudgets", "unused", "meta.helm.sh/release-name")},
	"a user 0": {"no root", "says that it runs as user 0", asUser(0)},
	"no rollout": {"less CPU", "its rollouts are paused", func(s twinStage) {
		s.Change("deployments", "changes/web", func(o fields) { o["spec"].(fields)["paused"] = true })
	}},
	"an agent that is updated by hand": {"less CPU of an agent", "OnDelete", func(s twinStage) {
		s.Change("daemonsets", "changes/agent", func(o fields) {
			o["spec"].(fields)["updateStrategy"] = fields{"type": "OnDelete"}
		})
	}},
	"a privileged container": {"no escalation", "is privileged: take that away first", func(s twinStage) {
		s.Change("deployments", "changes/web", func(o fields) {
			containerIn(o)["securityContext"] = fields{"privileged": true}
		})
	}},
	"a class that does not grow": {"a claim that grows", "does not allow expansion", func(s twinStage) {
		s.Change("storageclasses", "grows", func(o fields) { o["allowVolumeExpansion"] = false })
	}},
	"a claim that is larger": {"a claim that grows", "cannot be made smaller", func(s twinStage) {
		s.Change("persistentvolumeclaims", "changes/data", func(o fields) {
			o["status"].(fields)["capacity"] = fields{"storage": "100Gi"}
		})
	}},
	"pods that break the level": {"a level of security", "deployment web is privileged in container main", func(s twinStage) {
		w := workload("deployments", "web", pods("web", fields{"securityContext": fields{"privileged": true}}))
		w.object["metadata"].(fields)["namespace"] = "lab"
		s.Add("deployments", copied(w.object))
	}},
	"a claim that a stopped workload mounts": {"an unmounted claim", "in use by deployment worker", func(s twinStage) {
		s.Add("deployments", copied(workload("deployments", "worker", inSpec(pods("worker", nil), fields{"volumes": []any{
			fields{"name": "data", "persistentVolumeClaim": fields{"claimName": "data"}},
		}}), "replicas", 0).object))
	}},
	"a claim that a pod mounts": {"an unmounted claim", "in use by pod reader", func(s twinStage) {
		s.Add("pods", fields{"metadata": meta("reader"), "spec": fields{"volumes": []any{
			fields{"name": "x", "persistentVolumeClaim": fields{"claimName": "data"}},
		}}, "status": fields{"phase": "Pending"}})
	}},
	"a volume that would be deleted": {"an unmounted claim", "set persistentVolumeReclaimPolicy: Retain", func(s twinStage) {
		s.Change("persistentvolumes", "pv-data", func(o fields) {
			o["spec"].(fields)["persistentVolumeReclaimPolicy"] = "Delete"
		})
	}},
	"a Service of a stopped workload": {"a Service of no pods", "in use by deployment asleep", func(s twinStage) {
		s.Add("deployments", copied(workload("deployments", "asleep", pods("gone", nil), "replicas", 0).object))
	}},
	"a Service with an endpoint": {"a dangling Service", "in use by endpoints nowhere-1", func(s twinStage) {
		s.Add("endpointslices", fields{
			"metadata":  meta("nowhere-1", "labels", fields{"kubernetes.io/service-name": "nowhere"}),
			"endpoints": []any{fields{"conditions": fields{"ready": true}}},
		})
	}},
	"a Service that an Ingress names": {"a dangling Service", "in use by ingress front", func(s twinStage) {
		s.Add("ingresses", copied(ingressOf("front", fields{"defaultBackend": backendOf("nowhere")}).object))
	}},
	"an Ingress with one backend left": {"a dangling Ingress", "in use by service gone", func(s twinStage) {
		s.Add("services", copied(serviceOf("gone", "ClusterIP", nil).object))
	}},
	"a budget of a stopped workload": {"an unused budget", "in use by statefulset asleep", func(s twinStage) {
		s.Add("statefulsets", copied(workload("statefulsets", "asleep", pods("gone", nil), "replicas", 0).object))
	}},
	"an autoscaler of a stopped workload": {"an aimless autoscaler", "in use by deployment elsewhere", func(s twinStage) {
		s.Add("deployments", copied(workload("deployments", "elsewhere", pods("x", nil), "replicas", 0).object))
	}},
	"an autoscaler of another kind": {"an aimless autoscaler", "Thing elsewhere exists is not known", func(s twinStage) {
		s.Change("horizontalpodautoscalers", "changes/old", func(o fields) {
			o["spec"].(fields)["scaleTargetRef"].(fields)["kind"] = "Thing"
		})
	}},
	"a CronJob that is on again": {"a suspended CronJob", "it is not suspended any more", func(s twinStage) {
		s.Change("cronjobs", "changes/old", func(o fields) { o["spec"].(fields)["suspend"] = false })
	}},
	"a Job that runs": {"a finished Job", "it has not finished", func(s twinStage) {
		s.Change("jobs", "changes/import", func(o fields) { o["status"] = fields{"active": 1} })
	}},
	"a pod that was not evicted": {"an evicted pod", "it is not an evicted pod", func(s twinStage) {
		s.Change("pods", "changes/web-1", func(o fields) { o["status"] = fields{"phase": "Running"} })
	}},
	"a minimum above the maximum": {"a minimum of two", "its maximum is 1", func(s twinStage) {
		s.Change("horizontalpodautoscalers", "changes/web", func(o fields) { o["spec"].(fields)["maxReplicas"] = 1 })
	}},
}

func containerIn(o fields) fields {
	return o["spec"].(fields)["template"].(fields)["spec"].(fields)["containers"].([]any)[0].(fields)
}

func annotated(resource, name string) func(twinStage) { return annotatedAt(resource, "web", name) }

func annotatedAt(resource, at, name string) func(twinStage) {
	return func(s twinStage) {
		s.Change(resource, "changes/"+at, func(o fields) {
			o["metadata"].(fields)["annotations"] = fields{name: "shop"}
		})
	}
}

func asUser(id int) func(twinStage) {
	return func(s twinStage) {
		s.Change("deployments", "changes/web", func(o fields) {
			containerIn(o)["securityContext"] = fields{"runAsUser": id}
		})
	}
}

// newCase makes the objects of a case.
func newCase(t *testing.T, name string) (twinStage, changeCase) {
	t.Helper()
	c, is := changeCases()[name]
	if !is {
		t.Fatalf("there is no case %q", name)
	}
	s := newTwinStage(t)
	for _, p := range append(c.beside, c.of) {
		s.add(p)
	}
	s.settle()
	return s, c
}

func TestChanger_PlansNothingThatMustNotBe(t *testing.T) {
	for name, r := range refusals {
		t.Run(name, func(t *testing.T) {
			s, c := newCase(t, r.change)
			c.plan(t, s)
			r.meddle(s)
			_, err := s.changer().PlanChange(t.Context(), c.change(s))
			if err == nil || !strings.Contains(err.Error(), r.says) || cloud.ClassOf(err).Retryable() {
				t.Errorf("%v, want %q", err, r.says)
			}
		})
	}
}

// A removal reads again before its last call: what is in use by then is not deleted, and its mark can be taken away.
func TestChanger_DeletesNothingThatIsInUseAgain(t *testing.T) {
	for name, r := range refusals {
		if c := changeCases()[r.change]; c.verb != cloud.Delete {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s, c := newCase(t, r.change)
			want := c.change(s)
			p := c.plan(t, s)
			call := func(set cloud.Values) error {
				return s.changer().ApplyChange(t.Context(), cloud.ChangeCall{Change: want, Set: set})
			}
			if err := call(cloud.Values{cloud.MarkValue: changeToken}); err != nil {
				t.Fatal(err)
			}
			r.meddle(s)
			if err := call(p.After); err == nil || !strings.Contains(err.Error(), r.says) {
				t.Errorf("%v, want %q", err, r.says)
			}
			if err := call(cloud.Values{cloud.MarkValue: ""}); err != nil {
				t.Fatal(err)
			}
			if now := s.spec(c.of); strings.Contains(encoded(now), cloud.MarkTag) || now["metadata"] == nil {
				t.Errorf("it is %s", encoded(now))
			}
		})
	}
}

// A change of the object at the same moment wins; a change of its status does not matter.
func TestChanger_AChangeAtTheSameMomentIsNotOverwritten(t *testing.T) {
	for name, r := range map[string]struct {
		meddle func(o fields)
		says   string
	}{
		"of its replicas": {func(o fields) { o["spec"].(fields)["replicas"] = 7 }, "somebody has changed web"},
		"of its status":   {func(o fields) { o["status"].(fields)["conditions"] = []any{fields{"type": "x"}} }, ""},
		"by the lost call before": {func(o fields) {
			containerIn(o)["resources"].(fields)["requests"].(fields)["cpu"] = "58m"
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, c := newCase(t, "less CPU")
			p := c.plan(t, s)
			s.Between("patch deployments.apps", func() { s.ChangeLocked("deployments", "changes/web", r.meddle) })
			err := s.changer().ApplyChange(t.Context(), cloud.ChangeCall{Change: c.change(s), Set: p.After})
			is := containerIn(s.Get("deployments", "changes/web"))["resources"].(fields)["requests"].(fields)["cpu"]
			if r.says == "" {
				if err != nil || is != "58m" {
					t.Errorf("%v: it requests %v", err, is)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), r.says) || cloud.ClassOf(err).Retryable() || is != "1" {
				t.Errorf("%v, want %q; it requests %v", err, r.says, is)
			}
		})
	}
}

func TestChanger_ErrorsHaveTheirClass(t *testing.T) {
	for name, r := range map[string]struct {
		meddle func(s twinStage)
		class  cloud.Class
	}{
		"forbidden": {func(s twinStage) { s.Deny("patch deployments.apps") }, cloud.Denied},
		"gone":      {func(s twinStage) { s.Remove("deployments", "changes/web") }, cloud.NotFound},
		"on its way out": {func(s twinStage) {
			s.Change("deployments", "changes/web", func(o fields) {
				o["metadata"].(fields)["deletionTimestamp"] = "2026-03-01T09:00:00Z"
			})
		}, cloud.NotFound},
		"an admission": {func(s twinStage) {
			s.AddFault(kubernetestwin.Fault{
				Op: "patch deployments.apps", Code: 403, Reason: "Forbidden", Times: -1,
				Message: `admission webhook "policy" denied the request`,
			})
		}, cloud.Unsupported},
	} {
		t.Run(name, func(t *testing.T) {
			s, c := newCase(t, "less CPU")
			p := c.plan(t, s)
			r.meddle(s)
			err := s.changer().ApplyChange(t.Context(), cloud.ChangeCall{Change: c.change(s), Set: p.After})
			if err == nil || cloud.ClassOf(err) != r.class {
				t.Errorf("%v, want class %d", err, r.class)
			}
		})
	}
	s, c := newCase(t, "less CPU")
	for _, bad := range []func(*cloud.Change){
		func(c *cloud.Change) { c.UID = "another/changes/deployments/web" },
		func(c *cloud.Change) { c.Region = "eu-west-1" },
		func(c *cloud.Change) { c.Kind = "kubernetes-secret" },
		func(c *cloud.Change) { c.Want = cloud.Values{"replicas": "9"} },
		func(c *cloud.Change) { c.Want = cloud.Values{"cpu_request_cores": "many"} },
	} {
		want := c.change(s)
		bad(&want)
		if _, err := s.changer().PlanChange(t.Context(), want); err == nil || cloud.ClassOf(err).Retryable() {
			t.Errorf("%+v: %v", want, err)
		}
	}
}

// A rollout that is under way, or that the cluster has given up, is told by the value that a change waits for.
func TestChanger_TellsHowTheRolloutGoes(t *testing.T) {
	s, c := newCase(t, "less CPU")
	p := c.plan(t, s)
	want := c.change(s)
	s.StallControllers(true)
	call := cloud.ChangeCall{Change: want, Set: p.After}
	if err := s.changer().ApplyChange(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	check := func(state string) {
		t.Helper()
		reached, now, err := s.changer().CheckChange(t.Context(), call)
		if err != nil || reached != (state == cloud.RolloutComplete) || now[cloud.RolloutValue] != state {
			t.Errorf("%v %v %v, want %s", reached, now, err, state)
		}
	}
	check(cloud.RolloutProgressing)
	s.StallControllers(false)
	s.settle()
	check(cloud.RolloutComplete)
	s.Change("deployments", "changes/web", func(o fields) {
		o["status"].(fields)["conditions"] = []any{
			fields{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"},
		}
	})
	check(cloud.RolloutFailed)
}

// Only the fields of the values are stored: the environment of a container may hold what is secret.
func TestChanger_StoresNothingOfAWorkloadButItsValues(t *testing.T) {
	s, c := newCase(t, "less CPU")
	s.Change("deployments", "changes/web", func(o fields) {
		containerIn(o)["env"] = []any{fields{"name": "PASSWORD", "value": "hunter2hunter2"}}
	})
	p := c.plan(t, s)
	if strings.Contains(string(p.Native), "hunter2") || !strings.Contains(string(p.Native), `"cpu":"1"`) {
		t.Errorf("it stores %s", p.Native)
	}
}

// What somebody sets between a change and its undo stays: the undo gives the fields of the change back, and no more.
func TestChanger_TheUndoKeepsWhatOthersSet(t *testing.T) {
	s, c := newCase(t, "less CPU")
	p := c.plan(t, s)
	want := c.change(s)
	apply(t, s, want, p.After)
	s.Change("deployments", "changes/web", func(o fields) { containerIn(o)["image"] = "registry.invalid/app:2" })
	err := s.changer().ApplyChange(t.Context(), cloud.ChangeCall{Change: want, Set: p.Before, Native: p.Native})
	o := containerIn(s.Get("deployments", "changes/web"))
	if cpu := o["resources"].(fields)["requests"].(fields)["cpu"]; err != nil || cpu != "1" ||
		o["image"] != "registry.invalid/app:2" {
		t.Errorf("%v: %v", err, o)
	}
}
