package inventory

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/domain/inventory/index"
)

// Billed is a resource with the dimensions of its costs: native id, type, region, and the ids of its teams and groups
// in ascending order.
type Billed struct {
	UID    string
	Type   string
	Region string
	Teams  []string
	Groups []string
}

// Directory finds resources by the ids in bills, with all of their teams and groups, as of the time when it was
// opened. It is not safe for concurrent use.
type Directory struct {
	view    *view
	teams   map[ulid.ULID][]string
	groups  map[ulid.ULID][]string // the static ones
	dynamic []*Group
	aliases map[string]string // see resolve.go; nil until it is asked for
}

// OpenDirectory reads the index once, with the members of all groups and teams: one round trip, and one more when the
// members have changed.
func (s *Store) OpenDirectory(ctx context.Context, org string) (*Directory, error) {
	v, err := s.openIndexWith(ctx, org, func(string) bool { return true })
	if err != nil {
		return nil, fmt.Errorf("open the directory of %s: %w", org, err)
	}
	d := &Directory{view: v, teams: map[ulid.ULID][]string{}, groups: map[ulid.ULID][]string{}}
	v.st.RLock()
	defer v.st.RUnlock()
	for i := range v.owners {
		if t := &v.owners[i]; t.Size > 0 {
			enlist(d.teams, t.ID, v.sets.members[t.ID])
		}
	}
	for i := range v.groups {
		g := &v.groups[i]
		switch {
		case g.Selector != nil:
			d.dynamic = append(d.dynamic, g)
		case g.Size > 0:
			enlist(d.groups, g.ID, v.sets.members[g.ID])
		}
	}
	return d, nil
}

// Definitions identifies the teams and groups of the directory: it is another text after each change of a group, and
// after each change of the resources of a team.
func (d *Directory) Definitions() string {
	h := fnv.New64a()
	note := func(id string, generation int64) { _, _ = fmt.Fprintf(h, "%s %d\n", id, generation) } // a hash never fails
	for i := range d.view.owners {
		note(d.view.owners[i].ID, d.view.owners[i].Generation)
	}
	for i := range d.view.groups {
		note(d.view.groups[i].ID, d.view.groups[i].Generation)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// enlist adds the set's id to each member of the set, once.
func enlist(in map[ulid.ULID][]string, setID string, m *memberSet) {
	if m == nil {
		return
	}
	for _, p := range m.places {
		if had := in[p.id]; len(had) == 0 || had[len(had)-1] != setID {
			in[p.id] = append(had, setID)
		}
	}
}

// Find finds the resource that a bill of one of the organization's accounts names. It returns false if the inventory
// knows no such resource, or several.
func (d *Directory) Find(accountID, billedID string) (Billed, bool) {
	if billedID == "" {
		return Billed{}, false
	}
	d.view.st.RLock()
	defer d.view.st.RUnlock()
	r, ok := d.resolve(accountID, billedID)
	if !ok {
		return Billed{}, false
	}
	return Billed{
		UID: r.UID(), Type: r.Word(index.KindRef), Region: r.Word(index.RegionRef),
		Teams: d.teams[r.ID()], Groups: d.groupsOf(r),
	}, true
}

// groupsOf merges the static and the dynamic groups of a row in the order of their ids. It needs the read lock.
func (d *Directory) groupsOf(r index.Row) []string {
	static := d.groups[r.ID()]
	var out []string
	for _, g := range d.dynamic {
		if !selects(d.view.st, g.Selector, r) {
			continue
		}
		for len(static) > 0 && static[0] < g.ID {
			out, static = append(out, static[0]), static[1:]
		}
		out = append(out, g.ID)
	}
	if out == nil {
		return static
	}
	return append(out, static...)
}
