package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"

	"lamplighter.dev/shared/cloud"
)

// cronJobs are stopped by suspending them: running jobs end by themselves, and none begins. A CronJob that was
// suspended before the stop stays suspended at the start.
var cronJobs = kind{
	Kind:     catalogueKind(cloud.KubernetesCronJob),
	resource: cronJobsOf,
	needs: needs{
		discover:  []rule{{cronJobsOf, "", "list"}, {cronJobsOf, "", "get"}},
		startStop: []rule{{cronJobsOf, "", "patch"}},
	},
	list: listCronJobs,
	read: readCronJob,
	act: actOnEach(func(ctx context.Context, p *pass, v cloud.Verb, g goal) (string, error) {
		j, err := p.objectAt(ctx, cronJobsOf, g.ref)
		switch {
		case err != nil:
			return "", err
		case v == cloud.Stop:
			return "", p.suspendCronJob(ctx, j, "")
		default:
			return p.resumeCronJob(ctx, j, g.snapshot)
		}
	}),
}

// cronJobMemory is the state that a stop overwrites: the job was not suspended.
type cronJobMemory struct {
	Suspend bool `json:"suspend"`
}

func readCronJob(ctx context.Context, p *pass, at ref) (cloud.State, error) {
	o, err := p.objectAt(ctx, cronJobsOf, at)
	if err != nil {
		return cloud.State{}, err
	}
	s := cloud.State{
		Unschedulable: ofCluster(at.ns), Native: fmt.Sprintf("suspend %t", o.suspended()),
		Marked: o.hasStopMarks(),
	}
	if s.Status, s.Reason = p.cronJobStatus(o); !o.suspended() {
		s.Snapshot = encodeSnapshot(cronJobMemory{})
	}
	return s, nil
}

func (c *cluster) cronJobStatus(o object) (cloud.Status, string) {
	switch held := o.holdReason(c.clock.Now()); {
	case o.DeletionTimestamp != nil:
		return cloud.Terminated, "it is being deleted"
	case !o.suspended():
		return cloud.Running, o.driftReason()
	case held != "":
		return cloud.Stopping, held
	case len(o.Status.Active) > 0:
		return cloud.Stopped, fmt.Sprintf("%d jobs that it began still run", len(o.Status.Active))
	default:
		return cloud.Stopped, ""
	}
}

func listCronJobs(ctx context.Context, c *cluster, page string) (cloud.ResourcePage, error) {
	id, err := c.clusterUID(ctx)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	found, next, err := c.listPage(ctx, cronJobsOf, "", listOptions{Continue: page})
	p := cloud.ResourcePage{Next: next}
	for _, o := range found {
		r := inventoryResource(o.Head)
		r.UID, r.ParentUID = workloadUID(id, cronJobsOf.Resource, o.ref()), namespaceUID(id, o.Namespace)
		r.Status, _ = c.cronJobStatus(o)
		r.Unschedulable = ofCluster(o.Namespace)
		r.Facts = o.cronJobFacts()
		p.Resources = append(p.Resources, r)
	}
	return p, err
}

// suspendCronJob suspends a CronJob. with is stoppedWith, or "".
func (c *cluster) suspendCronJob(ctx context.Context, j object, with string) error {
	if why := ofCluster(j.Namespace); why != "" {
		return cloud.ErrUnsupported("%s", why)
	}
	return c.changeGuarded(ctx, cronJobsOf, j, func(o object) (change, error) {
		if o.suspended() {
			return nil, nil //nolint:nilnil // it is done
		}
		return change{
				"metadata": change{"annotations": stopMarks(c.clock.Now(), with)},
				"spec":     change{"suspend": true},
			},
			nil
	})
}

// resumeCronJob ends the suspension of a CronJob, and removes the annotations of the stop. It returns the reason if it
// leaves the job suspended.
func (c *cluster) resumeCronJob(ctx context.Context, j object, snapshot json.RawMessage) (left string, err error) {
	if why := ofCluster(j.Namespace); why != "" {
		return "", cloud.ErrUnsupported("%s", why)
	}
	_, known, err := decodeSnapshot[cronJobMemory](snapshot)
	if err != nil {
		return "", err
	}
	err = c.changeGuarded(ctx, cronJobsOf, j, func(o object) (change, error) {
		left = ""
		switch {
		case !o.suspended():
		case cloud.IsOff(snapshot):
			left = offBefore
		case o.turnedOff(known):
			left = offSince
		case !known && !o.hasStopMarks():
			return nil, cloud.ErrUnsupported("%s is suspended, and no stop of ours is on record: set its field "+
				"spec.suspend to false", o.Name)
		default:
			return change{"metadata": change{"annotations": removedStopMarks()}, "spec": change{"suspend": false}}, nil
		}
		return o.removeStopMarks(), nil
	})
	return left, err
}
