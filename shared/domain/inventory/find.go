package inventory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// List selects and orders resources that pass a filter. By is name (the default), type, status, provider, region or
// cost; ties are ordered by name, then by uid. The cost comes from the CostReader of the sight; without one it is 0.
// ByUID orders by uid alone, and starts after After. Limit 0 means no limit.
type List struct {
	Filter
	By         string
	Descending bool
	After      string // a uid, with ByUID
	Skip       int
	Limit      int
}

// ByUID orders a List by uid. This order never changes, so a caller can continue a list where a page ended.
const ByUID = "uid"

// Orders are the fields that a list can be ordered by.
var Orders = []string{"name", "type", "status", "provider", "region", "cost"}

var orderNames = map[string]int{
	"": index.NameOrder, "name": index.NameOrder, "type": index.TypeOrder, "status": index.StatusOrder,
	"provider": index.ProviderOrder, "region": index.RegionOrder, "cost": index.CostOrder, ByUID: index.UIDOrder,
}

// Listed is a resource with facts from other records.
type Listed struct {
	Resource
	AccountName string
	GroupIDs    []string
	TeamIDs     []string
	// the schedules that it is attached to directly, by a group or by a tag; nil unless requested
	ScheduleIDs []string
	Schedulable bool              // can be started and stopped
	SmartTags   map[string]string // the accepted ones; nil unless asked for
}

// FindResources lists resources. It takes two round trips for any page: the index's changes, then the accounts on the
// page. It takes one more when the members of the group or team have changed, or the resources of teams that the
// caller's sight depends on.
func (s *Store) FindResources(ctx context.Context, org string, l List) ([]Listed, error) {
	return s.find(ctx, org, l, nil)
}

// find lists resources, and counts those on all pages unless total is nil.
func (s *Store) find(ctx context.Context, org string, l List, total *int) ([]Listed, error) {
	which, ok := orderNames[l.By]
	if !ok {
		return nil, fault.New(fault.Invalid, "sort_by: %.64q is not one of %s", l.By, strings.Join(Orders, ", "))
	}
	v, err := s.openIndexWith(ctx, org, l.membershipsNeeded())
	if err != nil {
		return nil, err
	}
	if err = v.loadCosts(ctx, l.Sight.Costs); err != nil {
		return nil, err
	}
	unlock := v.st.RLockOrdered(which)
	rows := v.page(l, which)
	listed := v.list(rows)
	if total != nil {
		*total = v.countAll(l, which, len(rows))
	}
	unlock()
	return s.complete(ctx, v, listed, l.Sight)
}

// ByUIDs reads the resources in sight by their native ids, in the order of uids, each once; unknown ones are left out.
func (s *Store) ByUIDs(ctx context.Context, org string, uids []string, sight Visibility) ([]Listed, error) {
	return s.pick(ctx, org, picking{keys: uids, lock: readLock, find: (*index.State).RowByUID, sight: sight})
}

// ByIDs reads the resources in sight by our ids, in the order of ids, each once; unknown ones are left out.
func (s *Store) ByIDs(ctx context.Context, org string, ids []string, sight Visibility) ([]Listed, error) {
	return s.pick(ctx, org, picking{keys: ids, lock: (*index.State).RLockByID, find: rowOfRecord, sight: sight})
}

// ByID reads one resource; fault.NotFound if no resource in sight has the id.
func (s *Store) ByID(ctx context.Context, org, id string, sight Visibility) (Listed, error) {
	return one(id)(s.ByIDs(ctx, org, []string{id}, sight))
}

// DescribeByID is ByID with the facts, which only the record has. It takes the same round trips.
func (s *Store) DescribeByID(ctx context.Context, org, id string, sight Visibility) (Listed, error) {
	return one(id)(s.DescribeByIDs(ctx, org, []string{id}, sight))
}

// DescribeByIDs is ByIDs with the facts, each from its record: a round trip for a hundred.
func (s *Store) DescribeByIDs(ctx context.Context, org string, ids []string, sight Visibility) ([]Listed, error) {
	return s.pick(ctx, org,
		picking{keys: ids, lock: (*index.State).RLockByID, find: rowOfRecord, sight: sight, facts: true})
}

// one returns the only resource of a search by id, or fault.NotFound.
func one(id string) func([]Listed, error) (Listed, error) {
	return func(found []Listed, err error) (Listed, error) {
		if err != nil {
			return Listed{}, err
		}
		if len(found) == 0 {
			return Listed{}, fault.New(fault.NotFound, "resource %.64q does not exist", id)
		}
		return found[0], nil
	}
}

// picking selects resources one by one, under the lock that the look-up needs.
type picking struct {
	keys  []string
	lock  func(*index.State) (unlock func())
	find  func(*index.State, string) (index.Row, bool)
	sight Visibility
	facts bool // also read the facts from the records
}

func readLock(st *index.State) (unlock func()) {
	st.RLock()
	return st.RUnlock
}

// rowOfRecord finds a row by the id of its record, under the lock of RLockByID. It returns false if there is none, or
// if it was dropped.
func rowOfRecord(st *index.State, id string) (index.Row, bool) {
	u, ok := parseID(id)
	if !ok {
		return index.Row{}, false
	}
	return st.RowByID(u)
}

// pick makes the same store calls for resources out of sight as for resources that do not exist.
func (s *Store) pick(ctx context.Context, org string, p picking) ([]Listed, error) {
	v, err := s.openIndexWith(ctx, org, p.sight.needsTeam)
	if err != nil {
		return nil, err
	}
	if err = v.loadCosts(ctx, p.sight.Costs); err != nil {
		return nil, err
	}
	var rows []index.Row
	unlock := p.lock(v.st)
	in := v.newScopeTest(p.sight.Resources)
	had := map[ulid.ULID]bool{}
	for _, key := range p.keys {
		if r, ok := p.find(v.st, key); ok && !had[r.ID()] && (in == nil || in(r)) {
			rows, had[r.ID()] = append(rows, r), true
		}
	}
	listed := v.list(rows)
	listed.facts = p.facts
	unlock()
	return s.complete(ctx, v, listed, p.sight)
}

// FilterUnknown returns the ids that are no resources of the organization, in their order. It takes one round trip.
func (s *Store) FilterUnknown(ctx context.Context, org string, ids []string) ([]string, error) {
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return nil, err
	}
	unlock := v.st.RLockByID()
	defer unlock()
	var out []string
	for _, id := range ids {
		if _, ok := rowOfRecord(v.st, id); !ok {
			out = append(out, id)
		}
	}
	return out, nil
}

// openIndexWith opens the index with the members of the wanted groups and teams.
func (s *Store) openIndexWith(ctx context.Context, org string, want func(id string) bool) (*view, error) {
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return nil, err
	}
	return v, s.loadMembers(ctx, v, want)
}

// page returns the rows of a page. It needs the lock of RLockOrdered.
func (v *view) page(l List, which int) []index.Row {
	order, match := v.st.Order(which), v.newMatcher(l.Filter)
	skip, from := l.Skip, 0
	switch {
	case which == index.UIDOrder:
		from = sort.Search(len(order), func(n int) bool { return v.st.Row(order[n]).UID() > l.After })
	case match == nil: // straight to the page
		skip, from = 0, min(l.Skip, len(order))
	}
	var out []index.Row
	for n := from; n < len(order); n++ {
		i := order[n]
		if l.Descending {
			i = order[len(order)-1-n]
		}
		r := v.st.Row(i)
		if match != nil && !match(r) {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if out = append(out, r); len(out) == l.Limit {
			break
		}
	}
	return out
}

// listing is a list of rows with the facts about them.
type listing struct {
	rows  []index.Row
	out   []Listed
	facts bool // requested
}

// list reads the facts about rows from the index. Call it under the lock that the rows were found under: the rows may
// not match the filter later.
func (v *view) list(rows []index.Row) listing {
	l := listing{rows: rows, out: make([]Listed, len(rows))}
	for i, r := range rows {
		l.out[i].Resource, l.out[i].Schedulable = recordOf(v.st, r), schedulable(r)
	}
	return l
}

// complete adds the names of accounts, the groups and the teams, limited to the sight. It takes one round trip for
// all.
func (s *Store) complete(ctx context.Context, v *view, l listing, sight Visibility) ([]Listed, error) {
	if len(l.rows) == 0 {
		return l.out, nil
	}
	if err := v.readTakers(sight.Schedules); err != nil {
		return nil, err
	}
	ask := append(v.staleMembers(func(string) bool { return true }), v.recordsBehind(l)...)
	got, err := s.table.BatchGet(ctx, ask...)
	if err != nil {
		return nil, fmt.Errorf("read accounts of %d resources: %w", len(l.rows), err)
	}
	if err = v.keepMembers(got); err != nil {
		return nil, err
	}
	if err = v.name(l.out, got); err != nil {
		return nil, err
	}
	if err = v.addFacts(l, got); err != nil {
		return nil, err
	}
	if err = v.addSmartTags(ctx, l, &sight); err != nil {
		return nil, err
	}
	return l.out, v.annotate(l, got, &sight)
}

// recordsBehind returns the keys of the records that a listing needs beyond the index, each key once.
func (v *view) recordsBehind(l listing) []table.Key {
	keys := map[table.Key]bool{}
	attached := v.hasDirect()
	for i := range l.out {
		r := &l.out[i]
		keys[AccountKey(v.org, r.CloudAccountID)] = true
		if l.facts {
			keys[ResourceKey(v.org, r.UID)] = true
		}
		if attached {
			keys[AttachedKey(v.org, r.CloudAccountID, r.ID)] = true
		}
	}
	return slices.Collect(maps.Keys(keys))
}

// name adds the names of accounts to out.
func (v *view) name(out []Listed, accounts map[table.Key]table.Item) error {
	names := map[string]string{}
	for k, it := range accounts {
		if k.PK != AccountKey(v.org, "").PK {
			continue
		}
		a, err := table.Decode[Account](it)
		if err != nil {
			return err
		}
		names[a.ID] = a.Name
	}
	for i := range out {
		out[i].AccountName = names[out[i].CloudAccountID]
	}
	return nil
}

// addFacts adds the facts of records to a listing with facts.
func (v *view) addFacts(l listing, records map[table.Key]table.Item) error {
	if !l.facts {
		return nil
	}
	for i := range l.out {
		it, ok := records[ResourceKey(v.org, l.out[i].UID)]
		if !ok {
			continue
		}
		rec, err := table.Decode[Resource](it)
		if err != nil {
			return err
		}
		l.out[i].Facts = rec.Facts
	}
	return nil
}

// annotate adds the groups, the teams and the schedules.
func (v *view) annotate(l listing, got map[table.Key]table.Item, sight *Visibility) error {
	v.st.RLock()
	defer v.st.RUnlock()
	in := v.newScopeTest(sight.Groups)
	for i, r := range l.rows {
		if in == nil || in(r) {
			l.out[i].GroupIDs = v.groupsOf(r)
		}
		l.out[i].TeamIDs = v.teamsOf(r, sight)
	}
	if sight.Schedules == nil {
		return nil
	}
	return v.schedulesOf(l, got)
}
