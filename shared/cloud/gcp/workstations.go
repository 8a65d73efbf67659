package gcp

import (
	"context"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// workstationKind are Cloud Workstations; the uid is the full name. Their home directories stay, and are billed.
// Machines that the configuration keeps ready for all workstations are not part of them.
var workstationKind = kind{
	Kind:    catalogueKind(cloud.GCPWorkstation),
	service: "workstations.googleapis.com", collection: "workstations",
	needs: needs{
		discover: []string{
			"workstations.workstations.list", "workstations.workstations.get", "workstations.workstationClusters.list",
			"workstations.workstationConfigs.list",
		},
		startStop: []string{"workstations.workstations.start", "workstations.workstations.stop"},
	},
	list: listWorkstations,
	read: readOneByOne(readWorkstation),
	act:  actOneByOne(actWorkstation),
}

var workstationStates = map[string]nativeStatus{
	"STATE_STARTING": {cloud.Starting}, "STATE_RUNNING": {cloud.Running}, "STATE_STOPPING": {cloud.Stopping},
	"STATE_STOPPED":    {cloud.Stopped},
	"STATE_SUSPENDING": {cloud.Stopping}, "STATE_SUSPENDED": {cloud.Stopped},
}

// listWorkstations reads the clusters of the region, their configurations and the workstations of these. A region has
// only a few.
func listWorkstations(ctx context.Context, p place, _ string) (cloud.ResourcePage, error) {
	clusters, err := readPages(func(page string) ([]*googlerest.WorkstationCluster, string, error) {
		out, err := call[googlerest.WorkstationPage](ctx, p.session,
			googlerest.NewGet("workstations.workstationClusters.list",
				googlerest.Workstations+"{+parent}/workstationClusters", "projects/"+p.project+"/locations/"+p.region).
				Set("pageToken", page))
		if err != nil {
			return nil, "", err
		}
		return out.WorkstationClusters, out.NextPageToken, p.missingZonesError(out.Unreachable)
	})
	if isForeignRegion(err, p.region) {
		return cloud.ResourcePage{}, nil
	}
	var got cloud.ResourcePage
	for _, c := range clusters {
		found, failed := listStationsOf(ctx, p, c.Name)
		if err == nil {
			err = failed
		}
		got.Resources = append(got.Resources, found...)
	}
	return got, err
}

// listStationsOf reads the workstations of a cluster.
func listStationsOf(ctx context.Context, p place, cluster string) ([]cloud.Resource, error) {
	configs, err := readPages(func(page string) ([]*googlerest.WorkstationConfig, string, error) {
		out, err := call[googlerest.WorkstationPage](ctx, p.session,
			googlerest.NewGet("workstations.workstationConfigs.list",
				googlerest.Workstations+"{+parent}/workstationConfigs", cluster).Set("pageToken", page))
		if err != nil {
			return nil, "", err
		}
		return out.WorkstationConfigs, out.NextPageToken, p.missingZonesError(out.Unreachable)
	})
	if err != nil {
		return nil, err
	}
	var found []cloud.Resource
	for _, config := range configs {
		all, err := readPages(func(page string) ([]*googlerest.Workstation, string, error) {
			out, err := call[googlerest.WorkstationPage](ctx, p.session,
				googlerest.NewGet("workstations.workstations.list",
					googlerest.Workstations+"{+parent}/workstations", config.Name).Set("pageToken", page))
			if err != nil {
				return nil, "", err
			}
			return out.Workstations, out.NextPageToken, p.missingZonesError(out.Unreachable)
		})
		if err != nil {
			return nil, err
		}
		for _, w := range all {
			found = append(found, workstationResource(config, w))
		}
	}
	return found, nil
}

func workstationResource(config *googlerest.WorkstationConfig, w *googlerest.Workstation) cloud.Resource {
	r := cloud.Resource{
		UID: "//workstations.googleapis.com/" + w.Name, Name: lastPart(w.Name),
		Status: workstationStates[w.State].orUnknown(),
		Tags:   tagsOf(w.Labels), ParentUID: "//workstations.googleapis.com/" + config.Name,
		CreatedAt: timeOf(w.CreateTime),
	}
	r.InstanceType = config.Host.GceInstance.MachineType
	return r
}

func readWorkstation(ctx context.Context, p place, r ref) (cloud.State, error) {
	w, err := call[googlerest.Workstation](ctx, p.session,
		googlerest.NewGet("workstations.workstations.get", googlerest.Workstations+"{+name}", r.path()))
	if err != nil {
		return cloud.State{}, err
	}
	return cloud.State{UID: r.uid, Status: workstationStates[w.State].orUnknown(), Native: w.State}, nil
}

func actWorkstation(ctx context.Context, p place, v cloud.Verb, t target) error {
	method := methodOf(v)
	_, err := call[googlerest.LongRunningOperation](ctx, p.session,
		googlerest.NewPost("workstations.workstations."+method,
			googlerest.Workstations+"{+name}:"+method, t.path()).Body(struct{}{}))
	return err
}

// methodOf returns the method of the newer APIs that starts or stops a resource.
func methodOf(v cloud.Verb) string {
	if v == cloud.Start {
		return "start"
	}
	return "stop"
}

// readPages reads a listing to its end, within bounds.
func readPages[T any](read func(page string) ([]T, string, error)) ([]T, error) {
	var all []T
	for page, n := "", 0; n < maxPages; n++ {
		some, next, err := read(page)
		if err != nil {
			return nil, err
		}
		if all = append(all, some...); next == "" {
			return all, nil
		}
		page = next
	}
	return nil, cloud.ErrUnsupported("a listing has more than %d pages", maxPages)
}
