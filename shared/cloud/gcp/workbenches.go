package gcp

import (
	"context"
	"strconv"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// workbenches are instances of Vertex AI Workbench; the uid is the full name, whose place is a zone.
var workbenches = kind{
	Kind:    catalogueKind(cloud.GCPNotebook),
	service: "notebooks.googleapis.com", collection: "instances",
	needs: needs{
		discover:  []string{"notebooks.instances.list", "notebooks.instances.get", "compute.regions.get"},
		startStop: []string{"notebooks.instances.start", "notebooks.instances.stop"},
	},
	list: listWorkbenches,
	read: readOneByOne(readWorkbench),
	act:  actOneByOne(actWorkbench),
}

// workbenchStates: an orphan has lost its machine.
var workbenchStates = map[string]nativeStatus{
	"STARTING": {cloud.Starting}, "PROVISIONING": {cloud.Starting}, "ACTIVE": {cloud.Running},
	"STOPPING": {cloud.Stopping}, "STOPPED": {cloud.Stopped},
	"SUSPENDING": {cloud.Stopping}, "SUSPENDED": {cloud.Stopped}, "UPGRADING": {cloud.Pending},
	"INITIALIZING": {cloud.Pending},
	"DELETED":      {cloud.Terminated},
}

// listWorkbenches asks each zone of the region.
func listWorkbenches(ctx context.Context, p place, _ string) (cloud.ResourcePage, error) {
	region, err := call[googlerest.Region](ctx, p.session, googlerest.NewGet("compute.regions.get",
		googlerest.Compute+"projects/{project}/regions/{region}", p.project, p.region))
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	zones := region.Zones
	found, errs := make([][]cloud.Resource, len(zones)), make([]error, len(zones))
	cloud.InParallel(len(zones), parallelCalls, func(i int) {
		found[i], errs[i] = listZoneWorkbenches(ctx, p, lastPart(zones[i]))
	})
	var got cloud.ResourcePage
	for i, err := range errs {
		if err != nil {
			return cloud.ResourcePage{}, err
		}
		got.Resources = append(got.Resources, found[i]...)
	}
	return got, nil
}

func listZoneWorkbenches(ctx context.Context, p place, zone string) ([]cloud.Resource, error) {
	all, err := readPages(func(page string) ([]*googlerest.Workbench, string, error) {
		out, err := call[googlerest.WorkbenchList](ctx, p.session, googlerest.NewGet("notebooks.instances.list",
			googlerest.Notebooks+"{+parent}/instances", "projects/"+p.project+"/locations/"+zone).Set("pageToken",
			page))
		if err != nil {
			return nil, "", err
		}
		return out.Instances, out.NextPageToken, p.missingZonesError(out.Unreachable)
	})
	if isForeignRegion(err, zone) {
		return nil, nil
	}
	var found []cloud.Resource
	for _, n := range all {
		r := cloud.Resource{
			UID: "//notebooks.googleapis.com/" + n.Name, Name: lastPart(n.Name), Zone: zone,
			Status: workbenchStates[n.State].orUnknown(),
			Tags:   tagsOf(n.Labels), CreatedAt: timeOf(n.CreateTime),
		}
		if n.GceSetup != nil {
			r.InstanceType = n.GceSetup.MachineType
		}
		r.Facts = workbenchFacts(n)
		if r.Status != cloud.Terminated {
			found = append(found, r)
		}
	}
	return found, err
}

// workbenchFacts returns the facts that the waste rules read, under the rules' names.
func workbenchFacts(n *googlerest.Workbench) cloud.Facts {
	f := cloud.Facts{"state": n.State}
	if n.GceSetup != nil {
		timeout, _ := strconv.Atoi(n.GceSetup.Metadata["idle-timeout-seconds"])
		f["idle_shutdown"], f["public_ip"] = timeout > 0, !n.GceSetup.DisablePublicIP
	}
	return f
}

func readWorkbench(ctx context.Context, p place, r ref) (cloud.State, error) {
	n, err := call[googlerest.Workbench](ctx, p.session,
		googlerest.NewGet("notebooks.instances.get", googlerest.Notebooks+"{+name}", r.path()))
	if err != nil {
		return cloud.State{}, err
	}
	s := cloud.State{UID: r.uid, Status: workbenchStates[n.State].orUnknown(), Native: n.State}
	if n.State == "ORPHANED" {
		s.Reason = "an upgrade took its machine away: migrate it, or make it again"
	}
	return s, nil
}

func actWorkbench(ctx context.Context, p place, v cloud.Verb, t target) error {
	method := methodOf(v)
	_, err := call[googlerest.LongRunningOperation](ctx, p.session, googlerest.NewPost("notebooks.instances."+method,
		googlerest.Notebooks+"{+name}:"+method, t.path()).Body(struct{}{}))
	return err
}
