package inventory

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
)

// Summary counts resources by type, status and place, and by the account's ID.
type Summary struct {
	Total      int
	ByProvider map[string]int
	ByType     map[string]int
	ByStatus   map[string]int
	ByRegion   map[string]int
	ByAccount  map[string]int
	// Facets counts, by the name of a filter of lists and by value, the resources that agree with all other filters:
	// what a list would have if its filter had the value.
	Facets map[string]map[string]int
}

// facet is a filter by a list of values.
type facet struct {
	name string
	ref  int
	list func(*Filter) *[]string
}

var facets = [...]facet{
	{"provider", index.ProviderRef, func(f *Filter) *[]string { return &f.Providers }},
	{"type", index.KindRef, func(f *Filter) *[]string { return &f.Types }},
	{"status", index.StatusRef, func(f *Filter) *[]string { return &f.Statuses }},
	{"region", index.RegionRef, func(f *Filter) *[]string { return &f.Regions }},
	{"cloud_account_id", index.AccountRef, func(f *Filter) *[]string { return &f.Accounts }},
}

// SummarizeResources counts the resources that agree with a filter. It takes one round trip, and those of the costs in
// the filter's sight.
func (s *Store) SummarizeResources(ctx context.Context, org string, f Filter) (Summary, error) {
	return s.SummarizeRunning(ctx, org, f, nil)
}

// SummarizeRunning is SummarizeResources that also calls running, unless it is nil, for each counted resource that
// runs, after the costs in the filter's sight were read.
func (s *Store) SummarizeRunning(ctx context.Context, org string, f Filter, running func(uid string)) (Summary, error) {
	v, err := s.openIndexWith(ctx, org, f.membershipsNeeded())
	if err != nil {
		return Summary{}, err
	}
	if err = v.loadCosts(ctx, f.Sight.Costs); err != nil {
		return Summary{}, err
	}
	v.st.RLock()
	defer v.st.RUnlock()
	c := v.newCounter(f)
	if running != nil {
		c.running = running
	}
	for r := range v.st.Rows() {
		c.count(r)
	}
	return c.summary(), nil
}

// counter counts rows for a summary.
type counter struct {
	symbols *index.Symbols
	base    func(index.Row) bool              // all filters but the facets; nil without any
	own     [len(facets)]func(index.Row) bool // the filter of each facet; nil without one
	total   int
	agree   [len(facets)]map[uint32]int // by facet and value: the rows that agree with all filters
	others  [len(facets)]map[uint32]int // the rows that agree with all filters but that of the facet
	runs    uint32                      // the symbol of running
	running func(uid string)
}

func (v *view) newCounter(f Filter) *counter {
	c := &counter{symbols: v.st.Symbols, running: func(string) {}}
	for i := range facets {
		list := facets[i].list(&f)
		if len(*list) > 0 {
			c.own[i] = among(v.st, facets[i].ref, *list)
		}
		*list = nil
		c.agree[i], c.others[i] = map[uint32]int{}, map[uint32]int{}
	}
	c.base = v.newMatcher(f)
	c.runs, _ = v.st.Symbols.Find(string(cloud.Running))
	return c
}

// count counts a row where it agrees with all filters, or with all but that of one facet.
func (c *counter) count(r index.Row) {
	if c.base != nil && !c.base(r) {
		return
	}
	failed := -1
	for i, own := range c.own {
		if own == nil || own(r) {
			continue
		}
		if failed >= 0 {
			return
		}
		failed = i
	}
	if failed >= 0 {
		c.others[failed][r.Ref(facets[failed].ref)]++
		return
	}
	c.total++
	for i := range facets {
		c.agree[i][r.Ref(facets[i].ref)]++
	}
	if r.Ref(index.StatusRef) == c.runs {
		c.running(r.UID())
	}
}

func (c *counter) summary() Summary {
	out, counts := Summary{Total: c.total, Facets: map[string]map[string]int{}}, [len(facets)]map[string]int{}
	for i := range facets {
		counts[i] = countsByName(c.symbols, c.agree[i])
		for value, n := range c.agree[i] {
			c.others[i][value] += n
		}
		out.Facets[facets[i].name] = countsByName(c.symbols, c.others[i])
	}
	out.ByProvider, out.ByType, out.ByStatus, out.ByRegion, out.ByAccount =
		counts[0], counts[1], counts[2], counts[3], counts[4]
	return out
}

func countsByName(s *index.Symbols, counts map[uint32]int) map[string]int {
	out := make(map[string]int, len(counts))
	for n, c := range counts {
		out[s.Name(n)] = c
	}
	return out
}

// CountByAccount returns how many resources each account has, terminated ones left out, by account id: one round trip.
func (s *Store) CountByAccount(ctx context.Context, org string) (map[string]int, error) {
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return nil, fmt.Errorf("count resources of %s: %w", org, err)
	}
	v.st.RLock()
	defer v.st.RUnlock()
	counts := map[uint32]int{}
	terminated, _ := v.st.Symbols.Find(string(cloud.Terminated)) // 0, the symbol of no status, if there are none
	for r := range v.st.Rows() {
		if r.Ref(index.StatusRef) != terminated {
			counts[r.Ref(index.AccountRef)]++
		}
	}
	return countsByName(v.st.Symbols, counts), nil
}
