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
	"a limit below the request": {"less memory", "its limit of memory is 0.25: raise that first", func(s twinStage) {
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
	"Helm":     {"an unused budget", "Helm (shop) manages it", ofChart},
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
	"pods that break the level": {"a level of security", "deployment web is privileged", func(s twinStage) {
		w := workload("deployments", "web", pods("web", fields{"securityContext": fields{"privileged": true}}))
		w.object["metadata"].(fields)["namespace"] = "lab"
		s.Add("deployments", copied(w.object))
	}},
	"a claim that a stopped workload mounts": {"an unmounted claim", "in use by deployment worker", func(s twinStage) {
		template := inSpec(pods("worker", nil), fields{"volumes": []any{
			fields{"name": "data", "persistentVolumeClaim": fields{"claimName": "data"}},
		}})
		s.Add("deployments", copied(workload("deployments", "worker", template, "replicas", 0).object))
	}},
	"a claim that a pod mounts": {"an unmounted claim", "in use by pod reader", func(s twinStage) {
		s.Add("pods", fields{"metadata": meta("reader"), "spec": fields{"volumes": []any{
			fields{"name": "x", "persistentVolumeClaim": fields{"claimName": "data"}},
		}}, "status": fields{"phase": "Pending"}})
	}},
	"a volume that is not kept": {"an unmounted claim", "set persistentVolumeReclaimPolicy: Retain", func(s twinStage) {
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
	"an autoscaler of a workload": {"an aimless autoscaler", "in use by deployment elsewhere", func(s twinStage) {
		s.Add("deployments", copied(workload("deployments", "elsewhere", pods("x", nil), "replicas", 0).object))
	}},
	"an autoscaler of a thing": {"an aimless autoscaler", "Thing elsewhere exists is not known", func(s twinStage) {
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

// ofChart makes the budget an object of Helm.
func ofChart(s twinStage) {
	annotatedAt("poddisruptionbudgets", "unused", "meta.helm.sh/release-name")(s)
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
