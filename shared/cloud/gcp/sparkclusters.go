package gcp

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
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

var sparkStates = map[string]nativeStatus{
	"CREATING": {cloud.Pending}, "SCHEDULED": {cloud.Pending}, "RUNNING": {cloud.Running}, "UPDATING": {cloud.Pending},
	"REPAIRING": {cloud.Pending},
	"STOPPING":  {cloud.Stopping}, "STOPPED": {cloud.Stopped}, "STARTING": {cloud.Starting},
	"DELETING": {cloud.Terminated},
}

func sparkUID(c *googlerest.SparkCluster, region string) string {
	return "//dataproc.googleapis.com/projects/" + c.ProjectID + "/regions/" + region + "/clusters/" + c.ClusterName
}

func listSparkClusters(ctx context.Context, p place, page string) (cloud.ResourcePage, error) {
	out, err := call[googlerest.SparkClusterList](ctx, p.session, googlerest.NewGet("dataproc.clusters.list",
		googlerest.Dataproc+"projects/{projectId}/regions/{region}/clusters", p.project, p.region).
		SetInt("pageSize", 100).Set("pageToken", page))
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	got := cloud.ResourcePage{Next: out.NextPageToken}
	for _, c := range out.Clusters {
		got.Resources = append(got.Resources, sparkResource(p, c))
	}
	return got, nil
}

func sparkResource(p place, c *googlerest.SparkCluster) cloud.Resource {
	r := cloud.Resource{
		UID: sparkUID(c, p.region), Name: c.ClusterName, Status: sparkStatus(c), Tags: tagsOf(c.Labels),
		Unschedulable: tiedSpark(c),
		Capacity:      map[string]int64{},
	}
	if len(c.StatusHistory) > 0 {
		r.CreatedAt = timeOf(c.StatusHistory[0].StateStartTime)
	}
	if c.Config != nil && c.Config.WorkerConfig != nil {
		r.InstanceType, r.Capacity["workers"] = lastPart(c.Config.WorkerConfig.MachineTypeURI),
			c.Config.WorkerConfig.NumInstances
	}
	r.Facts = sparkFacts(c)
	return r
}

// sparkFacts returns the facts that the waste rules read, under the rules' names. Fields that the cluster does not
// have are left out.
func sparkFacts(c *googlerest.SparkCluster) cloud.Facts {
	f := cloud.Facts{}
	if c.Status.State != "" {
		f["state"] = c.Status.State
	}
	if c.Config == nil {
		return f
	}
	f["idle_delete"] = c.Config.LifecycleConfig.IdleDeleteTTL != ""
	f["autoscaled"] = c.Config.AutoscalingConfig.PolicyURI != ""
	f["primary_workers"], f["secondary_spot"] = 0.0, float64(c.Config.SecondaryWorkerConfig.NumInstances)
	if w := c.Config.WorkerConfig; w != nil {
		f["primary_workers"] = float64(w.NumInstances)
	}
	return f
}

func sparkStatus(c *googlerest.SparkCluster) cloud.Status {
	return sparkStates[c.Status.State].orUnknown()
}

// tiedSpark returns why a cluster cannot be stopped ("Start and stop clusters", Dataproc documentation).
func tiedSpark(c *googlerest.SparkCluster) string {
	if c.Config == nil {
		return "has no machines of its own: it runs in a Kubernetes cluster"
	}
	if w := c.Config.SecondaryWorkerConfig; w.NumInstances > 0 {
		return fmt.Sprintf("has %d secondary workers: Dataproc does not stop such a cluster", w.NumInstances)
	}
	for _, g := range []*googlerest.SparkMachines{&c.Config.MasterConfig, c.Config.WorkerConfig} {
		if g != nil && g.DiskConfig.NumLocalSsds > 0 {
			return fmt.Sprintf("has %d local SSDs a machine, whose data a stop would discard",
				g.DiskConfig.NumLocalSsds)
		}
	}
	return ""
}

func getSparkCluster(ctx context.Context, p place, r ref) (*googlerest.SparkCluster, error) {
	return call[googlerest.SparkCluster](ctx, p.session, googlerest.NewGet("dataproc.clusters.get",
		googlerest.Dataproc+"projects/{projectId}/regions/{region}/clusters/{clusterName}", p.project, p.region,
		r.name))
}

func readSparkCluster(ctx context.Context, p place, r ref) (cloud.State, error) {
	c, err := getSparkCluster(ctx, p, r)
	if err != nil {
		return cloud.State{}, err
	}
	return cloud.State{
		UID: r.uid, Status: sparkStatus(c), Unschedulable: tiedSpark(c), Native: c.Status.State,
		Reason: c.Status.Detail,
	}, nil
}

func actSparkCluster(ctx context.Context, p place, v cloud.Verb, t target) error {
	c, err := getSparkCluster(ctx, p, t.ref)
	if err != nil {
		return err
	}
	if reason := tiedSpark(c); reason != "" {
		return cloud.ErrUnsupported("%s", reason)
	}
	method := methodOf(v)
	_, err = call[googlerest.LongRunningOperation](ctx, p.session, googlerest.NewPost("dataproc.clusters."+method,
		googlerest.Dataproc+"projects/{projectId}/regions/{region}/clusters/{clusterName}:"+method,
		p.project, p.region, t.name).
		Body(googlerest.IdentifiedRequest{RequestID: uuid.NewString()})) // a repeated attempt bears the same id
	return err
}
