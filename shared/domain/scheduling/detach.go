package scheduling

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Detach removes an attachment from its schedule. It returns fault.NotFound when the attachment does not exist. It
// takes at most two round trips per attempt.
func (s *Store) Detach(ctx context.Context, org string, a Attachment) error {
	for range attachTries {
		ws, err := s.detachWrites(ctx, org, a)
		if err != nil {
			return err
		}
		err = s.table.Transact(ctx, ws...)
		lost, ok := errors.AsType[*table.ConditionError](err)
		if !ok && err != nil {
			return fmt.Errorf("detach %s from %s: %w", a.ID(), a.ScheduleID, err)
		}
		if !ok {
			return nil
		}
		if _, gone := lost.Old(0); gone {
			return fault.New(fault.NotFound, "schedule %s has no attachment %.64q", a.ScheduleID, a.ID())
		}
	}
	return errHeadMoved
}

func (s *Store) detachWrites(ctx context.Context, org string, a Attachment) ([]table.Write, error) {
	ws := []table.Write{
		table.Delete(AttachmentKey(org, a.ScheduleID, a.ID()), table.Exists()),
		table.Update(ScheduleKey(org, a.ScheduleID), []table.Change{table.Add("attachments", -1)}, table.Exists()),
		forget(org, a),
	}
	if a.GroupID == "" {
		return ws, nil
	}
	head, err := s.ReadHead(ctx, org, a.ScheduleID)
	if err != nil {
		return nil, err
	}
	ids := slices.DeleteFunc(slices.Clone(head.GroupIDs), func(id string) bool { return id == a.GroupID })
	return append(ws, table.Update(HeadKey(org, a.ScheduleID),
		[]table.Change{table.Set("groupIDs", ids), table.Add("changes", 1)}, unmoved(head))), nil
}

// forget returns the write that removes the schedule from the target's list of schedules.
func forget(org string, a Attachment) table.Write {
	return table.Update(a.attachedKey(org), []table.Change{table.Remove(a.ScheduleID), table.Add("n", -1)},
		table.Has(a.ScheduleID))
}

// perTransaction is the number of attachments that one transaction removes: two writes each, of at most 100.
const perTransaction = 50

// DeleteSchedule deletes a schedule and all of its attachments. It returns fault.Conflict when the schedule has
// changed since it was read. After the first write the schedule neither fires nor is shown. If the process dies
// before the last write, call it again. It takes two round trips, and one for each 50 attachments.
func (s *Store) DeleteSchedule(ctx context.Context, org string, sch Schedule) error {
	mark := table.Update(ScheduleKey(org, sch.ID), []table.Change{table.Set("deleting", true)},
		table.Equal("generation", sch.Generation))
	if _, err := s.table.Write(ctx, mark); fault.Is(err, fault.Conflict) {
		return fault.New(fault.Conflict, "schedule %s was changed by someone else meanwhile; read it and try again",
			sch.ID)
	} else if err != nil {
		return fmt.Errorf("mark schedule %s as deleted: %w", sch.ID, err)
	}
	if err := s.detachAll(ctx, org, sch.ID); err != nil {
		return err
	}
	err := s.table.Transact(ctx, table.Delete(ScheduleKey(org, sch.ID)), scheduleNames(org).Release(sch.Name),
		table.Delete(HeadKey(org, sch.ID)))
	if err != nil {
		return fmt.Errorf("delete schedule %s: %w", sch.ID, err)
	}
	return nil
}

// detachAll removes all attachments of a schedule. The schedule is marked as deleted, so no attachment is added
// meanwhile.
func (s *Store) detachAll(ctx context.Context, org, scheduleID string) error {
	for cursor := ""; ; {
		page, next, err := s.ReadAttachments(ctx, org, scheduleID, cursor)
		if err != nil {
			return err
		}
		for part := range slices.Chunk(page, perTransaction) {
			if err = s.detachPart(ctx, org, part); err != nil {
				return err
			}
		}
		if cursor = next; cursor == "" {
			return nil
		}
	}
}

func (s *Store) detachPart(ctx context.Context, org string, part []Attachment) error {
	ws := make([]table.Write, 0, 2*len(part))
	for _, a := range part {
		ws = append(ws, table.Delete(AttachmentKey(org, a.ScheduleID, a.ID())), forget(org, a))
	}
	for range attachTries {
		err := s.table.Transact(ctx, ws...)
		lost, ok := errors.AsType[*table.ConditionError](err)
		if !ok && err != nil {
			return fmt.Errorf("detach %d from %s: %w", len(part), part[0].ScheduleID, err)
		}
		if !ok {
			return nil
		}
		for _, f := range slices.Backward(lost.Failed) { // another caller detached it meanwhile
			ws = slices.Delete(ws, f.Index, f.Index+1)
		}
	}
	return errHeadMoved
}

// Use is a schedule that uses resources of an account, a group or a calendar.
type Use struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Resources int    `json:"resources"` // the number of resources of the account; 0 for a group and a calendar
}

// UsesOfAccount lists the schedules that have directly attached resources of an account, oldest first. It takes 17
// round trips, run in parallel in two steps, and one more for each further thousand resources.
func (s *Store) UsesOfAccount(ctx context.Context, org, accountID string) ([]Use, error) {
	rows, err := s.inventory.AttachedIn(ctx, org, accountID)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, it := range rows {
		ids, _, _, err := inventory.DecodeAttached(it)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			counts[id]++
		}
	}
	if len(counts) == 0 {
		return nil, nil
	}
	return s.usesWhere(ctx, org, func(sch Schedule) (int, bool) { return counts[sch.ID], counts[sch.ID] > 0 })
}

// UsesOfGroup lists the schedules of a group, oldest first. It takes two round trips.
func (s *Store) UsesOfGroup(ctx context.Context, org, groupID string) ([]Schedule, error) {
	ids, err := s.inventory.SchedulesOfGroup(ctx, org, Heads{}, groupID)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	all, err := s.ListSchedules(ctx, org)
	return slices.DeleteFunc(all, func(sch Schedule) bool { return !slices.Contains(ids, sch.ID) }), err
}

func (s *Store) usesWhere(ctx context.Context, org string, is func(Schedule) (int, bool)) ([]Use, error) {
	all, err := s.ListSchedules(ctx, org)
	var out []Use
	for _, sch := range all {
		if n, used := is(sch); used {
			out = append(out, Use{sch.ID, sch.Name, n})
		}
	}
	return out, err
}

// DetachAccount detaches all directly attached resources of an account from their schedules. It is idempotent.
func (s *Store) DetachAccount(ctx context.Context, org, accountID string) error {
	rows, err := s.inventory.AttachedIn(ctx, org, accountID)
	if err != nil {
		return err
	}
	for _, it := range rows {
		ids, account, resource, err := inventory.DecodeAttached(it)
		if err != nil {
			return err
		}
		for _, id := range ids {
			err = s.Detach(ctx, org, Attachment{ScheduleID: id, ResourceID: resource, CloudAccountID: account})
			if err != nil && !fault.Is(err, fault.NotFound) {
				return err
			}
		}
	}
	return nil
}
