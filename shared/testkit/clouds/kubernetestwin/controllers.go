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
		if o := c.objects[resource][name]; o != nil && !same(o["spec"], spec) {
			before := clone(o)
			o["spec"] = clone(spec)
			recordManager(o, before, "gitops-controller")
			c.generate(o)
		}
	}
	for _, h := range c.objects["horizontalpodautoscalers"] {
		c.autoscale(h)
	}
	for _, s := range c.objects["scaledobjects"] {
		c.kedaScale(s)
	}
	for resource := range c.objects {
		for _, at := range slices.Sorted(maps.Keys(c.objects[resource])) {
			c.settle(resource, c.objects[resource][at])
		}
	}
}

// generate counts a change of the spec.
func (c *Cluster) generate(o fields) {
	meta := o["metadata"].(fields)
	meta["generation"] = meta["generation"].(int64) + 1
	c.touch(o)
}

// targeted returns the target of an autoscaler.
func (c *Cluster) targeted(o fields) fields {
	t := at(o, "spec", "scaleTargetRef")
	for resource, kind := range kinds {
		if scalable[resource] && (kind == t["kind"] || t["kind"] == nil && kind == "Deployment") {
			return c.objects[resource][place(text(at(o, "metadata")["namespace"]), text(t["name"]))]
		}
	}
	return nil
}

// autoscale acts as a HorizontalPodAutoscaler: it leaves a target at 0 alone, and else keeps it between minimum and
// maximum.
func (c *Cluster) autoscale(h fields) {
	w := c.targeted(h)
	if w == nil || replicas(w) == 0 {
		return
	}
	spec := at(h, "spec")
	want := min(max(replicas(w), number(spec["minReplicas"], 1)), number(spec["maxReplicas"], 1<<30))
	if want != replicas(w) {
		c.resize(w, want, "kube-controller-manager")
	}
}

// resize has a controller set the replicas of a workload.
func (c *Cluster) resize(w fields, want int64, manager string) {
	at(w, "spec")["replicas"] = want
	setManager(w, []string{"spec", "replicas"}, manager, true)
	c.generate(w)
}

// kedaScale acts as KEDA while there are events: its target runs unless it is paused.
func (c *Cluster) kedaScale(s fields) {
	w := c.targeted(s)
	notes := at(s, "metadata", "annotations")
	paused, fixed := notes["autoscaling.keda.sh/paused-replicas"]
	want := max(replicas(w), number(at(s, "spec")["minReplicaCount"], 1))
	if fixed {
		_, _ = fmt.Sscan(text(paused), &want) // KEDA ignores an annotation that it cannot read
	}
	if w == nil || notes["autoscaling.keda.sh/paused"] == "true" || want == replicas(w) {
		return
	}
	c.resize(w, want, "keda-operator")
}

// settle brings a workload to its wanted state. Pods that end stay for one step.
func (c *Cluster) settle(resource string, o fields) {
	if !scalable[resource] && resource != "daemonsets" {
		return
	}
	meta, was := at(o, "metadata"), number(at(o, "status")["replicas"], 0)
	want := replicas(o)
	status := fields{"observedGeneration": meta["generation"], "replicas": want, "readyReplicas": want}
	switch resource {
	case "rollouts":
		status["observedGeneration"] = fmt.Sprint(meta["generation"])
	case "daemonsets":
		was, want = number(at(o, "status")["currentNumberScheduled"], 0), nodesOf(o)
		status = fields{"observedGeneration": meta["generation"], "desiredNumberScheduled": want,
			"currentNumberScheduled": want, "numberReady": want}
	}
	if same(o["status"], status) {
		c.removePods(o)
		return
	}
	o["status"] = status
	c.touch(o)
	if want < was {
		c.endPods(o)
		c.dropClaims(resource, o, want)
	}
}

// nodeLabels are those of the three nodes of the twin.
var nodeLabels = fields{"kubernetes.io/os": "linux", "disk": "ssd"}

// nodesOf counts the nodes that the selector of a DaemonSet takes.
func nodesOf(o fields) int64 {
	for k, v := range at(o, "spec", "template", "spec", "nodeSelector") {
		if nodeLabels[k] != v {
			return 0
		}
	}
	return 3
}

// endPods leaves one pod of the workload that is ending.
func (c *Cluster) endPods(o fields) {
	meta := at(o, "metadata")
	pod := fields{
		"kind": "Pod", "apiVersion": "v1", "status": fields{"phase": "Running"},
		"metadata": fields{
			"namespace": meta["namespace"], "name": text(meta["name"]) + "-ending",
			"labels":            at(o, "spec", "selector")["matchLabels"],
			"deletionTimestamp": "2026-03-01T09:00:00Z", "resourceVersion": "1",
		},
	}
	if c.objects["pods"] == nil {
		c.objects["pods"] = map[string]fields{}
	}
	c.objects["pods"][place(text(meta["namespace"]), text(meta["name"])+"-ending")] = pod
}

func (c *Cluster) removePods(o fields) {
	meta := at(o, "metadata")
	delete(c.objects["pods"], place(text(meta["namespace"]), text(meta["name"])+"-ending"))
}

// dropClaims deletes the volume claims that a StatefulSet with whenScaled Delete does not keep.
func (c *Cluster) dropClaims(resource string, o fields, want int64) {
	if resource != "statefulsets" || at(o, "spec", "persistentVolumeClaimRetentionPolicy")["whenScaled"] != "Delete" {
		return
	}
	meta := at(o, "metadata")
	maps.DeleteFunc(c.objects["persistentvolumeclaims"], func(_ string, claim fields) bool {
		return at(claim, "metadata")["of"] == meta["name"] && number(at(claim, "metadata")["index"], 0) >= want
	})
}

func replicas(o fields) int64 {
	if o == nil {
		return 0
	}
	return number(at(o, "spec")["replicas"], 1)
}
