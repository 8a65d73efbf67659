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

// cancelBulk ends the actions of a bulk action that have not begun. Once the bulk action is marked as cancelled, none
// of them begins. An execution of its own ends the waiting actions, because the execution that began the bulk action
// may be waiting for a slow target. Cancelling a cancelled bulk action is a conflict; it starts that execution again
// in case the first cancellation was interrupted.
func (s *service) cancelBulk(ctx context.Context, in *BulkPath) (execution.Bulk, error) {
	b, err := s.cancellableBulk(ctx, in.BulkActionID)
	if err != nil {
		return execution.Bulk{}, err
	}
	before := b.WithoutInternals()
	b, refused := s.markCancelled(ctx, b)
	if b.Status == execution.BulkCancelled && !b.Over() {
		if err = s.startCancellation(ctx, b.ID); err != nil {
			return execution.Bulk{}, err
		}
	}
	if refused != nil {
		return execution.Bulk{}, refused
	}
	audit.NoteChange(ctx, audit.Change{Target: b.ID, Before: before, After: b.WithoutInternals()})
	return b.WithoutInternals(), nil
}

// startCancellation starts the execution that ends the waiting actions of a bulk action, unless it was started before.
func (s *service) startCancellation(ctx context.Context, bulkID string) error {
	input := execution.BulkInput{Org: identity.CallerOrg(ctx), BulkID: bulkID, Cancel: true}
	err := s.p.Workflow.Start(ctx, execution.BulkMachine, execution.CancelName(bulkID), input)
	if err != nil && !fault.Is(err, fault.Conflict) {
		return fmt.Errorf("cancel bulk action %s: %w", bulkID, err)
	}
	return nil
}

// cancellableBulk reads a bulk action that the caller may cancel. The caller must be allowed to act on all of its
// resources.
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
	if may, err := s.isWithin(ctx, org, b, reach[0]); may || err != nil {
		return b, err
	}
	sees, err := s.isWithin(ctx, org, b, reach[1])
	switch {
	case err != nil:
		return b, err
	case sees:
		return b, fault.New(
			fault.Denied, "permission denied: %s is needed on every resource of bulk action %s", acting, b.ID)
	}
	return b, noBulk(b.ID)
}

// markCancelled marks b as cancelled by the caller and returns it as stored. A bulk action that has ended or was
// cancelled before is returned with the conflict; of racing callers one succeeds.
func (s *service) markCancelled(ctx context.Context, b execution.Bulk) (execution.Bulk, error) {
	c := identity.CallerFrom(ctx)
	won := false
	if b.Waiting() {
		err := s.p.Table.Transact(ctx, table.Update(execution.BulkKey(c.Org, b.ID), []table.Change{
			table.Set("status", string(execution.BulkCancelled)), table.Set("cancelledBy", c.Email),
		}, table.Any(
			table.Equal("status", string(execution.BulkQueued)), table.Equal("status", string(execution.BulkRunning)))))
		if _, ended := errors.AsType[*table.ConditionError](err); err != nil && !ended {
			return b, fmt.Errorf("cancel bulk action %s: %w", b.ID, err)
		}
		won = err == nil
		if b, err = s.readBulk(ctx, b.ID); err != nil {
			return b, err
		}
	}
	if !won {
		return b, fault.New(
			fault.Conflict, "bulk action %s is %s: only one that is queued or running can be cancelled", b.ID, b.Status)
	}
	return b, nil
}
