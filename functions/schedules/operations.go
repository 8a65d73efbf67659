// Package schedules is the operation group Schedules: when resources and groups are started and stopped, their
// attachments, and previews.
package schedules

import (
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
)

const (
	schedules    = "/schedules"
	schedulePath = schedules + "/{scheduleID}"
	attachments  = schedulePath + "/attachments"
	reading      = "schedules:read"
	writing      = "schedules:write"
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
	cronNote = "A cron expression has five fields: minute, hour, day of the month, month and day of the week (0 or " +
		"7 is Sunday; names, ranges, steps and lists are read). If both the day of the month and the day of the " +
		"week are restricted, one match is enough. Minutes are those of the schedule's timezone. A local time " +
		"skipped by a clock change fires at the first minute after the gap. A local time that occurs twice fires " +
		"once, at its first occurrence. "
	shape = cronNote +
		"If two schedules of a resource contradict each other in a minute, the start wins. preset names one of GET " +
		"/schedules/presets; its crons and name are then the defaults. byTag: the schedule also takes the " +
		"resources whose tag lamplighter:schedule (or lamplighter-schedule) is its name, in any case and with " +
		"hyphens for characters other than letters and digits, or its preset. drift: the reaction to a resource " +
		"that runs although the schedule has stopped it; report records it, enforce stops it after graceMinutes. " +
		"Names are " +
		"unique, ignoring case. At most 500 schedules an organization and 50 crons a schedule. " + acts
	acts = "A change that makes a schedule start or stop resources needs actions:execute on each of them, else it is " +
		"403. That applies to attachments, to new schedules that take resources by tag, and to changes of crons, " +
		"timezone, drift, byTag, a name that tags use, enabled to true, or the removal of a calendar. A change that " +
		"only keeps the schedule from acting needs no such permission. "
	scopedNote = "A caller with a grant on teams or resources sees the schedules that take such a resource. "
)

func (s *service) scheduleOperations(g *rest.Group) {
	invalid, missing := []int{http.StatusBadRequest}, []int{http.StatusNotFound}
	rest.Handle(g, rest.Op{
		ID: "listSchedules", Method: http.MethodGet, Path: schedules, Policy: reading, Scoped: true, Statuses: invalid,
		Summary: "List schedules", Description: scopedNote,
	}, s.listSchedules)
	rest.Handle(g, rest.Op{
		ID: "createSchedule", Method: http.MethodPost, Path: schedules, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict},
		Summary:  "Create a schedule", Description: shape,
	}, s.createSchedule)
	rest.Handle(g, rest.Op{
		ID: "listSchedulePresets", Method: http.MethodGet, Path: schedules + "/presets", Policy: reading, Scoped: true,
		Summary:     "List the preset schedules",
		Description: "A bare array. POST /schedules with preset and timezone creates a schedule from a preset.",
	}, s.listPresets)
	rest.Handle(g, rest.Op{
		ID: "listUpcomingFirings", Method: http.MethodGet, Path: schedules + "/upcoming", Policy: reading, Scoped: true,
		Statuses: invalid,
		Summary:  "List the next firings of all schedules",
		Description: "Of the enabled schedules, the next first, at most 200; more says whether there are others. " +
			scopedNote,
	}, s.listUpcoming)
	rest.Handle(g, rest.Op{
		ID: "getSchedule", Method: http.MethodGet, Path: schedulePath, Policy: reading, Scoped: true, Statuses: missing,
		Summary: "Read a schedule", Description: scopedNote,
	}, s.getSchedule)
	rest.Handle(g, rest.Op{
		ID: "updateSchedule", Method: http.MethodPut, Path: schedulePath, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}, Summary: "Change a schedule",
		Description: "Changes only the fields present. crons replaces all crons; a cron sent with its id keeps " +
			"that id. " + shape,
	}, s.updateSchedule)
	rest.Handle(g, rest.Op{
		ID: "deleteSchedule", Method: http.MethodDelete, Path: schedulePath, Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict},
		Summary:  "Delete a schedule", Description: "Its attachments are deleted, too. The resources stay as they are.",
	}, s.deleteSchedule)
	rest.Handle(g, rest.Op{
		ID: "listGroupSchedules", Method: http.MethodGet, Path: "/resource-groups/{groupID}/schedules", Policy: reading,
		Scoped:   true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound}, Summary: "List the schedules of a resource group",
		Description: "The schedules that the group itself is attached to, oldest first.",
	}, s.listOfGroup)
}

func (s *service) attachmentOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listScheduleAttachments", Method: http.MethodGet, Path: attachments, Policy: reading, Scoped: true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound}, Summary: "List the attachments of a schedule",
		Description: "Groups first, then resources, by id. Resources that the schedule takes by tag are not listed. " +
			"A caller with a grant on teams or resources sees the attachments in it.",
	}, s.listAttachments)
	rest.Handle(g, rest.Op{
		ID: "attachToSchedule", Method: http.MethodPost, Path: attachments, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:  "Attach a resource or a group to a schedule",
		Description: acts +
			"For a group this applies to every member. Send exactly one of resourceID, resourceUID and groupID. An " +
			"existing attachment is 409. A schedule is attached even if it contradicts another schedule of the " +
			"resource, or of one of the group's first 1,000 resources, within 92 days; warnings say when, and the " +
			"start wins. At most 10,000 attachments a schedule, of them 100 groups, and 20 schedules a resource or " +
			"group.",
	}, s.attachTarget)
	rest.Handle(g, rest.Op{
		ID: "detachFromSchedule", Method: http.MethodDelete, Path: attachments + "/{attachmentID}", Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict},
		Summary:  "Detach a resource or a group from a schedule",
	}, s.detachTarget)
}

func (s *service) previewOperations(g *rest.Group) {
	const previewNote = "Lists every firing until to (at most 92 days; by default the next 7 days) with its UTC and " +
		"local time, the resources that it reaches, and why a resource is skipped: calendar, override, " +
		"read_only_account, disconnected_account, contradiction, unschedulable or disabled. The preview uses the " +
		"evaluator's code and the present attachments and overrides. At most 5,000 firings; resources lists at most " +
		"20,000 resources over all firings, skipped ones first, and the counts are complete. Savings are null until " +
		"prices are known. "
	rest.Handle(g, rest.Op{
		ID: "previewSchedule", Method: http.MethodGet, Path: schedulePath + "/preview", Policy: reading, Scoped: true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound}, Summary: "Preview a schedule",
		Description: previewNote + "A caller with a grant on teams or resources sees the resources in it.",
	}, s.previewOne)
	rest.Handle(g, rest.Op{
		ID: "previewNewSchedule", Method: http.MethodPost, Path: schedules + "/preview", Policy: reading, Scoped: true,
		Reads:    true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound}, Summary: "Preview a schedule that is not stored",
		Description: previewNote +
			"The body is a schedule with the resources and groups that it would be attached to. " +
			cronNote,
	}, s.previewNew)
}

// ScheduleInput names the schedule of a request.
type ScheduleInput struct {
	ScheduleID string `path:"scheduleID" maxLength:"64"`
}
