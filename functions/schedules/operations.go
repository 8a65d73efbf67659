// Package schedules is the operation group Schedules: when resources and groups are started and stopped, what is attached to
// that, and what will happen.
package schedules

import (
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
)

const (
	schedules   = "/schedules"
	one         = schedules + "/{scheduleID}"
	attachments = one + "/attachments"
	reading     = "schedules:read"
	writing     = "schedules:write"
)

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Schedules")
	s := &service{p, scheduling.New(p), inventory.New(p)}
	s.scheduleOperations(g)
	s.attachmentOperations(g)
	s.previewOperations(g)
	s.firingOperations(g)
	return g
}

type service struct {
	p         *platform.Platform
	store     *scheduling.Store
	inventory *inventory.Store
}

const (
	cronNote = "A cron expression has five fields: minute, hour, day of the month, month and day of the week (0 or 7 " +
		"is Sunday; names, ranges, steps and lists are read). " +
		"Where both the day of the month and that of the week are restricted, either is enough. Minutes are those of " +
		"the schedule's timezone: a local time that clocks go " +
		"over fires at the first minute after the gap, one that they show twice fires the first time. "
	shape = cronNote +
		"Of two schedules of one resource that contradict each other in a minute the start wins. preset names one of " +
		"GET /schedules/presets, whose crons and name " +
		"are then the default. byTag: the schedule also takes the resources whose tag lamplighter:schedule (or " +
		"lamplighter-schedule) has its name, in any case and with " +
		"hyphens for what is no letter or digit, or its preset. drift: what becomes of a resource that runs while " +
		"the schedule has it stopped; report notes it, enforce stops it " +
		"after graceMinutes. Names are unique without regard to case. At most 500 schedules an organization and 50 " +
		"crons a schedule. " + acts
	acts = "Whatever has a schedule start or stop resources needs actions:execute on each of them: to attach, to " +
		"make a schedule that takes them by tag, and to change " +
		"crons, timezone, drift, byTag, a name that tags use, enabled to true, or to leave out a calendar: else 403. " +
		"What only keeps it from acting does not. "
	scopedNote = "A grant on teams or resources shows the schedules that take such a resource. "
)

func (s *service) scheduleOperations(g *rest.Group) {
	invalid, missing := []int{http.StatusBadRequest}, []int{http.StatusNotFound}
	rest.Handle(g, rest.Op{
		ID: "listSchedules", Method: http.MethodGet, Path: schedules, Policy: reading, Scoped: true, Statuses: invalid,
		Summary: "List schedules", Description: scopedNote,
	}, s.list)
	rest.Handle(g, rest.Op{
		ID: "createSchedule", Method: http.MethodPost, Path: schedules, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict},
		Summary:  "Create a schedule", Description: shape,
	}, s.create)
	rest.Handle(g, rest.Op{
		ID: "listSchedulePresets", Method: http.MethodGet, Path: schedules + "/presets", Policy: reading, Scoped: true,
		Summary:     "List the preset schedules",
		Description: "A bare array. POST /schedules with preset and timezone makes a schedule of one.",
	}, s.listPresets)
	rest.Handle(g, rest.Op{
		ID: "getSchedule", Method: http.MethodGet, Path: one, Policy: reading, Scoped: true, Statuses: missing,
		Summary: "Read a schedule", Description: scopedNote,
	}, s.get)
	rest.Handle(g, rest.Op{
		ID: "updateSchedule", Method: http.MethodPut, Path: one, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}, Summary: "Change a schedule",
		Description: "Changes only the fields present; crons replaces all crons: one that is sent with its id " +
			"keeps it. " + shape,
	}, s.update)
	rest.Handle(g, rest.Op{
		ID: "deleteSchedule", Method: http.MethodDelete, Path: one, Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict},
		Summary:  "Delete a schedule", Description: "Its attachments go with it. The resources stay as they are.",
	}, s.remove)
	rest.Handle(g, rest.Op{
		ID: "listGroupSchedules", Method: http.MethodGet, Path: "/resource-groups/{groupID}/schedules", Policy: reading,
		Scoped:   true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound}, Summary: "List the schedules of a resource group",
		Description: "Those that the group itself is attached to, oldest first.",
	}, s.listOfGroup)
}

func (s *service) attachmentOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listScheduleAttachments", Method: http.MethodGet, Path: attachments, Policy: reading, Scoped: true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound}, Summary: "List what is attached to a schedule",
		Description: "Groups first, then resources, by id; not what the schedule takes by tags. A grant on teams or " +
			"resources shows what lies in it.",
	}, s.listAttachments)
	rest.Handle(g, rest.Op{
		ID: "attachToSchedule", Method: http.MethodPost, Path: attachments, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:  "Attach a resource or a group to a schedule",
		Description: acts +
			"Of a group that holds for every member. Exactly one of resourceID, resourceUID and groupID. What is " +
			"attached already is 409. A schedule that contradicts another one of the resource within 92 days, or " +
			"of a group of one of its first 1,000 resources, is attached, and warnings say when: the start wins. At " +
			"most 10,000 attachments a schedule, of which 100 groups, and " +
			"20 schedules a resource or group.",
	}, s.attach)
	rest.Handle(g, rest.Op{
		ID: "detachFromSchedule", Method: http.MethodDelete, Path: attachments + "/{attachmentID}", Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict},
		Summary:  "Detach a resource or a group from a schedule",
	}, s.detach)
}

func (s *service) previewOperations(g *rest.Group) {
	const what = "Every firing of a time, which ends before to (at most 92 days; without them the next 7 days), with " +
		"its UTC and its local time, the resources that it reaches, and why one " +
		"is left out: calendar, override, read_only_account, disconnected_account, contradiction, unschedulable or " +
		"disabled. It is what the evaluator does, decided by the same code, as things are " +
		"attached and held now. At most 5,000 firings; resources lists at most 20,000 over all firings, those that " +
		"are left out first, and counts say how many there are. Savings are null " +
		"until prices are known. "
	rest.Handle(g, rest.Op{
		ID: "previewSchedule", Method: http.MethodGet, Path: one + "/preview", Policy: reading, Scoped: true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound}, Summary: "Preview a schedule",
		Description: what + "A grant on teams or resources shows what lies in it.",
	}, s.previewOne)
	rest.Handle(g, rest.Op{
		ID: "previewNewSchedule", Method: http.MethodPost, Path: schedules + "/preview", Policy: reading, Scoped: true,
		Reads:    true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound}, Summary: "Preview a schedule that is not stored",
		Description: what + "The body is a schedule, with the resources and groups that it would be attached to. " +
			cronNote,
	}, s.previewNew)
}

// ScheduleInput names the schedule of a request.
type ScheduleInput struct {
	ScheduleID string `path:"scheduleID" maxLength:"64"`
}
