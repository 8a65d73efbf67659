package cloud

import "time"

// The kinds of Kubernetes that this service acts on, by their types.
const (
	KubernetesNamespace   = "kubernetes-namespace"
	KubernetesDeployment  = "kubernetes-deployment"
	KubernetesStatefulSet = "kubernetes-statefulset"
	KubernetesCronJob     = "kubernetes-cronjob"
	KubernetesDaemonSet   = "kubernetes-daemonset"
	KubernetesOthers      = "kubernetes-*"
)

// kubernetesOthers is the collective kind for the other resources of a cluster. kubernetesUnlisted are not in it.
var kubernetesOthers = Kind{Type: KubernetesOthers, Provider: "kubernetes", Name: "Everything else", Discoverable: true}

// kubernetesUnlisted are the types that are not listed. A permission to list secrets is a permission to read them.
// Objects that controllers create and delete add nothing to their owner. Pods are listed if a rule concerns them, and
// cluster role bindings with the type of role bindings.
var kubernetesUnlisted = []string{
	"kubernetes-api-service", "kubernetes-certificate-request", "kubernetes-clusterrole",
	"kubernetes-clusterrolebinding", "kubernetes-configmap",
	"kubernetes-controllerrevision", "kubernetes-endpointslice", "kubernetes-flowschema", "kubernetes-lease",
	"kubernetes-mutating-webhook",
	"kubernetes-other", "kubernetes-podtemplate", "kubernetes-replicaset",
	"kubernetes-replicationcontroller", "kubernetes-role",
	"kubernetes-runtimeclass", "kubernetes-secret", "kubernetes-serviceaccount",
	"kubernetes-validating-webhook",
}

// kubernetesKinds are the kinds of Kubernetes. Each act sets a size or a switch, so it can be repeated while pods
// still move. A stop takes seconds; a start may have to wait for nodes.
var kubernetesKinds = []Kind{
	{
		Type: KubernetesNamespace, Provider: "kubernetes", Name: "Kubernetes namespace", Actionable: true,
		Remembers: true,
		Absolute:  true, ActBatch: 1, ReadBatch: 1, Deadline: 30 * time.Minute,
	},
	{
		Type: KubernetesDeployment, Provider: "kubernetes", Name: "Kubernetes Deployment", Actionable: true,
		Scalable:  true,
		Remembers: true, Absolute: true, ActBatch: 50, ReadBatch: 50, Deadline: 15 * time.Minute,
	},
	{
		Type: KubernetesStatefulSet, Provider: "kubernetes", Name: "Kubernetes StatefulSet", Actionable: true,
		Scalable:  true,
		Remembers: true, Absolute: true, ActBatch: 50, ReadBatch: 50, Deadline: 20 * time.Minute,
	},
	{
		Type: KubernetesCronJob, Provider: "kubernetes", Name: "Kubernetes CronJob", Actionable: true, Remembers: true,
		Absolute: true,
		ActBatch: 50, ReadBatch: 50, Deadline: 5 * time.Minute,
	},
	{
		Type: KubernetesDaemonSet, Provider: "kubernetes", Name: "Kubernetes DaemonSet", Actionable: true,
		Remembers: true, Absolute: true,
		ActBatch: 50, ReadBatch: 50, Deadline: 15 * time.Minute,
	},
}
