package kubernetes

import (
	"context"
	"slices"

	"lamplighter.dev/shared/cloud"
)

// hpa has the fields that are read of a HorizontalPodAutoscaler for facts.
type hpa struct {
	Head `json:"metadata"`
	Spec struct {
		Target  target      `json:"scaleTargetRef"`
		Min     *int64      `json:"minReplicas"`
		Max     int64       `json:"maxReplicas"`
		Metrics []hpaMetric `json:"metrics"`
	} `json:"spec"`
	Status struct {
		Conditions []condition `json:"conditions"`
	} `json:"status"`
}

// hpaMetric is a metric of an autoscaler. Only metrics of resources have a Resource or a Container.
type hpaMetric struct {
	Resource  resourceMetric `json:"resource"`
	Container resourceMetric `json:"containerResource"`
}

type resourceMetric struct {
	Name   string `json:"name"`
	Target struct {
		Utilization int64 `json:"averageUtilization"` // percent of the requests; 0 for another target
	} `json:"target"`
}

// vpa has the fields that are read of a VerticalPodAutoscaler.
type vpa struct {
	Head `json:"metadata"`
	Spec struct {
		Target target `json:"targetRef"`
		Policy struct {
			Mode string `json:"updateMode"`
		} `json:"updatePolicy"`
	} `json:"spec"`
}

// acts reports whether the autoscaler changes running pods: its default mode does.
func (v vpa) acts() bool { return v.Spec.Policy.Mode != "Off" && v.Spec.Policy.Mode != "Initial" }

func describeHPAs(ctx context.Context, c *cluster) (describer[hpa], error) {
	workloads, err := c.surveyWorkloads(ctx, false)
	return func(h hpa, r *cloud.Resource) {
		r.Facts = h.hpaFacts()
		if exists, known := h.targetExists(workloads); known {
			r.Facts["target_exists"] = exists
		} else if workloads.missing() != "" {
			r.Facts.Miss(workloads.missing(), "target_exists")
		}
	}, err
}

// hpaFacts returns the facts that an autoscaler has of itself. A new one has no conditions yet.
func (h hpa) hpaFacts() cloud.Facts {
	f := cloud.Facts{"min_replicas": 1.0, "max_replicas": float64(h.Spec.Max), "target_cpu_pct": 0.0}
	if h.Spec.Min != nil {
		f["min_replicas"] = float64(*h.Spec.Min)
	}
	for _, m := range h.Spec.Metrics {
		if m.Resource.Name == "cpu" {
			f["target_cpu_pct"] = float64(m.Resource.Target.Utilization)
		}
	}
	if c, known := conditionOf(h.Status.Conditions, "ScalingActive"); known {
		f["able"], f["disabled_by_zero"] = c.Status == "True", c.Reason == "ScalingDisabled"
	}
	return f
}

// conditionOf finds a condition by its type.
func conditionOf(all []condition, kind string) (condition, bool) {
	i := slices.IndexFunc(all, func(c condition) bool { return c.Type == kind })
	if i < 0 {
		return condition{}, false
	}
	return all[i], true
}

// targetExists reports whether the target of the autoscaler exists. Of a target that is not listed here, the autoscaler
// itself knows that it exists if it could read its scale.
func (h hpa) targetExists(workloads answer[byNamespace]) (exists, known bool) {
	if at, _ := conditionOf(h.Status.Conditions, "AbleToScale"); at.Status == "True" {
		return true, true
	}
	held := workloads.value[h.Namespace]
	if held == nil {
		held = &heldObjects{}
	}
	list, listed := map[string][]object{
		"Deployment": held.deployments, "StatefulSet": held.stateful, "Rollout": held.rollouts,
	}[h.Spec.Target.Kind]
	if !listed || workloads.missing() != "" {
		return false, false
	}
	return slices.ContainsFunc(list, func(o object) bool { return o.Name == h.Spec.Target.Name }), true
}

// resources returns the resources that the autoscaler scales on.
func (h hpa) resources() []string {
	out := []string{}
	for _, m := range h.Spec.Metrics {
		for _, name := range []string{m.Resource.Name, m.Container.Name} {
			if name != "" && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// budget has the fields that are read of a PodDisruptionBudget.
type budget struct {
	Head `json:"metadata"`
	Spec struct {
		Selector *labelSelector `json:"selector"`
	} `json:"spec"`
	Status struct {
		Observed   int64       `json:"observedGeneration"`
		Allowed    int64       `json:"disruptionsAllowed"`
		Expected   int64       `json:"expectedPods"`
		Conditions []condition `json:"conditions"`
	} `json:"status"`
}

// budgetFacts returns the facts of a PodDisruptionBudget; none while its controller has not seen it.
func (b budget) budgetFacts() cloud.Facts {
	if b.Status.Observed == 0 {
		return cloud.Facts{}
	}
	f := cloud.Facts{
		"disruptions_allowed": float64(b.Status.Allowed), "expected_pods": float64(b.Status.Expected),
		"blocked_since": cloud.Never,
	}
	if b.Status.Allowed == 0 {
		c, _ := conditionOf(b.Status.Conditions, "DisruptionAllowed")
		f["blocked_since"] = timeOrSince(c.Transition)
	}
	return f
}

// covers reports whether the budget selects the pods with labels. A selector without requirements selects all pods of
// the namespace.
func (b budget) covers(labels map[string]string) bool {
	s := b.Spec.Selector
	return s != nil && (len(s.MatchLabels)+len(s.MatchExpressions) == 0 || s.matches(labels))
}
