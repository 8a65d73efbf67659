package resources

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// The limits of views.
const (
	maxViews      = 500 // of an organization
	maxOwnViews   = 50  // of a user
	maxViewName   = 128 // characters
	maxViewValues = 50  // of one filter
	maxViewText   = 256 // characters of a value
	maxViewBytes  = 4 << 10
)

// viewPartition holds the saved views of an organization, private and shared.
const viewPartition table.Partition = "ORG#*#VIEW"

// View is a saved question to the inventory.
type View struct {
	ID        string              `json:"id" example:"view_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Name      string              `json:"name" example:"Stopped in Europe"`
	Filters   map[string][]string `json:"filters" doc:"Query parameters of GET /resources"`
	Shared    bool                `json:"shared" doc:"Seen by the whole organization; else by its creator alone"`
	CreatedBy string              `json:"createdBy" doc:"The creator's address"`
	CreatedAt time.Time           `json:"createdAt"`
	UpdatedAt time.Time           `json:"updatedAt"`
}

// storedView is a view with the user who created it. Changes are conditional on Generation.
type storedView struct {
	View
	User       string `json:"user"`
	Generation int64  `json:"generation"`
}

func (v storedView) view() View { return v.View }

// isVisibleTo reports whether c sees the view. A shared view may name resources outside of a grant on teams or
// resources, so such a caller sees only their own views.
func (v storedView) isVisibleTo(c identity.Caller) bool {
	return v.User == c.User || v.Shared && c.Scopes(policy).All
}

// check normalizes and validates a view. It returns fault.Invalid with the name of the wrong field.
func (v *storedView) check() (err error) {
	if v.Name, err = displayname.CleanName("name", v.Name, maxViewName); err != nil {
		return err
	}
	size := 0
	filters := make(map[string][]string, len(v.Filters))
	for name, values := range v.Filters {
		if err = checkViewFilter(name, values); err != nil {
			return err
		}
		filters[name] = values
		size += len(name) + len(strings.Join(values, ""))
	}
	if v.Filters = filters; size > maxViewBytes {
		return fault.New(fault.Invalid, "filters: they have %d bytes; at most %d are kept: use fewer values", size,
			maxViewBytes)
	}
	return nil
}

// viewFilter is a query parameter of GET /resources.
type viewFilter struct {
	single bool     // it takes one value
	values []string // the permitted values; empty: any text
	time   bool     // it takes a time
}

// viewFilters are the query parameters that a view can hold.
var viewFilters = map[string]viewFilter{
	"search": {single: true}, "type": {}, "provider": {}, "region": {}, "cloud_account_id": {}, "tag": {},
	"status":   {values: strings.Split("running,stopped,starting,stopping,pending,terminated,unknown", ",")},
	"group_id": {single: true}, "team_id": {single: true},
	"schedulable":   {single: true, values: []string{"true", "false"}},
	"created_after": {single: true, time: true}, "created_before": {single: true, time: true},
	"sort_by":    {single: true, values: inventory.Orders},
	"sort_order": {single: true, values: []string{"asc", "desc"}},
}

func checkViewFilter(name string, values []string) error {
	f, known := viewFilters[name]
	switch {
	case !known:
		return fault.New(fault.Invalid, "filters: %.64q is not a query parameter of GET /resources that a view keeps; "+
			"it keeps %s", name, strings.Join(slices.Sorted(maps.Keys(viewFilters)), ", "))
	case len(values) == 0 || len(values) > maxViewValues || f.single && len(values) > 1:
		return fault.New(fault.Invalid, "filters.%s: it has %d values; it takes 1 to %d", name, len(values),
			f.mostValues())
	}
	for _, value := range values {
		if err := f.checkValue(name, value); err != nil {
			return err
		}
	}
	return nil
}

func (f viewFilter) mostValues() int {
	if f.single {
		return 1
	}
	return maxViewValues
}

func (f viewFilter) checkValue(name, value string) error {
	switch {
	case value == "" || utf8.RuneCountInString(value) > maxViewText:
		return fault.New(fault.Invalid, "filters.%s: a value has %d characters; it must have 1 to %d", name,
			utf8.RuneCountInString(value), maxViewText)
	case len(f.values) > 0 && !slices.Contains(f.values, value):
		return fault.New(fault.Invalid, "filters.%s: %.64q is not one of %s", name, value, strings.Join(f.values, ", "))
	case f.time:
		var t rest.Time
		if err := t.UnmarshalText([]byte(value)); err != nil {
			return fault.New(fault.Invalid, "filters.%s: %.64q is not a time: write it as 2026-11-22 or "+
				"2026-11-22T08:00:00Z", name, value)
		}
	}
	return nil
}

func viewKey(org, viewID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + viewPartition.Name(), SK: viewID}
}

// limitedViews returns the views of an organization as a list of maxViews at most.
func limitedViews(org string) table.LimitedList {
	return table.LimitedList{PK: viewKey(org, "").PK, Noun: "views"}
}

// viewStore stores the views of organizations.
type viewStore struct{ table table.Store }

// viewList is the views of an organization as a caller sees them.
type viewList struct {
	visible []storedView // by name
	total   int          // of the organization
	own     int          // of the caller
}

// list reads the views of c's organization. One round trip for a megabyte, some 2,000 views of usual size.
func (s viewStore) list(ctx context.Context, c identity.Caller) (viewList, error) {
	var out viewList
	for q := (table.Query{PK: viewKey(c.Org, "").PK, Prefix: "view_", Limit: maxViews}); ; {
		page, next, err := table.ReadPage[storedView](ctx, s.table, q)
		if err != nil {
			return out, fmt.Errorf("list views of %s: %w", c.Org, err)
		}
		for _, v := range page {
			out.total++
			if v.User == c.User {
				out.own++
			}
			if v.isVisibleTo(c) {
				out.visible = append(out.visible, v)
			}
		}
		if q.Cursor = next; next == "" {
			break
		}
	}
	slices.SortFunc(out.visible, func(a, b storedView) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ID, b.ID))
	})
	return out, nil
}

// read returns a view that c sees, or fault.NotFound. One round trip.
func (s viewStore) read(ctx context.Context, c identity.Caller, viewID string) (storedView, error) {
	missing := fault.New(fault.NotFound, "view %.64q does not exist", viewID)
	if !id.IsValid("view", viewID) {
		return storedView{}, missing
	}
	v, err := table.Read[storedView](ctx, s.table, viewKey(c.Org, viewID))
	if fault.Is(err, fault.NotFound) || err == nil && !v.isVisibleTo(c) {
		return storedView{}, missing
	}
	return v, fault.Wrap("read view "+viewID, err)
}

func changedView(viewID string) error {
	return fault.New(fault.Conflict, "view %s was changed by someone else meanwhile; read it and try again", viewID)
}

// write replaces old, as it was read, by next. The zero old creates a view. It returns fault.Conflict if the view has
// changed since, and if c sees another view with its name. It takes the turn of the list, so that limit and names hold
// under concurrent writes. Three round trips.
func (s viewStore) write(ctx context.Context, c identity.Caller, old, next storedView) error {
	return limitedViews(c.Org).Add(ctx, s.table, func(take table.Write) error {
		all, err := s.list(ctx, c)
		if err != nil {
			return err
		}
		if err = all.checkRoom(old, next); err != nil {
			return err
		}
		next.Generation = old.Generation + 1
		it, err := table.NewItem(viewKey(c.Org, next.ID), next)
		if err != nil {
			return err
		}
		cond := table.Equal("generation", old.Generation)
		if old.ID == "" {
			cond = table.Absent()
		}
		err = s.table.Transact(ctx, table.Put(it, cond), take)
		if table.IsTurnLost(err) {
			return err
		}
		return table.ExplainLost(err, "write view "+next.ID, func(*table.ConditionError) error {
			return changedView(next.ID)
		})
	})
}

// checkRoom refuses a view above the limits, and one with the name of another view in the list.
func (l viewList) checkRoom(old, next storedView) error {
	switch {
	case old.ID == "" && l.own >= maxOwnViews:
		return fault.New(fault.Conflict, "you have %d views, which is the most: delete one first", l.own)
	case old.ID == "" && l.total >= maxViews:
		return fault.New(fault.Conflict, "the organization has %d views, which is the most: delete one first", l.total)
	}
	for _, v := range l.visible {
		if v.ID != next.ID && strings.EqualFold(v.Name, next.Name) {
			return fault.New(fault.Conflict, "name: there is a view %q already, %s", v.Name, v.ID)
		}
	}
	return nil
}
