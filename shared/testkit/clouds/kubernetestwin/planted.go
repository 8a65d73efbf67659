package kubernetestwin

import (
	_ "embed"
	"encoding/json"
	"maps"
	"strings"
	"time"
)

// plantedObjects are the objects of Plant that are not workloads, a line each: the resource, the rules that find the
// object, the object.
//
//go:embed planted.txt
var plantedObjects string

// Planted is an object of Plant.
type Planted struct {
	Resource string // "services"
	At       string // "ns/name", or the name of an object without a namespace
	Rules    string // that find it, separated by spaces and without "kubernetes-"
}

// Plant adds a cluster in which some objects are wasted or weak, and others like them are not. Objects without rules
// must be found by none. Containers were killed for lack of memory an hour before now.
func (c *Cluster) Plant(now time.Time) []Planted {
	var out []Planted
	killed := now.Add(-time.Hour).UTC().Format(time.RFC3339)
	for line := range strings.Lines(strings.ReplaceAll(plantedObjects, "KILLED", killed)) {
		f := strings.SplitN(line, "|", 3)
		resource := strings.TrimSpace(f[0])
		var o fields
		if err := json.Unmarshal([]byte(f[2]), &o); err != nil {
			panic("planted.txt: " + line + ": " + err.Error())
		}
		out = append(out, Planted{resource, c.Add(resource, o), strings.TrimSpace(f[1])})
	}
	for _, w := range plantedWorkloads() {
		w.At = c.Add(w.Resource, w.object)
		out = append(out, w.Planted)
	}
	return out
}

// plantedWorkload is a workload of Plant.
type plantedWorkload struct {
	Planted
	object fields
}

// plantedWorkloads returns the workloads of Plant. Each has one weakness.
func plantedWorkloads() []plantedWorkload {
	prod, test := fields{"env": "prod"}, fields{"env": "test"}
	ring := soundWorkload("waste", "ring", 3, prod)
	ring["spec"].(fields)["volumeClaimTemplates"] = []any{fields{"metadata": fields{"name": "data"}}}
	unready := soundWorkload("waste", "unready", 2, nil)
	delete(containerOf(unready), "readinessProbe")
	heavy, greedy := soundWorkload("waste", "heavy", 0, nil), soundWorkload("waste", "greedy", 0, nil)
	containerOf(heavy)["resources"] = fields{"requests": fields{"cpu": "2", "memory": "1Gi"}}
	delete(containerOf(greedy), "resources")
	return []plantedWorkload{
		{Planted{"deployments", "", ""}, soundWorkload("good", "web", 2, prod)},
		{Planted{"deployments", "", ""}, soundWorkload("good", "asleep", 0, prod)},
		{Planted{"deployments", "", "deployment-single-replica"}, soundWorkload("waste", "alone", 1, prod)},
		{Planted{"deployments", "", "deployment-no-pdb"}, soundWorkload("waste", "unguarded", 2, prod)},
		{Planted{"deployments", "", "deployment-replicas-nonprod"}, soundWorkload("waste", "copies", 2, test)},
		{Planted{"deployments", "", "deployment-no-readiness"}, unready},
		{Planted{"deployments", "", "deployment-oom-killed"}, soundWorkload("waste", "killed", 2, nil)},
		{Planted{"statefulsets", "", ""}, soundWorkload("good", "db", 3, prod)},
		{Planted{"statefulsets", "", "statefulset-no-pdb"}, ring},
		{Planted{"statefulsets", "", "statefulset-oom-killed"}, soundWorkload("waste", "heap", 1, nil)},
		{Planted{"daemonsets", "", ""}, soundWorkload("good", "agent", 0, nil)},
		{Planted{"daemonsets", "", "daemonset-heavy"}, heavy},
		{Planted{"daemonsets", "", "daemonset-no-requests"}, greedy},
		{Planted{"deployments", "", ""}, soundWorkload("shop-pr-7", "preview", 1, nil)},
		{Planted{"deployments", "", ""}, soundWorkload("tests", "runner", 1, nil)},
	}
}

// containerOf returns the only container of a workload.
func containerOf(w fields) fields {
	return valueAt(w, "spec", "template", "spec")["containers"].([]any)[0].(fields)
}

// soundWorkload returns a workload with requests, limits, probes and no rights over its node.
func soundWorkload(ns, name string, replicas int, labels fields) fields {
	w := Named(ns, name, replicas)
	maps.Copy(w["metadata"].(fields)["labels"].(fields), labels)
	size := fields{"cpu": "100m", "memory": "128Mi"}
	valueAt(w, "spec", "template")["spec"] = fields{
		"automountServiceAccountToken": false,
		"topologySpreadConstraints":    []any{fields{"maxSkew": 1}},
		"tolerations":                  []any{fields{"key": "karpenter.sh/capacity-type"}},
		"containers": []any{fields{
			"name": "main", "image": "registry/app:1.2.3", "resources": fields{"requests": size, "limits": size},
			"readinessProbe": fields{"httpGet": fields{}}, "livenessProbe": fields{"httpGet": fields{}},
			"securityContext": fields{
				"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "runAsNonRoot": true,
			},
		}},
	}
	return w
}

// PlantWorkload adds a sound workload with two replicas, these requests, and limits of 8 cores and 8 GiB. It returns
// "ns/name".
func (c *Cluster) PlantWorkload(resource, ns, name, cpu, memory string) string { //nolint:revive // what, where, needs
	w := soundWorkload(ns, name, 2, fields{"env": "prod"})
	containerOf(w)["resources"] = fields{
		"requests": fields{"cpu": cpu, "memory": memory}, "limits": fields{"cpu": "8", "memory": "8Gi"},
	}
	return c.Add(resource, w)
}
