package gcp

import (
	"context"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// alloyInstances are instances of AlloyDB; the uid is the full name. The activation policy decides whether an instance
// runs, as in Cloud SQL; storage stays billed. Read pools must be stopped before their primary, which the tiers of a
// group define.
var alloyInstances = kind{
	Kind:    catalogueKind(cloud.GCPAlloyDB),
	service: "alloydb.googleapis.com", collection: "instances",
	needs: needs{
		discover:  []string{"alloydb.instances.list", "alloydb.instances.get"},
		startStop: []string{"alloydb.instances.update"},
	},
	list: listAlloyInstances,
	read: readOneByOne(readAlloyInstance),
	act:  actOneByOne(actAlloyInstance),
}

var alloyStates = map[string]nativeStatus{
	"READY": {cloud.Running}, "STOPPED": {cloud.Stopped}, "STOPPING": {cloud.Stopping}, "CREATING": {cloud.Pending},
	"MAINTENANCE":   {cloud.Pending},
	"BOOTSTRAPPING": {cloud.Pending}, "PROMOTING": {cloud.Pending}, "SWITCHOVER": {cloud.Pending},
	"DELETING": {cloud.Terminated},
}

// alloyStatus returns the status of an instance. While the instance changes, its activation policy says whether it
// starts or stops.
func alloyStatus(i *googlerest.AlloyInstance) cloud.Status {
	status := alloyStates[i.State].orUnknown()
	switch {
	case status == cloud.Running && i.ActivationPolicy == never:
		return cloud.Stopping
	case status == cloud.Stopped && i.ActivationPolicy == always:
		return cloud.Starting
	case status == cloud.Running && i.Reconciling:
		return cloud.Pending
	}
	return status
}

// tiedAlloy returns why an instance cannot be stopped.
func tiedAlloy(i *googlerest.AlloyInstance) string {
	if i.InstanceType == "SECONDARY" {
		return "is the primary of a secondary cluster, which AlloyDB does not stop"
	}
	return ""
}

// listAlloyInstances reads a page of the instances of all clusters of the region.
func listAlloyInstances(ctx context.Context, p place, page string) (cloud.ResourcePage, error) {
	out, err := call[googlerest.AlloyInstanceList](ctx, p.session, googlerest.NewGet("alloydb.instances.list",
		googlerest.AlloyDB+"{+parent}/instances", "projects/"+p.project+"/locations/"+p.region+"/clusters/-").
		SetInt("pageSize", 100).Set("pageToken", page))
	if isForeignRegion(err, p.region) {
		return cloud.ResourcePage{}, nil
	}
	if err == nil {
		err = p.missingZonesError(out.Unreachable)
	}
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	got := cloud.ResourcePage{Next: out.NextPageToken}
	for _, i := range out.Instances {
		got.Resources = append(got.Resources, alloyResource(i))
	}
	return got, nil
}

func alloyResource(i *googlerest.AlloyInstance) cloud.Resource {
	uid := "//alloydb.googleapis.com/" + i.Name
	r := cloud.Resource{
		UID: uid, Name: lastPart(i.Name), Zone: i.GceZone, Status: alloyStatus(i), Tags: tagsOf(i.Labels),
		Unschedulable: tiedAlloy(i),
		Capacity:      map[string]int64{}, CreatedAt: timeOf(i.CreateTime),
	}
	if a, ok := parseName(uid); ok {
		r.ParentUID = "//alloydb.googleapis.com/projects/" + a.project + "/locations/" + a.location + "/clusters/" +
			a.cluster
	}
	if m := i.MachineConfig; m != nil {
		r.InstanceType, r.Capacity["vCPU"] = m.MachineType, m.CPUCount
	}
	r.Facts = alloyFacts(i)
	return r
}

// alloyFacts returns the facts that the waste rules read, under the rules' names.
func alloyFacts(i *googlerest.AlloyInstance) cloud.Facts {
	f := cloud.Facts{
		"activation": i.ActivationPolicy, "instance_type": i.InstanceType,
		"nodes": float64(i.ReadPoolConfig.NodeCount), "ha": i.AvailabilityType == "REGIONAL",
	}
	if i.MachineConfig != nil {
		f["vcpu"] = float64(i.MachineConfig.CPUCount)
	}
	return f
}

func getAlloyInstance(ctx context.Context, p place, r ref) (*googlerest.AlloyInstance, error) {
	return call[googlerest.AlloyInstance](ctx, p.session,
		googlerest.NewGet("alloydb.instances.get", googlerest.AlloyDB+"{+name}", r.path()))
}

func readAlloyInstance(ctx context.Context, p place, r ref) (cloud.State, error) {
	i, err := getAlloyInstance(ctx, p, r)
	if err != nil {
		return cloud.State{}, err
	}
	return cloud.State{
		UID: r.uid, Status: alloyStatus(i), Unschedulable: tiedAlloy(i),
		Native: i.State + ", activation policy " + i.ActivationPolicy,
	}, nil
}

// actAlloyInstance sets the activation policy of the version that was read. An instance that was changed meanwhile is
// refused.
func actAlloyInstance(ctx context.Context, p place, v cloud.Verb, t target) error {
	i, err := getAlloyInstance(ctx, p, t.ref)
	if err != nil {
		return err
	}
	if reason := tiedAlloy(i); reason != "" {
		return cloud.ErrUnsupported("%s", reason)
	}
	policy := never
	if v == cloud.Start {
		policy = always
	}
	if i.ActivationPolicy == policy {
		return nil
	}
	_, err = call[googlerest.LongRunningOperation](ctx, p.session, googlerest.NewPatch("alloydb.instances.update",
		googlerest.AlloyDB+"{+name}", t.path()).Set("updateMask", "activationPolicy").
		Body(googlerest.AlloyChange{ActivationPolicy: policy, Etag: i.Etag}))
	return err
}
