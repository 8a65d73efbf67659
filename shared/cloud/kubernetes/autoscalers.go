package kubernetes

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

// KEDA's own annotation, and ours beside it that keeps what it said before.
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

// pausedAtZero reports whether KEDA leaves what it drives at 0.
func (o object) pausedAtZero() bool { return o.Annotations[kedaReplicas] == "0" }

// paused reports whether KEDA leaves what it drives as it is.
func (o object) paused() bool {
	_, at := o.Annotations[kedaReplicas]
	return at || strings.EqualFold(o.Annotations[kedaPaused], "true")
}

// priorPause is what KEDA's annotation said before a stop of ours, and what it says when there was none.
func (o object) priorPause() *string {
	var prior *string
	if ours, ok := o.Annotations[pausedBefore]; ok {
		prior, _, _ = decodeSnapshot[*string]([]byte(ours)) // what is not ours any more is none
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

// pause has KEDA keep what a ScaledObject drives at 0. KEDA would bring it back.
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

// resume gives a ScaledObject back what pause changed; remembered is what it said, in case the annotation is lost. Of one that
// somebody else has paused or resumed since, it takes the annotations of the stop away, and no more.
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

// gone takes what does not exist any more for done.
func gone(err error) error {
	if err != nil && cloud.ClassOf(err) == cloud.NotFound {
		return nil
	}
	return err
}

// bounds are what the HorizontalPodAutoscalers of a workload keep it between; name is "" when there is none.
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

// budgets names the disruption budgets that cover the pods of a workload, for whoever reads that its scale-down was refused.
// They do not limit a scale-down by themselves. That they cannot be read must not hide the refusal.
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

// view is a workload with what decides about its status besides.
type view struct {
	object
	scalers []object // KEDA's, that drive it
	left    int      // pods that have not ended
	now     time.Time
}
