package inventory

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
)

// Summary counts resources by type, status and place.
type Summary struct {
	Total      int
	ByProvider map[string]int
	ByType     map[string]int
	ByStatus   map[string]int
	ByRegion   map[string]int
}

// SummarizeResources counts the resources that agree with a filter: one round trip.
func (s *Store) SummarizeResources(ctx context.Context, org string, f Filter) (Summary, error) {
	v, err := s.openIndexWith(ctx, org, f.membershipsNeeded())
	if err != nil {
		return Summary{}, err
	}
	v.st.RLock()
	defer v.st.RUnlock()
	match, counts := v.newMatcher(f), [index.RefCount]map[uint32]int{}
	for _, ref := range []int{index.ProviderRef, index.KindRef, index.StatusRef, index.RegionRef} {
		counts[ref] = map[uint32]int{}
	}
	out := Summary{}
	for r := range v.st.Rows() {
		if match != nil && !match(r) {
			continue
		}
		out.Total++
		for ref, c := range counts {
			if c != nil {
				c[r.Ref(ref)]++
			}
		}
	}
	syms := v.st.Symbols
	out.ByProvider, out.ByType = countsByName(syms, counts[index.ProviderRef]),
		countsByName(syms, counts[index.KindRef])
	out.ByStatus, out.ByRegion = countsByName(syms, counts[index.StatusRef]),
		countsByName(syms, counts[index.RegionRef])
	return out, nil
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
