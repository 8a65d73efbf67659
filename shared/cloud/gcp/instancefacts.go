package gcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// tiedInstance returns why an instance may not be stopped by itself.
func tiedInstance(i *googlerest.Instance) string {
	if g := groupOf(i); g != "" {
		if pool := i.Labels["goog-k8s-node-pool-name"]; pool != "" {
			return "node of GKE node pool " + pool + ": act on the node pool"
		}
		return "member of managed instance group " + g + ", which would make it again: act on the group"
	}
	if c := i.Labels["goog-dataproc-cluster-name"]; c != "" {
		return "node of Dataproc cluster " + c + ": stop the cluster"
	}
	if n := localSSDs(i); n > 0 {
		return fmt.Sprintf("has %d local SSD, whose data a stop would discard", n)
	}
	return ""
}

// groupOf returns the managed instance group that made the instance; "" when none did.
func groupOf(i *googlerest.Instance) string {
	for _, item := range i.Metadata.Items {
		if item.Key == "created-by" && item.Value != nil && strings.Contains(*item.Value, "/instanceGroupManagers/") {
			return lastPart(*item.Value)
		}
	}
	return ""
}

func localSSDs(i *googlerest.Instance) (n int) {
	for _, d := range i.Disks {
		if d.Type == "SCRATCH" {
			n++
		}
	}
	return n
}

// stateNotes explains the states of instances. It caches the policies and operations that it reads for one batch.
type stateNotes struct {
	place
	policies   map[string]string // by link: the text about the policy, "" when it starts and stops nothing
	operations map[string]map[string]*googlerest.Operation
}

func newNotes(p place) *stateNotes {
	return &stateNotes{p, map[string]string{}, map[string]map[string]*googlerest.Operation{}}
}

// explainState returns Google's status message, the error of the last start, and the instance's own schedules, each if
// there is one. An error of explain itself becomes part of the text.
func (n *stateNotes) explainState(ctx context.Context, r ref, i *googlerest.Instance) string {
	var said []string
	if i.StatusMessage != "" {
		said = append(said, i.StatusMessage)
	}
	if instanceStatuses[i.Status].status == cloud.Stopped {
		if failed := n.failedStart(ctx, r, i); failed != nil {
			said = append(said, "its last start failed: "+failed.Error())
		}
	}
	for _, link := range i.ResourcePolicies {
		if does := n.policyText(ctx, link); does != "" {
			said = append(said, does)
		}
	}
	return strings.Join(said, "; ")
}

// policyText says whether the resource policy starts and stops instances: others place them, or make snapshots.
func (n *stateNotes) policyText(ctx context.Context, link string) string {
	if said, ok := n.policies[link]; ok {
		return said
	}
	name := lastPart(link)
	got, err := call[googlerest.ResourcePolicy](ctx, n.session, googlerest.NewGet("compute.resourcePolicies.get",
		googlerest.Compute+"projects/{project}/regions/{region}/resourcePolicies/{resourcePolicy}",
		n.project, n.region, name))
	switch {
	case err != nil:
		n.policies[link] = fmt.Sprintf("its resource policy %s cannot be read: %v", name, err)
	case got.InstanceSchedulePolicy != nil:
		n.policies[link] = fmt.Sprintf(
			"its resource policy %s starts and stops it too: detach one of the two schedules", name)
	default:
		n.policies[link] = ""
	}
	return n.policies[link]
}

// failedStart returns why the instance fell back to off: the start was accepted, and its operation failed later, for
// want of machines in the zone for one.
func (n *stateNotes) failedStart(ctx context.Context, r ref, i *googlerest.Instance) error {
	byName, ok := n.operations[r.location]
	if !ok {
		byName = n.newestStarts(ctx, r.location)
		n.operations[r.location] = byName
	}
	op := byName[r.name]
	if op == nil || len(op.Error.Errors) == 0 || timeOf(op.InsertTime).Before(timeOf(i.LastStopTimestamp)) {
		return nil
	}
	return operationError("compute.instances.start", op)
}

// lacksRoom reports whether the instance is off because its zone had no machines when it was last started.
func (n *stateNotes) lacksRoom(ctx context.Context, r ref, i *googlerest.Instance) bool {
	if instanceStatuses[i.Status].status != cloud.Stopped {
		return false
	}
	failed := n.failedStart(ctx, r, i)
	return failed != nil && cloud.ClassOf(failed) == cloud.NoCapacity
}

// newestStarts returns the newest start of each instance of the zone; none when they cannot be read.
func (n *stateNotes) newestStarts(ctx context.Context, zone string) map[string]*googlerest.Operation {
	byName := map[string]*googlerest.Operation{}
	out, err := call[googlerest.OperationList](ctx, n.session, googlerest.NewGet("compute.zoneOperations.list",
		googlerest.Compute+"projects/{project}/zones/{zone}/operations", n.project, zone).
		Set("filter", `operationType eq "start|resume"`).Set("orderBy", "creationTimestamp desc").
		SetInt("maxResults", 200))
	if err != nil {
		return byName
	}
	for _, op := range out.Items {
		if name := lastPart(op.TargetLink); byName[name] == nil {
			byName[name] = op
		}
	}
	return byName
}

// operationError is the error that an operation ended with; nil when it has none, or has not ended.
func operationError(op string, o *googlerest.Operation) error {
	if len(o.Error.Errors) == 0 {
		return nil
	}
	first := o.Error.Errors[0]
	a := answer{status: int(o.HTTPErrorStatusCode), code: first.Code, message: first.Message}
	return &cloud.Error{Class: a.errorClass(), Op: op, Code: a.code, Message: a.message}
}

// timeOf reads a time of Google's; the zero time when there is none.
func timeOf(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
