package kubernetestwin

import (
	"maps"
	"slices"
	"strings"
)

// kinds and groups are the resources that the twin serves.
var (
	kinds = map[string]string{
		"namespaces": "Namespace", "pods": "Pod", "persistentvolumeclaims": "PersistentVolumeClaim",
		"deployments":  "Deployment",
		"statefulsets": "StatefulSet", "daemonsets": "DaemonSet", "cronjobs": "CronJob",
		"horizontalpodautoscalers": "HorizontalPodAutoscaler",
		"poddisruptionbudgets":     "PodDisruptionBudget", "scaledobjects": "ScaledObject", "rollouts": "Rollout",
		"selfsubjectaccessreviews": "SelfSubjectAccessReview", "nodes": "Node", "services": "Service",
		"persistentvolumes": "PersistentVolume",
		"resourcequotas":    "ResourceQuota", "limitranges": "LimitRange", "jobs": "Job", "ingresses": "Ingress",
		"ingressclasses":  "IngressClass",
		"networkpolicies": "NetworkPolicy", "storageclasses": "StorageClass", "csidrivers": "CSIDriver",
		"volumeattachments": "VolumeAttachment",
		"priorityclasses":   "PriorityClass", "customresourcedefinitions": "CustomResourceDefinition",
		"gateways": "Gateway", "httproutes": "HTTPRoute",
		"volumesnapshots": "VolumeSnapshot", "verticalpodautoscalers": "VerticalPodAutoscaler",
		"endpointslices": "EndpointSlice", "serviceaccounts": "ServiceAccount", "clusterroles": "ClusterRole",
		"rolebindings": "RoleBinding", "clusterrolebindings": "ClusterRoleBinding",
		"podmetrics": "PodMetrics", // so that there is the group of a metrics server
	}
	groups = map[string]string{
		"deployments": "apps/v1", "statefulsets": "apps/v1", "daemonsets": "apps/v1", "cronjobs": "batch/v1",
		"horizontalpodautoscalers": "autoscaling/v2",
		"poddisruptionbudgets":     "policy/v1", "scaledobjects": "keda.sh/v1alpha1",
		"rollouts":                 "argoproj.io/v1alpha1",
		"selfsubjectaccessreviews": "authorization.k8s.io/v1", "jobs": "batch/v1", "ingresses": "networking.k8s.io/v1",
		"ingressclasses": "networking.k8s.io/v1", "networkpolicies": "networking.k8s.io/v1",
		"storageclasses": "storage.k8s.io/v1",
		"csidrivers":     "storage.k8s.io/v1", "volumeattachments": "storage.k8s.io/v1",
		"priorityclasses":           "scheduling.k8s.io/v1",
		"customresourcedefinitions": "apiextensions.k8s.io/v1", "gateways": "gateway.networking.k8s.io/v1",
		"httproutes":      "gateway.networking.k8s.io/v1",
		"volumesnapshots": "snapshot.storage.k8s.io/v1", "verticalpodautoscalers": "autoscaling.k8s.io/v1",
		"endpointslices": "discovery.k8s.io/v1", "clusterroles": "rbac.authorization.k8s.io/v1",
		"rolebindings":        "rbac.authorization.k8s.io/v1",
		"clusterrolebindings": "rbac.authorization.k8s.io/v1",
		"podmetrics":          "metrics.k8s.io/v1beta1",
	}
	scalable = map[string]bool{"deployments": true, "statefulsets": true, "rollouts": true}
)

func groupVersion(resource string) string {
	if g := groups[resource]; g != "" {
		return g
	}
	return "v1"
}

// aboutServer answers for its version, and for its groups.
func (c *Cluster) aboutServer(q request) fields {
	if q.version == "version" {
		return fields{"major": "1", "minor": "34", "gitVersion": Version}
	}
	return c.servedGroups()
}

// servedGroups lists the groups that the cluster serves.
func (c *Cluster) servedGroups() fields {
	versions := map[string]bool{}
	for _, gv := range groups {
		versions[gv] = true
	}
	list := []any{}
	for _, gv := range slices.Sorted(maps.Keys(versions)) {
		group, version, _ := strings.Cut(gv, "/")
		if !slices.Contains(c.Without, group) {
			list = append(list,
				fields{"name": group, "versions": []any{fields{"groupVersion": gv, "version": version}}})
		}
	}
	return fields{"kind": "APIGroupList", "apiVersion": "v1", "groups": list}
}

// servedResources lists the resources of a group and version.
func servedResources(gv string) fields {
	list := []any{}
	for _, r := range slices.Sorted(maps.Keys(kinds)) {
		if groupVersion(r) == gv {
			list = append(list,
				fields{
					"name": r, "kind": kinds[r], "namespaced": r != "namespaces",
					"verbs": []any{"get", "list", "patch"},
				})
		}
	}
	return fields{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": gv, "resources": list}
}
