package gcp

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"google.golang.org/api/compute/v1"

	"lamplighter.dev/shared/cloud"
)

// instances are Compute Engine instances; the uid is the full name. A stop never says what becomes of local SSDs: Google refuses it
// then, which is right, for their data would be gone. One that was suspended is off too, and is resumed. An ephemeral address
// changes.
var instances = kind{
	Kind:    catalogueKind(cloud.GCPCompute),
	service: "compute.googleapis.com", collection: "instances",
	needs: needs{
		discover: []string{"compute.instances.list", "compute.regions.list", "compute.resourcePolicies.get",
			"compute.zoneOperations.list"},
		startStop: []string{"compute.instances.start", "compute.instances.stop", "compute.instances.resume"},
	},
	list: listInstances,
	read: readInstances,
	act:  actInstances,
}

// listInstances reads a page of the instances of all zones of the region. Zones of other regions that do not answer are none of
// its business.
func listInstances(ctx context.Context, p place, page string) (cloud.ResourcePage, error) {
	out, err := call("compute.instances.list", p.compute.Instances.AggregatedList(p.project).Filter(inZones(p.region)).
		MaxResults(500).PageToken(page).Context(ctx).Do, partly)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	if err := p.missing(out.Unreachables); err != nil {
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

// missing is the error of a listing that some zones of the region did not answer: what they have is not gone.
func (p place) missing(unreachable []string) error {
	for _, scope := range unreachable {
		if regionOf(lastPart(scope)) == p.region {
			return &cloud.Error{Class: cloud.Transient, Code: "Unreachable",
				Message: scope + " did not answer: the list is not complete"}
		}
	}
	return nil
}

func instanceResource(p place, i *compute.Instance) cloud.Resource {
	return cloud.Resource{
		UID: instanceUID(p, i), Name: i.Name, Zone: lastPart(i.Zone), Status: instanceStatuses[i.Status].orUnknown(),
		InstanceType: lastPart(i.MachineType), Tags: tagsOf(i.Labels), Unschedulable: tiedInstance(i),
		CreatedAt: timeOf(i.CreationTimestamp),
		Facts:     instanceFacts(i),
	}
}

func instanceUID(p place, i *compute.Instance) string {
	return "//compute.googleapis.com/projects/" + p.project + "/zones/" + lastPart(i.Zone) + "/instances/" + i.Name
}

// readInstances asks each zone once for all of its instances, and then for what explains them.
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
			Reason: notes.explain(ctx, r, i), Unschedulable: tiedInstance(i), NoCapacity: notes.lacksRoom(ctx, r, i),
		})
	}
	return states, nil
}

// findInstances returns the instances by their uids; those that do not exist are missing.
func findInstances(ctx context.Context, p place, refs []ref) (map[string]*compute.Instance, error) {
	found := map[string]*compute.Instance{}
	byZone := map[string][]ref{}
	for _, r := range refs {
		if r.scope == "zones" {
			byZone[r.location] = append(byZone[r.location], r)
		}
	}
	for _, zone := range sortedKeys(byZone) {
		out, err := call("compute.instances.list", p.compute.Instances.List(p.project, zone).
			Filter(namesFilter(byZone[zone])).MaxResults(500).Context(ctx).Do)
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

// actInstances looks at all of them at once, for what may not be stopped and what has to be resumed, and then acts on each.
func actInstances(ctx context.Context, p place, v cloud.Verb, targets []target) []error {
	errs := make([]error, len(targets))
	refs := make([]ref, len(targets))
	for i, t := range targets {
		refs[i] = t.ref
	}
	found, err := findInstances(ctx, p, refs)
	cloud.InParallel(len(targets), width, func(n int) {
		i, ok := found[refs[n].uid]
		switch {
		case err != nil:
			errs[n] = err
		case !ok:
			errs[n] = notFound("there is no instance %s in %s", refs[n].name, refs[n].location)
		default:
			errs[n] = actInstance(ctx, p, v, refs[n], i)
		}
	})
	return errs
}

func actInstance(ctx context.Context, p place, v cloud.Verb, r ref, i *compute.Instance) error {
	if reason := tiedInstance(i); reason != "" {
		return errUnsupported("%s", reason)
	}
	if instanceStatuses[i.Status].status == v.WantedStatus() {
		return nil
	}
	// A repeated attempt bears the same id, so that Google does it once.
	requestID := uuid.NewString()
	var do operating
	op := "compute.instances.stop"
	switch {
	case v == cloud.Stop:
		do = p.compute.Instances.Stop(p.project, r.location, r.name).RequestId(requestID).Context(ctx).Do
	case i.Status == "SUSPENDED":
		op, do = "compute.instances.resume",
			p.compute.Instances.Resume(p.project, r.location, r.name).RequestId(requestID).Context(ctx).Do
	default:
		op, do = "compute.instances.start",
			p.compute.Instances.Start(p.project, r.location, r.name).RequestId(requestID).Context(ctx).Do
	}
	return begin(op, do)
}

// native is a status of Google's in the words of this service; the zero value is one that we do not know.
type native struct{ status cloud.Status }

func (n native) orUnknown() cloud.Status {
	if n.status == "" {
		return cloud.Unknown
	}
	return n.status
}

var instanceStatuses = map[string]native{
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
