package kubernetes_test

import (
	"maps"

	"lamplighter.dev/shared/cloud"
)

// planted is an object that a test makes, in a form that a real API server accepts.
type planted struct {
	group, resource string // "apis/apps/v1", "deployments"
	object          fields
}

func (p planted) name() string { s, _ := p.object["metadata"].(fields)["name"].(string); return s }

func (p planted) ns() string { s, _ := p.object["metadata"].(fields)["namespace"].(string); return s }

// changeCase is a change of an object, and what must be there beside the object. Each kind of the catalogue has one
// for each of its values, and one for its removal.
type changeCase struct {
	kind   string
	verb   cloud.ChangeVerb
	of     planted
	want   cloud.Values
	after  *string // the value after the change, as it is read, if it is not the wanted one
	beside []planted
	lost   bool // nothing gives it back
}

func meta(name string, more ...any) fields {
	m := fields{"name": name, "namespace": "changes"}
	for i := 0; i+1 < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	return m
}

// pods returns a template of pods with one container, and more of the container.
func pods(app string, more fields) fields {
	c := fields{"name": "main", "image": "registry.invalid/app:1.2.3", "resources": fields{
		"requests": fields{"cpu": "1", "memory": "1Gi"}, "limits": fields{"cpu": "2", "memory": "2Gi"},
	}}
	maps.Copy(c, more)
	return fields{
		"metadata": fields{"labels": fields{"app": app}},
		"spec":     fields{"terminationGracePeriodSeconds": 0, "containers": []any{c}},
	}
}

func workload(resource, name string, template fields, more ...any) planted {
	spec := fields{"selector": fields{"matchLabels": fields{"app": name}}, "template": template}
	switch resource {
	case "statefulsets":
		spec["serviceName"], spec["podManagementPolicy"], spec["replicas"] = "x", "Parallel", 2
	case "deployments":
		spec["replicas"] = 2
	}
	for i := 0; i+1 < len(more); i += 2 {
		spec[more[i].(string)] = more[i+1]
	}
	return planted{"apis/apps/v1", resource, fields{"metadata": meta(name), "spec": spec}}
}

// inSpec adds fields to the pods of a template.
func inSpec(template, more fields) fields {
	maps.Copy(template["spec"].(fields), more)
	return template
}

func deploymentCase(verb cloud.ChangeVerb, value, to string, more fields) changeCase {
	return changeCase{
		kind: cloud.KubernetesDeployment, verb: verb, of: workload("deployments", "web", pods("web", more)),
		want: cloud.Values{value: to},
	}
}

func sized(value, to string) changeCase { return deploymentCase(cloud.Resize, value, to, nil) }

func versioned(image string) changeCase {
	return deploymentCase(cloud.Guard, "latest_tag", "2.0", fields{"image": image})
}

func nightlyJob(name string, more ...any) planted {
	spec := fields{"schedule": "0 3 * * *", "jobTemplate": fields{"spec": fields{"template": fields{"spec": fields{
		"restartPolicy": "Never", "containers": []any{fields{"name": "main", "image": "registry.invalid/app:1.2.3"}},
	}}}}}
	for i := 0; i+1 < len(more); i += 2 {
		spec[more[i].(string)] = more[i+1]
	}
	return planted{"apis/batch/v1", "cronjobs", fields{"metadata": meta(name), "spec": spec}}
}

func serviceOf(name, kind string, more fields) planted {
	spec := fields{"type": kind, "selector": fields{"app": "gone"}, "ports": []any{fields{"port": 80}}}
	maps.Copy(spec, more)
	return planted{"api/v1", "services", fields{"metadata": meta(name), "spec": spec}}
}

func ingressOf(name string, spec fields) planted {
	return planted{"apis/networking.k8s.io/v1", "ingresses", fields{"metadata": meta(name), "spec": spec}}
}

func backendOf(service string) fields {
	return fields{"service": fields{"name": service, "port": fields{"number": 80}}}
}

func scaler(name string, spec fields) planted {
	spec["scaleTargetRef"] = fields{"apiVersion": "apps/v1", "kind": "Deployment", "name": "elsewhere"}
	return planted{"apis/autoscaling/v2", "horizontalpodautoscalers", fields{"metadata": meta(name), "spec": spec}}
}

func budgetOf(name string, spec fields) planted {
	spec["selector"] = fields{"matchLabels": fields{"app": "gone"}}
	return planted{"apis/policy/v1", "poddisruptionbudgets", fields{"metadata": meta(name), "spec": spec}}
}

func volumeOf(name, policy string) planted {
	return planted{"api/v1", "persistentvolumes", fields{"metadata": fields{"name": name}, "spec": fields{
		"capacity": fields{"storage": "10Gi"}, "accessModes": []any{"ReadWriteOnce"}, "storageClassName": "grows",
		"persistentVolumeReclaimPolicy": policy, "csi": fields{"driver": "disks.invalid", "volumeHandle": name},
		"claimRef": fields{"namespace": "changes", "name": "data", "apiVersion": "v1", "kind": "PersistentVolumeClaim"},
	}}}
}

func claimOf(volume string) planted {
	return planted{"api/v1", "persistentvolumeclaims", fields{
		"metadata": meta("data"), "spec": fields{
			"accessModes": []any{"ReadWriteOnce"}, "storageClassName": "grows", "volumeName": volume,
			"volumeMode": "Filesystem", "resources": fields{"requests": fields{"storage": "10Gi"}},
		},
		"status": fields{"phase": "Bound", "capacity": fields{"storage": "10Gi"}},
	}}
}

var classOf = planted{"apis/storage.k8s.io/v1", "storageclasses", fields{
	"metadata": fields{"name": "grows"}, "provisioner": "disks.invalid", "allowVolumeExpansion": true,
}}

// changeCases returns a case for each value of each kind of the catalogue, and for each removal. Objects are made anew
// for each call.
func changeCases() map[string]changeCase {
	all := map[string]changeCase{
		"less CPU":                         sized("cpu_request_cores", "0.0575").reads("0.058"),
		"no less CPU than ten thousandths": sized("cpu_request_cores", "0.001").reads("0.01"),
		"less memory":                      sized("mem_request_gib", "0.5"),
		"no less memory than 32 MiB":       sized("mem_request_gib", "0.001").reads("0.03125"),
		"a larger memory limit":            sized("mem_limit_gib", "2.5"),
		"a larger CPU limit":               sized("cpu_limit_cores", "3"),
		"nodes of spare capacity":          sized("spot_tolerant", "true"),
		"a budget":                         deploymentCase(cloud.Guard, "pdb", "true", nil),
		"replicas apart":                   deploymentCase(cloud.Guard, "spread", "true", nil),
		"not privileged": deploymentCase(cloud.Guard, "privileged", "false",
			fields{"securityContext": fields{"privileged": true}}),
		"no root":                           deploymentCase(cloud.Guard, "run_as_root", "false", nil),
		"no escalation":                     deploymentCase(cloud.Guard, "privilege_escalation", "false", nil),
		"a read-only root":                  deploymentCase(cloud.Guard, "writable_root", "false", nil),
		"no token":                          deploymentCase(cloud.Guard, "token_mounted", "false", nil),
		"a readiness probe":                 deploymentCase(cloud.Guard, "no_readiness", "http:8080/ready", nil),
		"a liveness probe":                  deploymentCase(cloud.Guard, "no_liveness", "tcp:8080", nil),
		"a version":                         versioned("registry.invalid/app"),
		"a version of an image with a port": versioned("r.invalid:5000/app:latest"),
	}
	all["fewer capabilities"] = deploymentCase(cloud.Guard, "dangerous_caps", "-SYS_ADMIN,ALL",
		fields{"securityContext": fields{"capabilities": fields{"add": []any{"SYS_ADMIN", "CHOWN"}}}}).reads("CHOWN")
	all["no capabilities"] = deploymentCase(cloud.Guard, "dangerous_caps", "-NET_ADMIN,SYS_PTRACE",
		fields{"securityContext": fields{"capabilities": fields{"add": []any{"NET_ADMIN"}}}}).reads("")
	all["no namespaces of the node"] = changeCase{
		kind: cloud.KubernetesDeployment, verb: cloud.Guard, want: cloud.Values{"host_namespaces": "false"},
		of: workload("deployments", "web", inSpec(pods("web", nil), fields{"hostNetwork": true, "hostPID": true})),
	}
	maps.Copy(all, statefulCases())
	maps.Copy(all, smallCases())
	maps.Copy(all, removalCases())
	return all
}

func (c changeCase) reads(after string) changeCase {
	c.after = &after
	return c
}

func statefulCases() map[string]changeCase {
	stateful := func(verb cloud.ChangeVerb, value, to string, more ...any) changeCase {
		return changeCase{
			kind: cloud.KubernetesStatefulSet, verb: verb, of: workload("statefulsets", "db", pods("db", nil), more...),
			want: cloud.Values{value: to},
		}
	}
	agent := func(value, to string) changeCase {
		return changeCase{
			kind: cloud.KubernetesDaemonSet, verb: cloud.Resize, want: cloud.Values{value: to},
			of: workload("daemonsets", "agent", pods("agent", nil)),
		}
	}
	return map[string]changeCase{
		"less CPU of a StatefulSet":     stateful(cloud.Resize, "cpu_request_cores", "0.1"),
		"less memory of a StatefulSet":  stateful(cloud.Resize, "mem_request_gib", "0.5"),
		"a larger limit of a database":  stateful(cloud.Resize, "mem_limit_gib", "4"),
		"a budget of a StatefulSet":     stateful(cloud.Guard, "pdb", "true"),
		"replicas of a database, apart": stateful(cloud.Guard, "spread", "true"),
		"claims that stay": stateful(cloud.Guard, "claims_deleted_on_scale", "false",
			"persistentVolumeClaimRetentionPolicy", fields{"whenScaled": "Delete", "whenDeleted": "Retain"}),
		"less CPU of an agent":    agent("cpu_request_cores", "0.1"),
		"less memory of an agent": agent("mem_request_gib", "0.25"),
	}
}

// smallCases are the changes of one field of an object that has no pods.
func smallCases() map[string]changeCase {
	one := func(kind string, verb cloud.ChangeVerb, of planted, value, to string) changeCase {
		return changeCase{kind: kind, verb: verb, of: of, want: cloud.Values{value: to}}
	}
	job := func(value, to string) changeCase {
		return one(cloud.KubernetesCronJob, cloud.Guard, nightlyJob("nightly"), value, to)
	}
	const hpa = "kubernetes-hpa"
	range2to9 := func() planted {
		return scaler("web", fields{"minReplicas": 1, "maxReplicas": 9, "metrics": []any{fields{
			"type": "Resource", "resource": fields{"name": "cpu", "target": fields{
				"type": "Utilization", "averageUtilization": 30,
			}},
		}}})
	}
	space := func(name string, labels fields) planted {
		return planted{"api/v1", "namespaces", fields{"metadata": fields{"name": name, "labels": labels}}}
	}
	grows := one("kubernetes-persistentvolumeclaim", cloud.ChangeStorage, claimOf("pv-data"), "size_gb", "17")
	grows.beside, grows.lost = []planted{classOf, volumeOf("pv-data", "Retain")}, true
	return map[string]changeCase{
		"a CronJob that is off": job("suspended", "true"),
		"one run at a time":     job("concurrency", "Forbid"),
		"a deadline":            job("deadline_set", "3600"),
		"a volume that is kept": one("kubernetes-persistentvolume", cloud.Guard, volumeOf("pv-kept", "Delete"),
			"reclaim_policy", "Retain"),
		"a claim that grows": grows,
		"no load balancer":   one("kubernetes-service", cloud.Setting, balancer(), "service_type", "ClusterIP"),
		"a certificate":      one("kubernetes-ingress", cloud.Guard, plainIngress(), "tls", "web-certificate"),
		"a minimum of two":   one(hpa, cloud.Resize, range2to9(), "min_replicas", "2"),
		"another maximum":    one(hpa, cloud.Resize, range2to9(), "max_replicas", "20"),
		"a higher target":    one(hpa, cloud.Resize, range2to9(), "target_cpu_pct", "65"),
		"a budget that lets one": one("kubernetes-pdb", cloud.Setting, budgetOf("all", fields{"minAvailable": "100%"}),
			"disruptions_allowed", "1"),
		"a level of security": one("kubernetes-namespace", cloud.Guard, space("lab", fields{"a": "b"}), "pod_security",
			"baseline"),
		"an owner": one("kubernetes-namespace", cloud.Guard, space("owned", nil), "owner_label", "web-team"),
	}
}

func balancer() planted {
	return serviceOf("edge", "LoadBalancer", fields{
		"loadBalancerSourceRanges": []any{"10.0.0.0/8"}, "externalTrafficPolicy": "Local",
	})
}

func plainIngress() planted {
	rule := func(host string) fields {
		return fields{"host": host, "http": fields{"paths": []any{fields{
			"path": "/", "pathType": "Prefix", "backend": backendOf("web"),
		}}}}
	}
	return ingressOf("web", fields{
		"tls":   []any{fields{"hosts": []any{"a.example.com"}, "secretName": "a"}},
		"rules": []any{rule("a.example.com"), rule("b.example.com")},
	})
}

func removalCases() map[string]changeCase {
	gone := func(kind string, of planted) changeCase { return changeCase{kind: kind, verb: cloud.Delete, of: of} }
	claim := gone("kubernetes-persistentvolumeclaim", claimOf("pv-data"))
	claim.beside = []planted{classOf, volumeOf("pv-data", "Retain")}
	done := gone("kubernetes-job", planted{"apis/batch/v1", "jobs", fields{
		"metadata": meta("import"), "spec": fields{"template": fields{"spec": fields{
			"restartPolicy": "Never", "containers": []any{fields{"name": "main", "image": "registry.invalid/app:1"}},
		}}}, "status": fields{
			"startTime": "2026-02-01T08:00:00Z", "completionTime": "2026-02-01T09:00:00Z",
			"conditions": []any{
				fields{"type": "SuccessCriteriaMet", "status": "True", "lastTransitionTime": "2026-02-01T09:00:00Z"},
				fields{"type": "Complete", "status": "True", "lastTransitionTime": "2026-02-01T09:00:00Z"},
			},
		},
	}})
	evicted := gone("kubernetes-pod", planted{"api/v1", "pods", fields{
		"metadata": meta("web-1"), "spec": pods("evicted", nil)["spec"],
		"status": fields{"phase": "Failed", "reason": "Evicted"},
	}})
	done.lost, evicted.lost = true, true
	return map[string]changeCase{
		"a suspended CronJob":  gone(cloud.KubernetesCronJob, nightlyJob("old", "suspend", true)),
		"a finished Job":       done,
		"an evicted pod":       evicted,
		"an unmounted claim":   claim,
		"a dangling Service":   gone("kubernetes-service", serviceOf("nowhere", "NodePort", nil)),
		"a Service of no pods": gone("kubernetes-service", balancer()),
		"a dangling Ingress": gone("kubernetes-ingress", ingressOf("broken",
			fields{"defaultBackend": backendOf("gone")})),
		"an aimless autoscaler": gone("kubernetes-hpa", scaler("old", fields{"maxReplicas": 9, "minReplicas": 1})),
		"an unused budget":      gone("kubernetes-pdb", budgetOf("unused", fields{"maxUnavailable": 1})),
	}
}
