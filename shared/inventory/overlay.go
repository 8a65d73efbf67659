package inventory

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/table"
)

// groups remembers what a state decoded of its organization's groups, so that a request decodes only what changed.
type groups struct {
	heads   map[string]groupHead
	members map[string]*memberSet
}

type groupHead struct {
	raw   []byte
	group Group
}

func newGroups() groups {
	return groups{map[string]groupHead{}, map[string]*memberSet{}}
}

// read decodes group heads, which come ordered by id. It needs the state's write lock.
func (g *groups) read(items []table.Item) ([]Group, error) {
	out := make([]Group, 0, len(items))
	heads := make(map[string]groupHead, len(items))
	for _, it := range items {
		h, ok := g.heads[it.SK]
		if !ok || !bytes.Equal(h.raw, it.Data) {
			one, err := table.Decode[Group](it)
			if err != nil {
				return nil, err
			}
			h = groupHead{it.Data, one}
		}
		heads[it.SK] = h
		out = append(out, h.group)
	}
	for id := range g.members {
		if _, ok := heads[groupPrefix+id]; !ok {
			delete(g.members, id)
		}
	}
	g.heads = heads
	return out, nil
}

// memberSet is the members of a static group, ordered by id.
type memberSet struct {
	generation int64
	places     []place
}

// place is a Place in binary.
type place struct {
	id          ulid.ULID
	tier, order int
}

func (m *memberSet) has(id ulid.ULID) bool {
	_, ok := slices.BinarySearchFunc(m.places, id, func(p place, id ulid.ULID) int { return p.id.Compare(id) })
	return ok
}

// memberItem is how the members of a group stand in their item: one item whatever their number, so that a change of the
// group is one transaction and reading it one round trip.
type memberItem struct {
	Generation int64  `json:"generation"`
	Z          []byte `json:"z"`
}

func memberKey(org, groupID string) table.Key { return indexKey(org, memberPrefix+groupID) }

// encodePlaces writes places ordered by id: 16 bytes, tier and order each.
func encodePlaces(places []place) []byte {
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(a.id.Compare(b.id), cmp.Compare(a.tier, b.tier), cmp.Compare(a.order, b.order))
	})
	out := make([]byte, 0, 18*len(places))
	for _, p := range places {
		out = append(out, p.id[:]...)
		out = binary.AppendUvarint(out, uint64(p.tier))  //nolint:gosec // validated: 1 or more
		out = binary.AppendUvarint(out, uint64(p.order)) //nolint:gosec // validated: 1 or more
	}
	return out
}

func decodePlaces(b []byte) ([]place, error) {
	out := make([]place, 0, len(b)/18)
	r := reader{b: b}
	for r.at < len(r.b) {
		var p place
		copy(p.id[:], r.take(uint64(len(p.id))))
		p.tier, p.order = int(r.uint()), int(r.uint()) //nolint:gosec // as written
		if r.bad {
			return nil, fmt.Errorf("members: %w", errSegment)
		}
		out = append(out, p)
	}
	return out, nil
}

// stale lists the static groups whose members the state lacks, or has of an older generation.
func (v *view) stale(want func(Group) bool) []table.Key {
	v.st.mu.RLock()
	defer v.st.mu.RUnlock()
	var out []table.Key
	for _, g := range v.groups {
		if g.Selector != nil || g.Size == 0 || !want(g) {
			continue
		}
		if m := v.st.groups.members[g.ID]; m == nil || m.generation < g.Generation {
			out = append(out, memberKey(v.org, g.ID))
		}
	}
	return out
}

// keep remembers the members among items.
func (v *view) keep(items map[table.Key]table.Item) error {
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	for k, it := range items {
		id, ok := strings.CutPrefix(k.SK, memberPrefix)
		if !ok || k.PK != indexPK(v.org) {
			continue
		}
		m, err := table.Decode[memberItem](it)
		if err != nil {
			return err
		}
		places, err := decodePlaces(m.Z)
		if err != nil {
			return fmt.Errorf("group %s: %w", id, err)
		}
		if old := v.st.groups.members[id]; old == nil || old.generation < m.Generation {
			v.st.groups.members[id] = &memberSet{m.Generation, places}
		}
	}
	return nil
}

// loadMembers reads the members of the group unless they are known.
func (s *Store) loadMembers(ctx context.Context, v *view, groupID string) error {
	keys := v.stale(func(g Group) bool { return g.ID == groupID })
	if len(keys) == 0 {
		return nil
	}
	got, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return fmt.Errorf("read members of %s: %w", groupID, err)
	}
	return v.keep(got)
}

// memberships tells which groups a row belongs to, ordered by id. It needs the read lock.
func (v *view) memberships(r *row) []string {
	var out []string
	for i := range v.groups {
		if v.belongs(r, &v.groups[i]) {
			out = append(out, v.groups[i].ID)
		}
	}
	return out
}

func (v *view) belongs(r *row, g *Group) bool {
	if g.Selector != nil {
		return v.st.selects(*g.Selector, r)
	}
	m := v.st.groups.members[g.ID]
	return m != nil && g.Size > 0 && m.has(r.id)
}

// selects tells whether a row is what the selector asks for.
func (st *state) selects(s Selector, r *row) bool {
	for _, f := range []struct {
		want string
		ref  int
	}{{s.Provider, providerRef}, {s.Type, kindRef}, {s.Region, regionRef}} {
		if f.want != "" && f.want != st.syms.ref(r, f.ref) {
			return false
		}
	}
	found := 0
	for _, n := range r.tags {
		p := st.syms.pairs[n]
		if v, ok := s.Tags[st.syms.names[p.key]]; ok && v == st.syms.names[p.value] {
			found++
		}
	}
	return found == len(s.Tags)
}
