package inventory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// ScheduleHead is what every reader of the index must know of a schedule, to tell which resources it takes. It is written with
// the schedule (shared/domain/scheduling).
type ScheduleHead struct {
	ID       string   `json:"id"` // sch_…
	Name     string   `json:"name"`
	Preset   string   `json:"preset,omitempty"`
	Tagged   bool     `json:"tagged,omitempty"`   // it takes the resources whose tag names it
	GroupIDs []string `json:"groupIDs,omitempty"` // the groups that are attached to it
	// resources are, or were, attached to it one by one: rows at AttachedKey
	Direct  bool  `json:"direct,omitempty"`
	Changes int64 `json:"changes"` // counts those of GroupIDs
}

const schedulePrefix = setPrefix + "sch_"

// ScheduleTags are the keys of the tags that name the schedule of a resource. The second one is for clouds whose labels
// have no colon.
var ScheduleTags = []string{"lamplighter:schedule", "lamplighter-schedule"}

// ScheduleHeadKey returns where the head of a schedule is stored.
func ScheduleHeadKey(org, scheduleID string) table.Key { return index.Key(org, setPrefix+scheduleID) }

// AttachedPartition has, for each resource that is attached to schedules by itself, a row with a field for each of these, named
// as the schedule. It is read with a page of resources.
const AttachedPartition table.Partition = "ORG#*#ATTACHED#*"

func attached(org string) table.Spread {
	return table.Spread{PK: table.OrgPK(org) + "ATTACHED", Shards: ResourceShards}
}

// AttachedKey returns where is stored which schedules a resource is attached to by itself.
func AttachedKey(org, accountID, resourceID string) table.Key {
	return attached(org).Key(accountID + "#" + resourceID)
}

// AttachedGroupKey returns where is stored which schedules a group is attached to: in the field n how many, so that a deletion of
// the group can demand that there are none.
func AttachedGroupKey(org, groupID string) table.Key {
	return attached(org).Key("grp#" + groupID)
}

// HoldGroup returns the writes by which a record that names a group counts as a use of it, so that nobody deletes the
// group at the same time. They fail when the group does not exist.
func HoldGroup(org, groupID string) []table.Write {
	return []table.Write{
		table.Check(GroupKey(org, groupID), table.Exists()),
		table.Update(AttachedGroupKey(org, groupID), []table.Change{table.Add("holds", 1)}),
	}
}

// CountGroupHolds returns how often HoldGroup was written for a group. One round trip.
func (s *Store) CountGroupHolds(ctx context.Context, org, groupID string) (int64, error) {
	row, err := table.Read[struct {
		Holds int64 `json:"holds"`
	}](ctx, s.table, AttachedGroupKey(org, groupID))
	if fault.Is(err, fault.NotFound) {
		return 0, nil
	}
	return row.Holds, fault.Wrap("count the holds of "+groupID, err)
}

// ReleaseGroup returns the write that goes with the deletion of a group. It fails while the group is attached to a
// schedule, and when HoldGroup was written since CountGroupHolds returned holds.
func ReleaseGroup(org, groupID string, holds int64) table.Write {
	unheld := table.Lacks("holds")
	if holds > 0 {
		unheld = table.Equal("holds", holds)
	}
	return table.Delete(AttachedGroupKey(org, groupID), table.Any(table.Lacks("n"), table.Equal("n", 0)), unheld)
}

// AttachedPKs returns the partitions of the rows at AttachedKey.
func AttachedPKs(org string) []string { return attached(org).PKs() }

// DecodeAttached returns the schedules that a row at AttachedKey names, and the resource.
func DecodeAttached(it table.Item) (scheduleIDs []string, accountID, resourceID string, err error) {
	var fields map[string]json.RawMessage
	if err = json.Unmarshal(it.Data, &fields); err != nil {
		return nil, "", "", fmt.Errorf("read schedules at %s: %w", it.SK, err)
	}
	for name := range fields {
		if strings.HasPrefix(name, "sch_") {
			scheduleIDs = append(scheduleIDs, name)
		}
	}
	slices.Sort(scheduleIDs)
	accountID, resourceID, _ = strings.Cut(it.SK, "#")
	return scheduleIDs, accountID, resourceID, nil
}

// ReadScheduleHead reads the head of a schedule; fault.NotFound when there is none.
func (s *Store) ReadScheduleHead(ctx context.Context, org, scheduleID string) (ScheduleHead, error) {
	h, err := table.Read[ScheduleHead](ctx, s.table, ScheduleHeadKey(org, scheduleID))
	if fault.Is(err, fault.NotFound) {
		return h, fault.NewWithCause(fault.NotFound, err, "schedule %.64q does not exist", scheduleID)
	}
	if err != nil {
		return h, fmt.Errorf("read head of schedule %s: %w", scheduleID, err)
	}
	return h, nil
}

// SchedulesOfGroup returns the ids of the schedules that a group is attached to, oldest first: one round trip.
func (s *Store) SchedulesOfGroup(ctx context.Context, org, groupID string) ([]string, error) {
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return nil, err
	}
	return v.groupSchedules()[groupID], nil
}

// ScheduleMembers expands schedules: for each id of direct the resources that it takes, in the order of their ids, without
// terminated ones: those of direct, which are attached one by one, those of its groups, and those whose tags name it. One round
// trip, and one more when groups have changed.
func (s *Store) ScheduleMembers(ctx context.Context, org string, direct map[string][]string) (map[string][]Member,
	error) {
	return s.scheduleMembers(ctx, org, direct, nil)
}

// ScheduleMembersAs expands one schedule as ScheduleMembers does, as if it had the name, the preset and the tags of next: the resources that it
// takes after a change, or after its creation. Direct are the resources that are attached to it one by one.
func (s *Store) ScheduleMembersAs(ctx context.Context, org string, next ScheduleHead, direct []string) ([]Member,
	error) {
	out, err := s.scheduleMembers(ctx, org, map[string][]string{next.ID: direct}, &next)
	return out[next.ID], err
}

// scheduleMembers expands schedules; next, when it is given, takes the place of the head of its ID, or follows the others.
func (s *Store) scheduleMembers(ctx context.Context, org string, direct map[string][]string, next *ScheduleHead) (map[string][]Member, error) { //nolint:revive // see ScheduleMembers
	groups := map[string]bool{}
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return nil, err
	}
	if next != nil {
		v.schedules = withHead(v.schedules, *next)
	}
	for _, h := range v.schedules {
		if _, asked := direct[h.ID]; asked {
			for _, g := range h.GroupIDs {
				groups[g] = true
			}
		}
	}
	if err = s.loadMembers(ctx, v, func(id string) bool { return groups[id] }); err != nil {
		return nil, err
	}
	tagged := v.tagged(direct)
	out := make(map[string][]Member, len(direct))
	for id, resources := range direct {
		out[id] = v.scheduleMembers(id, resources, tagged[id])
	}
	return out, nil
}

// withHead returns the heads with next in the place of the one of its ID, which keeps its groups; a new one goes last.
func withHead(heads []ScheduleHead, next ScheduleHead) []ScheduleHead {
	out := slices.Clone(heads)
	for i := range out {
		if out[i].ID == next.ID {
			next.GroupIDs = out[i].GroupIDs
			out[i] = next
			return out
		}
	}
	return append(out, next)
}

// tagged returns the resources whose tags name one of the asked schedules.
func (v *view) tagged(asked map[string][]string) map[string][]Member {
	out := map[string][]Member{}
	find := v.tagResolver()
	if find == nil {
		return out
	}
	unlock := v.st.RLockByID()
	defer unlock()
	for r := range v.st.Rows() {
		if id := find(r); id != "" {
			if _, ok := asked[id]; ok {
				out[id] = append(out[id], member(r, 1, 1))
			}
		}
	}
	return out
}

func (v *view) scheduleMembers(scheduleID string, direct []string, tagged []Member) []Member {
	all := tagged
	for i := range v.schedules {
		if v.schedules[i].ID != scheduleID {
			continue
		}
		for g := range v.groups {
			if slices.Contains(v.schedules[i].GroupIDs, v.groups[g].ID) {
				all = append(all, v.expand(&v.groups[g])...)
			}
		}
	}
	unlock := v.st.RLockByID()
	for _, id := range direct {
		if r, ok := rowOfRecord(v.st, id); ok {
			all = append(all, member(r, 1, 1))
		}
	}
	unlock()
	all = slices.DeleteFunc(all, func(m Member) bool { return m.Status == cloud.Terminated })
	slices.SortStableFunc(all, func(a, b Member) int { return strings.Compare(a.ResourceID, b.ResourceID) })
	return slices.CompactFunc(all, func(a, b Member) bool { return a.ResourceID == b.ResourceID })
}

// groupSchedules returns which schedules groups are attached to.
func (v *view) groupSchedules() map[string][]string {
	out := map[string][]string{}
	for _, h := range v.schedules {
		for _, g := range h.GroupIDs {
			out[g] = append(out[g], h.ID)
		}
	}
	return out
}

// hasDirect reports whether resources are attached to schedules one by one.
func (v *view) hasDirect() bool {
	return slices.ContainsFunc(v.schedules, func(h ScheduleHead) bool { return h.Direct })
}

// schedulesOf adds the schedules that resources are attached to: by themselves, as got says, by their groups and by their tags. It
// needs the read lock.
func (v *view) schedulesOf(l listing, got map[table.Key]table.Item) error {
	if len(v.schedules) == 0 {
		return nil
	}
	byGroup, byTag := v.groupSchedules(), v.tagResolver()
	known := map[string]bool{}
	for _, h := range v.schedules {
		known[h.ID] = true
	}
	for i, r := range l.rows {
		var ids []string
		if it, ok := got[AttachedKey(v.org, l.out[i].CloudAccountID, l.out[i].ID)]; ok {
			direct, _, _, err := DecodeAttached(it)
			if err != nil {
				return err
			}
			ids = slices.DeleteFunc(direct, func(id string) bool { return !known[id] })
		}
		if len(byGroup) > 0 {
			for _, g := range v.groupsOf(r) {
				ids = append(ids, byGroup[g]...)
			}
		}
		if byTag != nil {
			if id := byTag(r); id != "" {
				ids = append(ids, id)
			}
		}
		slices.Sort(ids)
		l.out[i].ScheduleIDs = slices.Compact(ids)
	}
	return nil
}

// tagResolver makes the function that tells which schedule the tags of a row name, "" for none; nil when no schedule takes
// resources by their tags. Who is called names: first by the name itself, then by the name as a label can spell it, then by the
// preset that the schedule was made of; of several the oldest.
func (v *view) tagResolver() func(index.Row) string {
	names := map[string]string{}
	add := func(name, id string) {
		if _, taken := names[name]; !taken && name != "" {
			names[name] = id
		}
	}
	for _, spell := range []func(ScheduleHead) string{
		func(h ScheduleHead) string { return strings.ToLower(h.Name) },
		func(h ScheduleHead) string { return slug(h.Name) },
		func(h ScheduleHead) string { return h.Preset },
	} {
		for _, h := range v.schedules {
			if h.Tagged {
				add(spell(h), h.ID)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	return func(r index.Row) string {
		for _, n := range r.Tags() {
			if key, value := v.st.Symbols.Tag(n); slices.Contains(ScheduleTags, key) {
				value = strings.ToLower(strings.TrimSpace(value))
				if id, ok := names[value]; ok {
					return id
				}
				return names[slug(value)]
			}
		}
		return ""
	}
}

// slug spells a name as the labels of every cloud can: letters and digits in lower case, hyphens for what is between.
func slug(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), "-")
}

// AttachedIn returns how many resources of an account are attached to each schedule one by one, and the rows that say so. Round
// trips: one for each shard, and one for each further thousand.
func (s *Store) AttachedIn(ctx context.Context, org, accountID string) ([]table.Item, error) {
	const some = 1000
	var out []table.Item
	for m := table.NewMerge(s.table, table.Query{Prefix: accountID + "#"}, AttachedPKs(org)...); ; {
		items, err := m.Next(ctx, some)
		if err != nil {
			return nil, fmt.Errorf("read which resources of %s are attached to schedules: %w", accountID, err)
		}
		if out = append(out, items...); len(items) < some {
			return out, nil
		}
	}
}

// IsResourceID reports whether s can be the id of a resource.
func IsResourceID(s string) bool {
	_, ok := parseID(s)
	return ok
}
