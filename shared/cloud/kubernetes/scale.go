package kubernetes

import (
	"context"

	"lamplighter.dev/shared/cloud"
)

// mostReplicas is the largest accepted number of replicas: a cluster runs up to 150,000 pods, and a typing error would
// cost that many nodes.
const mostReplicas = 10_000

func scaleWorkload(r apiResource) func(context.Context, *cluster, ref, cloud.Capacity) error {
	return func(ctx context.Context, c *cluster, at ref, want cloud.Capacity) error {
		if want.Min != nil && want.Max != nil && *want.Min > *want.Max {
			return cloud.ErrInvalid("the minimum %d is above the maximum %d", *want.Min, *want.Max)
		}
		p := c.newPass([]ref{at})
		w, err := p.viewWorkload(ctx, r, at)
		if err != nil {
			return err
		}
		b, err := p.boundsOf(ctx, w.object)
		if err == nil {
			err = w.scaleObstacle(want, b)
		}
		if err != nil || want.Desired == nil {
			return err
		}
		err = c.changeGuarded(ctx, r, w.object, func(o object) (change, error) {
			if *want.Desired < o.replicas() && o.losesClaims() {
				return nil, cloud.ErrUnsupported("%s", o.stopObstacle())
			}
			if *want.Desired == o.replicas() {
				return nil, nil //nolint:nilnil // it is done
			}
			return change{"spec": change{"replicas": *want.Desired}}, nil
		}, "scale")
		return p.explainRefusal(ctx, w.object, err)
	}
}

// scaleObstacle returns why a workload cannot get the size.
func (w view) scaleObstacle(want cloud.Capacity, b bounds) error {
	switch n := want.Desired; {
	case ofCluster(w.Namespace) != "":
		return cloud.ErrUnsupported("%s", ofCluster(w.Namespace))
	case want.Min != nil || want.Max != nil:
		return cloud.ErrUnsupported("a workload has no minimum and no maximum of its own: they are those of its " +
			"HorizontalPodAutoscaler")
	case n == nil:
		return nil
	case *n < 0 || *n > mostReplicas:
		return cloud.ErrInvalid("desired %d is not between 0 and %d", *n, mostReplicas)
	case w.isDrivenByKEDA():
		return cloud.ErrUnsupported("KEDA sets its replicas (ScaledObject %s): change that", w.scalers[0].Name)
	case b.name != "" && *n > 0 && (*n < b.least || *n > b.max):
		return cloud.ErrInvalid("desired %d is not between %d and %d, where the HorizontalPodAutoscaler %s keeps it",
			*n, b.least, b.max, b.name)
	}
	return nil
}
