package inventory

import (
	"cmp"
	"slices"
)

// The orders that a list can have. There is no cost order yet: until prices exist it is the order of names.
const (
	nameOrder = iota
	typeOrder
	statusOrder
	providerOrder
	regionOrder
	uidOrder
	orderCount
	everyOrder
)

var orderRefs = [orderCount]int{typeOrder: kindRef, statusOrder: statusRef, providerOrder: providerRef, regionOrder: regionRef}

// order is the rows of a state in one order, without dropped ones. Dirty are those that changed since it was made.
type order struct {
	rows  []int32
	dirty map[int32]bool
}

// markUnordered notes that a row changed what the order which is about, or everyOrder.
func (st *state) markUnordered(i int32, which int) {
	for n, o := range st.orders {
		if o != nil && (which == everyOrder || which == n) {
			o.dirty[i] = true
		}
	}
}

// orderReady reports whether the order can be read without the write lock.
func (st *state) orderReady(which int) bool {
	o := st.orders[which]
	return o != nil && len(o.dirty) == 0
}

// sortedRows returns the rows in an order. It needs the write lock unless the order is ready.
func (st *state) sortedRows(which int) []int32 {
	o := st.orders[which]
	switch {
	case o == nil || len(o.dirty) > len(o.rows)/4:
		o = &order{rows: st.sort(which), dirty: map[int32]bool{}}
		st.orders[which] = o
	case len(o.dirty) > 0:
		o.rows = st.mend(o, which)
		o.dirty = map[int32]bool{}
	}
	return o.rows
}

func (st *state) sort(which int) []int32 {
	rows := make([]int32, 0, len(st.rows))
	for i := range st.rows {
		if !st.rows[i].gone {
			rows = append(rows, int32(i)) //nolint:gosec // far fewer than 2^31 fit into memory
		}
	}
	slices.SortFunc(rows, st.comparison(which))
	return rows
}

// mend takes the dirty rows out of an order and merges them in where they belong now.
func (st *state) mend(o *order, which int) []int32 {
	compare := st.comparison(which)
	moved := make([]int32, 0, len(o.dirty))
	for i := range o.dirty {
		if !st.rows[i].gone {
			moved = append(moved, i)
		}
	}
	slices.SortFunc(moved, compare)
	out := make([]int32, 0, len(o.rows)+len(moved))
	for _, i := range o.rows {
		if o.dirty[i] {
			continue
		}
		for len(moved) > 0 && compare(moved[0], i) < 0 {
			out, moved = append(out, moved[0]), moved[1:]
		}
		out = append(out, i)
	}
	return append(out, moved...)
}

// comparison orders rows by the order's field, then by name without regard to case, then by uid.
func (st *state) comparison(which int) func(a, b int32) int {
	byName := func(a, b int32) int {
		x, y := &st.rows[a], &st.rows[b]
		if c := cmp.Compare(x.lname, y.lname); c != 0 {
			return c
		}
		return cmp.Compare(x.uid, y.uid)
	}
	switch which {
	case nameOrder:
		return byName
	case uidOrder:
		return func(a, b int32) int { return cmp.Compare(st.rows[a].uid, st.rows[b].uid) }
	}
	ref := orderRefs[which]
	return func(a, b int32) int {
		x, y := st.rows[a].refs[ref], st.rows[b].refs[ref]
		if x != y {
			return cmp.Compare(st.syms.names[x], st.syms.names[y])
		}
		return byName(a, b)
	}
}
