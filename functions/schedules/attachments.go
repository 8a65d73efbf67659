package schedules

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Attachment is a resource or a group that a schedule was attached to.
type Attachment struct {
	ID          string    `json:"id" doc:"The ID of the resource or group; unique in the schedule" example:"res_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	ScheduleID  string    `json:"scheduleID"`
	ResourceID  *string   `json:"resourceID" doc:"Null for a group"`
	ResourceUID *string   `json:"resourceUID" doc:"Null for a group, and for a resource that has left the inventory"`
	GroupID     *string   `json:"groupID" doc:"Null for a resource"`
	Name        *string   `json:"name" doc:"Of the resource or the group; null when it has left"`
	CreatedAt   time.Time `json:"createdAt"`
}

// Attached is an attachment that was just created.
type Attached struct {
	Attachment
	Warnings []string `json:"warnings" doc:"Schedules that contradict this one on the same resources, and when first"`
}

func newAttachment(a scheduling.Attachment) Attachment {
	return Attachment{
		ID: a.ID(), ScheduleID: a.ScheduleID, ResourceID: rest.Optional(a.ResourceID),
		GroupID: rest.Optional(a.GroupID), CreatedAt: a.CreatedAt,
	}
}

type attachmentsInput struct {
	ScheduleInput
	rest.Page
}

func (s *service) listAttachments(ctx context.Context, in *attachmentsInput) (rest.List[Attachment], error) {
	none := rest.List[Attachment]{}
	sch, err := s.readVisible(ctx, in.ScheduleID)
	if err != nil {
		return none, err
	}
	all, err := s.store.ListAttachments(ctx, identity.CallerOrg(ctx), sch.ID)
	if err != nil {
		return none, err
	}
	seen, err := s.inScope(ctx)
	if err != nil {
		return none, err
	}
	groups, err := s.groupsInScope(ctx)
	if err != nil {
		return none, err
	}
	all = slices.DeleteFunc(all, func(a scheduling.Attachment) bool {
		return a.ResourceID != "" && !seen.Has(a.ResourceID) || a.GroupID != "" && groups != nil && !groups[a.GroupID]
	})
	page := rest.MapItems(rest.PageOf(all, in.Page), newAttachment)
	return page, s.fillNames(ctx, page.Items)
}

// fillNames adds the names of the attached resources and groups to a page.
func (s *service) fillNames(ctx context.Context, page []Attachment) error {
	var ids []string
	grouped := false
	for _, a := range page {
		if grouped = grouped || a.GroupID != nil; a.ResourceID != nil {
			ids = append(ids, *a.ResourceID)
		}
	}
	names, uids := map[string]string{}, map[string]string{}
	if len(ids) > 0 {
		found, err := s.inventory.ByIDs(ctx, identity.CallerOrg(ctx), ids, inventory.SeeEverything())
		if err != nil {
			return err
		}
		for i := range found {
			names[found[i].ID], uids[found[i].ID] = found[i].Name, found[i].UID
		}
	}
	if grouped {
		all, err := s.inventory.ListGroups(ctx, identity.CallerOrg(ctx))
		if err != nil {
			return err
		}
		for i := range all {
			names[all[i].ID] = all[i].Name
		}
	}
	for i := range page {
		page[i].Name, page[i].ResourceUID = rest.Optional(names[page[i].ID]), rest.Optional(uids[page[i].ID])
	}
	return nil
}

// NewAttachment is the body of POST /schedules/{scheduleID}/attachments.
type NewAttachment struct {
	ResourceID  string `json:"resourceID,omitempty" maxLength:"64" doc:"Our id (res_…)"`
	ResourceUID string `json:"resourceUID,omitempty" maxLength:"1024" doc:"The native id"`
	GroupID     string `json:"groupID,omitempty" maxLength:"64"`
}

type attachInput struct {
	ScheduleInput
	Body NewAttachment
}

func (s *service) attachTarget(ctx context.Context, in *attachInput) (Attached, error) {
	if err := execution.CheckActor(ctx); err != nil {
		return Attached{}, err
	}
	sch, err := s.readSchedule(ctx, in.ScheduleID)
	if err != nil {
		return Attached{}, err
	}
	a, members, err := s.findTarget(ctx, in.Body)
	if err == nil {
		err = s.checkAttach(ctx, a, members)
	}
	if err != nil {
		return Attached{}, err
	}
	a.ScheduleID, a.CreatedAt = sch.ID, s.p.Clock.Now()
	warnings, err := s.contradictions(ctx, sch, members)
	if err != nil {
		return Attached{}, err
	}
	if err = s.store.Attach(ctx, identity.CallerOrg(ctx), a); err != nil {
		return Attached{}, err
	}
	page := []Attachment{newAttachment(a)}
	err = s.fillNames(ctx, page)
	out := Attached{page[0], warnings}
	audit.NoteChange(ctx, audit.Change{Target: sch.ID, After: out})
	return out, err
}

// maxWarned is how many resources of a group are checked for contradicting schedules.
const maxWarned = 1000

// findTarget finds the resource or group to attach, and its resources. Of a group it returns the first maxWarned
// ones.
func (s *service) findTarget(ctx context.Context, in NewAttachment) (scheduling.Attachment, []inventory.Listed, error) {
	none := scheduling.Attachment{}
	sent := 0
	for _, v := range []string{in.ResourceID, in.ResourceUID, in.GroupID} {
		if v != "" {
			sent++
		}
	}
	if sent != 1 {
		return none, nil,
			fault.New(fault.Invalid, "resourceID, resourceUID, groupID: send exactly one of them, not %d", sent)
	}
	if in.GroupID != "" {
		members, err := s.groupMembers(ctx, in.GroupID)
		return scheduling.Attachment{GroupID: in.GroupID}, members, err
	}
	var found []inventory.Listed
	var err error
	if in.ResourceUID != "" {
		found, err = s.inventory.ByUIDs(ctx, identity.CallerOrg(ctx), []string{in.ResourceUID},
			inventory.SeeEverything().WithSchedules(scheduling.Heads{}))
	} else {
		found, err = s.inventory.ByIDs(ctx, identity.CallerOrg(ctx), []string{in.ResourceID},
			inventory.SeeEverything().WithSchedules(scheduling.Heads{}))
	}
	if err != nil {
		return none, nil, err
	}
	if len(found) == 0 {
		return none, nil, fault.New(fault.NotFound, "resource %.64q does not exist", in.ResourceID+in.ResourceUID)
	}
	return scheduling.Attachment{ResourceID: found[0].ID, CloudAccountID: found[0].CloudAccountID}, found, nil
}

func (s *service) groupMembers(ctx context.Context, groupID string) ([]inventory.Listed, error) {
	if !id.IsValid("grp", groupID) {
		return nil, fault.New(fault.NotFound, "resource group %.64q does not exist", groupID)
	}
	members, err := s.inventory.ExpandGroup(ctx, identity.CallerOrg(ctx), groupID)
	if err != nil {
		return nil, err
	}
	ids := make([]string, min(len(members), maxWarned))
	for i := range ids {
		ids[i] = members[i].ResourceID
	}
	return s.inventory.ByIDs(ctx, identity.CallerOrg(ctx), ids,
		inventory.SeeEverything().WithSchedules(scheduling.Heads{}))
}

// maxPreview is the longest time span of a preview.
const maxPreview = 92 * 24 * time.Hour

// contradictions lists the schedules of resources that contradict sch, and when first. It also reports contradictions
// within sch.
func (s *service) contradictions(ctx context.Context, sch scheduling.Schedule, on []inventory.Listed) ([]string,
	error,
) {
	ids := []string{sch.ID}
	for i := range on {
		ids = append(ids, on[i].ScheduleIDs...)
	}
	slices.Sort(ids)
	now := s.p.Clock.Now()
	span := scheduling.Span{From: now, To: now.Add(maxPreview)}
	tables, err := s.timetables(ctx, slices.Compact(ids), span)
	if err != nil {
		return nil, err
	}
	out := []string{}
	mine := tables[sch.ID]
	for _, id := range slices.Compact(ids) {
		if t := tables[id]; t != nil && mine != nil {
			if c, found := scheduling.FindContradiction(mine, t, span); found {
				out = append(out, warningText(c))
			}
		}
	}
	return out, nil
}

func warningText(c scheduling.Contradiction) string {
	return fmt.Sprintf("at %s (%s) schedule %s (%s) starts and schedule %s (%s) stops: the start wins, the stop "+
		"is skipped",
		c.Start.At.Format(time.RFC3339), c.Start.Local().Format("2006-01-02 15:04 MST"),
		c.Start.Timetable.Schedule.ID, c.Start.Timetable.Schedule.Name, c.Stop.Timetable.Schedule.ID,
		c.Stop.Timetable.Schedule.Name)
}

// timetables reads the schedules of ids and their calendars, adds unstored ones, and returns their timetables for a
// time span. It takes two round trips.
func (s *service) timetables(
	ctx context.Context, ids []string, span scheduling.Span, unstored ...scheduling.Schedule,
) (map[string]*scheduling.Timetable, error) {
	all, err := s.store.ListSchedules(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return nil, err
	}
	all = append(slices.DeleteFunc(all, func(sch scheduling.Schedule) bool {
		return !slices.Contains(ids, sch.ID)
	}), unstored...)
	var named []string
	for i := range all {
		named = append(named, all[i].CalendarIDs...)
	}
	calendars, err := s.store.ReadCalendars(ctx, identity.CallerOrg(ctx), named...)
	if err != nil {
		return nil, err
	}
	out := make(map[string]*scheduling.Timetable, len(all))
	for i := range all {
		if out[all[i].ID], err = scheduling.NewTimetable(all[i], calendars, span); err != nil {
			return nil, err
		}
	}
	return out, nil
}

type detachInput struct {
	ScheduleInput
	AttachmentID string `path:"attachmentID" maxLength:"64"`
}

func (s *service) detachTarget(ctx context.Context, in *detachInput) (rest.Deleted, error) {
	sch, err := s.readSchedule(ctx, in.ScheduleID)
	if err != nil {
		return rest.Deleted{}, err
	}
	a, err := s.store.ReadAttachment(ctx, identity.CallerOrg(ctx), sch.ID, in.AttachmentID)
	if err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: sch.ID, Before: newAttachment(a)})
	return rest.Deleted{ID: a.ID()}, s.store.Detach(ctx, identity.CallerOrg(ctx), a)
}
