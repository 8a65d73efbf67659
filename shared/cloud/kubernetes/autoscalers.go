package kubernetes

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

// KEDA's pause annotation, and our annotation that keeps its previous value.
const (
	kedaReplicas = "autoscaling.keda.sh/paused-replicas"
	kedaPaused   = "autoscaling.keda.sh/paused"
	pausedBefore = "lamplighter.dev/paused-before" // JSON: the text that kedaReplicas had, or null
)

// drives reports whether an autoscaler, KEDA's or Kubernetes' own, sets the replicas of the workload.
func (o object) drives(w object) bool {
	kind := o.Spec.Target.Kind
	return o.Spec.Target.Name == w.Name && o.Namespace == w.Namespace &&
		(kind == w.Kind || kind == "" && w.Kind == "Deployment")
}

// pausedAtZero reports whether KEDA keeps its target at 0.
func (o object) pausedAtZero() bool { return o.Annotations[kedaReplicas] == "0" }

// paused reports whether KEDA leaves its target alone.
func (o object) paused() bool {
	_, at := o.Annotations[kedaReplicas]
	return at || strings.EqualFold(o.Annotations[kedaPaused], "true")
}

// priorPause returns the value of KEDA's annotation before a stop of ours. Without such a stop it returns the present
// value.
func (o object) priorPause() *string {
	var prior *string
	if ours, ok := o.Annotations[pausedBefore]; ok {
		prior, _, _ = decodeSnapshot[*string]([]byte(ours)) // a value that is not ours counts as none
		return prior
	}
	if v, ok := o.Annotations[kedaReplicas]; ok {
		prior = &v
	}
	return prior
}

// drivers are those of the autoscalers that drive the workload.
func drivers(all []object, w object) []object {
	var out []object
	for _, o := range all {
		if o.drives(w) {
			out = append(out, o)
		}
	}
	return out
}

// pause makes KEDA keep the target of a ScaledObject at 0. Otherwise KEDA would scale it up again.
func (c *cluster) pause(ctx context.Context, s object, with string) error {
	return gone(c.guarded(ctx, scaledOf, s, func(o object) (change, error) {
		if o.pausedAtZero() {
			return nil, nil //nolint:nilnil // there is nothing to change
		}
		a := marks(c.clock.Now(), with)
		a[kedaReplicas], a[pausedBefore] = "0", string(encodeSnapshot(o.priorPause()))
		return change{"metadata": change{"annotations": a}}, nil
	}))
}

// resume restores the values that pause changed. remembered holds them in case our annotation is lost. If somebody
// else has paused or resumed the ScaledObject meanwhile, resume removes only the annotations of the stop.
func (c *cluster) resume(ctx context.Context, s object, remembered map[string]*string) error {
	return gone(c.guarded(ctx, scaledOf, s, func(o object) (change, error) {
		_, ours := o.Annotations[pausedBefore]
		prior, known := remembered[s.Name]
		if !o.pausedAtZero() || !ours && !known || o.turnedOff(known) {
			return o.unmarked(), nil
		}
		if ours {
			prior = o.priorPause()
		}
		a := unmark()
		a[pausedBefore], a[kedaReplicas] = nil, nil
		if prior != nil {
			a[kedaReplicas] = *prior
		}
		return change{"metadata": change{"annotations": a}}, nil
	}))
}

// gone returns nil for the error that the object does not exist: a deletion of it is done.
func gone(err error) error {
	if err != nil && cloud.ClassOf(err) == cloud.NotFound {
		return nil
	}
	return err
}

// bounds are the limits that the HorizontalPodAutoscalers of a workload set; name is "" when it has none.
type bounds struct {
	name       string
	least, max int64
}

// boundsOf reads the bounds of a workload: a size below the least would be raised at once, one above the most lowered.
func (p *pass) boundsOf(ctx context.Context, w object) (bounds, error) {
	all, err := p.in(ctx, hpasOf, w.Namespace)
	var b bounds
	for _, h := range drivers(all, w) {
		b = bounds{h.Name, 1, h.Spec.MaxReplicas}
		if h.Spec.MinReplicas != nil {
			b.least = *h.Spec.MinReplicas
		}
	}
	return b, err
}

// budgets names the disruption budgets that cover the pods of a workload, for the message about a refused scale-down.
// They do not limit a scale-down by themselves. An error of reading them must not hide the refusal, so it becomes
// text.
func (p *pass) budgets(ctx context.Context, w object) string {
	all, err := p.in(ctx, pdbsOf, w.Namespace)
	if err != nil {
		return ""
	}
	var names []string
	for _, b := range all {
		if b.covers(w.podLabels()) {
			names = append(names, fmt.Sprintf("PodDisruptionBudget %s (%s) covers its pods", b.Name, b.budget()))
		}
	}
	return strings.Join(names, ", ")
}

func (o object) budget() string {
	if o.Spec.MinAvailable != nil {
		return fmt.Sprintf("minAvailable %v", o.Spec.MinAvailable)
	}
	return fmt.Sprintf("maxUnavailable %v", o.Spec.MaxUnavailable)
}

// podLabels are the labels that the selector of a workload asks of its pods.
func (o object) podLabels() map[string]string {
	if o.Spec.Selector == nil {
		return nil
	}
	return o.Spec.Selector.MatchLabels
}

// podsLeft counts the pods of a workload that have not ended; pods are all of its namespace.
func podsLeft(w object, pods []object) int {
	n := 0
	for _, p := range pods {
		if w.covers(p.Labels) && p.Status.Phase != "Succeeded" && p.Status.Phase != "Failed" {
			n++
		}
	}
	return n
}

// view is a workload with the objects that determine its status.
type view struct {
	object
	scalers []object // KEDA's, that drive it
	left    int      // pods that have not ended
	now     time.Time
}
