package inventory

import "context"

// FindPage is FindResources that also counts the resources on all pages. It takes the same round trips.
func (s *Store) FindPage(ctx context.Context, org string, l List) (found []Listed, total int, err error) {
	found, err = s.find(ctx, org, l, &total)
	return found, total, err
}

// countAll counts the rows on all pages of a list. which is its order, which is ready, and found is the number of rows
// on its page. A page that is not full is the last, so the rows need not be counted.
func (v *view) countAll(l List, which, found int) int {
	match := v.newMatcher(l.Filter)
	switch {
	case match == nil:
		return len(v.st.Order(which))
	case found > 0 && found < l.Limit, found == 0 && l.Skip == 0:
		return l.Skip + found
	}
	n := 0
	for r := range v.st.Rows() {
		if match(r) {
			n++
		}
	}
	return n
}
