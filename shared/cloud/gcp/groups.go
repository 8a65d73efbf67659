package gcp

import (
	"context"
	"fmt"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// groups are managed instance groups, of one zone or of a region; the uid is the full name. Google refuses to resize a
// group while its autoscaler is on (412 conditionNotMet). So a stop switches the autoscaler off and sets the size to
// 0, and a start sets the size and gives the autoscaler its mode again. The mode is also written into the autoscaler's
// description: a crash between the two calls leaves a group whose status is pending, and the next act completes it.
var groups = kind{
	Kind:    catalogueKind(cloud.GCPMIG),
	service: "compute.googleapis.com", collection: "instanceGroupManagers",
	needs: needs{
		discover: []string{
			"compute.instanceGroupManagers.list", "compute.instanceGroupManagers.get",
			"compute.autoscalers.list", "compute.autoscalers.get",
		},
		startStop: []string{
			"compute.instanceGroupManagers.update", "compute.autoscalers.update",
			"compute.zoneOperations.get", "compute.regionOperations.get",
		},
		scale: []string{
			"compute.instanceGroupManagers.update", "compute.autoscalers.update", "compute.autoscalers.create",
			"compute.autoscalers.delete",
			"compute.instanceGroupManagers.use", // Google checks it of who makes an autoscaler
		},
	},
	list:  listGroups,
	read:  readGroups,
	act:   actOneByOne(actGroup),
	scale: scaleGroup,

	readAutoscaling: readGroupAutoscaling,
	setAutoscaling:  setGroupAutoscaling,
}

// group is a managed instance group with its autoscaler; scaler is nil when it has none.
type group struct {
	ref
	*googlerest.InstanceGroupManager
	scaler *googlerest.Autoscaler
}

// A listing reads the groups of zones first, then the groups of the region.
const (
	zonalPage    = "z:"
	regionalPage = "r:"
)

func listGroups(ctx context.Context, p place, page string) (cloud.ResourcePage, error) {
	token, regional := strings.CutPrefix(page, regionalPage)
	list := listZonalGroups
	if regional {
		list = listRegionalGroups
	} else {
		token = strings.TrimPrefix(page, zonalPage)
	}
	found, next, err := list(ctx, p, token)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	if err := addScalers(ctx, p, found, regional); err != nil {
		return cloud.ResourcePage{}, err
	}
	var got cloud.ResourcePage
	for _, g := range found {
		got.Resources = append(got.Resources, groupResource(g))
	}
	switch {
	case next != "" && regional:
		got.Next = regionalPage + next
	case next != "":
		got.Next = zonalPage + next
	case !regional:
		got.Next = regionalPage
	}
	return got, nil
}

func listZonalGroups(ctx context.Context, p place, page string) ([]group, string, error) {
	out, err := call[googlerest.InstanceGroupManagerAggregatedList](ctx, p.session,
		googlerest.NewGet("compute.instanceGroupManagers.list",
			googlerest.Compute+"projects/{project}/aggregated/instanceGroupManagers", p.project).
			Set("filter", inZones(p.region)).
			SetInt("maxResults", 500).Set("pageToken", page).Set(partialSuccess, "true"))
	if err == nil {
		err = p.missingZonesError(out.Unreachables)
	}
	if err != nil {
		return nil, "", err
	}
	var found []group
	for _, scope := range sortedKeys(out.Items) {
		for _, m := range out.Items[scope].InstanceGroupManagers {
			if m.Zone != "" && regionOf(lastPart(m.Zone)) == p.region {
				found = append(found, newGroup(p, m))
			}
		}
	}
	return found, out.NextPageToken, nil
}

func listRegionalGroups(ctx context.Context, p place, page string) ([]group, string, error) {
	out, err := call[googlerest.RegionInstanceGroupManagerList](ctx, p.session,
		googlerest.NewGet("compute.instanceGroupManagers.list",
			googlerest.Compute+"projects/{project}/regions/{region}/instanceGroupManagers", p.project, p.region).
			SetInt("maxResults", 500).Set("pageToken", page))
	if err != nil {
		return nil, "", err
	}
	found := make([]group, len(out.Items))
	for i, m := range out.Items {
		found[i] = newGroup(p, m)
	}
	return found, out.NextPageToken, nil
}

func newGroup(p place, m *googlerest.InstanceGroupManager) group {
	where := "regions/" + p.region
	if m.Zone != "" {
		where = "zones/" + lastPart(m.Zone)
	}
	r, _ := parseName("//compute.googleapis.com/projects/" + p.project + "/" + where + "/instanceGroupManagers/" +
		m.Name)
	return group{ref: r, InstanceGroupManager: m}
}

// addScalers puts their autoscalers into the groups, when one has any.
func addScalers(ctx context.Context, p place, found []group, regional bool) error {
	var scaled bool
	for _, g := range found {
		scaled = scaled || scalerName(g.InstanceGroupManager) != ""
	}
	if !scaled {
		return nil
	}
	scalers, err := listScalers(ctx, p, regional)
	if err != nil {
		return err
	}
	for i, g := range found {
		found[i].scaler = scalers[g.uid]
	}
	return nil
}

// listScalers returns the autoscalers of the zones of the region, or of the region itself, by the uids of their groups.
func listScalers(ctx context.Context, p place, regional bool) (map[string]*googlerest.Autoscaler, error) {
	byGroup := map[string]*googlerest.Autoscaler{}
	for page, n := "", 0; n < maxPages; n++ {
		items, next, err := scalersPage(ctx, p, regional, page)
		if err != nil {
			return nil, err
		}
		for _, a := range items {
			byGroup[fullName("compute.googleapis.com", a.Target)] = a
		}
		if page = next; page == "" {
			return byGroup, nil
		}
	}
	return nil, cloud.ErrUnsupported("region %s has more than %d pages of autoscalers", p.region, maxPages)
}

func scalersPage(ctx context.Context, p place, regional bool, page string) ([]*googlerest.Autoscaler, string, error) {
	if regional {
		out, err := call[googlerest.RegionAutoscalerList](ctx, p.session, googlerest.NewGet("compute.autoscalers.list",
			googlerest.Compute+"projects/{project}/regions/{region}/autoscalers", p.project, p.region).
			SetInt("maxResults", 500).Set("pageToken", page))
		if err != nil {
			return nil, "", err
		}
		return out.Items, out.NextPageToken, nil
	}
	out, err := call[googlerest.AutoscalerAggregatedList](ctx, p.session, googlerest.NewGet("compute.autoscalers.list",
		googlerest.Compute+"projects/{project}/aggregated/autoscalers", p.project).
		Set("filter", inZones(p.region)).
		SetInt("maxResults", 500).Set("pageToken", page).Set(partialSuccess, "true"))
	if err == nil {
		err = p.missingZonesError(out.Unreachables)
	}
	if err != nil {
		return nil, "", err
	}
	var items []*googlerest.Autoscaler
	for _, scope := range sortedKeys(out.Items) {
		items = append(items, out.Items[scope].Autoscalers...)
	}
	return items, out.NextPageToken, nil
}

func scalerName(m *googlerest.InstanceGroupManager) string {
	if m.Status == nil || m.Status.Autoscaler == "" {
		return ""
	}
	return lastPart(m.Status.Autoscaler)
}

func groupResource(g group) cloud.Resource {
	r := cloud.Resource{
		UID: g.uid, Name: g.Name, Status: g.status(), InstanceType: lastPart(g.InstanceTemplate),
		Tags:     map[string]string{},
		Capacity: map[string]int64{"desired": g.TargetSize}, Unschedulable: tiedGroup(g.InstanceGroupManager),
		CreatedAt: timeOf(g.CreationTimestamp),
		Facts:     groupFacts(g),
	}
	if g.Zone != "" {
		r.Zone = lastPart(g.Zone)
	}
	if p := g.policy(); p != nil {
		r.Capacity["min"], r.Capacity["max"] = p.MinNumReplicas, p.MaxNumReplicas
	}
	return r
}

// policy returns how the group is scaled; nil when nothing scales it.
func (g group) policy() *googlerest.AutoscalingPolicy {
	if g.scaler == nil {
		return nil
	}
	return g.scaler.AutoscalingPolicy
}

// status returns the status of the group. A half stopped group is pending, so that either act still has something to
// do.
func (g group) status() cloud.Status {
	stable := g.Status != nil && g.Status.IsStable
	switch {
	case g.TargetSize == 0 && stable && remainingInstances(g.CurrentActions) == 0:
		return cloud.Stopped
	case g.TargetSize == 0:
		return cloud.Stopping
	case g.isHalfDone():
		return cloud.Pending
	case stable:
		return cloud.Running
	default:
		return cloud.Starting
	}
}

// remainingInstances counts the instances that a group still has.
func remainingInstances(a *googlerest.InstanceGroupManagerActionsSummary) int64 {
	if a == nil {
		return 0
	}
	return a.None + a.Creating + a.CreatingWithoutRetries + a.Recreating + a.Deleting + a.Abandoning + a.Restarting +
		a.Refreshing + a.Verifying +
		a.Starting + a.Stopping + a.Suspending + a.Resuming
}

// isHalfDone reports whether our stop switched the autoscaler off, and the group has a size.
func (g group) isHalfDone() bool {
	_, marked := g.stopMark()
	return marked && g.TargetSize > 0 && g.mode() == modeOff
}

func (g group) mode() string {
	if p := g.policy(); p != nil {
		return p.Mode
	}
	return ""
}

// reason returns why a group has not reached its size. Google reports nothing for a zone without free machines: the
// group keeps trying.
func (g group) reason() string {
	switch g.status() {
	case cloud.Starting:
		running := int64(0)
		if g.CurrentActions != nil {
			running = g.CurrentActions.None
		}
		return strings.TrimSuffix(fmt.Sprintf("%d of %d instances are up: %s", running, g.TargetSize, g.scalerSays()),
			": ")
	case cloud.Stopping:
		return fmt.Sprintf("%d instances are left", remainingInstances(g.CurrentActions))
	case cloud.Pending:
		m, _ := g.stopMark()
		return fmt.Sprintf("its autoscaler is off since a stop, and was %s before: a start gives that back", m.Mode)
	default:
		return g.scalerSays()
	}
}

// scalerSays returns the status messages of the autoscaler.
func (g group) scalerSays() string {
	if g.scaler == nil {
		return ""
	}
	var said []string
	for _, d := range g.scaler.StatusDetails {
		said = append(said, d.Message)
	}
	return strings.Join(said, "; ")
}

// tiedGroup returns why a group may not be stopped by itself. GKE derives the names of its groups from the names of
// their nodes.
func tiedGroup(m *googlerest.InstanceGroupManager) string {
	if strings.HasPrefix(m.Name, "gke-") && m.Name == m.BaseInstanceName+"-grp" {
		return "belongs to a GKE node pool: act on the node pool"
	}
	if m.Status != nil && m.Status.Stateful.HasStatefulConfig {
		return "is stateful: a size of 0 deletes its instances, and the disks and addresses that it keeps for them"
	}
	return ""
}

func readGroups(ctx context.Context, p place, refs []ref) ([]cloud.State, error) {
	var states []cloud.State
	for _, r := range refs {
		g, err := getGroup(ctx, p, r)
		if isGone(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		states = append(states, groupState(g))
	}
	return states, nil
}

func groupState(g group) cloud.State {
	s := cloud.State{
		UID: g.uid, Status: g.status(), Reason: g.reason(), Unschedulable: tiedGroup(g.InstanceGroupManager),
		Native: fmt.Sprintf("target size %d", g.TargetSize),
	}
	if mode := g.mode(); mode != "" {
		s.Native += ", autoscaler " + mode
	}
	if g.TargetSize > 0 {
		s.Snapshot = cloud.EncodeSnapshot(g.stopSnapshot())
	}
	_, s.Marked = g.stopMark()
	return s
}
