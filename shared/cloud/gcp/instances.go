package gcp

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// instances are Compute Engine instances; the uid is the full name. A stop does not set discardLocalSsd: Google then
// refuses to stop an instance with local SSDs, whose data would be lost. A suspended instance counts as stopped; a
// start resumes it. An ephemeral address changes.
var instances = kind{
	Kind:    catalogueKind(cloud.GCPCompute),
	service: "compute.googleapis.com", collection: "instances",
	needs: needs{
		discover: []string{
			"compute.instances.list", "compute.regions.list", "compute.resourcePolicies.get",
			"compute.zoneOperations.list",
		},
		startStop: []string{"compute.instances.start", "compute.instances.stop", "compute.instances.resume"},
	},
	list: listInstances,
	read: readInstances,
	act:  actInstances,
}

// listInstances reads a page of the instances of all zones of the region. It ignores zones of other regions that do
// not answer.
func listInstances(ctx context.Context, p place, page string) (cloud.ResourcePage, error) {
	out, err := call[googlerest.InstanceAggregatedList](ctx, p.session, googlerest.NewGet("compute.instances.list",
		googlerest.Compute+"projects/{project}/aggregated/instances", p.project).Set("filter", inZones(p.region)).
		SetInt("maxResults", 500).Set("pageToken", page).Set(partialSuccess, "true"))
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	if err := p.missingZonesError(out.Unreachables); err != nil {
		return cloud.ResourcePage{}, err
	}
	got := cloud.ResourcePage{Next: out.NextPageToken}
	for _, scope := range sortedKeys(out.Items) {
		for _, i := range out.Items[scope].Instances {
			if r := instanceResource(p, i); regionOf(r.Zone) == p.region && r.Status != cloud.Terminated {
				got.Resources = append(got.Resources, r)
			}
		}
	}
	return got, nil
}

// missingZonesError returns the error of a listing that some zones of the region did not answer: the resources of
// those zones are unknown, not gone.
func (p place) missingZonesError(unreachable []string) error {
	for _, scope := range unreachable {
		if regionOf(lastPart(scope)) == p.region {
			return &cloud.Error{
				Class: cloud.Transient, Code: "Unreachable",
				Message: scope + " did not answer: the list is not complete",
			}
		}
	}
	return nil
}

func instanceResource(p place, i *googlerest.Instance) cloud.Resource {
	return cloud.Resource{
		UID: instanceUID(p, i), Name: i.Name, Zone: lastPart(i.Zone), Status: instanceStatuses[i.Status].orUnknown(),
		InstanceType: lastPart(i.MachineType), Tags: tagsOf(i.Labels), Unschedulable: tiedInstance(i),
		CreatedAt: timeOf(i.CreationTimestamp),
		Facts:     instanceFacts(i),
	}
}

func instanceUID(p place, i *googlerest.Instance) string {
	return "//compute.googleapis.com/projects/" + p.project + "/zones/" + lastPart(i.Zone) + "/instances/" + i.Name
}

// readInstances lists the instances of each zone in one call, and then reads the explanations of their states.
func readInstances(ctx context.Context, p place, refs []ref) ([]cloud.State, error) {
	found, err := findInstances(ctx, p, refs)
	if err != nil {
		return nil, err
	}
	notes := newNotes(p)
	var states []cloud.State
	for _, r := range refs {
		i, ok := found[r.uid]
		if !ok {
			continue
		}
		states = append(states, cloud.State{
			UID: r.uid, Status: instanceStatuses[i.Status].orUnknown(), Native: i.Status,
			Reason: notes.explainState(ctx, r, i), Unschedulable: tiedInstance(i),
			NoCapacity: notes.lacksRoom(ctx, r, i),
		})
	}
	return states, nil
}

// findInstances returns the instances by their uids; those that do not exist are missing.
func findInstances(ctx context.Context, p place, refs []ref) (map[string]*googlerest.Instance, error) {
	found := map[string]*googlerest.Instance{}
	byZone := map[string][]ref{}
	for _, r := range refs {
		if r.scope == "zones" {
			byZone[r.location] = append(byZone[r.location], r)
		}
	}
	for _, zone := range sortedKeys(byZone) {
		out, err := call[googlerest.InstanceList](ctx, p.session, googlerest.NewGet("compute.instances.list",
			googlerest.Compute+"projects/{project}/zones/{zone}/instances", p.project, zone).
			Set("filter", namesFilter(byZone[zone])).SetInt("maxResults", 500))
		if isGone(err) { // there is no such zone
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, i := range out.Items {
			found[instanceUID(p, i)] = i
		}
	}
	return found, nil
}

// actInstances reads the state of all instances with one call a zone, and then acts on each.
func actInstances(ctx context.Context, p place, v cloud.Verb, targets []target) []error {
	errs := make([]error, len(targets))
	refs := make([]ref, len(targets))
	for i, t := range targets {
		refs[i] = t.ref
	}
	found, err := findInstances(ctx, p, refs)
	cloud.InParallel(len(targets), parallelCalls, func(n int) {
		i, ok := found[refs[n].uid]
		switch {
		case err != nil:
			errs[n] = err
		case !ok:
			errs[n] = cloud.ErrNotFound("there is no instance %s in %s", refs[n].name, refs[n].location)
		default:
			errs[n] = actInstance(ctx, p, v, refs[n], i)
		}
	})
	return errs
}

func actInstance(ctx context.Context, p place, v cloud.Verb, r ref, i *googlerest.Instance) error {
	if reason := tiedInstance(i); reason != "" {
		return cloud.ErrUnsupported("%s", reason)
	}
	if instanceStatuses[i.Status].status == v.WantedStatus() {
		return nil
	}
	method := "start"
	switch {
	case v == cloud.Stop:
		method = "stop"
	case i.Status == "SUSPENDED":
		method = "resume"
	}
	// A repeated attempt bears the same id, so that Google does it once.
	return beginOperation(ctx, p, googlerest.NewPost("compute.instances."+method,
		googlerest.Compute+"projects/{project}/zones/{zone}/instances/{instance}/"+method, p.project, r.location,
		r.name).
		Set("requestId", uuid.NewString()))
}

// nativeStatus is the status for one of Google's states; the zero value is an unknown state.
type nativeStatus struct{ status cloud.Status }

func (n nativeStatus) orUnknown() cloud.Status {
	if n.status == "" {
		return cloud.Unknown
	}
	return n.status
}

var instanceStatuses = map[string]nativeStatus{
	"PENDING":        {cloud.Pending},
	"PROVISIONING":   {cloud.Starting},
	"STAGING":        {cloud.Starting},
	"RUNNING":        {cloud.Running},
	"REPAIRING":      {cloud.Pending},
	"PENDING_STOP":   {cloud.Stopping},
	"STOPPING":       {cloud.Stopping},
	"SUSPENDING":     {cloud.Stopping},
	"STOPPED":        {cloud.Stopped},
	"SUSPENDED":      {cloud.Stopped},
	"TERMINATED":     {cloud.Stopped}, // Google's word for off
	"DEPROVISIONING": {cloud.Terminated},
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
