package evaluation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
)

// lookBack is how far back the calendars of a schedule are read. The desired state at a moment depends on the last
// firing before it.
const lookBack = 366 * 24 * time.Hour

// horizon returns the time range of the firings and calendars that a span needs.
func horizon(span scheduling.Span) scheduling.Span {
	return scheduling.Span{From: span.From.Add(-lookBack), To: span.To.Add(24 * time.Hour)}
}

// readReach reads the resources that schedules reach into the book. If the attachments of a schedule cannot be read,
// only that schedule fails.
func (s *Store) readReach(ctx context.Context, org string, b *book, ts []*scheduling.Timetable) error {
	r := &reading{store: s, org: org, direct: map[string][]string{}, since: map[sinceKey]time.Time{}}
	for t, err := range r.attachments(ctx, ts) {
		b.fail(t, err)
	}
	ts = slices.DeleteFunc(ts, func(t *scheduling.Timetable) bool { return b.failed[t.Schedule.ID] != nil })
	if len(ts) == 0 {
		return nil
	}
	members, err := s.inventory.ScheduleMembers(ctx, org, scheduling.Heads{}, r.direct)
	if err != nil {
		return fmt.Errorf("read what schedules reach: %w", err)
	}
	if r.placed, err = s.inventory.ExpandGroups(ctx, org, r.groups...); err != nil {
		return err
	}
	heads, err := s.inventory.ListGroups(ctx, org)
	if err != nil {
		return err
	}
	for _, g := range heads {
		b.groups[g.ID] = g
	}
	b.subjects, err = r.subjects(ctx, ts, members)
	return err
}

// reading collects the attachments and resources of schedules.
type reading struct {
	store  *Store
	org    string
	direct map[string][]string // by schedule: directly attached resources
	byID   map[string][]string // by schedule: groups
	groups []string
	since  map[sinceKey]time.Time
	placed map[string][]inventory.Member
}

// sinceKey names an attachment: a schedule, and a resource or a group.
type sinceKey struct{ schedule, target string }

// readers is how many schedules' attachments are read concurrently.
const readers = 16

// attachments reads the attachments of schedules, and returns the errors by schedule.
func (r *reading) attachments(ctx context.Context, ts []*scheduling.Timetable) map[*scheduling.Timetable]error {
	r.byID = map[string][]string{}
	all, errs := make([][]scheduling.Attachment, len(ts)), make([]error, len(ts))
	var g errgroup.Group
	g.SetLimit(readers)
	for i, t := range ts {
		if t.Schedule.Attachments == 0 {
			continue
		}
		g.Go(func() error {
			all[i], errs[i] = r.store.schedules.ListAttachments(ctx, r.org, t.Schedule.ID)
			return nil
		})
	}
	_ = g.Wait() // the errors are in errs
	failed := map[*scheduling.Timetable]error{}
	for i, t := range ts {
		if errs[i] != nil {
			failed[t] = errs[i]
			continue
		}
		r.direct[t.Schedule.ID] = nil
		for _, a := range all[i] {
			r.note(t.Schedule.ID, a)
		}
	}
	return failed
}

func (r *reading) note(scheduleID string, a scheduling.Attachment) {
	if a.GroupID == "" {
		r.direct[scheduleID] = append(r.direct[scheduleID], a.ResourceID)
		r.since[sinceKey{scheduleID, a.ResourceID}] = a.CreatedAt
		return
	}
	r.byID[scheduleID] = append(r.byID[scheduleID], a.GroupID)
	r.since[sinceKey{scheduleID, a.GroupID}] = a.CreatedAt
	if !slices.Contains(r.groups, a.GroupID) {
		r.groups = append(r.groups, a.GroupID)
	}
}

// subjects returns the resources that schedules reach, with all facts that decide about their firings.
func (r *reading) subjects(ctx context.Context, ts []*scheduling.Timetable,
	members map[string][]inventory.Member,
) ([]*subject, error) {
	known := map[string]*subject{}
	var out []*subject
	for _, t := range ts {
		groups := r.groupsOf(t.Schedule.ID)
		for _, m := range members[t.Schedule.ID] {
			s := known[m.ResourceID]
			if s == nil {
				s = &subject{Member: m}
				known[m.ResourceID], out = s, append(out, s)
			}
			s.by = append(s.by, r.reachOf(t, s, groups))
		}
	}
	return out, r.qualify(ctx, out)
}

// placing is a resource's place in a group.
type placing struct {
	groupID string
	inventory.Member
}

// groupsOf returns the places of resources in the groups of a schedule. For a resource in several groups it is the
// place in the oldest one.
func (r *reading) groupsOf(scheduleID string) map[string]placing {
	ids := slices.Sorted(slices.Values(r.byID[scheduleID]))
	out := map[string]placing{}
	for _, id := range ids {
		for _, m := range r.placed[id] {
			if _, there := out[m.ResourceID]; !there {
				out[m.ResourceID] = placing{id, m}
			}
		}
	}
	return out
}

// reachOf returns how a schedule reaches the subject: by a group, with its place there, or else directly or by its
// tag.
func (r *reading) reachOf(t *scheduling.Timetable, s *subject, groups map[string]placing) reach {
	since := r.since[sinceKey{t.Schedule.ID, s.ResourceID}]
	p, in := groups[s.ResourceID]
	if !in {
		return reach{timetable: t, since: since}
	}
	s.Tier, s.Order = p.Tier, p.Order
	if joined := r.since[sinceKey{t.Schedule.ID, p.groupID}]; since.IsZero() || joined.Before(since) {
		since = joined
	}
	return reach{t, p.groupID, since}
}

// qualify finds the reasons that keep schedules from acting on subjects.
func (r *reading) qualify(ctx context.Context, all []*subject) error {
	members := make([]inventory.Member, len(all))
	for i, s := range all {
		members[i] = s.Member
	}
	now, err := execution.ReadStanding(ctx, r.store.p.Table, r.org, members)
	if err != nil {
		return err
	}
	standing, err := r.store.schedules.StandingOf(ctx, r.org, now.Overrides)
	if err != nil {
		return err
	}
	accounts := now.Accounts
	for _, s := range all {
		s.ReadOnly, s.Disconnected = accounts[s.CloudAccountID].ReadOnly(), accounts[s.CloudAccountID].Disconnection()
		s.Subject.Unschedulable = execution.Unable(s.Member, accounts[s.CloudAccountID])
		s.Events = eventsOn(now.Events, s.UID)
		standing.Apply(s.ResourceID, &s.Subject)
	}
	return nil
}
