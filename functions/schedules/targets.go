package schedules

import (
	"context"
	"slices"
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/fault"
)

func compareText(a, b string) int { return strings.Compare(a, b) }

// newMember returns the attributes of a resource that a preview needs.
func newMember(r *inventory.Listed) inventory.Member {
	return inventory.Member{
		ResourceID: r.ID, UID: r.UID, Name: r.Name, Type: r.Type, Provider: r.Provider, Region: r.Region,
		CloudAccountID: r.CloudAccountID,
		Status:         r.Status, Unschedulable: r.Unschedulable,
	}
}

// previewTargets returns the timetable of a schedule, and the resources in the caller's scopes that it takes, with
// the attributes that a preview needs.
func (s *service) previewTargets(ctx context.Context, sch scheduling.Schedule, members []inventory.Member,
	span scheduling.Span,
) (*scheduling.Timetable, []scheduling.Target, error) {
	seen, err := s.inScope(ctx)
	if err != nil {
		return nil, nil, err
	}
	members = slices.DeleteFunc(members, func(m inventory.Member) bool { return !seen.Has(m.ResourceID) })
	if len(members) > maxTargets {
		return nil, nil, fault.New(fault.Invalid, "the schedule takes %d resources; at most %d can be previewed: "+
			"preview a schedule of one of its groups",
			len(members), maxTargets)
	}
	others, err := s.schedulesOf(ctx, members)
	if err != nil {
		return nil, nil, err
	}
	var ids []string
	for _, all := range others {
		ids = append(ids, all...)
	}
	slices.Sort(ids)
	ids = slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return id == sch.ID })
	tables, err := s.timetables(ctx, ids, span, sch)
	if err != nil {
		return nil, nil, err
	}
	out, err := s.readSubjects(ctx, members)
	for i := range out {
		out[i].Attached = append(out[i].Attached, tables[sch.ID])
		for _, id := range others[out[i].Member.ResourceID] {
			if t := tables[id]; t != nil && id != sch.ID {
				out[i].Attached = append(out[i].Attached, t)
			}
		}
	}
	return tables[sch.ID], out, err
}

// schedulesOf returns the schedules of resources, by resource ID.
func (s *service) schedulesOf(ctx context.Context, members []inventory.Member) (map[string][]string, error) {
	ids := make([]string, len(members))
	for i := range members {
		ids[i] = members[i].ResourceID
	}
	found, err := s.inventory.ByIDs(ctx, identity.CallerOrg(ctx), ids,
		inventory.SeeEverything().WithSchedules(scheduling.Heads{}))
	out := make(map[string][]string, len(found))
	for i := range found {
		out[found[i].ID] = found[i].ScheduleIDs
	}
	return out, err
}

// readSubjects returns for each member whether its account is read-only or disconnected, and its override.
func (s *service) readSubjects(ctx context.Context, members []inventory.Member) ([]scheduling.Target, error) {
	accounts, err := s.inventory.ListAccounts(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return nil, err
	}
	of := make(map[string]inventory.Account, len(accounts))
	for i := range accounts {
		of[accounts[i].ID] = accounts[i]
	}
	standing, err := s.store.ReadStanding(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return nil, err
	}
	events, err := s.readEvents(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]scheduling.Target, len(members))
	for i, m := range members {
		out[i] = scheduling.Target{Member: m, Subject: scheduling.Subject{
			ReadOnly: of[m.CloudAccountID].ReadOnly(), Disconnected: of[m.CloudAccountID].Disconnection(),
			Unschedulable: m.Unschedulable,
			Events:        events[m.UID],
		}}
		standing.Apply(m.ResourceID, &out[i].Subject)
	}
	return out, nil
}
