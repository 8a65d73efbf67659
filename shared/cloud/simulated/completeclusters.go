package simulated

import (
	"lamplighter.dev/shared/cloud"
)

// clusterCompletions add the facts that a cluster's listings give. One object in five has planted waste or a planted
// weakness, and all of its facts that a rule reads then say so.
var clusterCompletions = map[string]func(*settings, node, *cloud.Resource, bool) cloud.Facts{
	cloud.KubernetesNamespace:          (*settings).completeNamespace,
	cloud.KubernetesDeployment:         (*settings).completeDeployment,
	cloud.KubernetesStatefulSet:        (*settings).completeStatefulSet,
	cloud.KubernetesCronJob:            (*settings).completeCronJob,
	cloud.KubernetesNode:               (*settings).completeClusterNode,
	"kubernetes-persistentvolumeclaim": (*settings).completeClaim,
}

func (s *settings) completeNamespace(_ node, r *cloud.Resource, weak bool) cloud.Facts {
	return cloud.Facts{
		"phase": "Active", "terminating_since": cloud.Epoch, "is_system": false, "preview": weak,
		"quota": !weak, "network_policy": !weak, "pod_count": 5.0, "last_deploy_at": r.CreatedAt,
		"pod_security": either(weak, "", "restricted"), "owner_label": either(weak, "", r.Name),
	}
}

// completeWorkload returns the facts that Deployments and StatefulSets share.
func completeWorkload(r *cloud.Resource, weak bool) cloud.Facts {
	return cloud.Facts{
		"replicas": float64(r.Capacity["desired"]), "gitops": false, "spread": !weak, "pdb": !weak, "vpa_auto": false,
		"restart_reason_oom": count(weak),
	}
}

func (s *settings) completeDeployment(_ node, r *cloud.Resource, weak bool) cloud.Facts {
	f := completeWorkload(r, weak)
	f["ready"], f["unavailable_since"], f["progress_failed"] = f["replicas"], cloud.Epoch, weak
	f["hpa"], f["hpa_resource"], f["namespace_system"] = !weak, listIf(!weak, "cpu"), false
	f["containers_without_cpu_request"], f["containers_without_mem_request"] = 0.0, 0.0
	f["containers_without_mem_limit"], f["cpu_limit_cores"], f["gpu_request"] = count(weak), 0.0, 0.0
	f["no_readiness"], f["no_liveness"], f["service_count"] = count(weak), count(weak), 1.0
	f["latest_tag"], f["env_secret_plain"], f["spot_tolerant"] = weak, weak, !weak
	for _, risk := range []string{
		"host_namespaces", "host_path", "privileged", "privilege_escalation", "writable_root", "run_as_root",
		"token_mounted",
	} {
		f[risk] = weak
	}
	f["dangerous_caps"] = listIf(weak, "SYS_ADMIN")
	return f
}

func (s *settings) completeStatefulSet(n node, r *cloud.Resource, weak bool) cloud.Facts {
	f := completeWorkload(r, weak)
	f["claims_deleted_on_scale"], f["volume_gb"] = weak, s.drawnOf(n).size
	return f
}

func (s *settings) completeCronJob(_ node, r *cloud.Resource, weak bool) cloud.Facts {
	return cloud.Facts{
		"suspended": r.Status != cloud.Running, "active": 2 * count(weak), "deadline_set": !weak,
		"concurrency": either(weak, "Allow", "Forbid"), "last_success_at": r.CreatedAt, "last_schedule_at": r.CreatedAt,
	}
}

func (s *settings) completeClaim(n node, _ *cloud.Resource, weak bool) cloud.Facts {
	d := s.drawnOf(n)
	return cloud.Facts{
		"phase": "Bound", "size_gb": d.size, "mounted_by": count(!weak), "unmounted_since": d.since,
		"disk": "", "owner_scaled_down": weak && s.drawHit(n, asSize, 0.5),
	}
}

func (s *settings) completeClusterNode(_ node, r *cloud.Resource, weak bool) cloud.Facts {
	f := cloud.Facts{
		"unschedulable": weak, "unschedulable_since": cloud.Never, "gpu_allocatable": r.Facts[cloud.NodeGPUs],
		"not_ready_since": cloud.Epoch, "scale_down_blocked": false, "kubelet_lag": 3 * count(weak),
		"pressure": listIf(weak, "MemoryPressure"),
	}
	if weak {
		f["unschedulable_since"] = cloud.Since{}
	}
	loads, _ := r.Facts[cloud.NodeLoads].([]string)
	f["workload_pods"] = float64(len(loads))
	return f
}

// listIf returns a list of the name if it is there, and else an empty one.
func listIf(there bool, name string) []string {
	if there {
		return []string{name}
	}
	return []string{}
}
