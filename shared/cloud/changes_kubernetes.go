package cloud

import "slices"

// The resources of Kubernetes that changes read and write, as its permissions name them.
const (
	k8sDeployments  = "deployments.apps"
	k8sStatefulSets = "statefulsets.apps"
	k8sDaemonSets   = "daemonsets.apps"
	k8sCronJobs     = "cronjobs.batch"
	k8sJobs         = "jobs.batch"
	k8sRollouts     = "rollouts.argoproj.io"
	k8sHPAs         = "horizontalpodautoscalers.autoscaling"
	k8sVPAs         = "verticalpodautoscalers.autoscaling.k8s.io"
	k8sBudgets      = "poddisruptionbudgets.policy"
	k8sIngresses    = "ingresses.networking.k8s.io"
	k8sVolumes      = "persistentvolumes"
	k8sClaims       = "persistentvolumeclaims"
	k8sServices     = "services"
	k8sNamespaces   = "namespaces"
	k8sPods         = "pods"
)

// k8sUndo says how values come back.
const k8sUndo = "a merge patch gives the changed fields the values before"

// kubernetesChanges returns the changes of Kubernetes. Values are set by a merge patch that names the version that was
// read; a removal is a DELETE, and a POST of the stored definition gives the object back under its name.
//
// Bindings of roles are not among them: who marks or restores one must hold, or may bind, all that its role allows.
// Neither is the removal of namespaces, because what is in one is not known without a list of its Secrets.
func kubernetesChanges() []KindChange {
	return slices.Concat(k8sSettings(), k8sRemovals())
}

func k8sSettings() []KindChange {
	grows := k8sSet("kubernetes-persistentvolumeclaim", ChangeStorage, k8sClaims, "size_gb")
	grows.Undo = "none: a claim cannot be made smaller"
	grows.Needs = append(grows.Needs, "get storageclasses.storage.k8s.io")
	secures := k8sSet("kubernetes-namespace", Guard, k8sNamespaces, "pod_security", "owner_label")
	secures.Needs = append(secures.Needs, k8sLists(append(k8sTemplates(), k8sPods)...)...)
	guarded := k8sGuarded(KubernetesDeployment, k8sDeployments, "pdb", "spread", "privileged", "host_namespaces",
		"run_as_root", "privilege_escalation", "writable_root", "token_mounted", "dangerous_caps", "no_readiness",
		"no_liveness", "latest_tag")
	guarded.Takes = []string{"dangerous_caps"}
	return []KindChange{
		k8sResize(KubernetesDeployment, k8sDeployments, "cpu_request_cores", "mem_request_gib", "mem_limit_gib",
			"cpu_limit_cores", "spot_tolerant"),
		k8sResize(KubernetesStatefulSet, k8sStatefulSets, "cpu_request_cores", "mem_request_gib", "mem_limit_gib"),
		k8sResize(KubernetesDaemonSet, k8sDaemonSets, "cpu_request_cores", "mem_request_gib"),
		guarded, k8sGuarded(KubernetesStatefulSet, k8sStatefulSets, "pdb", "spread", "claims_deleted_on_scale"),
		k8sSet(KubernetesCronJob, Guard, k8sCronJobs, "suspended", "concurrency", "deadline_set"),
		k8sSet("kubernetes-persistentvolume", Guard, k8sVolumes, "reclaim_policy"),
		k8sSet("kubernetes-service", Setting, k8sServices, "service_type"),
		k8sSet("kubernetes-ingress", Guard, k8sIngresses, "tls"),
		k8sSet("kubernetes-hpa", Resize, k8sHPAs, "min_replicas", "max_replicas", "target_cpu_pct"),
		k8sSet("kubernetes-pdb", Setting, k8sBudgets, "disruptions_allowed"),
		grows, secures,
	}
}

func k8sRemovals() []KindChange {
	claim := k8sDelete("kubernetes-persistentvolumeclaim", k8sClaims,
		"the volume and its disk stay and are billed: delete them when you do not need the data any more")
	claim.Copies, claim.Kept = true, "the reclaim policy Retain of the volume"
	claim.Undo = "the volume is released from the deleted claim, and a POST of the stored definition claims it again"
	claim.Needs = append(claim.Needs, "get "+k8sVolumes, "patch "+k8sVolumes)
	claim.Needs = append(claim.Needs, k8sLists(append(k8sTemplates(), k8sPods, k8sJobs)...)...)
	service := k8sDelete("kubernetes-service", k8sServices, "a load balancer has another address afterwards")
	service.Needs = append(service.Needs,
		k8sLists(append(k8sTemplates(), k8sPods, k8sIngresses, "endpointslices.discovery.k8s.io")...)...)
	budget := k8sDelete("kubernetes-pdb", k8sBudgets)
	budget.Needs = append(budget.Needs, k8sLists(append(k8sTemplates(), k8sPods)...)...)
	ingress := k8sDelete("kubernetes-ingress", k8sIngresses, "its load balancer may have another address afterwards")
	ingress.Needs = append(ingress.Needs, k8sLists(k8sServices)...)
	scaler := k8sDelete("kubernetes-hpa", k8sHPAs)
	scaler.Needs = append(scaler.Needs, k8sLists(k8sTemplates()...)...)
	return []KindChange{
		scaler, claim, service, budget, ingress,
		k8sDelete(KubernetesCronJob, k8sCronJobs, "the jobs of its past runs and their logs do not come back"),
		k8sLost("kubernetes-job", k8sJobs, "its pods and their logs are deleted, too; made again, it would run again"),
		k8sLost("kubernetes-pod", k8sPods, "its record does not come back: it has ended"),
	}
}

// k8sTemplates are the workloads whose pods use other objects.
func k8sTemplates() []string {
	return []string{k8sDeployments, k8sStatefulSets, k8sDaemonSets, k8sCronJobs, k8sRollouts}
}

// k8sSet describes a merge patch of some values.
func k8sSet(kind string, verb ChangeVerb, resource string, values ...string) KindChange {
	return KindChange{
		Type: kind, Verb: verb, Sets: values, Call: "patch " + resource, Undo: k8sUndo,
		Needs: []string{"get " + resource, "patch " + resource},
	}
}

// k8sResize describes a change of what the containers of a workload request, or may take.
func k8sResize(kind, resource string, values ...string) KindChange {
	c := k8sSet(kind, Resize, resource, values...)
	c.Needs = append(c.Needs, k8sLists(k8sHPAs, k8sVPAs)...)
	return c
}

// k8sGuarded describes a protection of a workload, which may be a disruption budget beside it.
func k8sGuarded(kind, resource string, values ...string) KindChange {
	c := k8sSet(kind, Guard, resource, values...)
	c.Undo += "; a disruption budget that was made is deleted"
	c.Needs = append(c.Needs, "list "+k8sBudgets, "create "+k8sBudgets, "delete "+k8sBudgets)
	return c
}

// k8sDelete describes a DELETE that a POST of the stored definition gives back.
func k8sDelete(kind, resource string, limits ...string) KindChange {
	c := k8sLost(kind, resource, limits...)
	c.Undo = "a POST of the stored definition makes it again, under the same name"
	c.Needs = append(c.Needs, "create "+resource)
	return c
}

// k8sLost describes a DELETE that nothing gives back.
func k8sLost(kind, resource string, limits ...string) KindChange {
	return KindChange{
		Type: kind, Verb: Delete, Call: "delete " + resource, Limits: limits, Undo: noUndo,
		Needs: []string{"get " + resource, "patch " + resource, "delete " + resource},
	}
}

func k8sLists(resources ...string) []string {
	out := make([]string, len(resources))
	for i, r := range resources {
		out[i] = "list " + r
	}
	return out
}
