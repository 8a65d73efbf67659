package apitest

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
)

// Addition describes how to add to a list with a limit.
type Addition struct {
	PK     string // the partition of the list, as its limit is counted by a query
	Prefix string // of the sort keys of the list; "" when the partition holds nothing else
	Limit  int
	Send   func(name string) Answer // sends the addition of a name
}

// adders is the number of requests that add to the list at the same moment.
const adders = 4

// CheckLimit fills the list up to one free place. It then makes several requests that count the list at the same
// moment, and reports an error unless exactly one of them adds to it. It mounts the groups again on a store that makes
// the requests meet.
func (f *Fixture) CheckLimit(
	a Addition, //nolint:gocritic // a literal
	groups ...func(*platform.Platform) *rest.Group,
) {
	f.Helper()
	before := f.listed(a)
	f.Must(a.post("pattern"))
	f.fill(a, before)
	meet := Meet(f.Table, a.PK, adders)
	own := f.Platform
	f.Platform = own.Clone()
	f.Table = meet
	f.Mount(groups...)
	f.Equal("additions", f.addAtOnce(a), 1)
	f.Platform = own
	f.Equal("rows of the list", len(f.listed(a)), a.Limit)
	f.Mount(groups...)
}

// addAtOnce returns how many of the requests added to the list.
func (f *Fixture) addAtOnce(a Addition) int64 { //nolint:gocritic // as CheckLimit
	var made atomic.Int64
	var wg sync.WaitGroup
	for i := range adders {
		wg.Go(func() {
			err := a.post("late-" + strconv.Itoa(i))
			switch {
			case err == nil:
				made.Add(1)
			case !strings.Contains(err.Error(), "which is the most"):
				f.Errorf("%v", err)
			}
		})
	}
	wg.Wait()
	return made.Load()
}

// refused is the answer to an addition that did not succeed.
type refused struct{ Answer }

func (r refused) Error() string { return r.String() }

func (a *Addition) post(name string) error {
	if got := a.Send(name); got.Status >= http.StatusBadRequest {
		return refused{got}
	}
	return nil
}

// fill copies the list's only row that is not in before, until one place is left.
func (f *Fixture) fill(a Addition, before map[string]table.Item) { //nolint:gocritic // as CheckLimit
	f.Helper()
	for sk, it := range f.listed(a) {
		if _, old := before[sk]; old {
			continue
		}
		for i := range a.Limit - 2 {
			it.SK = sk[:len(sk)-4] + strconv.Itoa(1000+i)
			f.Write(table.Put(it))
		}
	}
}

// listed returns the rows of the list by their sort keys.
func (f *Fixture) listed(a Addition) map[string]table.Item { //nolint:gocritic // as CheckLimit
	f.Helper()
	page, err := f.Table.Query(f.Anywhere(), table.Query{PK: a.PK, Prefix: a.Prefix, Limit: table.MaxPage})
	f.Must(err)
	out := map[string]table.Item{}
	for _, it := range page.Items {
		if !table.IsTurn(it) {
			out[it.SK] = it
		}
	}
	return out
}

// Meet returns the store s with a barrier: the first n queries of the partition wait for each other, so that all of
// them get the same answer.
func Meet(s table.Store, pk string, n int) table.Store {
	m := &meeting{Store: s, pk: pk}
	m.left.Store(int64(n))
	m.all.Add(n)
	return m
}

// meeting is the store of Meet.
type meeting struct {
	table.Store
	pk   string
	left atomic.Int64
	all  sync.WaitGroup
}

func (m *meeting) Query(ctx context.Context, q table.Query) (table.Page, error) {
	page, err := m.Store.Query(ctx, q)
	if q.PK == m.pk && m.left.Add(-1) >= 0 {
		m.all.Done()
		m.all.Wait()
	}
	return page, err
}
