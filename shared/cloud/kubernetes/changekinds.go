package kubernetes

import "lamplighter.dev/shared/cloud"

// The resources that changes alone read or write.
var (
	jobsOf      = apiResource{Group: "batch", Version: "v1", Resource: "jobs"}
	ingressesOf = apiResource{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"}
	claimsOf    = apiResource{Version: "v1", Resource: "persistentvolumeclaims"}
)

// inTemplate is the path of a field of the pods of a workload; inContainers is that of a field of each container.
func inTemplate(names ...string) path { return append(path{"spec", "template", "spec"}, names...) }

func inContainers(names ...string) path {
	return append(inTemplate("containers", eachItem), names...)
}

// changedKinds returns the kinds that remediation changes. A new kind is an entry here and a line in the catalogue.
func changedKinds() []changedKind {
	return []changedKind{
		{
			kind: cloud.KubernetesDeployment, resource: deploymentsOf, rolls: true,
			values: append(append(sizeValues(), riskValues()...), spotTolerant(), spread(), budgetBeside(), probe(
				"no_readiness", "readinessProbe"), probe("no_liveness", "livenessProbe"), imageTag()),
		},
		{
			kind: cloud.KubernetesStatefulSet, resource: statefulOf, rolls: true,
			values: append(sizeValues(), spread(), budgetBeside(), claimsDeleted()),
		},
		{kind: cloud.KubernetesDaemonSet, resource: daemonSetsOf, rolls: true, values: sizeValues()},
		{
			kind: cloud.KubernetesCronJob, resource: cronJobsOf, proof: proveSuspended, values: []changedValue{
				flag("suspended", path{"spec", "suspend"}),
				word("concurrency", path{"spec", "concurrencyPolicy"}, "Allow", "Allow", "Forbid", "Replace"),
				number("deadline_set", path{"spec", "jobTemplate", "spec", "activeDeadlineSeconds"}, "", 1),
			},
		},
		{kind: "kubernetes-job", resource: jobsOf, proof: proveFinished},
		{kind: "kubernetes-pod", resource: podsOf, proof: proveEvicted, ended: true},
		{
			kind: "kubernetes-persistentvolume", resource: volumesOf, values: []changedValue{
				word("reclaim_policy", path{"spec", "persistentVolumeReclaimPolicy"}, "Retain", "Retain", "Delete"),
			},
		},
		{
			kind: "kubernetes-persistentvolumeclaim", resource: claimsOf, proof: proveUnmounted,
			values: []changedValue{claimSize()},
		},
		{kind: "kubernetes-service", resource: servicesOf, proof: proveUnserved, values: []changedValue{serviceType()}},
		{
			kind: "kubernetes-ingress", resource: ingressesOf, proof: proveDangling,
			values: []changedValue{certificate()},
		},
		{kind: "kubernetes-pdb", resource: pdbsOf, proof: proveUncovered, values: []changedValue{disruptions()}},
		{
			kind: "kubernetes-hpa", resource: hpasOf, proof: proveAimless, values: []changedValue{
				number("min_replicas", path{"spec", "minReplicas"}, "1", 1).within(checkMinimum),
				number("max_replicas", path{"spec", "maxReplicas"}, "1", 1).within(checkMaximum), cpuTarget(),
			},
		},
		{
			kind: "kubernetes-namespace", resource: namespacesOf, values: []changedValue{
				word("pod_security", path{"metadata", "labels", "pod-security.kubernetes.io/enforce"}, "",
					"baseline").within(checkBaseline),
				ownerLabel(),
			},
		},
	}
}
