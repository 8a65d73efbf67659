package inventory

import (
	"context"
	"fmt"
	"strings"

	"lamplighter.dev/shared/fault"
	"lamplighter.dev/shared/table"
)

// List asks for a part of the resources that agree with a filter. By is name (the default), type, status, provider,
// region or cost; ties go by name, then by uid. Limit 0 is all.
type List struct {
	Filter
	By         string
	Descending bool
	Skip       int
	Limit      int
}

// Orders are the fields that a list can be ordered by.
var Orders = []string{"name", "type", "status", "provider", "region", "cost"}

var orderNames = map[string]int{
	"": nameOrder, "name": nameOrder, "type": typeOrder, "status": statusOrder, "provider": providerOrder,
	"region": regionOrder, "cost": nameOrder,
}

// Listed is a resource with what other records say of it.
type Listed struct {
	Resource
	AccountName string
	GroupIDs    []string
	Schedulable bool // can be started and stopped
}

// Find lists resources. Two round trips whatever the page: the index's changes, then the accounts on the page.
func (s *Store) Find(ctx context.Context, org string, l List) ([]Listed, error) {
	which, ok := orderNames[l.By]
	if !ok {
		return nil, fault.New(fault.Invalid, "sort_by: %.64q is not one of %s", l.By, strings.Join(Orders, ", "))
	}
	v, err := s.opened(ctx, org, l.needs)
	if err != nil {
		return nil, err
	}
	unlock := v.st.readable(which)
	rows := v.page(l, which)
	unlock()
	return s.complete(ctx, v, rows)
}

// ByUIDs reads resources by their native ids, in the order of uids; unknown ones are left out.
func (s *Store) ByUIDs(ctx context.Context, org string, uids []string) ([]Listed, error) {
	v, err := s.open(ctx, org)
	if err != nil {
		return nil, err
	}
	var rows []row
	v.st.mu.RLock()
	for _, uid := range uids {
		if r := v.st.lookup(uid); r != nil {
			rows = append(rows, *r)
		}
	}
	v.st.mu.RUnlock()
	return s.complete(ctx, v, rows)
}

// ByIDs reads resources by our ids, in the order of ids; unknown ones are left out.
func (s *Store) ByIDs(ctx context.Context, org string, ids []string) ([]Listed, error) {
	v, err := s.open(ctx, org)
	if err != nil {
		return nil, err
	}
	var rows []row
	unlock := v.st.indexed()
	for _, id := range ids {
		if r := v.st.lookupID(id); r != nil {
			rows = append(rows, *r)
		}
	}
	unlock()
	return s.complete(ctx, v, rows)
}

// ByID reads one resource; fault.NotFound when there is none of the id.
func (s *Store) ByID(ctx context.Context, org, id string) (Listed, error) {
	found, err := s.ByIDs(ctx, org, []string{id})
	if err != nil {
		return Listed{}, err
	}
	if len(found) == 0 {
		return Listed{}, fault.New(fault.NotFound, "resource %.64q does not exist", id)
	}
	return found[0], nil
}

// Unknown tells which of ids are no resources of the organization, in their order: one round trip.
func (s *Store) Unknown(ctx context.Context, org string, ids []string) ([]string, error) {
	v, err := s.open(ctx, org)
	if err != nil {
		return nil, err
	}
	unlock := v.st.indexed()
	defer unlock()
	var out []string
	for _, id := range ids {
		if v.st.lookupID(id) == nil {
			out = append(out, id)
		}
	}
	return out, nil
}

// opened opens the index with the members of the wanted groups and teams.
func (s *Store) opened(ctx context.Context, org string, want func(id string) bool) (*view, error) {
	v, err := s.open(ctx, org)
	if err != nil {
		return nil, err
	}
	return v, s.loadMembers(ctx, v, want)
}

// readable gives the read lock with the order ready, and how to give it back.
func (st *state) readable(which int) (unlock func()) {
	st.mu.RLock()
	if st.ready(which) {
		return st.mu.RUnlock
	}
	st.mu.RUnlock()
	st.mu.Lock()
	st.sorted(which)
	return st.mu.Unlock // another change may come before a read lock would
}

// page picks the rows of a page. It needs the lock of readable.
func (v *view) page(l List, which int) []row {
	order, match := v.st.orders[which].rows, v.matcher(l.Filter)
	skip, from := l.Skip, 0
	if match == nil { // straight to the page
		skip, from = 0, min(l.Skip, len(order))
	}
	var out []row
	for n := from; n < len(order); n++ {
		i := order[n]
		if l.Descending {
			i = order[len(order)-1-n]
		}
		r := &v.st.rows[i]
		if match != nil && !match(r) {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if out = append(out, *r); len(out) == l.Limit {
			break
		}
	}
	return out
}

// complete adds the names of accounts and the groups to rows: one round trip for both.
func (s *Store) complete(ctx context.Context, v *view, rows []row) ([]Listed, error) {
	out := make([]Listed, len(rows))
	v.st.mu.RLock()
	keys := map[table.Key]bool{}
	for i := range rows {
		out[i].Resource, out[i].Schedulable = v.st.resource(&rows[i]), v.st.schedulable(&rows[i])
		keys[AccountKey(v.org, out[i].CloudAccountID)] = true
	}
	v.st.mu.RUnlock()
	if len(rows) == 0 {
		return out, nil
	}
	ask := v.stale(func(string) bool { return true })
	for k := range keys {
		ask = append(ask, k)
	}
	got, err := s.table.BatchGet(ctx, ask...)
	if err != nil {
		return nil, fmt.Errorf("read accounts of %d resources: %w", len(rows), err)
	}
	if err = v.keep(got); err != nil {
		return nil, err
	}
	return out, v.annotate(out, rows, got)
}

// annotate puts the names of accounts and the groups into out.
func (v *view) annotate(out []Listed, rows []row, accounts map[table.Key]table.Item) error {
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
	v.st.mu.RLock()
	defer v.st.mu.RUnlock()
	for i := range out {
		out[i].AccountName = names[out[i].CloudAccountID]
		out[i].GroupIDs = v.memberships(&rows[i])
	}
	return nil
}
