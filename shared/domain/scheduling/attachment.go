package scheduling

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Attachment is a stored row: it puts one resource or one group under a schedule. Its ID is the ID of that resource
// or group, so a target is attached at most once to a schedule.
type Attachment struct {
	ScheduleID     string    `json:"scheduleID"`
	ResourceID     string    `json:"resourceID,omitempty"`
	CloudAccountID string    `json:"cloudAccountID,omitempty"` // the account of ResourceID
	GroupID        string    `json:"groupID,omitempty"`
	CreatedAt      time.Time `json:"createdAt"`
}

// ID returns the ID of the attached resource or group, which is also the ID of the attachment.
func (a Attachment) ID() string { return a.ResourceID + a.GroupID }

// attachedKey returns the key of the item that lists the schedules of the target.
func (a Attachment) attachedKey(org string) table.Key {
	if a.GroupID != "" {
		return inventory.AttachedGroupKey(org, a.GroupID)
	}
	return inventory.AttachedKey(org, a.CloudAccountID, a.ResourceID)
}

// ReadAttachments reads a page of the attachments of a schedule in the order of their ids, groups first. It also
// returns the cursor of the next page, "" after the last. It takes one round trip.
func (s *Store) ReadAttachments(ctx context.Context, org, scheduleID, cursor string) ([]Attachment, string, error) {
	out, next, err := table.ReadPage[Attachment](ctx, s.table, table.Query{
		PK: AttachmentKey(org, scheduleID, "").PK, Limit: table.MaxPage, Cursor: cursor,
	})
	if err != nil {
		return nil, "", fmt.Errorf("read attachments of %s: %w", scheduleID, err)
	}
	return out, next, nil
}

// ListAttachments returns all attachments of a schedule. It takes one round trip per megabyte (about 6,000
// attachments).
func (s *Store) ListAttachments(ctx context.Context, org, scheduleID string) ([]Attachment, error) {
	var out []Attachment
	for cursor := ""; ; {
		page, next, err := s.ReadAttachments(ctx, org, scheduleID, cursor)
		if err != nil {
			return nil, err
		}
		if out, cursor = append(out, page...), next; cursor == "" {
			return out, nil
		}
	}
}

// ReadAttachment reads one attachment. It returns fault.NotFound when the attachment does not exist.
func (s *Store) ReadAttachment(ctx context.Context, org, scheduleID, id string) (Attachment, error) {
	a, err := table.Read[Attachment](ctx, s.table, AttachmentKey(org, scheduleID, id))
	if fault.Is(err, fault.NotFound) {
		return a, fault.NewWithCause(fault.NotFound, err, "schedule %s has no attachment %.64q", scheduleID, id)
	}
	if err != nil {
		return a, fmt.Errorf("read attachment %s of %s: %w", id, scheduleID, err)
	}
	return a, nil
}

// Members returns, by schedule ID, the resources that are attached to each schedule directly, by groups or by tags.
// They are ordered by ID, without terminated ones. It takes the round trips of ListAttachments for each schedule, and
// two.
func (s *Store) Members(ctx context.Context, org string, scheduleIDs ...string) (map[string][]inventory.Member, error) {
	direct := make(map[string][]string, len(scheduleIDs))
	for _, id := range scheduleIDs {
		all, err := s.ListAttachments(ctx, org, id)
		if err != nil {
			return nil, err
		}
		direct[id] = []string{}
		for _, a := range all {
			if a.ResourceID != "" {
				direct[id] = append(direct[id], a.ResourceID)
			}
		}
	}
	return s.inventory.ScheduleMembers(ctx, org, Heads{}, direct)
}

// attachTries limits the attempts to attach or detach a group when the schedule's groups change at the same time.
const attachTries = 8

// Attach puts a resource or a group under a schedule. It returns fault.Conflict when the target is attached already,
// fault.NotFound when the schedule or the target does not exist, and fault.Invalid beyond a bound. It takes two round
// trips per attempt.
func (s *Store) Attach(ctx context.Context, org string, a Attachment) error {
	var err error
	for range attachTries {
		head, readErr := s.ReadHead(ctx, org, a.ScheduleID)
		if readErr != nil {
			return readErr
		}
		if err = s.attach(ctx, org, a, head); !errors.Is(err, errHeadMoved) {
			return err
		}
	}
	return err
}

var errHeadMoved = fault.New(fault.Conflict, "other groups are being attached to the schedule; try again")

func (s *Store) attach(ctx context.Context, org string, a Attachment, head Head) error {
	row, err := table.NewItem(AttachmentKey(org, a.ScheduleID, a.ID()), a)
	if err != nil {
		return err
	}
	ws := []table.Write{
		table.Update(ScheduleKey(org, a.ScheduleID), []table.Change{table.Add("attachments", 1)},
			table.Exists(), table.Lacks("deleting"),
			table.Any(table.Lacks("attachments"), table.Less("attachments", MaxAttachments))),
		table.Put(row, table.Absent()),
		table.Update(a.attachedKey(org), []table.Change{table.Set(a.ScheduleID, true), table.Add("n", 1)},
			table.Any(table.Lacks("n"), table.Less("n", MaxOfTarget))),
	}
	more, err := attachTarget(org, a, head)
	if err != nil {
		return err
	}
	err = s.table.Transact(ctx, append(ws, more...)...)
	if lost, ok := errors.AsType[*table.ConditionError](err); ok {
		return refusedAttachment(lost, a)
	}
	if err != nil {
		return fmt.Errorf("attach %s to %s: %w", a.ID(), a.ScheduleID, err)
	}
	return nil
}

// attachTarget returns the writes that check the account or the group of the target and update the schedule's head.
func attachTarget(org string, a Attachment, head Head) ([]table.Write, error) {
	key := HeadKey(org, a.ScheduleID)
	if a.GroupID == "" {
		held, err := inventory.HoldAccounts(org, []string{a.CloudAccountID})
		if !head.Direct {
			held = append(held, table.Update(key, []table.Change{table.Set("direct", true)}, table.Exists()))
		}
		return held, err
	}
	if len(head.GroupIDs) >= MaxGroups {
		return nil, fault.New(
			fault.Invalid, "groupID: schedule %s has %d groups, which is the most; detach one first", a.ScheduleID,
			MaxGroups)
	}
	ids := append(slices.Clone(head.GroupIDs), a.GroupID)
	return []table.Write{
		table.Check(inventory.GroupKey(org, a.GroupID), table.Exists()),
		table.Update(key, []table.Change{table.Set("groupIDs", ids), table.Add("changes", 1)}, unmoved(head)),
	}, nil
}

// unmoved returns the condition that the head's groups are unchanged since head was read.
func unmoved(head Head) table.Cond { return table.Equal("changes", head.Changes) }

// refusedAttachment returns the error for the first condition of attach that failed.
func refusedAttachment(lost *table.ConditionError, a Attachment) error {
	if _, there := lost.Old(1); there {
		return fault.New(fault.Conflict, "%s is attached to schedule %s already", a.ID(), a.ScheduleID)
	}
	if old, is := lost.Old(0); is {
		if old.Data == nil {
			return fault.New(fault.NotFound, "schedule %.64q does not exist", a.ScheduleID)
		}
		if sch, err := decodeSchedule(old); err == nil && !sch.Deleting {
			return fault.New(fault.Invalid,
				"schedule %s has %d attachments, which is the most; attach a group, or make another schedule",
				a.ScheduleID, MaxAttachments)
		}
		return fault.New(fault.NotFound, "schedule %.64q is being deleted", a.ScheduleID)
	}
	if _, full := lost.Old(2); full {
		return fault.New(fault.Invalid, "%s is attached to %d schedules, which is the most; detach it from one first",
			a.ID(), MaxOfTarget)
	}
	if _, gone := lost.Old(3); gone {
		return fault.New(fault.NotFound,
			"what is to be attached (%s) was removed meanwhile; read what is there and try again", a.ID())
	}
	return errHeadMoved
}
