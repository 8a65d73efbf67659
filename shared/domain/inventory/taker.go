package inventory

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Taker is the part of a schedule that decides its resources: those attached one by one, those of its groups, and
// those whose tags name it.
type Taker struct {
	ID       string   // sch_…
	GroupIDs []string // the groups that are attached to it
	Direct   bool     // resources are, or were, attached to it one by one: rows at AttachedKey
}

// Takers are the schedules of an organization.
type Takers struct {
	All []Taker // ordered by ID
	// ByTag returns the ID of the schedule that a tag names, or "". It is nil if no schedule selects resources by
	// tags.
	ByTag func(key, value string) string
}

// TakerDecoder decodes schedules. It must be comparable: its decoded schedules are cached until a head changes.
type TakerDecoder interface {
	// DecodeTakers returns the schedules of the items at TakerKey, which are ordered by key.
	DecodeTakers(heads []table.Item) (Takers, error)
}

const takerPrefix = setPrefix + "sch_"

// TakerKey returns the key of a schedule's head. It is beside the index, so that both are read together.
func TakerKey(org, scheduleID string) table.Key { return index.Key(org, setPrefix+scheduleID) }

// knownTakers caches the decoded schedules with their decoder and their items.
type knownTakers struct {
	decoder TakerDecoder
	heads   []table.Item
	takers  Takers
}

// readTakers decodes the schedules of the view. With a nil decoder it reads none.
func (v *view) readTakers(d TakerDecoder) error {
	if d == nil {
		return nil
	}
	heads := headsOf(v.read.Heads, takerPrefix)
	v.st.Lock()
	defer v.st.Unlock()
	known := v.sets.takers
	if known.decoder != d || !slices.EqualFunc(known.heads, heads, sameHead) {
		takers, err := d.DecodeTakers(heads)
		if err != nil {
			return fmt.Errorf("read schedules of %s: %w", v.org, err)
		}
		known = knownTakers{d, heads, takers}
		v.sets.takers = known
	}
	v.takers = known.takers
	return nil
}

func sameHead(a, b table.Item) bool { return a.SK == b.SK && bytes.Equal(a.Data, b.Data) }

// AttachedPartition has a row for each resource that is attached to schedules directly. The row has a field for each
// schedule, with its id as the name. It is read with a page of resources.
const AttachedPartition table.Partition = "ORG#*#ATTACHED#*"

func attached(org string) table.Spread {
	return table.Spread{PK: table.OrgPK(org) + "ATTACHED", Shards: ResourceShards}
}

// AttachedKey returns the key of the row with the schedules that a resource is attached to directly.
func AttachedKey(org, accountID, resourceID string) table.Key {
	return attached(org).Key(accountID + "#" + resourceID)
}

// AttachedGroupKey returns the key of the item with the schedules that a group is attached to. Its field n is their
// number, so that a deletion of the group can require 0.
func AttachedGroupKey(org, groupID string) table.Key {
	return attached(org).Key("grp#" + groupID)
}

// HoldGroup returns the writes that count a record naming a group as a use of it, so that the group cannot be deleted
// at the same time. They fail if the group does not exist.
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

// ReleaseGroup returns the write for the deletion of a group. It fails while the group is attached to a schedule, or
// if HoldGroup was written since CountGroupHolds returned holds.
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

// SchedulesOfGroup returns the ids of the schedules that a group is attached to, oldest first: one round trip.
func (s *Store) SchedulesOfGroup(ctx context.Context, org string, d TakerDecoder, groupID string) ([]string, error) {
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return nil, err
	}
	if err = v.readTakers(d); err != nil {
		return nil, err
	}
	return v.groupSchedules()[groupID], nil
}

// ScheduleMembers expands schedules. For each id in direct it returns the resources of that schedule, ordered by id,
// without terminated ones: the resources in direct, which are attached one by one, those of its groups, and those
// whose tags name it. It takes one round trip, and one more if groups have changed.
func (s *Store) ScheduleMembers(
	ctx context.Context, org string, d TakerDecoder, direct map[string][]string,
) (map[string][]Member, error) {
	groups := map[string]bool{}
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return nil, err
	}
	if err = v.readTakers(d); err != nil {
		return nil, err
	}
	for _, h := range v.takers.All {
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

// tagged returns the resources whose tags name one of the schedules in asked.
func (v *view) tagged(asked map[string][]string) map[string][]Member {
	out := map[string][]Member{}
	if v.takers.ByTag == nil {
		return out
	}
	unlock := v.st.RLockByID()
	defer unlock()
	for r := range v.st.Rows() {
		if id := v.takerByTags(r); id != "" {
			if _, ok := asked[id]; ok {
				out[id] = append(out[id], member(r, 1, 1))
			}
		}
	}
	return out
}

func (v *view) scheduleMembers(scheduleID string, direct []string, tagged []Member) []Member {
	all := tagged
	for i := range v.takers.All {
		if v.takers.All[i].ID != scheduleID {
			continue
		}
		for g := range v.groups {
			if slices.Contains(v.takers.All[i].GroupIDs, v.groups[g].ID) {
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

// groupSchedules returns, by group, the schedules that it is attached to.
func (v *view) groupSchedules() map[string][]string {
	out := map[string][]string{}
	for _, h := range v.takers.All {
		for _, g := range h.GroupIDs {
			out[g] = append(out[g], h.ID)
		}
	}
	return out
}

// hasDirect reports whether any resource is attached to a schedule directly.
func (v *view) hasDirect() bool {
	return slices.ContainsFunc(v.takers.All, func(h Taker) bool { return h.Direct })
}

// schedulesOf adds the schedules of resources: those attached directly (in got), by their groups, and by their tags.
// It needs the read lock.
func (v *view) schedulesOf(l listing, got map[table.Key]table.Item) error {
	if len(v.takers.All) == 0 {
		return nil
	}
	byGroup := v.groupSchedules()
	known := map[string]bool{}
	for _, h := range v.takers.All {
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
		if id := v.takerByTags(r); id != "" {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		l.out[i].ScheduleIDs = slices.Compact(ids)
	}
	return nil
}

// takerByTags returns the ID of the schedule that the tags of a row name, "" for none. It needs the read lock.
func (v *view) takerByTags(r index.Row) string {
	if v.takers.ByTag == nil {
		return ""
	}
	for _, n := range r.Tags() {
		if key, value := v.st.Symbols.Tag(n); v.takers.ByTag(key, value) != "" {
			return v.takers.ByTag(key, value)
		}
	}
	return ""
}

// AttachedIn returns, by schedule, the resources of an account that are attached one by one, as their rows. It takes
// one round trip per shard, and one for each further thousand rows.
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
