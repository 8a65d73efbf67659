package connector

import (
	"context"
	"errors"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// autoscalingPatience is how long the cloud may take in total: less than a caller of the API waits.
const autoscalingPatience = 10 * time.Second

// readAutoscaling returns the scaling of a group.
func (c connector) readAutoscaling(ctx context.Context, conn cloud.Conn, q inventory.Question) (cloud.Autoscaling,
	error,
) {
	ctx, cancel := context.WithTimeout(ctx, autoscalingPatience)
	defer cancel()
	a, err := c.autoscalerOf(ctx, conn, q)
	if err != nil {
		return cloud.Autoscaling{}, err
	}
	got, err := a.ReadAutoscaling(ctx, q.Autoscaling.Type, q.Autoscaling.Region, q.Autoscaling.UID)
	return got, autoscalingFault(q.Autoscaling, err)
}

// setAutoscaling sets the scaling of a group, and returns the scaling afterwards.
func (c connector) setAutoscaling(ctx context.Context, conn cloud.Conn, q inventory.Question) (cloud.Autoscaling,
	error,
) {
	ctx, cancel := context.WithTimeout(ctx, autoscalingPatience)
	defer cancel()
	a, err := c.autoscalerOf(ctx, conn, q)
	if err != nil {
		return cloud.Autoscaling{}, err
	}
	t := q.Autoscaling
	if err := a.SetAutoscaling(ctx, t.Type, t.Region, t.UID, t.Want); err != nil {
		return cloud.Autoscaling{}, autoscalingFault(t, err)
	}
	got, err := a.ReadAutoscaling(ctx, t.Type, t.Region, t.UID)
	return got, autoscalingFault(t, err)
}

// permissionsPatience is how long the cloud may take to return the permissions for one group: less than the readiness
// check of a plan waits.
const permissionsPatience = 4500 * time.Millisecond

// listPermissions returns the permissions of the credentials: in the account, or for the one group that the question
// names.
func (c connector) listPermissions(ctx context.Context, conn cloud.Conn, q inventory.Question) ([]cloud.Permission,
	error,
) {
	t := q.Autoscaling
	if t.Type == "" {
		got, err := conn.Permissions(ctx)
		return got, clientFault(err)
	}
	ctx, cancel := context.WithTimeout(ctx, permissionsPatience)
	defer cancel()
	conn, err := c.connectInside(ctx, conn, q)
	if err != nil {
		return nil, err
	}
	p, ok := conn.(cloud.KindProber)
	if !ok {
		return nil, fault.New(
			fault.Invalid, "accounts of %s are not asked for the permissions of one kind", q.Account.Provider)
	}
	got, err := p.KindPermissions(ctx, t.Type, t.Region, t.UID)
	return got, autoscalingFault(t, err)
}

// connectInside returns the connection extended by the registered clusters of the account.
func (c connector) connectInside(ctx context.Context, conn cloud.Conn, q inventory.Question) (cloud.Conn, error) {
	return inventory.Clouds{Sealer: c.p.Sealer, Providers: c.providers}.
		LookInside(table.WithOrg(ctx, q.Org), conn, q.Org, q.Account, q.Registrations)
}

// autoscalerOf returns the connection that scales the group, which may be inside a registered cluster of the account.
func (c connector) autoscalerOf(ctx context.Context, conn cloud.Conn, q inventory.Question) (cloud.Autoscaler, error) {
	conn, err := c.connectInside(ctx, conn, q)
	if err != nil {
		return nil, err
	}
	a, ok := conn.(cloud.Autoscaler)
	if !ok {
		return nil, fault.New(
			fault.Invalid, "resources of type %.64q are not scaled by %s", q.Autoscaling.Type, q.Account.Provider)
	}
	return a, nil
}

// autoscalingFault is clientFault for an error about one group.
func autoscalingFault(t inventory.AutoscalingQuestion, err error) error {
	e, ok := errors.AsType[*cloud.Error](err)
	if !ok {
		return err
	}
	switch e.Class {
	case cloud.NotFound:
		return fault.NewWithCause(fault.NotFound, err, "the cloud has no %s %.300s: %s", t.Type, t.UID, e)
	case cloud.Invalid, cloud.Unsupported:
		return fault.NewWithCause(fault.Invalid, err, "%s", e)
	case cloud.Moving:
		return fault.NewWithCause(fault.Conflict, err,
			"%.300s is being changed at the moment, try again in a minute: %s", t.UID, e)
	default:
		return clientFault(err)
	}
}
