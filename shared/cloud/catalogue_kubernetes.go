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

// kubernetesOthers is what else a cluster holds; not all of it (kubernetesUnlisted).
var kubernetesOthers = Kind{Type: KubernetesOthers, Provider: "kubernetes", Name: "Everything else", Discoverable: true}

// kubernetesUnlisted are the types that no listing finds: who may list secrets may read them, and what controllers make and throw away by
// themselves says nothing that its owner does not.
var kubernetesUnlisted = []string{
	"kubernetes-api-service", "kubernetes-certificate-request", "kubernetes-clusterrole",
	"kubernetes-clusterrolebinding", "kubernetes-configmap",
	"kubernetes-controllerrevision", "kubernetes-endpointslice", "kubernetes-flowschema", "kubernetes-lease",
	"kubernetes-mutating-webhook",
	"kubernetes-other", "kubernetes-pod", "kubernetes-podtemplate", "kubernetes-replicaset",
	"kubernetes-replicationcontroller", "kubernetes-role",
	"kubernetes-rolebinding", "kubernetes-runtimeclass", "kubernetes-secret", "kubernetes-serviceaccount",
	"kubernetes-validating-webhook",
}

// kubernetesKinds are the kinds of Kubernetes. All set a size or a switch, so an act may be given while pods still move. What
// ends is a matter of seconds; what begins may have to wait for nodes.
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
