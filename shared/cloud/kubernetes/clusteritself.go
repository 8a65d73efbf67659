package kubernetes

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// storageClassesOf are listed whole for the cluster itself: the default class is a property of it.
var storageClassesOf = apiResource{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}

// storageClass has the fields that are read of a StorageClass.
type storageClass struct {
	Head       `json:"metadata"`
	Parameters map[string]string `json:"parameters"`
}

// premiumTypes are the beginnings of the types of disks that cost a multiple of the usual ones, in lower case.
var premiumTypes = []string{
	"io1", "io2", "premium_", "premiumv2_", "ultrassd_", "pd-ssd", "pd-extreme", "hyperdisk-extreme",
}

// isExpensiveDefault reports whether the class is the default one and of a premium type.
func (s *storageClass) isExpensiveDefault() bool {
	kind := strings.ToLower(cmp.Or(s.Parameters["type"], s.Parameters["skuName"], s.Parameters["skuname"]))
	return s.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" &&
		slices.ContainsFunc(premiumTypes, func(premium string) bool { return strings.HasPrefix(kind, premium) })
}

// hasExpensiveDefault reports whether the default StorageClass is of a premium type.
func (c *cluster) hasExpensiveDefault(ctx context.Context) (answer[bool], error) {
	return c.survey.expensive.get(c.clock.Now(), false, func() (expensive bool, err error) {
		err = eachTyped(ctx, c, storageClassesOf, "", func(s *storageClass) {
			expensive = expensive || s.isExpensiveDefault()
		})
		return expensive, err
	})
}

// listedItself returns the cluster as a resource of itself. The rules about the cluster as a whole are for it.
func listedItself(o other) other {
	o.list = func(ctx context.Context, c *cluster, _ string) ([]listedObject, string, error) {
		self, err := c.getObject(ctx, namespacesOf, ref{name: "kube-system"}) // which is as old as the cluster
		if err != nil {
			return nil, "", err
		}
		h := Head{Name: c.displayName(), CreationTimestamp: self.CreationTimestamp}
		out := listedObject{h, inventoryResource(h)}
		out.resource.Facts, err = c.clusterFacts(ctx)
		return []listedObject{out}, "", err
	}
	return o
}

// displayName is the name of the cluster at its cloud; "cluster" for a cluster that no cloud is known to run.
func (c *cluster) displayName() string {
	return cmp.Or(c.parent[strings.LastIndexAny(c.parent, "/:")+1:], "cluster")
}

// clusterFacts returns the facts of the cluster itself.
func (c *cluster) clusterFacts(ctx context.Context) (cloud.Facts, error) {
	var nodes answer[nodeSurvey]
	var expensive answer[bool]
	var workloads answer[byNamespace]
	var metrics bool
	err := readAll(
		reading(&nodes, func() (answer[nodeSurvey], error) { return c.surveyNodes(ctx) }),
		reading(&expensive, func() (answer[bool], error) { return c.hasExpensiveDefault(ctx) }),
		reading(&workloads, func() (answer[byNamespace], error) { return c.surveyWorkloads(ctx, false) }),
		func() (err error) { metrics, err = c.servesMetrics(ctx); return err },
	)
	f := cloud.Facts{"metrics_api": metrics}
	if why := nodes.missing(); why != "" {
		f.Miss(why, "node_count")
	} else {
		f["node_count"] = float64(nodes.value.count)
	}
	addAutoscaler(f, nodes, workloads)
	if why := expensive.missing(); why != "" {
		f.Miss(why, "default_storage_expensive")
	} else {
		f["default_storage_expensive"] = expensive.value
	}
	return f, err
}

// autoscalerNames are the names of Deployments of node autoscalers, or parts of them.
var autoscalerNames = []string{"cluster-autoscaler", "karpenter"}

// addAutoscaler adds whether a node autoscaler runs. AKS and GKE run theirs outside the cluster, where nothing here
// tells of it: unless one is seen, the fact of their clusters is not known.
func addAutoscaler(f cloud.Facts, nodes answer[nodeSurvey], workloads answer[byNamespace]) {
	const fact = "autoscaler"
	switch why := cmp.Or(nodes.missing(), workloads.missing()); {
	case why != "":
		f.Miss(why, fact)
	case nodes.value.scaled || workloads.value.hasDeployment(autoscalerNames):
		f[fact] = true
	case nodes.value.hidesAutoscaler:
		f.Miss("the cloud runs node autoscalers of its clusters outside of them", fact)
	default:
		f[fact] = false
	}
}

// hasDeployment reports whether the name of a running Deployment contains one of some texts.
func (b byNamespace) hasDeployment(texts []string) bool {
	isNamed := func(o object) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(o.Name, text) })
	}
	for _, h := range b {
		if slices.ContainsFunc(h.deployments, func(o object) bool { return o.replicas() > 0 && isNamed(o) }) {
			return true
		}
	}
	return false
}

// servesMetrics reports whether the cluster serves the use of pods, which a metrics server measures.
func (c *cluster) servesMetrics(ctx context.Context) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, version := range []string{"v1beta1", "v1"} {
		served, err := c.servesGroup(ctx, apiResource{Group: "metrics.k8s.io", Version: version})
		if err != nil || served {
			return served, err
		}
	}
	return false, nil
}
