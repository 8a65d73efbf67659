package inventory

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
)

// sets caches the decoded groups and teams of an organization, so that a request decodes only changed ones. It is
// attached to the index in memory, under its lock.
type sets struct {
	groups  map[string]decoded[Group]
	owners  map[string]decoded[owner]
	takers  knownTakers
	members map[string]*memberSet // of groups and of teams
	heads   int                   // bytes of the heads of both
	placed  int                   // places of members
	costs   Costs                 // the newest that were read; nil before
}

// Bytes returns the approximate size of the sets in memory: twice the text of each head, for the text and its decoded
// form, and placeBytes per place.
func (s *sets) Bytes() int {
	n := 2*s.heads + placeBytes*s.placed
	if s.costs != nil {
		n += s.costs.Bytes()
	}
	return n
}

// placeBytes is the memory of a place.
const placeBytes = 32

// decoded is an item and its decoded value.
type decoded[T any] struct {
	raw   []byte
	value T
}

// owner says that a team owns resources. It has the fields that every reader of the index needs. Generation is the
// team's generation at the last change of its resources; Size is their number then.
type owner struct {
	ID         string `json:"id"`
	Generation int64  `json:"generation"`
	Size       int    `json:"size"`
}

// setsOf returns the sets that are attached to st, new ones when none are. It needs the write lock.
func setsOf(st *index.State) *sets {
	s, ok := st.Attached.(*sets)
	if !ok {
		s = &sets{members: map[string]*memberSet{}}
		st.Attached = s
	}
	return s
}

// decodeHeads decodes the heads of groups and teams, which come ordered by id. It needs the write lock.
func (s *sets) decodeHeads(heads []table.Item) ([]Group, []owner, error) {
	groups, err := reread(&s.groups, headsOf(heads, groupPrefix))
	if err != nil {
		return nil, nil, err
	}
	owners, err := reread(&s.owners, headsOf(heads, ownerPrefix))
	if err != nil {
		return nil, nil, err
	}
	for id := range s.members {
		_, group := s.groups[setPrefix+id]
		if _, team := s.owners[setPrefix+id]; !group && !team {
			s.keep(id, nil)
		}
	}
	s.heads = 0
	for _, it := range heads {
		s.heads += len(it.Data)
	}
	return groups, owners, nil
}

// keep caches the members of a set; nil removes them.
func (s *sets) keep(id string, m *memberSet) {
	if old := s.members[id]; old != nil {
		s.placed -= len(old.places)
	}
	delete(s.members, id)
	if m != nil {
		s.members[id] = m
		s.placed += len(m.places)
	}
}

// headsOf returns the heads with a prefix in their keys. They are adjacent, because heads are ordered by key.
func headsOf(heads []table.Item, prefix string) []table.Item {
	from, _ := slices.BinarySearchFunc(heads, prefix, func(it table.Item, p string) int {
		return strings.Compare(it.SK, p)
	})
	to := from
	for to < len(heads) && strings.HasPrefix(heads[to].SK, prefix) {
		to++
	}
	return heads[from:to]
}

// reread decodes the items that differ from known, replaces known by all decoded items, and returns their values.
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

// memberItem is the stored form of a group's members or a team's resources. It is one item for any number of them, so
// that a change is one transaction and a read one round trip.
type memberItem struct {
	Generation int64  `json:"generation"`
	Z          []byte `json:"z"`
}

func memberKey(org, setID string) table.Key { return index.Key(org, memberPrefix+setID) }

// errPlaces says that encodePlaces did not write this item of members.
var errPlaces = errors.New("members: malformed places")

// encodePlaces encodes places ordered by id: 16 bytes of id, and tier and order, each.
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
	for len(b) > 0 {
		var p place
		n := copy(p.id[:], b)
		tier, t := binary.Uvarint(b[n:])
		if t <= 0 {
			return nil, errPlaces
		}
		order, o := binary.Uvarint(b[n+t:])
		if o <= 0 {
			return nil, errPlaces
		}
		p.tier, p.order = int(tier), int(order) //nolint:gosec // as written
		out, b = append(out, p), b[n+t+o:]
	}
	return out, nil
}

// staleMembers lists the wanted static groups and teams with missing or outdated members in the state.
func (v *view) staleMembers(want func(id string) bool) []table.Key {
	v.st.RLock()
	defer v.st.RUnlock()
	var out []table.Key
	look := func(id string, generation int64, size int) {
		if size == 0 || !want(id) {
			return
		}
		if m := v.sets.members[id]; m == nil || m.generation < generation {
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
	v.st.Lock()
	defer v.st.Unlock()
	for k, it := range items {
		id, ok := strings.CutPrefix(k.SK, memberPrefix)
		if !ok || k.PK != index.PK(v.org) {
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
		if old := v.sets.members[id]; old == nil || old.generation < m.Generation {
			v.sets.keep(id, &memberSet{m.Generation, places})
		}
	}
	return nil
}

// loadMembers reads the missing members of the wanted groups and teams. It takes at most one round trip.
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

// groupsOf returns the ids of a row's groups, in ascending order. It needs the read lock.
func (v *view) groupsOf(r index.Row) []string {
	var out []string
	for i := range v.groups {
		if v.isMember(r, &v.groups[i]) {
			out = append(out, v.groups[i].ID)
		}
	}
	return out
}

func (v *view) isMember(r index.Row, g *Group) bool {
	if g.Selector != nil {
		return selects(v.st, g.Selector, r)
	}
	m := v.sets.members[g.ID]
	return m != nil && g.Size > 0 && m.has(r.ID())
}

// teamsOf returns the ids of the teams in sight that own a row, in ascending order. It needs the read lock.
func (v *view) teamsOf(r index.Row, s *Visibility) []string {
	var out []string
	for i := range v.owners {
		if t := &v.owners[i]; v.isOwnedBy(t, r) && s.seesTeam(t.ID) {
			out = append(out, t.ID)
		}
	}
	return out
}

func (v *view) isOwnedBy(t *owner, r index.Row) bool {
	m := v.sets.members[t.ID]
	return m != nil && t.Size > 0 && m.has(r.ID())
}

// selects reports whether a row matches the selector.
func selects(st *index.State, s *Selector, r index.Row) bool {
	for _, f := range []struct {
		want string
		ref  int
	}{{s.Provider, index.ProviderRef}, {s.Type, index.KindRef}, {s.Region, index.RegionRef}} {
		if f.want != "" && f.want != r.Word(f.ref) {
			return false
		}
	}
	found := 0
	for _, n := range r.Tags() {
		key, value := st.Symbols.Tag(n)
		if v, ok := s.Tags[key]; ok && v == value {
			found++
		}
	}
	return found == len(s.Tags)
}
