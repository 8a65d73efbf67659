package actions

import (
	"context"
	"errors"
	"fmt"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// cancelBulk ends what a bulk action has not begun. From the moment that it is marked as cancelled nothing of it is begun any
// more; what waits is ended by an execution of its own, because the one that began it may be waiting for something slow.
func (s *service) cancelBulk(ctx context.Context, in *BulkPath) (execution.Bulk, error) {
	b, err := s.cancellableBulk(ctx, in.BulkActionID)
	if err != nil {
		return execution.Bulk{}, err
	}
	before := b.WithoutInternals()
	if b, err = s.markCancelled(ctx, b); err != nil {
		return execution.Bulk{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: b.ID, Before: before, After: b.WithoutInternals()})
	if b.Over() {
		return b.WithoutInternals(), nil
	}
	input := execution.BulkInput{Org: identity.CallerFrom(ctx).Org, BulkID: b.ID, Cancel: true}
	err = s.p.Workflow.Start(ctx, execution.BulkMachine, execution.CancelName(b.ID), input)
	if err != nil && !fault.Is(err, fault.Conflict) { // it was started when the bulk action was cancelled, and has ended
		return execution.Bulk{}, fmt.Errorf("cancel bulk action %s: %w", b.ID, err)
	}
	return b.WithoutInternals(), nil
}

// cancellableBulk reads a bulk action that the caller may cancel: they must be allowed to act on all that it acts on.
func (s *service) cancellableBulk(ctx context.Context, bulkID string) (execution.Bulk, error) {
	reach, err := s.resourceSets(ctx, acting, reading)
	if err != nil {
		return execution.Bulk{}, err
	}
	b, err := s.readBulk(ctx, bulkID)
	if err != nil {
		return b, err
	}
	org := identity.CallerFrom(ctx).Org
	if may, err := s.within(ctx, org, b, reach[0]); may || err != nil {
		return b, err
	}
	sees, err := s.within(ctx, org, b, reach[1])
	switch {
	case err != nil:
		return b, err
	case sees:
		return b, fault.New(fault.Denied, "permission denied: %s is needed on every resource of bulk action %s", acting, b.ID)
	}
	return b, noBulk(b.ID)
}

// markCancelled marks b as cancelled. One that is cancelled stays so, by whoever cancelled it first; one that has completed
// cannot be.
func (s *service) markCancelled(ctx context.Context, b execution.Bulk) (execution.Bulk, error) {
	c := identity.CallerFrom(ctx)
	if b.Waiting() {
		err := s.p.Table.Transact(ctx, table.Update(execution.BulkKey(c.Org, b.ID), []table.Change{
			table.Set("status", string(execution.BulkCancelled)), table.Set("cancelledBy", c.Email),
		}, table.Any(table.Equal("status", string(execution.BulkQueued)), table.Equal("status", string(execution.BulkRunning)))))
		if _, ended := errors.AsType[*table.ConditionError](err); err != nil && !ended {
			return b, fmt.Errorf("cancel bulk action %s: %w", b.ID, err)
		}
		if b, err = s.readBulk(ctx, b.ID); err != nil {
			return b, err
		}
	}
	if b.Status != execution.BulkCancelled {
		return b, fault.New(fault.Conflict, "bulk action %s is %s: only one that is queued or running can be cancelled", b.ID, b.Status)
	}
	return b, nil
}
