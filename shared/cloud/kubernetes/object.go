package kubernetes

import (
	"strings"

	"lamplighter.dev/shared/cloud"
)

// object holds all fields that this package reads of objects of any resource.
type object struct {
	Kind     string `json:"kind"`
	Metadata `json:"metadata"`
	Spec     spec   `json:"spec"`
	Status   status `json:"status"`
}

type spec struct {
	Replicas  *int64         `json:"replicas"`
	Suspend   *bool          `json:"suspend"`
	Selector  *labelSelector `json:"selector"`
	Retention struct {
		WhenScaled string `json:"whenScaled"`
	} `json:"persistentVolumeClaimRetentionPolicy"`
	Claims   []any `json:"volumeClaimTemplates"`
	Ordinals struct {
		Start int64 `json:"start"`
	} `json:"ordinals"`
	// the fields that become facts (facts.go)
	Template    template `json:"template"`
	Concurrency string   `json:"concurrencyPolicy"`
	JobTemplate struct {
		Spec podSpec `json:"spec"`
	} `json:"jobTemplate"`
	// of autoscalers
	Target      target         `json:"scaleTargetRef"`
	MinReplicas *int64         `json:"minReplicas"`
	MaxReplicas int64          `json:"maxReplicas"`
	Metrics     []any          `json:"metrics"`
	Behavior    map[string]any `json:"behavior"`
	// of disruption budgets
	MinAvailable   any `json:"minAvailable"`
	MaxUnavailable any `json:"maxUnavailable"`
}

type target struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

type status struct {
	Observed any    `json:"observedGeneration"` // a number; of Rollouts a text
	Replicas int64  `json:"replicas"`
	Ready    int64  `json:"readyReplicas"`
	Active   []any  `json:"active"`
	Phase    string `json:"phase"`
	// of DaemonSets
	NodesWanted int64 `json:"desiredNumberScheduled"`
	Nodes       int64 `json:"currentNumberScheduled"`
	NodesReady  int64 `json:"numberReady"`

	Conditions   []condition `json:"conditions"`
	LastSuccess  string      `json:"lastSuccessfulTime"`
	LastSchedule string      `json:"lastScheduleTime"`
}

// replicas returns the number of wanted pods; a missing field means 1.
func (o object) replicas() int64 {
	if o.Spec.Replicas == nil {
		return 1
	}
	return *o.Spec.Replicas
}

func (o object) suspended() bool { return o.Spec.Suspend != nil && *o.Spec.Suspend }

// isObserved reports whether the controller has observed the latest spec.
func (o object) isObserved() bool {
	n, ok := o.Status.Observed.(int64)
	return !ok || n >= o.Generation // a Rollout's is no number
}

// selects reports whether the selector of o selects the labels.
func (o object) selects(l map[string]string) bool {
	return o.Spec.Selector.matches(l)
}

// ref names an object in a cluster; ns is "" for a namespace.
type ref struct{ ns, name string }

// workloadUID is "clusterUid/ns/deployments/name".
func workloadUID(cluster, resource string, at ref) string {
	return strings.Join([]string{cluster, at.ns, resource, at.name}, "/")
}

// namespaceUID is "clusterUid/ns".
func namespaceUID(cluster, ns string) string { return cluster + "/" + ns }

// parseUID takes a uid of the resource apart; false when it is not one of this cluster.
func parseUID(cluster, resource, uid string) (ref, bool) {
	f := strings.Split(uid, "/")
	switch {
	case f[0] != cluster:
	case resource == namespacesOf.Resource && len(f) == 2 && f[1] != "":
		return ref{name: f[1]}, true
	case len(f) == 4 && f[2] == resource && f[1] != "" && f[3] != "":
		return ref{f[1], f[3]}, true
	}
	return ref{}, false
}

// inventoryResource returns the fields of the inventory that every object has.
func inventoryResource(h Head) cloud.Resource {
	return cloud.Resource{
		Name: h.Name, Tags: h.Labels, CreatedAt: h.CreationTimestamp.UTC(),
		Capacity: map[string]int64{},
	}
}
