package kubernetestwin

import (
	"fmt"
	"maps"
	"slices"
)

// Settle lets the controllers take one step: first GitOps controllers, then autoscalers, then workloads, whose pods
// take one step to end.
func (c *Cluster) Settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unseen {
		return
	}
	for at, spec := range c.healed {
		var resource, name string
		_, _ = fmt.Sscan(at, &resource, &name) // two words, made by Heal
		if o := c.objects[resource][name]; o != nil && !sameJSON(o["spec"], spec) {
			before := cloneFields(o)
			o["spec"] = cloneFields(spec)
			recordManager(o, before, "gitops-controller")
			c.countGeneration(o)
		}
	}
	for _, h := range c.objects["horizontalpodautoscalers"] {
		c.autoscaleTarget(h)
	}
	for _, s := range c.objects["scaledobjects"] {
		c.kedaScale(s)
	}
	for resource := range c.objects {
		for _, at := range slices.Sorted(maps.Keys(c.objects[resource])) {
			c.settleWorkload(resource, c.objects[resource][at])
		}
	}
}

// countGeneration counts a change of the spec.
func (c *Cluster) countGeneration(o fields) {
	meta := o["metadata"].(fields)
	meta["generation"] = meta["generation"].(int64) + 1
	c.touchObject(o)
}

// targetOf returns the target of an autoscaler.
func (c *Cluster) targetOf(o fields) fields {
	t := valueAt(o, "spec", "scaleTargetRef")
	for resource, kind := range kinds {
		if scalable[resource] && (kind == t["kind"] || t["kind"] == nil && kind == "Deployment") {
			return c.objects[resource][placeName(textOf(valueAt(o, "metadata")["namespace"]), textOf(t["name"]))]
		}
	}
	return nil
}

// autoscaleTarget acts as a HorizontalPodAutoscaler: it leaves a target at 0 alone, and else keeps it between minimum
// and maximum.
func (c *Cluster) autoscaleTarget(h fields) {
	w := c.targetOf(h)
	if w == nil || wantedReplicas(w) == 0 {
		return
	}
	spec := valueAt(h, "spec")
	want := min(max(wantedReplicas(w), numberOf(spec["minReplicas"], 1)), numberOf(spec["maxReplicas"], 1<<30))
	if want != wantedReplicas(w) {
		c.resizeWorkload(w, want, "kube-controller-manager")
	}
}

// resizeWorkload has a controller set the replicas of a workload.
func (c *Cluster) resizeWorkload(w fields, want int64, manager string) {
	valueAt(w, "spec")["replicas"] = want
	setManager(w, []string{"spec", "replicas"}, manager, true)
	c.countGeneration(w)
}

// kedaScale acts as KEDA while there are events: its target runs unless it is paused.
func (c *Cluster) kedaScale(s fields) {
	w := c.targetOf(s)
	notes := valueAt(s, "metadata", "annotations")
	paused, fixed := notes["autoscaling.keda.sh/paused-replicas"]
	want := max(wantedReplicas(w), numberOf(valueAt(s, "spec")["minReplicaCount"], 1))
	if fixed {
		_, _ = fmt.Sscan(textOf(paused), &want) // KEDA ignores an annotation that it cannot read
	}
	if w == nil || notes["autoscaling.keda.sh/paused"] == "true" || want == wantedReplicas(w) {
		return
	}
	c.resizeWorkload(w, want, "keda-operator")
}

// settleWorkload brings a workload to its wanted state. Pods that end stay for one step.
func (c *Cluster) settleWorkload(resource string, o fields) {
	if !scalable[resource] && resource != "daemonsets" {
		return
	}
	meta, was := valueAt(o, "metadata"), numberOf(valueAt(o, "status")["replicas"], 0)
	want := wantedReplicas(o)
	status := fields{
		"observedGeneration": meta["generation"], "replicas": want, "readyReplicas": want, "updatedReplicas": want,
		"availableReplicas": want,
	}
	switch resource {
	case "rollouts":
		status["observedGeneration"] = fmt.Sprint(meta["generation"])
	case "daemonsets":
		was, want = numberOf(valueAt(o, "status")["currentNumberScheduled"], 0), nodesOf(o)
		status = fields{
			"observedGeneration": meta["generation"], "desiredNumberScheduled": want,
			"currentNumberScheduled": want, "numberReady": want, "updatedNumberScheduled": want,
			"numberAvailable": want,
		}
	}
	if sameJSON(o["status"], status) {
		c.removePods(o)
		return
	}
	o["status"] = status
	c.touchObject(o)
	if want < was {
		c.endPods(o)
		c.dropClaims(resource, o, want)
	}
}

// nodeLabels are those of the three nodes of the twin.
var nodeLabels = fields{"kubernetes.io/os": "linux", "disk": "ssd"}

// nodesOf counts the nodes that the selector of a DaemonSet takes.
func nodesOf(o fields) int64 {
	for k, v := range valueAt(o, "spec", "template", "spec", "nodeSelector") {
		if nodeLabels[k] != v {
			return 0
		}
	}
	return 3
}

// endPods leaves one pod of the workload that is ending.
func (c *Cluster) endPods(o fields) {
	meta := valueAt(o, "metadata")
	pod := fields{
		"kind": "Pod", "apiVersion": "v1", "status": fields{"phase": "Running"},
		"metadata": fields{
			"namespace": meta["namespace"], "name": textOf(meta["name"]) + "-ending",
			"labels":            valueAt(o, "spec", "selector")["matchLabels"],
			"deletionTimestamp": "2026-03-01T09:00:00Z", "resourceVersion": "1",
		},
	}
	if c.objects["pods"] == nil {
		c.objects["pods"] = map[string]fields{}
	}
	c.objects["pods"][placeName(textOf(meta["namespace"]), textOf(meta["name"])+"-ending")] = pod
}

func (c *Cluster) removePods(o fields) {
	meta := valueAt(o, "metadata")
	delete(c.objects["pods"], placeName(textOf(meta["namespace"]), textOf(meta["name"])+"-ending"))
}

// dropClaims deletes the volume claims that a StatefulSet with whenScaled Delete does not keep.
func (c *Cluster) dropClaims(resource string, o fields, want int64) {
	if resource != "statefulsets" ||
		valueAt(o, "spec", "persistentVolumeClaimRetentionPolicy")["whenScaled"] != "Delete" {
		return
	}
	meta := valueAt(o, "metadata")
	maps.DeleteFunc(c.objects["persistentvolumeclaims"], func(_ string, claim fields) bool {
		return valueAt(claim, "metadata")["of"] == meta["name"] &&
			numberOf(valueAt(claim, "metadata")["index"], 0) >= want
	})
}

func wantedReplicas(o fields) int64 {
	if o == nil {
		return 0
	}
	return numberOf(valueAt(o, "spec")["replicas"], 1)
}
