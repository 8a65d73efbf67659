package inventory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/domain/inventory/index"
)

// KindCount is how many resources of a type an account has.
type KindCount struct {
	Provider  string
	AccountID string
	Type      string
	Count     int
}

// CountKinds counts the resources in sight by provider, account and type, in this order: one round trip.
func (s *Store) CountKinds(ctx context.Context, org string, sight Visibility) ([]KindCount, error) {
	f := Filter{Sight: sight}
	v, err := s.openIndexWith(ctx, org, f.membershipsNeeded())
	if err != nil {
		return nil, fmt.Errorf("count resources of %s: %w", org, err)
	}
	v.st.RLock()
	defer v.st.RUnlock()
	match, counts := v.newMatcher(f), map[[3]uint32]int{}
	for r := range v.st.Rows() {
		if match == nil || match(r) {
			counts[[3]uint32{r.Ref(index.ProviderRef), r.Ref(index.AccountRef), r.Ref(index.KindRef)}]++
		}
	}
	out := make([]KindCount, 0, len(counts))
	for k, n := range counts {
		out = append(out, KindCount{v.st.Symbols.Name(k[0]), v.st.Symbols.Name(k[1]), v.st.Symbols.Name(k[2]), n})
	}
	slices.SortFunc(out, func(a, b KindCount) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.AccountID, b.AccountID),
			cmp.Compare(a.Type, b.Type))
	})
	return out, nil
}
