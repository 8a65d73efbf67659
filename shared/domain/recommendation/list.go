package recommendation

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/money"
)

// List selects and orders recommendations. A field with several values matches any of them, an empty one all.
type List struct {
	Statuses   []string // as of now: a dismissal ends at its time
	Severities []string
	Categories []string
	Providers  []string
	Types      []string
	Rules      []string // ids
	Accounts   []string // our ids
	Search     string   // within name and native id of the resource, title and rule, without regard to case
	By         string   // SavingsOrder, UpdatedOrder or SeverityOrder; ties are ordered by id
	Descending bool
	Skip       int
	Limit      int
	Scopes     grant.Scopes // the resources that the caller may see
}

// The orders of a list.
const (
	SavingsOrder  = "savings_usd"
	UpdatedOrder  = "updated_at"
	SeverityOrder = "severity"
)

// Item is a row with what follows from other rows, and from the time.
type Item struct {
	Row
	Status        Status       // as of now
	Saving        money.Amount // net, in USD a month; of an open row what it counts, 0 for an alternative
	AlternativeOf string       // the id of the stronger recommendation, if the caller may see it; empty for none
	ConfirmedAt   time.Time    // when all resources of its shard were evaluated last; zero: not yet
}

// View is the recommendations that a caller may see, at one moment.
type View struct {
	store   *Store
	columns *Columns
	lookup  *inventory.Lookup // nil while it is not needed
	now     int64
	sums    *standing
	in      func(ulid.ULID) bool // nil: everything
}

// View opens the recommendations in scopes. It takes one round trip, or two side by side if the scopes are not
// everything or the inventory is needed.
func (s *Store) View(ctx context.Context, org string, scopes grant.Scopes, withInventory bool) (*View, error) {
	v := &View{store: s, now: s.clock.Now().UnixMilli()}
	var g errgroup.Group
	g.Go(func() (err error) {
		v.columns, err = s.Open(ctx, org)
		return err
	})
	if withInventory || !scopes.All {
		g.Go(func() (err error) {
			v.lookup, err = s.inventory.OpenLookup(ctx, org, scopes)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if v.lookup != nil {
		v.in = v.lookup.InScopes(scopes)
	}
	v.sums = v.columns.standingAt(time.UnixMilli(v.now))
	return v, nil
}

// List lists recommendations, and returns the number of all that match. Any page takes two round trips, one behind the
// other: the columns, beside them the inventory if the list searches or the scopes are not everything, and then the
// rows of the page.
func (s *Store) List(ctx context.Context, org string, l List) (items []Item, total int, err error) {
	v, err := s.View(ctx, org, l.Scopes, strings.TrimSpace(l.Search) != "")
	if err != nil {
		return nil, 0, err
	}
	page, total := v.page(&l)
	items, err = v.items(ctx, page)
	return items, total, err
}

// visible reports whether an entry exists for the caller.
func (v *View) visible(e *entry) bool {
	return statusNames[e.status] != Candidate && (v.in == nil || v.in(e.resource)) && !e.expired(time.UnixMilli(v.now))
}

// page returns the numbers of the entries of a page, and how many match.
func (v *View) page(l *List) (page []int32, total int) {
	v.eachMatching(l, func(i int32) {
		if total >= l.Skip && len(page) < l.Limit {
			page = append(page, i)
		}
		total++
	})
	return page, total
}

// eachMatching calls f with the entries that match, in the order of the list.
func (v *View) eachMatching(l *List, f func(i int32)) {
	order, match := v.columns.order(v.sums, l.By), v.columns.newMatcher(l, v.now)
	each := func(found func(*entry) bool) {
		for n := range order {
			i := order[n]
			if l.Descending {
				i = order[len(order)-1-n]
			}
			if e := &v.columns.entries[i]; match(e) && v.visible(e) && found(e) {
				f(i)
			}
		}
	}
	word := strings.ToLower(strings.TrimSpace(l.Search))
	if word == "" {
		each(func(*entry) bool { return true })
		return
	}
	v.lookup.Read(func(find inventory.Find) { each(v.columns.searching(word, find)) })
}

// searching returns the test whether a lower-case word is in the texts of an entry.
func (c *Columns) searching(word string, find inventory.Find) func(*entry) bool {
	rules := make([]bool, len(c.names.rules))
	for i, r := range c.names.rules {
		rules[i] = strings.Contains(r.id, word) || strings.Contains(strings.ToLower(r.title), word)
	}
	return func(e *entry) bool {
		if rules[e.rule] {
			return true
		}
		if e.has(inlineFlag) {
			return strings.Contains(strings.ToLower(e.more.uid), word) ||
				strings.Contains(strings.ToLower(e.more.name), word)
		}
		r, ok := find(e.resource)
		return ok && r.Mentions(word)
	}
}

// newMatcher returns the test of the filters but the search.
func (c *Columns) newMatcher(l *List, now int64) func(*entry) bool {
	places := make([]bool, len(c.names.places))
	for i, p := range c.names.places {
		places[i] = among(l.Providers, p.provider) && among(l.Types, p.kind) && among(l.Accounts, p.account)
	}
	rules := make([]bool, len(c.names.rules))
	for i, r := range c.names.rules {
		rules[i] = among(l.Categories, r.category) && among(l.Rules, r.id)
	}
	severities := make([]bool, len(Severities))
	for i, s := range Severities {
		severities[i] = among(l.Severities, string(s))
	}
	return func(e *entry) bool {
		return places[e.place] && rules[e.rule] && severities[e.severity] &&
			(len(l.Statuses) == 0 || slices.Contains(l.Statuses, string(e.statusAt(now))))
	}
}

// among reports whether a list of wanted values has v, or is empty.
func among(wanted []string, v string) bool { return len(wanted) == 0 || slices.Contains(wanted, v) }

// saving returns the net saving of an entry in cents a month: of an open one what it counts.
func (c *Columns) saving(s *standing, i int32, now int64) int64 {
	if e := &c.entries[i]; e.statusAt(now) != Open {
		return e.net
	}
	return s.net[i]
}

// order returns the numbers of all entries, smallest first. The caller must not change it.
func (c *Columns) order(s *standing, by string) []int32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if had, ok := c.orders[by]; ok && c.sums == s {
		return had
	}
	key := func(i int32) int64 { return c.saving(s, i, s.from) }
	switch by {
	case UpdatedOrder:
		key = func(i int32) int64 { return c.entries[i].updated }
	case SeverityOrder:
		key = func(i int32) int64 { return int64(c.entries[i].severity) }
	}
	keys, out := make([]int64, len(c.entries)), make([]int32, len(c.entries))
	for i := range out {
		out[i], keys[i] = int32(i), key(int32(i))
	}
	slices.SortFunc(out, func(a, b int32) int { return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(a, b)) })
	if c.sums == s {
		c.orders[by] = out
	}
	return out
}

// items reads the rows of entries: one round trip for a hundred. A row that has gone meanwhile is left out.
func (v *View) items(ctx context.Context, numbers []int32) ([]Item, error) {
	ids := make([]string, len(numbers))
	for n, i := range numbers {
		ids[n] = formatULID(v.columns.entries[i].id)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := v.store.ReadRows(ctx, v.columns.org, ids)
	if err != nil {
		return nil, err
	}
	out := make([]Item, 0, len(ids))
	for n, i := range numbers {
		if r, ok := rows[ids[n]]; ok {
			out = append(out, v.item(i, &r))
		}
	}
	return out, nil
}

// item returns a row with what follows from the columns. If the row has changed since the columns were read, its own
// status counts.
func (v *View) item(i int32, r *Row) Item {
	e := &v.columns.entries[i]
	it := Item{
		Row: *r, Status: r.Effective(time.UnixMilli(v.now)),
		Saving: money.FromScaled(v.columns.saving(v.sums, i, v.now), 2),
	}
	if other := v.sums.stronger[i]; other >= 0 && it.Status == Open && v.visible(&v.columns.entries[other]) {
		it.AlternativeOf = formatULID(v.columns.entries[other].id)
	}
	if at := v.columns.confirmed[e.id[15]&0x0f]; at > 0 {
		it.ConfirmedAt = time.UnixMilli(at).UTC()
	}
	return it
}
