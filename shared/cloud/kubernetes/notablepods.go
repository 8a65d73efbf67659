package kubernetes

import (
	"cmp"
	"context"
	"time"

	"lamplighter.dev/shared/cloud"
)

// The ages at which pods are listed, which are those of the rules: a younger pod may be about to start or to end.
const (
	unownedAge = 24 * time.Hour
	evictedAge = 24 * time.Hour
	pendingAge = time.Hour
)

// maxNotable is the maximum number of pods that are listed: the first ones in the order of the cluster, which is by
// namespace and name.
const maxNotable = 1000

// addNotable keeps a pod that a rule concerns: all others are left out of the inventory, which would have to store
// every pod of every cluster.
func (s *podSurvey) addNotable(p *pod) {
	if len(s.notable) >= maxNotable || !p.isNotable(s.now.Sub(p.CreationTimestamp)) {
		return
	}
	o := listedObject{p.Head, inventoryResource(p.Head)}
	o.resource.Facts = p.podFacts()
	s.notable = append(s.notable, o)
}

// listedFromSurvey returns pods that are listed as the survey has kept them, of a cluster with too many pods those of
// the ones that were read.
func listedFromSurvey(o other) other {
	o.list = func(ctx context.Context, c *cluster, _ string) ([]listedObject, string, error) {
		pods, err := c.surveyPods(ctx)
		if err == nil && cloud.ClassOf(pods.err) != cloud.Unsupported {
			err = pods.err
		}
		return pods.value.notable, "", err
	}
	return o
}

func (p *pod) isNotable(age time.Duration) bool {
	_, owned := p.controller()
	switch {
	case p.isEvicted():
		return age > evictedAge
	case p.Status.Phase == "Pending" && p.unschedulableReason() != "":
		return age > pendingAge
	case !p.getsImage():
		return true
	}
	return !owned && p.Status.Phase == "Running" && age > unownedAge
}

func (p *pod) isEvicted() bool { return p.Status.Reason == "Evicted" }

// unschedulableReason returns why no node takes the pod; "" if one has, if the scheduler has not tried yet, or if
// somebody has told it to wait.
func (p *pod) unschedulableReason() string {
	for _, c := range p.Status.Conditions {
		if c.Type == "PodScheduled" && c.Status == "False" && c.Reason != "SchedulingGated" {
			return cmp.Or(c.Reason, "Unschedulable")
		}
	}
	return ""
}

// podFacts returns the facts of a pod.
func (p *pod) podFacts() cloud.Facts {
	owner, _ := p.controller()
	f := cloud.Facts{
		"phase": p.Status.Phase, "owner_kind": owner.Kind, "pending_since": cloud.Never, "evicted": p.isEvicted(),
		"unschedulable_reason": p.unschedulableReason(), "waiting_reason": p.waitingReason(),
	}
	if p.Status.Phase == "Pending" {
		f["pending_since"] = p.CreationTimestamp.UTC()
	}
	return f
}
