package gcp

import (
	"context"
	"slices"

	"lamplighter.dev/shared/cloud"
)

// parallelCalls is the number of concurrent batches of one call of ours. The limiter paces them.
const parallelCalls = 8

// conn is a connection to one account.
type conn struct {
	*session
	cloud.OpenChange
}

var (
	_ cloud.Conn       = (*conn)(nil)
	_ cloud.Autoscaler = (*conn)(nil)
)

// kindIn finds the kind, and the region to ask it in.
func (c *conn) kindIn(kindType, region string) (kind, place, error) {
	i := slices.IndexFunc(registry, func(k kind) bool { return k.Type == kindType })
	switch {
	case i < 0:
		return kind{}, place{}, cloud.ErrInvalid("Google Cloud has no resource type %q here", kindType)
	case !regionName.MatchString(region):
		return kind{}, place{}, cloud.ErrInvalid("%q is not the name of a Google Cloud region", region)
	}
	return registry[i], place{c.session, region}, nil
}

// List reads one page of a kind. If the API is not switched on in the project, the list is empty. If it is not
// switched on in the project of the credentials, the error is class Denied, because the resources are then unknown.
func (c *conn) List(ctx context.Context, kindType, region, page string) (cloud.ResourcePage, error) {
	if kindType == cloud.GCPOthers {
		return c.listOthers(ctx, region, page)
	}
	k, p, err := c.kindIn(kindType, region)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	got, err := k.list(ctx, p, page)
	if err != nil && cloud.ClassOf(err) == cloud.Denied && isDisabled(err, c.projectNumber(ctx)) {
		return cloud.ResourcePage{}, nil
	}
	if err != nil {
		return cloud.ResourcePage{}, classifyError("", err)
	}
	for i := range got.Resources {
		got.Resources[i].Type, got.Resources[i].Region = kindType, region
	}
	return got, nil
}

// refOf names a resource of the kind here; false for one of another kind, project or region: acting by the name in it
// would reach a namesake here.
func (c *conn) refOf(k kind, p place, uid string) (ref, bool) {
	r, ok := parseName(uid)
	here := r.location == "" || r.region() == p.region
	return r, ok && here && r.service == k.service && r.kind == k.collection && r.project == c.project
}

// Read returns the live states. Uids of another region or project do not exist here.
func (c *conn) Read(ctx context.Context, kindType, region string, uids []string) ([]cloud.State, error) {
	k, p, err := c.kindIn(kindType, region)
	if err != nil {
		return nil, err
	}
	var refs []ref
	for _, u := range uids {
		if r, ok := c.refOf(k, p, u); ok {
			refs = append(refs, r)
		}
	}
	batches := slices.Collect(slices.Chunk(refs, k.ReadBatch))
	states, errs := make([][]cloud.State, len(batches)), make([]error, len(batches))
	cloud.InParallel(len(batches), parallelCalls, func(i int) { states[i], errs[i] = k.read(ctx, p, batches[i]) })
	for _, err := range errs {
		if err != nil {
			return nil, classifyError("", err)
		}
	}
	return slices.Concat(states...), nil
}

// Act starts or stops.
func (c *conn) Act(ctx context.Context, v cloud.Verb, kindType, region string, targets []cloud.Target) []cloud.Result {
	out := make([]cloud.Result, len(targets))
	k, p, err := c.kindIn(kindType, region)
	var here []int
	var all []target
	for i, t := range targets {
		out[i] = cloud.Result{UID: t.UID, Err: err}
		if err != nil {
			continue
		}
		r, ok := c.refOf(k, p, t.UID)
		if !ok {
			out[i].Err = cloud.ErrNotFound("%.300q is not a %s in region %s of project %s", t.UID, k.Name, region,
				c.project)
			continue
		}
		here, all = append(here, i), append(all, target{r, t.Snapshot})
	}
	if len(all) == 0 {
		return out
	}
	batches := slices.Collect(slices.Chunk(here, k.ActBatch))
	work := slices.Collect(slices.Chunk(all, k.ActBatch))
	cloud.InParallel(len(batches), parallelCalls, func(b int) {
		errs := k.act(ctx, p, v, work[b])
		for i, at := range batches[b] {
			out[at].Err = classifyError("", errs[i])
		}
	})
	return out
}

// Scale sets a size. A minimum, a desired size and a maximum that contradict each other are class Invalid.
func (c *conn) Scale(ctx context.Context, kindType, region, uid string, want cloud.Capacity) error {
	k, p, r, err := c.findResource(kindType, region, uid)
	switch {
	case err != nil:
		return err
	case k.scale == nil:
		return cloud.ErrUnsupported("%s has no size to set", k.Name)
	}
	return classifyError("", k.scale(ctx, p, r, want))
}

// findResource returns the kind, the region and the parsed name of a resource.
func (c *conn) findResource(kindType, region, uid string) (kind, place, ref, error) {
	k, p, err := c.kindIn(kindType, region)
	if err != nil {
		return k, p, ref{}, err
	}
	r, ok := c.refOf(k, p, uid)
	if !ok {
		err = cloud.ErrNotFound("%.300q is not a %s in region %s of project %s", uid, k.Name, region, c.project)
	}
	return k, p, r, err
}

// ReadAutoscaling returns how a group is scaled.
func (c *conn) ReadAutoscaling(ctx context.Context, kindType, region, uid string) (cloud.Autoscaling, error) {
	k, p, r, err := c.findScaled(kindType, region, uid)
	if err != nil {
		return cloud.Autoscaling{}, err
	}
	got, err := k.readAutoscaling(ctx, p, r)
	return got, classifyError("", err)
}

// SetAutoscaling sets how a group is scaled.
func (c *conn) SetAutoscaling(ctx context.Context, kindType, region, uid string, want cloud.Autoscaling) error {
	k, p, r, err := c.findScaled(kindType, region, uid)
	if err != nil {
		return err
	}
	return classifyError("", k.setAutoscaling(ctx, p, r, want))
}

// findScaled is find for a kind that Google scales.
func (c *conn) findScaled(kindType, region, uid string) (kind, place, ref, error) {
	if k, _, err := c.kindIn(kindType, region); err == nil && k.readAutoscaling == nil {
		return k, place{}, ref{}, cloud.ErrUnsupported("%s is not scaled by Google Cloud", k.Name)
	}
	return c.findResource(kindType, region, uid)
}
