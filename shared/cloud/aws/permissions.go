package aws

import (
	"context"
	"errors"
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
)

// Permissions tries, in the account's first region, one listing of each kind, one look for a cluster and for exports
// of bills, and the actions with a dry run. All other permissions are unknown until their first use.
func (c *conn) Permissions(ctx context.Context) ([]cloud.Permission, error) {
	home := c.provider.homeRegion(c.account)
	found := make([][]cloud.Permission, len(registry)+3)
	errs := make([]error, len(registry)+3)
	cloud.InParallel(len(found), resource.Width, func(i int) {
		if i == len(registry) {
			found[i], errs[i] = c.probeClusters(ctx, home)
			return
		}
		if i == len(registry)+1 {
			found[i], errs[i] = c.probeOthers(ctx, home)
			return
		}
		if i > len(registry) {
			found[i], errs[i] = c.probeBilling(ctx)
			return
		}
		o, err := c.operationsOf(registry[i].Describe().Type, home)
		if err == nil {
			found[i], err = probe(ctx, o)
		}
		errs[i] = err
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return append(slices.Concat(found...), untriedChanges()...), nil
}

// untriedChange is the message of a permission that only changes need.
const untriedChange = "it is not tried before a change: the first use will tell"

// untriedChanges returns the permissions of all changes. None is tried, because most have no dry run.
func untriedChanges() []cloud.Permission {
	var out []cloud.Permission
	for _, need := range cloud.ChangeNeeds("aws") {
		out = append(out, cloud.Permission{
			Capability: cloud.RemediateCapability, Action: need, Status: "unknown", Message: untriedChange,
		})
	}
	return out
}

var _ cloud.ChangeProber = (*conn)(nil)

// ChangePermissions returns the permissions of a change. None is tried.
func (*conn) ChangePermissions(_ context.Context, c cloud.Change) ([]cloud.Permission, error) {
	return cloud.NeedsOf(c, untriedChange)
}

// probe returns the permissions of one kind. Credentials that AWS refuses altogether are an error.
func probe(ctx context.Context, o resource.Operations) ([]cloud.Permission, error) {
	_, err := o.List(ctx, "")
	if err = resource.ClassifyError(err); err != nil && cloud.ClassOf(err) == cloud.Refused {
		return nil, err
	}
	need := o.Needs()
	action := need.Discover[0]
	if e, ok := errors.AsType[*cloud.Error](err); ok && slices.Contains(need.Discover, e.Op) {
		action = e.Op
	}
	return append([]cloud.Permission{newPermission("discover", action, err)}, probeActs(ctx, o)...), nil
}

// probeActs tries the actions that change resources of one kind, where AWS has a dry run for them.
func probeActs(ctx context.Context, o resource.Operations) []cloud.Permission {
	need, out := o.Needs(), []cloud.Permission(nil)
	for _, a := range need.StartStop {
		out = append(out, newPermission("start_stop", a, o.DryRun(ctx, a)))
	}
	for _, a := range need.Scale {
		out = append(out, newPermission("scale", a, o.DryRun(ctx, a)))
	}
	return out
}

// KindPermissions tries the actions of one kind that have a dry run. It makes no call for kinds without one.
func (c *conn) KindPermissions(ctx context.Context, kind, region, _ string) ([]cloud.Permission, error) {
	o, err := c.operationsOf(kind, region)
	if err != nil {
		return nil, err
	}
	return probeActs(ctx, o), nil
}

func newPermission(capability, action string, err error) cloud.Permission {
	p := cloud.Permission{Capability: capability, Action: action, Status: "granted"}
	if err == nil {
		return p
	}
	if p.Status = "unknown"; slices.ContainsFunc([]error{
		resource.ErrNoDryRun, resource.ErrNoneToTry, errCharged,
		errNoBucket,
	}, func(is error) bool {
		return errors.Is(err, is)
	}) {
		p.Message = err.Error()
		return p
	}
	err = resource.ClassifyError(err)
	if p.Message = err.Error(); cloud.ClassOf(err) == cloud.Denied {
		p.Status = "denied"
	}
	return p
}
