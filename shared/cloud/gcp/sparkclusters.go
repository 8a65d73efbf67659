package gcp

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"google.golang.org/api/dataproc/v1"

	"lamplighter.dev/shared/cloud"
)

// sparkClusters are Dataproc clusters; the uid is the full name. Their disks stay, and are billed.
var sparkClusters = kind{
	Kind:    catalogueKind(cloud.GCPDataproc),
	service: "dataproc.googleapis.com", collection: "clusters",
	needs: needs{
		discover:  []string{"dataproc.clusters.list", "dataproc.clusters.get"},
		startStop: []string{"dataproc.clusters.start", "dataproc.clusters.stop"},
	},
	list: listSparkClusters,
	read: readOneByOne(readSparkCluster),
	act:  actOneByOne(actSparkCluster),
}

var sparkStates = map[string]native{
	"CREATING": {cloud.Pending}, "SCHEDULED": {cloud.Pending}, "RUNNING": {cloud.Running}, "UPDATING": {cloud.Pending},
	"REPAIRING": {cloud.Pending},
	"STOPPING":  {cloud.Stopping}, "STOPPED": {cloud.Stopped}, "STARTING": {cloud.Starting},
	"DELETING": {cloud.Terminated},
}

func sparkUID(c *dataproc.Cluster, region string) string {
	return "//dataproc.googleapis.com/projects/" + c.ProjectId + "/regions/" + region + "/clusters/" + c.ClusterName
}

func listSparkClusters(ctx context.Context, p place, page string) (cloud.ResourcePage, error) {
	out, err := call("dataproc.clusters.list",
		p.dataproc.Projects.Regions.Clusters.List(p.project, p.region).PageSize(100).PageToken(page).Context(ctx).Do)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	got := cloud.ResourcePage{Next: out.NextPageToken}
	for _, c := range out.Clusters {
		got.Resources = append(got.Resources, sparkResource(p, c))
	}
	return got, nil
}

func sparkResource(p place, c *dataproc.Cluster) cloud.Resource {
	r := cloud.Resource{
		UID: sparkUID(c, p.region), Name: c.ClusterName, Status: sparkStatus(c), Tags: tagsOf(c.Labels),
		Unschedulable: tiedSpark(c),
		Capacity:      map[string]int64{},
	}
	if len(c.StatusHistory) > 0 && c.StatusHistory[0] != nil {
		r.CreatedAt = timeOf(c.StatusHistory[0].StateStartTime)
	}
	if c.Config != nil && c.Config.WorkerConfig != nil {
		r.InstanceType, r.Capacity["workers"] = lastPart(c.Config.WorkerConfig.MachineTypeUri),
			c.Config.WorkerConfig.NumInstances
	}
	r.Facts = sparkFacts(c)
	return r
}

// sparkFacts are the facts by which waste is judged, in the names of the rules. What a cluster does not tell is left out.
func sparkFacts(c *dataproc.Cluster) cloud.Facts {
	f := cloud.Facts{}
	if c.Status != nil {
		f["state"] = c.Status.State
	}
	if c.Config == nil {
		return f
	}
	f["idle_delete"] = c.Config.LifecycleConfig != nil && c.Config.LifecycleConfig.IdleDeleteTtl != ""
	f["autoscaled"] = c.Config.AutoscalingConfig != nil && c.Config.AutoscalingConfig.PolicyUri != ""
	f["primary_workers"], f["secondary_spot"] = machines(c.Config.WorkerConfig),
		machines(c.Config.SecondaryWorkerConfig)
	return f
}

func machines(g *dataproc.InstanceGroupConfig) float64 {
	if g == nil {
		return 0
	}
	return float64(g.NumInstances)
}

func sparkStatus(c *dataproc.Cluster) cloud.Status {
	if c.Status == nil {
		return cloud.Unknown
	}
	return sparkStates[c.Status.State].orUnknown()
}

// tiedSpark returns why a cluster cannot be stopped ("Start and stop clusters", Dataproc documentation).
func tiedSpark(c *dataproc.Cluster) string {
	if c.Config == nil {
		return "has no machines of its own: it runs in a Kubernetes cluster"
	}
	if w := c.Config.SecondaryWorkerConfig; w != nil && w.NumInstances > 0 {
		return fmt.Sprintf("has %d secondary workers, with which Dataproc does not stop it", w.NumInstances)
	}
	for _, g := range []*dataproc.InstanceGroupConfig{c.Config.MasterConfig, c.Config.WorkerConfig} {
		if g != nil && g.DiskConfig != nil && g.DiskConfig.NumLocalSsds > 0 {
			return fmt.Sprintf("has %d local SSDs a machine, whose data a stop would discard",
				g.DiskConfig.NumLocalSsds)
		}
	}
	return ""
}

func getSparkCluster(ctx context.Context, p place, r ref) (*dataproc.Cluster, error) {
	return call("dataproc.clusters.get",
		p.dataproc.Projects.Regions.Clusters.Get(p.project, p.region, r.name).Context(ctx).Do)
}

func readSparkCluster(ctx context.Context, p place, r ref) (cloud.State, error) {
	c, err := getSparkCluster(ctx, p, r)
	if err != nil {
		return cloud.State{}, err
	}
	s := cloud.State{UID: r.uid, Status: sparkStatus(c), Unschedulable: tiedSpark(c)}
	if c.Status != nil {
		s.Native, s.Reason = c.Status.State, c.Status.Detail
	}
	return s, nil
}

func actSparkCluster(ctx context.Context, p place, v cloud.Verb, t target) error {
	c, err := getSparkCluster(ctx, p, t.ref)
	if err != nil {
		return err
	}
	if reason := tiedSpark(c); reason != "" {
		return errUnsupported("%s", reason)
	}
	api, id := p.dataproc.Projects.Regions.Clusters, uuid.NewString() // a repeated attempt bears the same id
	if v == cloud.Start {
		_, err := call("dataproc.clusters.start",
			api.Start(p.project, p.region, t.name, &dataproc.StartClusterRequest{RequestId: id}).Context(ctx).Do)
		return err
	}
	_, err = call("dataproc.clusters.stop",
		api.Stop(p.project, p.region, t.name, &dataproc.StopClusterRequest{RequestId: id}).Context(ctx).Do)
	return err
}
