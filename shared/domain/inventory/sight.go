package inventory

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
)

// Visibility is the part of the inventory that a caller may see. The zero Visibility sees nothing.
type Visibility struct {
	Resources grant.Scopes // the resources themselves
	Groups    grant.Scopes // the resources whose groups are visible
	Teams     grant.Scopes // the teams that are visible as owners: all, or the named ones

	// Schedules decodes the schedules of resources. If it is nil, they are not read. Schedules attached to single
	// resources cost a row each.
	Schedules TakerDecoder
	Costs     CostReader // reads the costs of resources; nil: they are not read
	Tagger    Tagger     // reads their smart tags; nil: they are not read
}

// SightOf returns the sight of caller c. The policy is the one that shows resources, such as "resources:read".
func SightOf(c identity.Caller, policy string) Visibility {
	return Visibility{
		Resources: c.Scopes(policy), Groups: c.Scopes("resource-groups:read"),
		Teams: c.Scopes("teams:read"),
	}
}

// SeeEverything returns the sight of the service itself, which acts for no user.
func SeeEverything() Visibility {
	all := grant.Scopes{All: true}
	return Visibility{Resources: all, Groups: all, Teams: all}
}

// WithSchedules returns the sight with schedules of resources, decoded by d.
func (s Visibility) WithSchedules(d TakerDecoder) Visibility {
	s.Schedules = d
	return s
}

// WithCosts returns the sight with costs of resources, read by r.
func (s Visibility) WithCosts(r CostReader) Visibility {
	s.Costs = r
	return s
}

// WithSmartTags returns the sight with smart tags of resources, read by t.
func (s Visibility) WithSmartTags(t Tagger) Visibility {
	s.Tagger = t
	return s
}

// seesTeam reports whether a team may be seen.
func (s *Visibility) seesTeam(id string) bool {
	return s.Teams.All || slices.Contains(s.Teams.Teams, id)
}

// needsTeam reports whether the sight depends on the resources of the team.
func (s *Visibility) needsTeam(id string) bool {
	return needed(s.Resources, id) || needed(s.Groups, id)
}

func needed(s grant.Scopes, id string) bool { return !s.All && slices.Contains(s.Teams, id) }

// scoped is the ids of the resources in scopes.
type scoped struct {
	scopes grant.Scopes
	ids    map[ulid.ULID]struct{}
}

// newScopeTest returns a test whether a row is in scopes, or nil if every row is. It needs the read lock.
func (v *view) newScopeTest(s grant.Scopes) func(index.Row) bool {
	if s.All {
		return nil
	}
	ids := v.ids(s)
	return func(r index.Row) bool {
		_, ok := ids[r.ID()]
		return ok
	}
}

// ids returns the ids of the resources in scopes that are not All; some ids may be of no resource. A caller mostly has
// the same scopes for resources and groups, so each set is built once.
func (v *view) ids(s grant.Scopes) map[ulid.ULID]struct{} {
	for _, had := range v.scoped {
		if slices.Equal(had.scopes.Teams, s.Teams) && slices.Equal(had.scopes.Resources, s.Resources) {
			return had.ids
		}
	}
	var sets []*memberSet
	size := len(s.Resources)
	for i := range v.owners {
		t := &v.owners[i]
		if m := v.sets.members[t.ID]; m != nil && t.Size > 0 && slices.Contains(s.Teams, t.ID) {
			sets, size = append(sets, m), size+len(m.places)
		}
	}
	ids := make(map[ulid.ULID]struct{}, size)
	for _, m := range sets {
		for i := range m.places {
			ids[m.places[i].id] = struct{}{}
		}
	}
	for _, id := range s.Resources {
		if u, ok := parseID(id); ok {
			ids[u] = struct{}{}
		}
	}
	v.scoped = append(v.scoped, scoped{s, ids})
	return ids
}

// ResourceSet is the resources in some scopes, as of its creation.
type ResourceSet struct {
	all  bool
	ids  map[string]bool
	uids map[string]bool
}

// All reports whether the set contains everything, including resources that are not in the inventory.
func (r ResourceSet) All() bool { return r.all }

// Has reports whether the resource with the id is in the set.
func (r ResourceSet) Has(resourceID string) bool { return r.all || r.ids[resourceID] }

// HasUID reports whether the resource with the native id is in the set.
func (r ResourceSet) HasUID(uid string) bool { return r.all || r.uids[uid] }

// UIDs returns the native ids of the resources in the set, in ascending order. It returns none for a set of
// everything.
func (r ResourceSet) UIDs() []string { return slices.Sorted(maps.Keys(r.uids)) }

// ResourceSets returns the resources of each of scopes. It takes no round trip if all scopes contain everything, else
// one, and one more if the resources of teams have changed.
func (s *Store) ResourceSets(ctx context.Context, org string, scopes ...grant.Scopes) ([]ResourceSet, error) {
	out := make([]ResourceSet, len(scopes))
	narrow := false
	for i := range scopes {
		out[i].all = scopes[i].All
		narrow = narrow || !scopes[i].All && !scopes[i].None()
	}
	if !narrow {
		return out, nil
	}
	v, err := s.openIndexWith(ctx, org, func(id string) bool {
		return slices.ContainsFunc(scopes, func(one grant.Scopes) bool { return needed(one, id) })
	})
	if err != nil {
		return nil, err
	}
	unlock := v.st.RLockByID()
	defer unlock()
	for i := range scopes {
		if !out[i].all {
			out[i] = v.reach(scopes[i])
		}
	}
	return out, nil
}

// reach needs the lock of RLockByID.
func (v *view) reach(s grant.Scopes) ResourceSet {
	rows := v.rowsIn(s)
	out := ResourceSet{ids: make(map[string]bool, len(rows)), uids: make(map[string]bool, len(rows))}
	for _, r := range rows {
		out.ids[formatID(r.ID())], out.uids[r.UID()] = true, true
	}
	return out
}

// rowsIn returns the rows in scopes that are not All. It needs the lock of RLockByID.
func (v *view) rowsIn(s grant.Scopes) []index.Row {
	ids := v.ids(s)
	out := make([]index.Row, 0, len(ids))
	for id := range ids {
		if r, ok := v.st.RowByID(id); ok {
			out = append(out, r)
		}
	}
	return out
}

// Part is a group reduced to some scopes: Places are those of its members in the scopes.
type Part struct {
	Group
	Places []GroupPlacement
}

// GroupsInScope lists the groups that have resources in scopes that are not All, oldest first. With a groupID it
// returns that group only. It takes two round trips, or one when no group and no team has changed.
func (s *Store) GroupsInScope(ctx context.Context, org string, scopes grant.Scopes, groupID string) ([]Part, error) {
	v, err := s.openIndexWith(ctx, org, func(id string) bool {
		return groupID == "" || id == groupID || needed(scopes, id)
	})
	if err != nil {
		return nil, err
	}
	unlock := v.st.RLockByID()
	defer unlock()
	rows := v.rowsIn(scopes)
	var out []Part
	for i := range v.groups {
		if g := &v.groups[i]; groupID == "" || g.ID == groupID {
			if places, some := v.part(g, rows, scopes); some {
				out = append(out, Part{*g, places})
			}
		}
	}
	return out, nil
}

// part returns the places in a group of its resources in scopes, and whether there are any; rows are the resources in
// scopes. As in the whole group, terminated resources stay in a static group and do not count in a dynamic one.
func (v *view) part(g *Group, rows []index.Row, scopes grant.Scopes) (places []GroupPlacement, some bool) {
	if g.Selector == nil {
		places = v.staticPart(g, scopes)
		return places, len(places) > 0
	}
	for _, r := range rows {
		if !selects(v.st, g.Selector, r) {
			continue
		}
		some = true
		if cloud.Status(r.Word(index.StatusRef)) != cloud.Terminated {
			places = append(places, GroupPlacement{formatID(r.ID()), 1, 1})
		}
	}
	slices.SortFunc(places, inSequence)
	return places, some
}

func (v *view) staticPart(g *Group, scopes grant.Scopes) []GroupPlacement {
	m := v.sets.members[g.ID]
	if m == nil || g.Size == 0 {
		return nil
	}
	var out []GroupPlacement
	ids := v.ids(scopes)
	for _, p := range m.places {
		if _, in := ids[p.id]; !in {
			continue
		}
		if _, ok := v.st.RowByID(p.id); ok {
			out = append(out, GroupPlacement{formatID(p.id), p.tier, p.order})
		}
	}
	slices.SortFunc(out, inSequence)
	return out
}

// inSequence orders places by tier, order and id.
func inSequence(a, b GroupPlacement) int {
	return cmp.Or(cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.Order, b.Order), cmp.Compare(a.ResourceID, b.ResourceID))
}
