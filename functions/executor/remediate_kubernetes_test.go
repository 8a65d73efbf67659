package executor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/executor/remediating"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
	"lamplighter.dev/shared/testkit/clouds/prometheustwin"
	"lamplighter.dev/shared/testkit/managedcluster"
)

type k8sFields = map[string]any

const requestRule = "kubernetes-deployment-cpu-overrequested"

// clusterRemedy is a remedy beside the controllers of a cluster.
type clusterRemedy struct {
	*remedy
	tw *kubernetestwin.Cluster
}

// newClusterRemedy recommends a rule for the object of a name in a cluster.
func newClusterRemedy(t *testing.T, ruleID, kind, name string, add func(*kubernetestwin.Cluster)) *clusterRemedy {
	t.Helper()
	w, tw := newNamespace(t)
	add(tw)
	w.resources = nil
	w.listResources(kind, kubernetes.Region)
	return recommendInside(t, w, tw, ruleID, name)
}

func recommendInside(t *testing.T, w *fixture, tw *kubernetestwin.Cluster, ruleID, name string) *clusterRemedy {
	t.Helper()
	w.e.p.Workflow = apitest.Idle{}
	w.Clock.Advance(15 * 24 * time.Hour) // a new object has too few points
	m := &clusterRemedy{&remedy{fixture: w, store: remediation.New(w.e.p), recs: recommendation.New(w.e.p)}, tw}
	for _, r := range w.resources {
		if r.Name == name {
			m.targets = []remediation.Target{m.recommend(ruleID, r)}
		}
	}
	if len(m.targets) != 1 {
		t.Fatalf("there is no %s", name)
	}
	return m
}

// oversized gives the Deployment shop/web more than it uses, which a Prometheus knows.
func oversized(tw *kubernetestwin.Cluster) {
	prom := prometheustwin.New()
	tw.AddPrometheus(prom)
	prom.Add(prometheustwin.Series{
		In: []string{"container_cpu_usage_seconds_total", `owner_kind="Deployment"`}, At: prometheustwin.Always(0.05),
		Labels: map[string]string{"namespace": "shop", "workload": "web"},
	})
	tw.Change("deployments", "shop/web", func(o k8sFields) {
		o["spec"].(k8sFields)["template"].(k8sFields)["spec"] = k8sFields{"containers": []any{k8sFields{
			"name": "main", "image": "app:1",
			"resources": k8sFields{"requests": k8sFields{"cpu": "1", "memory": "1Gi"}},
		}}}
	})
	tw.Settle()
}

// useOf is the evidence of an oversized Deployment.
var useOf = k8sFields{
	"replicas": 2.0, "points_14d": 300.0, "hpa_resource": []any{}, "vpa_auto": false, "cpu_request_cores": 1.0,
	"cpu_p95_14d": 0.05, "cpu_max_14d": 0.2,
}

// advance runs the workflow and the cluster to the end of the workflow.
func (m *clusterRemedy) advance(r *remediating.Runner) remediation.Workflow {
	m.Helper()
	for range 500 {
		got := apitest.Value(r.Advance(m.ctx, remediation.Input{Org: org, WorkflowID: m.w.ID}))(m)
		if got.Done {
			if got.At = m.resumeAt(m.ctx); got.At.IsZero() {
				break
			}
		}
		m.Clock.Advance(max(got.At.Sub(m.Clock.Now()), time.Second))
		m.tw.Settle()
	}
	m.w = apitest.Value(m.store.Get(m.ctx, org, m.w.ID))(m)
	return m.w
}

func (m *clusterRemedy) giveBack() remediation.Workflow {
	m.Helper()
	m.w = apitest.Value(m.store.RequestRollback(m.ctx, m.w, m.person("bob")))(m)
	return m.advance(m.e.remediator())
}

// request returns what the Deployment shop/web requests of the CPU.
func (m *clusterRemedy) request() string {
	template := m.tw.Get("deployments", "shop/web")["spec"].(k8sFields)["template"].(k8sFields)
	c := template["spec"].(k8sFields)["containers"].([]any)[0].(k8sFields)
	return fmt.Sprint(c["resources"].(k8sFields)["requests"].(k8sFields)["cpu"])
}

func TestRemediate_RequestsOfADeploymentAreSetAndRolledBack(t *testing.T) {
	m := newClusterRemedy(t, requestRule, cloud.KubernetesDeployment, "web", oversized)
	m.giveEvidence(useOf)
	resizesAndGivesBack(t, m)
}

func resizesAndGivesBack(t *testing.T, m *clusterRemedy) {
	t.Helper()
	m.approve()
	plan := m.w.Targets[0].Plan
	m.Equal("before", plan.Before["cpu_request_cores"], "1")
	m.Equal("after", apitest.JSON(plan.After), `{"cpu_request_cores":"0.058","rollout":"complete"}`)
	if limits := strings.Join(plan.Limits, "; "); !strings.Contains(limits, "its pods are replaced") {
		t.Error(limits)
	}
	w := m.advance(m.e.remediator())
	m.Equal("status", fmt.Sprint(w.Status, w.Message), "succeeded")
	m.Equal("request", m.request(), "58m")
	m.Equal("recommendation", m.row().Status, recommendation.Applied)
	w = m.giveBack()
	m.Equal("status", w.Status, remediation.RolledBack)
	m.Equal("request", m.request(), "1")
	m.Equal("recommendation", m.row().Status, recommendation.Open)
}

// In a registered cluster the change goes through the account of the cloud that runs it.
func TestRemediate_AnObjectInAManagedClusterIsChangedThroughItsAccount(t *testing.T) {
	for _, provider := range managedcluster.Providers() {
		t.Run(provider, func(t *testing.T) {
			w, tw, web := newInside(t, provider)
			oversized(tw)
			w.resources = nil
			w.listAs(kubernetes.Name, cloud.KubernetesDeployment, web.Region)
			m := recommendInside(t, w, tw, requestRule, "web")
			m.giveEvidence(useOf)
			resizesAndGivesBack(t, m)
		})
	}
}

// Pods that do not become available in an hour are a change that failed: it is given back.
func TestRemediate_ARolloutThatFailsIsGivenBack(t *testing.T) {
	for name, condition := range map[string]bool{"the cluster gives it up": true, "it takes too long": false} {
		t.Run(name, func(t *testing.T) {
			m := newClusterRemedy(t, requestRule, cloud.KubernetesDeployment, "web", oversized)
			m.giveEvidence(useOf)
			m.approve()
			m.tw.StallControllers(true)
			if condition {
				m.tw.Change("deployments", "shop/web", func(o k8sFields) {
					o["status"].(k8sFields)["observedGeneration"] = int64(99)
					o["status"].(k8sFields)["conditions"] = []any{k8sFields{
						"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded",
					}}
				})
			}
			began := m.Clock.Now()
			w := m.advance(m.e.remediator())
			m.Equal("status", w.Status, remediation.RolledBack)
			m.Equal("request", m.request(), "1")
			m.Equal("target", w.Targets[0].State, remediation.Undone)
			if took := m.Clock.Now().Sub(began); condition == (took >= time.Hour) {
				t.Errorf("it took %s: %s", took, w.Targets[0].Message)
			}
		})
	}
}

// danglingService adds a Service that selects no pod.
func danglingService(tw *kubernetestwin.Cluster) {
	tw.Add("services", k8sFields{"metadata": k8sFields{"namespace": "shop", "name": "nowhere"}, "spec": k8sFields{
		"type": "ClusterIP", "selector": k8sFields{"app": "gone"}, "clusterIP": "10.0.0.9",
	}})
}

func TestRemediate_ADanglingServiceIsMarkedDeletedAndMadeAgain(t *testing.T) {
	m := newClusterRemedy(t, "kubernetes-service-dangling", cloud.KubernetesOthers, "nowhere", danglingService)
	before := m.tw.Get("services", "shop/nowhere")["spec"]
	m.approve()
	began := m.Clock.Now()
	w := m.advance(m.e.remediator())
	m.Equal("status", fmt.Sprint(w.Status, w.Message), "succeeded")
	if took := m.Clock.Now().Sub(began); m.tw.Get("services", "shop/nowhere") != nil || took < 14*24*time.Hour {
		t.Errorf("it is deleted after %s: %v", took, m.tw.Get("services", "shop/nowhere"))
	}
	w = m.giveBack()
	m.Equal("status", w.Status, remediation.RolledBack)
	m.Equal("spec", apitest.JSON(m.tw.Get("services", "shop/nowhere")["spec"]), apitest.JSON(before))
}

// A Service whose workload comes back in the waiting period stays, and its mark is removed.
func TestRemediate_AServiceThatIsUsedAgainIsNotDeleted(t *testing.T) {
	m := newClusterRemedy(t, "kubernetes-service-dangling", cloud.KubernetesOthers, "nowhere", danglingService)
	m.approve()
	m.untilState(remediation.Marked, 1)
	if !strings.Contains(apitest.JSON(m.tw.Get("services", "shop/nowhere")), cloud.MarkTag) {
		t.Error("it is not marked")
	}
	m.tw.Add("deployments", kubernetestwin.Named("shop", "gone", 0))
	w := m.advance(m.e.remediator())
	m.Equal("status", w.Status, remediation.RolledBack)
	if now := apitest.JSON(m.tw.Get("services", "shop/nowhere")); strings.Contains(now, cloud.MarkTag) ||
		!strings.Contains(w.Message, "in use by deployment gone") {
		t.Errorf("%s: %s", w.Message, now)
	}
}

// An object that a tool of infrastructure as code manages, by a label or by an annotation, is not changed.
func TestRemediate_AnObjectOfATemplateIsNotChanged(t *testing.T) {
	for name, mark := range map[string][2]string{
		"a label of Helm":          {"labels", "app.kubernetes.io/managed-by"},
		"an annotation of Argo":    {"annotations", "argocd.argoproj.io/tracking-id"},
		"an annotation of a chart": {"annotations", "meta.helm.sh/release-name"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newClusterRemedy(t, requestRule, cloud.KubernetesDeployment, "web", func(tw *kubernetestwin.Cluster) {
				oversized(tw)
				tw.Change("deployments", "shop/web", func(o k8sFields) {
					meta := o["metadata"].(k8sFields)
					if meta[mark[0]] == nil {
						meta[mark[0]] = k8sFields{}
					}
					meta[mark[0]].(k8sFields)[mark[1]] = "Helm"
				})
			})
			m.giveEvidence(useOf)
			if got := m.plan().Problems[0]; got == nil || !strings.Contains(got.Message, "would undo the change") {
				t.Errorf("%+v", got)
			}
		})
	}
}
