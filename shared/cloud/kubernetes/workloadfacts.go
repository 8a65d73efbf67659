package kubernetes

import (
	"context"
	"slices"

	"lamplighter.dev/shared/cloud"
)

// workloadFactors are the objects that the facts of workloads need.
type workloadFactors struct {
	pods     answer[podSurvey]
	services answer[map[string][]service]
	budgets  answer[map[string][]budget]
	hpas     answer[map[string][]hpa]
	vpas     answer[map[string][]vpa]
}

func (c *cluster) workloadFactors(ctx context.Context) (workloadFactors, error) {
	var w workloadFactors
	err := readAll(
		tryReading(ctx, &w.pods, func() (answer[podSurvey], error) { return c.surveyPods(ctx) }),
		tryReading(ctx, &w.services, func() (answer[map[string][]service], error) { return c.surveyServices(ctx) }),
		tryReading(ctx, &w.budgets, func() (answer[map[string][]budget], error) { return c.surveyBudgets(ctx) }),
		tryReading(ctx, &w.hpas, func() (answer[map[string][]hpa], error) { return c.surveyHPAs(ctx) }),
		tryReading(ctx, &w.vpas, func() (answer[map[string][]vpa], error) { return c.surveyVPAs(ctx) }),
	)
	return w, err
}

// deploymentFacts returns all facts of a Deployment.
func (w workloadFactors) deploymentFacts(o object) cloud.Facts {
	f := o.deploymentFacts()
	w.addShared(f, o, "Deployment")
	if why := w.hpas.missing(); why != "" {
		f.Miss(why, "hpa", "hpa_resource")
	} else {
		scales := func(h hpa) bool { return h.Spec.Target.names("Deployment", o.Name) }
		at := slices.IndexFunc(w.hpas.value[o.Namespace], scales)
		if f["hpa"], f["hpa_resource"] = at >= 0, []string{}; at >= 0 {
			f["hpa_resource"] = w.hpas.value[o.Namespace][at].resources()
		}
	}
	if why := w.services.missing(); why != "" {
		f.Miss(why, "service_count")
	} else {
		f["service_count"] = countSelecting(w.services.value[o.Namespace], o.templateLabels())
	}
	return f
}

// statefulFacts returns all facts of a StatefulSet.
func (w workloadFactors) statefulFacts(o object) cloud.Facts {
	f := o.statefulFacts()
	w.addShared(f, o, "StatefulSet")
	return f
}

// addShared adds the facts that Deployments and StatefulSets share.
func (w workloadFactors) addShared(f cloud.Facts, o object, kind string) {
	addKilled(f, w.pods, workloadKey{o.Namespace, kind, o.Name})
	if why := w.budgets.missing(); why != "" {
		f.Miss(why, "pdb")
	} else {
		f["pdb"] = slices.ContainsFunc(w.budgets.value[o.Namespace], func(b budget) bool {
			return b.covers(o.templateLabels())
		})
	}
	if why := w.vpas.missing(); why != "" {
		f.Miss(why, "vpa_auto")
	} else {
		f["vpa_auto"] = slices.ContainsFunc(w.vpas.value[o.Namespace], func(v vpa) bool {
			return v.acts() && v.Spec.Target.names(kind, o.Name)
		})
	}
}

// addKilled adds the number of containers of a workload that were killed for lack of memory.
func addKilled(f cloud.Facts, pods answer[podSurvey], of workloadKey) {
	const fact = "restart_reason_oom"
	if why := pods.missing(); why != "" {
		f.Miss(why, fact)
		return
	}
	f[fact] = float64(pods.value.killed[of])
}

// names reports whether the reference names an object of the kind.
func (t target) names(kind, name string) bool { return t.Kind == kind && t.Name == name }

// countSelecting counts the Services that select pods with labels.
func countSelecting(services []service, labels map[string]string) float64 {
	n := 0
	for i := range services {
		if selectsLabels(services[i].Spec.Selector, labels) {
			n++
		}
	}
	return float64(n)
}

// daemonFactors are the objects that the facts of DaemonSets need.
type daemonFactors struct {
	pods  answer[podSurvey]
	nodes answer[nodeSurvey]
}

func (c *cluster) daemonFactors(ctx context.Context) (daemonFactors, error) {
	var d daemonFactors
	err := readAll(
		tryReading(ctx, &d.pods, func() (answer[podSurvey], error) { return c.surveyPods(ctx) }),
		tryReading(ctx, &d.nodes, func() (answer[nodeSurvey], error) { return c.surveyNodes(ctx) }),
	)
	return d, err
}

// daemonFacts returns the facts of a DaemonSet. Its share of a node is unknown in a cluster without nodes.
func (d daemonFactors) daemonFacts(o object) cloud.Facts {
	p := o.Spec.Template.Spec
	cores := p.sumQuantities(func(c container) any { return c.Resources.Requests["cpu"] })
	f := cloud.Facts{
		"desired": float64(o.Status.NodesWanted), "cpu_request_cores": cores,
		"mem_request_gib": p.sumQuantities(func(c container) any { return c.Resources.Requests["memory"] }) / gib,
		"has_requests": !p.hasContainer(func(c container) bool {
			return c.Resources.Requests["cpu"] == nil || c.Resources.Requests["memory"] == nil
		}),
	}
	addKilled(f, d.pods, workloadKey{o.Namespace, "DaemonSet", o.Name})
	switch why := d.nodes.missing(); {
	case why != "":
		f.Miss(why, "node_cpu_share")
	case d.nodes.value.leastCPU > 0:
		f["node_cpu_share"] = cores / d.nodes.value.leastCPU
	}
	return f
}
