package kubernetes

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lamplighter.dev/shared/cloud"
)

// cronJobs are stopped by suspending them: what runs ends by itself, and nothing begins. There is nothing to remember, for one
// that was suspended before is off already.
var cronJobs = kind{
	Kind:     catalogueKind(cloud.KubernetesCronJob),
	resource: cronJobsOf,
	needs: needs{
		discover:  []rule{{cronJobsOf, "", "list"}, {cronJobsOf, "", "get"}},
		startStop: []rule{{cronJobsOf, "", "patch"}},
	},
	list: listCronJobs,
	read: func(ctx context.Context, c *cluster, at ref) (cloud.State, error) {
		o, err := c.get(ctx, cronJobsOf, at)
		if err != nil {
			return cloud.State{}, err
		}
		s := cloud.State{Unschedulable: ofCluster(at.ns), Native: fmt.Sprintf("suspend %t", o.suspended())}
		s.Status, s.Reason = c.cronJobStatus(o)
		return s, nil
	},
	act: func(ctx context.Context, c *cluster, v cloud.Verb, g goal) error {
		return c.suspend(ctx, named(g.ref), v == cloud.Stop, "")
	},
}

func (c *cluster) cronJobStatus(o object) (cloud.Status, string) {
	switch held := o.held(c.clock.Now()); {
	case o.DeletionTimestamp != nil:
		return cloud.Terminated, "it is being deleted"
	case !o.suspended():
		return cloud.Running, o.drift()
	case held != "":
		return cloud.Stopping, held
	case len(o.Status.Active) > 0:
		return cloud.Stopped, fmt.Sprintf("%d jobs that it began still run", len(o.Status.Active))
	default:
		return cloud.Stopped, ""
	}
}

func listCronJobs(ctx context.Context, c *cluster, page string) (cloud.ResourcePage, error) {
	id, err := c.identity(ctx)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	found, next, err := c.page(ctx, cronJobsOf, "", metav1.ListOptions{Continue: page})
	p := cloud.ResourcePage{Next: next}
	for _, o := range found {
		r := o.resource()
		r.UID, r.ParentUID = workloadUID(id, cronJobsOf.Resource, o.ref()), namespaceUID(id, o.Namespace)
		r.Status, _ = c.cronJobStatus(o)
		r.Unschedulable = ofCluster(o.Namespace)
		r.Facts = o.cronJobFacts()
		p.Resources = append(p.Resources, r)
	}
	return p, err
}

// suspend suspends a CronJob, or lets it go on. with is stoppedWith, or "".
func (c *cluster) suspend(ctx context.Context, j object, on bool, with string) error {
	if why := ofCluster(j.Namespace); why != "" {
		return errUnsupported("%s", why)
	}
	return c.guarded(ctx, cronJobsOf, j, func(o object) (change, error) {
		if o.suspended() == on {
			return nil, nil //nolint:nilnil // it is done
		}
		a := unmark()
		if on {
			a = marks(c.clock.Now(), with)
		}
		return change{"metadata": change{"annotations": a}, "spec": change{"suspend": on}}, nil
	})
}
