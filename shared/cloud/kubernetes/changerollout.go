package kubernetes

import "lamplighter.dev/shared/cloud"

// rollout returns the state of the pods of a workload, as its controller has seen its present template.
func (k *objectChange) rollout() string {
	d := k.now
	n := func(name string) int64 { return d.number("status", name) }
	switch {
	case n("observedGeneration") < k.o.Generation:
		return cloud.RolloutProgressing
	case k.resource == daemonSetsOf:
		return rolledOut(n("updatedNumberScheduled") >= n("desiredNumberScheduled") &&
			n("numberAvailable") >= n("desiredNumberScheduled"))
	}
	for _, c := range k.o.Status.Conditions {
		if c.Type == "Progressing" && c.Status == "False" && c.Reason == "ProgressDeadlineExceeded" {
			return cloud.RolloutFailed
		}
	}
	want := k.o.replicas()
	return rolledOut(n("updatedReplicas") >= want && n("availableReplicas") >= want &&
		n("replicas") <= n("updatedReplicas"))
}

func rolledOut(complete bool) string {
	if complete {
		return cloud.RolloutComplete
	}
	return cloud.RolloutProgressing
}

// noRollout returns why a change of the template would not reach the pods; "" if it would.
func (k *objectChange) noRollout() string {
	switch strategy := k.now.text("spec", "updateStrategy", "type"); {
	case k.now.at("spec", "paused") == true:
		return "its rollouts are paused: resume them first"
	case strategy == "OnDelete":
		return "its update strategy is OnDelete: its pods would keep the old template"
	case k.now.number("spec", "updateStrategy", "rollingUpdate", "partition") > 0:
		return "its update strategy has a partition: only some of its pods would get the new template"
	}
	return ""
}
