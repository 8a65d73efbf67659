package scheduling

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Head is the part of a schedule that the inventory needs to find the schedule's resources. It is written with the
// schedule and read with the index of the inventory.
type Head struct {
	ID       string   `json:"id"` // sch_…
	Name     string   `json:"name"`
	Preset   string   `json:"preset,omitempty"`
	Tagged   bool     `json:"tagged,omitempty"`   // it takes the resources whose tag names it
	GroupIDs []string `json:"groupIDs,omitempty"` // the groups that are attached to it
	// whether resources are, or were, attached to it directly: rows at inventory.AttachedKey
	Direct  bool  `json:"direct,omitempty"`
	Changes int64 `json:"changes"` // the number of changes to GroupIDs
}

// tagKeys returns the tag keys whose value names the schedule of a resource. The second key is for clouds that do not
// allow a colon in labels.
func tagKeys() []string { return []string{"lamplighter:schedule", "lamplighter-schedule"} }

// HeadKey returns the key of a schedule's head.
func HeadKey(org, scheduleID string) table.Key { return inventory.TakerKey(org, scheduleID) }

// HeadOf returns the head of a schedule, without its groups.
func HeadOf(sch Schedule) Head {
	return Head{ID: sch.ID, Name: sch.Name, Preset: sch.Preset, Tagged: sch.Tagged}
}

// ReadHead reads the head of a schedule. It returns fault.NotFound when the schedule does not exist.
func (s *Store) ReadHead(ctx context.Context, org, scheduleID string) (Head, error) {
	h, err := table.Read[Head](ctx, s.table, HeadKey(org, scheduleID))
	if fault.Is(err, fault.NotFound) {
		return h, fault.NewWithCause(fault.NotFound, err, "schedule %.64q does not exist", scheduleID)
	}
	if err != nil {
		return h, fmt.Errorf("read head of schedule %s: %w", scheduleID, err)
	}
	return h, nil
}

// Heads decodes the schedules of an organization for the inventory.
type Heads struct{}

// DecodeTakers decodes the schedules from their heads.
func (Heads) DecodeTakers(heads []table.Item) (inventory.Takers, error) {
	all, err := table.DecodeAll[Head](heads)
	return newTakers(all), err
}

// changedHeads decodes the schedules of an organization, with the name, the preset and the tags of next for the
// schedule with its ID.
type changedHeads struct{ next Head }

// DecodeTakers decodes the schedules from their heads and replaces the schedule with next's ID by next. The schedule
// keeps its groups. A new schedule goes last.
func (c *changedHeads) DecodeTakers(heads []table.Item) (inventory.Takers, error) {
	all, err := table.DecodeAll[Head](heads)
	next := c.next
	if i := slices.IndexFunc(all, func(h Head) bool { return h.ID == next.ID }); i >= 0 {
		next.GroupIDs = all[i].GroupIDs
		all[i] = next
	} else {
		all = append(all, next)
	}
	return newTakers(all), err
}

func newTakers(all []Head) inventory.Takers {
	out := inventory.Takers{All: make([]inventory.Taker, len(all)), ByTag: newTagResolver(all)}
	for i, h := range all {
		out.All[i] = inventory.Taker{ID: h.ID, GroupIDs: h.GroupIDs, Direct: h.Direct}
	}
	return out
}

// newTagResolver returns a function that returns the ID of the schedule that a tag names, or "". It returns nil when
// no schedule takes resources by tags. A tag names a schedule by its name, else by the label form of its name
// (labelOf), else by its preset. If several schedules match, the oldest wins.
func newTagResolver(all []Head) func(key, value string) string {
	names := map[string]string{}
	add := func(name, id string) {
		if _, taken := names[name]; !taken && name != "" {
			names[name] = id
		}
	}
	for _, spell := range []func(Head) string{
		func(h Head) string { return strings.ToLower(h.Name) },
		func(h Head) string { return labelOf(h.Name) },
		func(h Head) string { return h.Preset },
	} {
		for _, h := range all {
			if h.Tagged {
				add(spell(h), h.ID)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	keys := tagKeys()
	return func(key, value string) string {
		if !slices.Contains(keys, key) {
			return ""
		}
		value = strings.ToLower(strings.TrimSpace(value))
		if id, ok := names[value]; ok {
			return id
		}
		return names[labelOf(value)]
	}
}

// labelOf converts a name to a form that the labels of every cloud allow: lower-case letters and digits, with a
// hyphen for each run of other characters.
func labelOf(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), "-")
}

// MembersAs returns the resources of a schedule as if it had the name, the preset and the tags of next. It serves to
// preview a change or a creation. Direct are the directly attached resources.
func (s *Store) MembersAs(ctx context.Context, org string, next Head, direct []string) ([]inventory.Member, error) {
	out, err := s.inventory.ScheduleMembers(ctx, org, &changedHeads{next}, map[string][]string{next.ID: direct})
	return out[next.ID], err
}
