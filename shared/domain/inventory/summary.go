package inventory

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/cloud"
)

// Summary counts resources by what they are and where.
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
	v.st.mu.RLock()
	defer v.st.mu.RUnlock()
	match, counts := v.newMatcher(f), [refCount]map[uint32]int{}
	for _, ref := range []int{providerRef, kindRef, statusRef, regionRef} {
		counts[ref] = map[uint32]int{}
	}
	out := Summary{}
	for i := range v.st.rows {
		r := &v.st.rows[i]
		if r.gone || match != nil && !match(r) {
			continue
		}
		out.Total++
		for ref, c := range counts {
			if c != nil {
				c[r.refs[ref]]++
			}
		}
	}
	out.ByProvider, out.ByType = v.st.syms.named(counts[providerRef]), v.st.syms.named(counts[kindRef])
	out.ByStatus, out.ByRegion = v.st.syms.named(counts[statusRef]), v.st.syms.named(counts[regionRef])
	return out, nil
}

func (s *symbols) named(counts map[uint32]int) map[string]int {
	out := make(map[string]int, len(counts))
	for n, c := range counts {
		out[s.names[n]] = c
	}
	return out
}

// CountByAccount returns how many resources each account has, terminated ones left out, by account id: one round trip.
func (s *Store) CountByAccount(ctx context.Context, org string) (map[string]int, error) {
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return nil, fmt.Errorf("count resources of %s: %w", org, err)
	}
	v.st.mu.RLock()
	defer v.st.mu.RUnlock()
	counts := map[uint32]int{}
	terminated := v.st.syms.ids[string(cloud.Terminated)] // 0, which no status is, when there are none
	for i := range v.st.rows {
		if r := &v.st.rows[i]; !r.gone && r.refs[statusRef] != terminated {
			counts[r.refs[accountRef]]++
		}
	}
	return v.st.syms.named(counts), nil
}
