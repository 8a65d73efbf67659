package gcp

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// runServices are Cloud Run services; the uid is the full name. A stop sets the number of instances that run without a
// request to 0: the count of a manually scaled service, or the minimum of any other, which still answers requests. It
// does not change the minimum of a revision, because that makes a new revision, perhaps of another image.
var runServices = kind{
	Kind:    catalogueKind(cloud.GCPCloudRun),
	service: "run.googleapis.com", collection: "services",
	needs: needs{
		discover:  []string{"run.services.list", "run.services.get"},
		startStop: []string{"run.services.update"},
		scale:     []string{"run.services.update"},
	},
	list:  listRunServices,
	read:  readRunServices,
	act:   actOneByOne(actRunService),
	scale: scaleRunService,
}

const (
	manual = "MANUAL"
	// stoppedAt is the annotation that distinguishes a service that was stopped here from one that never had a
	// minimum.
	stoppedAt = "lamplighter.dev/stopped-min-instances"
)

// runMemory is the state that a stop overwrites and a start restores: the instance count of a service that is scaled
// by hand, or the minimum.
type runMemory struct {
	Manual *int64 `json:"manualInstanceCount,omitempty"`
	Min    *int64 `json:"minInstanceCount,omitempty"`
}

// runService is a service with its name taken apart.
type runService struct {
	ref
	*googlerest.RunService
}

func (s runService) isManual() bool { return s.Scaling.ScalingMode == manual }

// stoppedMin returns the minimum that the service had when it was stopped here.
func (s runService) stoppedMin() (int64, bool) {
	n, err := strconv.ParseInt(s.Annotations[stoppedAt], 10, 64)
	return n, err == nil && n > 0 && s.Scaling.MinInstanceCount == 0
}

// alwaysRunning returns the number of instances that run without a request.
func (s runService) alwaysRunning() int64 {
	if s.isManual() {
		return s.Scaling.ManualInstanceCount
	}
	return s.Scaling.MinInstanceCount
}

func (s runService) isOff() bool {
	_, stopped := s.stoppedMin()
	return s.alwaysRunning() == 0 && (s.isManual() || stopped)
}

func listRunServices(ctx context.Context, p place, page string) (cloud.ResourcePage, error) {
	out, err := call[googlerest.RunServiceList](ctx, p.session, googlerest.NewGet("run.services.list",
		googlerest.Run+"{+parent}/services", "projects/"+p.project+"/locations/"+p.region).
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
	for _, s := range out.Services {
		if r, ok := parseName("//run.googleapis.com/" + s.Name); ok {
			got.Resources = append(got.Resources, runResource(runService{r, s}))
		}
	}
	return got, nil
}

// isForeignRegion reports whether the error means that Cloud Run does not exist in the region: it denies the location
// itself, without naming a permission.
func isForeignRegion(err error, region string) bool {
	return err != nil && cloud.ClassOf(err) == cloud.Denied &&
		strings.Contains(err.Error(), "Permission denied on 'locations/"+region+"'")
}

func runResource(s runService) cloud.Resource {
	r := cloud.Resource{
		UID: s.uid, Name: s.name, Status: s.status(), Tags: tagsOf(s.Labels), Capacity: map[string]int64{},
		Unschedulable: s.stopObstacle(), CreatedAt: timeOf(s.CreateTime), Facts: runFacts(s),
	}
	z := s.Scaling
	if s.isManual() {
		r.Capacity["desired"] = z.ManualInstanceCount
		return r
	}
	r.Capacity["min"] = z.MinInstanceCount
	if z.MaxInstanceCount > 0 {
		r.Capacity["max"] = z.MaxInstanceCount
	}
	return r
}

// status returns the status of a service. If its newest revision failed, it is unknown, even while an older revision
// answers.
func (s runService) status() cloud.Status {
	failed := s.TerminalCondition != nil && s.TerminalCondition.State == "CONDITION_FAILED"
	switch {
	case s.DeleteTime != "":
		return cloud.Terminated
	case s.isOff() && s.Reconciling:
		return cloud.Stopping
	case s.isOff():
		return cloud.Stopped
	case s.Reconciling:
		return cloud.Starting
	case failed:
		return cloud.Unknown
	default:
		return cloud.Running
	}
}

// stopObstacle returns why a service cannot be stopped.
func (s runService) stopObstacle() string {
	switch {
	case s.Labels["goog-managed-by"] == "cloudfunctions":
		return "belongs to a Cloud Function, which sets its scaling: act on the function"
	case s.alwaysRunning() > 0 || s.isOff():
		return ""
	case s.revisionMin() > 0:
		return fmt.Sprintf("its minimum of %d is set on the revision, and to change that would deploy a new one: set "+
			"it on the service (gcloud run services update %s --min=%d)", s.revisionMin(), s.name, s.revisionMin())
	default:
		return "has no minimum of instances and is not scaled by hand: without requests nothing runs, so there is " +
			"nothing to stop"
	}
}

func (s runService) revisionMin() int64 {
	if s.Template == nil {
		return 0
	}
	return s.Template.Scaling.MinInstanceCount
}

func readRunServices(ctx context.Context, p place, refs []ref) ([]cloud.State, error) {
	var states []cloud.State
	for _, r := range refs {
		s, err := getRunService(ctx, p, r)
		if isGone(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		states = append(states, runState(s))
	}
	return states, nil
}

func getRunService(ctx context.Context, p place, r ref) (runService, error) {
	s, err := call[googlerest.RunService](ctx, p.session,
		googlerest.NewGet("run.services.get", googlerest.Run+"{+name}", r.runLink()))
	return runService{r, s}, err
}

// runLink returns the service of a name as calls name it.
func (r ref) runLink() string {
	return "projects/" + r.project + "/locations/" + r.location + "/services/" + r.name
}

func runState(s runService) cloud.State {
	z := s.Scaling
	out := cloud.State{
		UID: s.uid, Status: s.status(), Unschedulable: s.stopObstacle(),
		Native: fmt.Sprintf("scaling %s, manual %d, minimum %d", z.ScalingMode, z.ManualInstanceCount,
			z.MinInstanceCount),
	}
	if c := s.TerminalCondition; c != nil && c.State != "CONDITION_SUCCEEDED" {
		out.Reason = strings.TrimPrefix(c.Reason+": "+c.Message, ": ")
	}
	if n := s.alwaysRunning(); n > 0 && s.isManual() {
		out.Snapshot = cloud.EncodeSnapshot(runMemory{Manual: &n})
	} else if n > 0 {
		out.Snapshot = cloud.EncodeSnapshot(runMemory{Min: &n})
	}
	_, marked := s.Annotations[stoppedAt]
	out.Marked = marked && !s.isManual()
	return out
}
