package schedules

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/fault"
)

// These constants bound a preview.
const (
	usualPreview = 7 * 24 * time.Hour
	maxFirings   = 5000
	maxTargets   = 20_000
	maxListed    = 20_000 // resources over all firings
)

// Preview is a list of future firings and their effects.
type Preview struct {
	ScheduleID        *string           `json:"scheduleID" doc:"Null for one that is not stored"`
	Timezone          string            `json:"timezone"`
	From              time.Time         `json:"from"`
	To                time.Time         `json:"to"`
	ResourceCount     int               `json:"resourceCount" doc:"How many resources the schedule takes"`
	Firings           []PreviewedFiring `json:"firings"`
	ExpectedSavingUSD *string           `json:"expectedSavingUSD" doc:"At public prices, of the resources whose price is known; null if none is known"`
	WithoutRate       int               `json:"withoutRate" doc:"How many resources have no known price; the saving leaves them out"`
	SavingNote        string            `json:"savingNote" doc:"Why the saving is null or leaves resources out; else empty"`
}

// PreviewedFiring is one cron at one minute, and its effect.
type PreviewedFiring struct {
	At                time.Time           `json:"at" doc:"UTC"`
	LocalTime         string              `json:"localTime" example:"2026-03-29T08:00:00+02:00" doc:"In the timezone of the schedule"`
	CronID            *string             `json:"cronID" doc:"Null for a schedule that is not stored"`
	CronExpression    string              `json:"cronExpression"`
	Action            cloud.Verb          `json:"action" enum:"start,stop"`
	Skipped           *string             `json:"skipped" doc:"Why the whole schedule does not act: calendar or disabled; else null"`
	SkippedDetail     *string             `json:"skippedDetail"`
	ActsOn            int                 `json:"actsOn" doc:"How many resources are acted on"`
	LeftOut           map[string]int      `json:"leftOut" doc:"How many resources are not, by reason"`
	Resources         []PreviewedResource `json:"resources" doc:"Skipped resources first; shortened if the preview would grow too long"`
	ExpectedSavingUSD *string             `json:"expectedSavingUSD" doc:"Of a stop, until the schedule starts each resource again, or until to; null for a start, or if no price is known"`
}

// PreviewedResource is a resource of a firing.
type PreviewedResource struct {
	ResourceID  string  `json:"resourceID"`
	ResourceUID string  `json:"resourceUID"`
	Name        string  `json:"name"`
	Skipped     *string `json:"skipped" enum:"calendar,event,override,read_only_account,disconnected_account,contradiction,unschedulable,disabled" doc:"Why it is not acted on; else null"`
	Detail      *string `json:"detail"`
}

type previewInput struct {
	ScheduleInput
	rest.Window
}

func (s *service) previewOne(ctx context.Context, in *previewInput) (Preview, error) {
	span, err := s.previewSpan(in.From, in.To)
	if err != nil {
		return Preview{}, err
	}
	sch, err := s.readVisible(ctx, in.ScheduleID)
	if err != nil {
		return Preview{}, err
	}
	members, err := s.store.Members(ctx, identity.CallerOrg(ctx), sch.ID)
	if err != nil {
		return Preview{}, err
	}
	return s.previewFirings(ctx, sch, members[sch.ID], span)
}

// NewPreview is the body of POST /schedules/preview.
type NewPreview struct {
	NewSchedule
	From        rest.Time `json:"from,omitzero" doc:"Now when absent"`
	To          rest.Time `json:"to,omitzero" doc:"7 days after from when absent"`
	ResourceIDs []string  `json:"resourceIDs,omitempty" maxItems:"1000"`
	GroupIDs    []string  `json:"groupIDs,omitempty" maxItems:"100"`
}

func (s *service) previewNew(ctx context.Context, in *struct{ Body NewPreview }) (Preview, error) {
	span, err := s.previewSpan(in.Body.From, in.Body.To)
	if err != nil {
		return Preview{}, err
	}
	sch, err := s.scheduleOf(in.Body.NewSchedule)
	if err != nil {
		return Preview{}, err
	}
	calendars, err := s.store.ReadCalendars(ctx, identity.CallerOrg(ctx), slices.Clone(sch.CalendarIDs)...)
	if err != nil {
		return Preview{}, err
	}
	for _, id := range sch.CalendarIDs {
		if _, ok := calendars[id]; !ok {
			return Preview{}, fault.New(fault.Invalid, "calendarIDs: calendar %.64q does not exist", id)
		}
	}
	for i := range sch.Crons {
		sch.Crons[i].ID = ""
	}
	members, err := s.previewMembers(ctx, in.Body)
	if err != nil {
		return Preview{}, err
	}
	out, err := s.previewFirings(ctx, sch, members, span)
	out.ScheduleID = nil
	return out, err
}

// lastInstant is the last instant that RFC 3339 can represent.
var lastInstant = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// previewSpan returns the time span of a preview. The error is fault.Invalid, naming field and value, if the span is
// too long or ends before it begins. The default for from is now, or the usual length before to if to lies in the
// past.
func (s *service) previewSpan(from, to rest.Time) (scheduling.Span, error) {
	span := scheduling.Span{From: from.Time, To: to.Time}
	if span.From.IsZero() {
		span.From = s.p.Clock.Now()
		if ahead := span.To.Sub(span.From); !span.To.IsZero() && (ahead < 0 || ahead > maxPreview) {
			span.From = span.To.Add(-usualPreview)
		}
	}
	if span.To.IsZero() {
		span.To = span.From.Add(usualPreview)
	}
	if span.To.After(lastInstant) {
		span.To = lastInstant
	}
	switch long := span.To.Sub(span.From); {
	case long < 0:
		return span, fault.New(
			fault.Invalid, "from: %s is after to, which is %s", span.From.Format(time.RFC3339),
			span.To.Format(time.RFC3339))
	case long > maxPreview:
		return span, fault.New(
			fault.Invalid, "to: %s is more than 92 days after from, which is %s; send a shorter time",
			span.To.Format(time.RFC3339), span.From.Format(time.RFC3339))
	}
	return span, nil
}

// previewMembers returns the resources that the previewed schedule would be attached to.
func (s *service) previewMembers(ctx context.Context, in NewPreview) ([]inventory.Member, error) {
	var out []inventory.Member
	if len(in.ResourceIDs) > 0 {
		found, err := s.inventory.ByIDs(ctx, identity.CallerOrg(ctx), in.ResourceIDs,
			inventory.SightOf(identity.CallerFrom(ctx), reading))
		if err != nil {
			return nil, err
		}
		for i := range found {
			out = append(out, newMember(&found[i]))
		}
		for _, id := range in.ResourceIDs {
			if !slices.ContainsFunc(out, func(m inventory.Member) bool { return m.ResourceID == id }) {
				return nil, fault.New(fault.NotFound, "resourceIDs: resource %.64q does not exist", id)
			}
		}
	}
	for _, id := range in.GroupIDs {
		if err := s.seesGroup(ctx, id); err != nil {
			return nil, err
		}
		members, err := s.inventory.ExpandGroup(ctx, identity.CallerOrg(ctx), id)
		if err != nil {
			return nil, err
		}
		out = append(out, members...)
	}
	slices.SortFunc(out, func(a, b inventory.Member) int { return compareText(a.ResourceID, b.ResourceID) })
	return slices.CompactFunc(out, func(a, b inventory.Member) bool { return a.ResourceID == b.ResourceID }), nil
}

func (s *service) previewFirings(ctx context.Context, sch scheduling.Schedule, members []inventory.Member,
	span scheduling.Span,
) (Preview, error) {
	t, targets, err := s.previewTargets(ctx, sch, members, span)
	if err != nil {
		return Preview{}, err
	}
	foretold, err := scheduling.Preview(t, targets, span, maxFirings)
	if err != nil {
		return Preview{}, err
	}
	if !identity.Allows(identity.CallerFrom(ctx), calendarReading) {
		hideCalendars(foretold)
	}
	out := Preview{
		ScheduleID: &sch.ID, Timezone: sch.Timezone, From: span.From, To: span.To, ResourceCount: len(targets),
		Firings: make([]PreviewedFiring, len(foretold)),
	}
	each := maxListed
	if len(foretold) > 0 {
		each = maxListed / len(foretold)
	}
	for i := range foretold {
		out.Firings[i] = newFiring(&foretold[i], targets, each)
	}
	return out, s.addSaving(ctx, &out, foretold, targets)
}

// calendarReading is the policy needed to see names of calendars.
const calendarReading = "calendars:read"

// hideCalendars removes the names of calendars from the reasons of firings.
func hideCalendars(firings []scheduling.Foretold) {
	for i := range firings {
		f := &firings[i]
		hideCalendar(&f.Skip)
		for j := range f.Skips {
			hideCalendar(&f.Skips[j])
		}
	}
}

func hideCalendar(s *scheduling.Skip) {
	if s.Reason == scheduling.ClosedByCalendar {
		s.Detail = "a calendar, whose name " + calendarReading + " on the whole organization shows"
	}
}

// newFiring returns the client's view of a firing, with at most the given number of its resources.
func newFiring(f *scheduling.Foretold, targets []scheduling.Target, most int) PreviewedFiring {
	out := PreviewedFiring{
		At: f.At, LocalTime: f.Local().Format(time.RFC3339), CronID: rest.Optional(f.Cron.ID),
		CronExpression: f.Cron.Expression,
		Action:         f.Cron.Action, Skipped: rest.Optional(string(f.Skip.Reason)),
		SkippedDetail: rest.Optional(f.Skip.Detail),
		LeftOut:       map[string]int{}, Resources: []PreviewedResource{},
	}
	var acted []int
	for i, skip := range f.Skips {
		if skip.Reason == scheduling.Acts {
			out.ActsOn++
			acted = append(acted, i)
			continue
		}
		out.LeftOut[string(skip.Reason)]++
		out.listResources(&targets[i].Member, skip, most)
	}
	for _, i := range acted {
		out.listResources(&targets[i].Member, scheduling.Skip{}, most)
	}
	return out
}

func (f *PreviewedFiring) listResources(m *inventory.Member, skip scheduling.Skip, most int) {
	if len(f.Resources) < most {
		f.Resources = append(f.Resources,
			PreviewedResource{
				m.ResourceID, m.UID, m.Name, rest.Optional(string(skip.Reason)),
				rest.Optional(skip.Detail),
			})
	}
}
