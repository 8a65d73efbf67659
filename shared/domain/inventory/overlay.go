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

	"lamplighter.dev/shared/engine/table"
)

// sets remembers what a state decoded of its organization's groups and teams, so that a request decodes only what changed.
type sets struct {
	groups  map[string]decoded[Group]
	owners  map[string]decoded[owner]
	members map[string]*memberSet // of groups and of teams
}

// decoded is an item and what it says.
type decoded[T any] struct {
	raw   []byte
	value T
}

// owner tells that a team owns resources: what of it every reader of the index needs. Generation is that of the team when
// what it owns was last changed; Size is how many resources those were.
type owner struct {
	ID         string `json:"id"`
	Generation int64  `json:"generation"`
	Size       int    `json:"size"`
}

func newSets() sets { return sets{members: map[string]*memberSet{}} }

// decodeHeads decodes the heads of groups and teams, which come ordered by id. It needs the state's write lock.
func (s *sets) decodeHeads(l look) ([]Group, []owner, error) {
	groups, err := reread(&s.groups, l.groups)
	if err != nil {
		return nil, nil, err
	}
	owners, err := reread(&s.owners, l.owners)
	if err != nil {
		return nil, nil, err
	}
	for id := range s.members {
		_, group := s.groups[setPrefix+id]
		if _, team := s.owners[setPrefix+id]; !group && !team {
			delete(s.members, id)
		}
	}
	return groups, owners, nil
}

// reread decodes the items that are not as known has them, and makes known what they all say now.
func reread[T any](known *map[string]decoded[T], items []table.Item) ([]T, error) {
	out := make([]T, 0, len(items))
	next := make(map[string]decoded[T], len(items))
	for _, it := range items {
		d, ok := (*known)[it.SK]
		if !ok || !bytes.Equal(d.raw, it.Data) {
			v, err := table.Decode[T](it)
			if err != nil {
				return nil, err
			}
			d = decoded[T]{it.Data, v}
		}
		next[it.SK] = d
		out = append(out, d.value)
	}
	*known = next
	return out, nil
}

// memberSet is the members of a static group, or the resources of a team, ordered by id.
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

// memberItem is how the members of a group, or the resources of a team, stand in their item: one item whatever their
// number, so that a change is one transaction and reading it one round trip.
type memberItem struct {
	Generation int64  `json:"generation"`
	Z          []byte `json:"z"`
}

func memberKey(org, setID string) table.Key { return indexKey(org, memberPrefix+setID) }

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
		copy(p.id[:], r.takeBytes(uint64(len(p.id))))
		p.tier, p.order = int(r.readUint()), int(r.readUint()) //nolint:gosec // as written
		if r.bad {
			return nil, fmt.Errorf("members: %w", errSegment)
		}
		out = append(out, p)
	}
	return out, nil
}

// staleMembers lists the wanted static groups and teams whose members the state lacks, or has of an older generation.
func (v *view) staleMembers(want func(id string) bool) []table.Key {
	v.st.mu.RLock()
	defer v.st.mu.RUnlock()
	var out []table.Key
	look := func(id string, generation int64, size int) {
		if size == 0 || !want(id) {
			return
		}
		if m := v.st.sets.members[id]; m == nil || m.generation < generation {
			out = append(out, memberKey(v.org, id))
		}
	}
	for i := range v.groups {
		if g := &v.groups[i]; g.Selector == nil {
			look(g.ID, g.Generation, g.Size)
		}
	}
	for _, t := range v.owners {
		look(t.ID, t.Generation, t.Size)
	}
	return out
}

// keepMembers remembers the members among items.
func (v *view) keepMembers(items map[table.Key]table.Item) error {
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
			return fmt.Errorf("members of %s: %w", id, err)
		}
		if old := v.st.sets.members[id]; old == nil || old.generation < m.Generation {
			v.st.sets.members[id] = &memberSet{m.Generation, places}
		}
	}
	return nil
}

// loadMembers reads the members of the wanted groups and teams that are not known: at most one round trip.
func (s *Store) loadMembers(ctx context.Context, v *view, want func(id string) bool) error {
	keys := v.staleMembers(want)
	if len(keys) == 0 {
		return nil
	}
	got, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return fmt.Errorf("read members of %d groups and teams: %w", len(keys), err)
	}
	return v.keepMembers(got)
}

// groupsOf returns which groups a row belongs to, ordered by id. It needs the read lock.
func (v *view) groupsOf(r *row) []string {
	var out []string
	for i := range v.groups {
		if v.isMember(r, &v.groups[i]) {
			out = append(out, v.groups[i].ID)
		}
	}
	return out
}

func (v *view) isMember(r *row, g *Group) bool {
	if g.Selector != nil {
		return v.st.selectsRow(*g.Selector, r)
	}
	m := v.st.sets.members[g.ID]
	return m != nil && g.Size > 0 && m.has(r.id)
}

// teamsOf returns which teams in sight own a row, ordered by id. It needs the read lock.
func (v *view) teamsOf(r *row, s *Visibility) []string {
	var out []string
	for i := range v.owners {
		if t := &v.owners[i]; v.isOwnedBy(t, r) && s.seesTeam(t.ID) {
			out = append(out, t.ID)
		}
	}
	return out
}

func (v *view) isOwnedBy(t *owner, r *row) bool {
	m := v.st.sets.members[t.ID]
	return m != nil && t.Size > 0 && m.has(r.id)
}

// selectsRow reports whether a row is what the selector asks for.
func (st *state) selectsRow(s Selector, r *row) bool {
	for _, f := range []struct {
		want string
		ref  int
	}{{s.Provider, providerRef}, {s.Type, kindRef}, {s.Region, regionRef}} {
		if f.want != "" && f.want != st.syms.refName(r, f.ref) {
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
