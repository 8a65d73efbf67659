package index

import (
	"cmp"
	"slices"
)

// The orders of a list. CostOrder orders by the values of SetCosts.
const (
	NameOrder = iota
	TypeOrder
	StatusOrder
	ProviderOrder
	RegionOrder
	UIDOrder
	CostOrder
	orderCount
	everyOrder
)

var orderRefs = [orderCount]int{
	TypeOrder: KindRef, StatusOrder: StatusRef, ProviderOrder: ProviderRef,
	RegionOrder: RegionRef,
}

// order is the rows of a State in one order, without dropped ones. Dirty are the rows that changed since the order was
// made.
type order struct {
	rows  []int32
	dirty map[int32]struct{}
}

// held returns how many bytes of memory o takes: a place in a map of numbers takes about ten.
func (o *order) held() int { return 4*cap(o.rows) + 10*len(o.dirty) }

// touch marks a row as changed for one order, or for everyOrder.
func (st *State) touch(i int32, which int) {
	for n, o := range st.orders {
		if o != nil && (which == everyOrder || which == n) {
			o.dirty[i] = struct{}{}
		}
	}
}

// RLockOrdered takes the read lock with the order sorted, so that Order works, and returns the function that releases
// the lock.
func (st *State) RLockOrdered(which int) (unlock func()) {
	st.RLock()
	if st.ready(which) {
		return st.RUnlock
	}
	st.RUnlock()
	st.Lock()
	st.sorted(which)
	return st.Unlock // with a read lock taken later, a change could come between
}

// Order returns the numbers of the rows in an order, without dropped ones, under the lock of RLockOrdered.
func (st *State) Order(which int) []int32 { return st.orders[which].rows }

// ready reports whether the order can be read without the write lock.
func (st *State) ready(which int) bool {
	o := st.orders[which]
	return o != nil && len(o.dirty) == 0
}

// sorted returns the rows in an order. It needs the write lock unless the order is ready.
func (st *State) sorted(which int) []int32 {
	if which == CostOrder {
		st.fillCosts()
	}
	o := st.orders[which]
	switch {
	case o == nil || len(o.dirty) > len(o.rows)/4:
		o = &order{rows: st.sort(which), dirty: map[int32]struct{}{}}
		st.orders[which] = o
	case len(o.dirty) > 0:
		o.rows = st.mend(o, which)
		o.dirty = map[int32]struct{}{}
	}
	return o.rows
}

func (st *State) sort(which int) []int32 {
	rows := make([]int32, 0, st.count)
	for n := range int32(st.count) {
		if !st.Row(n).gone() {
			rows = append(rows, n)
		}
	}
	if which == NameOrder {
		return st.sortByName(rows)
	}
	return sortRuns(rows, st.comparison(which))
}

// mend removes the dirty rows from an order and merges them in at their new positions.
func (st *State) mend(o *order, which int) []int32 {
	compare := st.comparison(which)
	moved := make([]int32, 0, len(o.dirty))
	for i := range o.dirty {
		if !st.Row(i).gone() {
			moved = append(moved, i)
		}
	}
	slices.SortFunc(moved, compare)
	out := make([]int32, 0, len(o.rows)+len(moved))
	for _, i := range o.rows {
		if _, changed := o.dirty[i]; changed {
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
func (st *State) comparison(which int) func(a, b int32) int {
	byName := func(a, b int32) int {
		x, y := st.textOf(st.cell(a)), st.textOf(st.cell(b))
		if c := cmp.Compare(x.lowerName, y.lowerName); c != 0 {
			return c
		}
		return cmp.Compare(x.uid, y.uid)
	}
	switch which {
	case NameOrder:
		return byName
	case UIDOrder:
		return func(a, b int32) int { return cmp.Compare(st.Row(a).UID(), st.Row(b).UID()) }
	}
	if which == CostOrder {
		return func(a, b int32) int { return cmp.Or(cmp.Compare(st.costOf(a), st.costOf(b)), byName(a, b)) }
	}
	ref := orderRefs[which]
	return func(a, b int32) int {
		if x, y := st.Row(a).Ref(ref), st.Row(b).Ref(ref); x != y {
			return cmp.Compare(st.Symbols.Name(x), st.Symbols.Name(y))
		}
		return byName(a, b)
	}
}

// Price returns the sort amount for CostOrder of the resource with a native id in a status.
type Price func(uid, status string) int64

// SetCosts sets the sort amounts for CostOrder: of the current rows, of later rows, and of rows whose status changes.
// They are calculated when they are asked for. It needs the write lock.
func (st *State) SetCosts(price Price) {
	st.price, st.costs, st.orders[CostOrder] = price, nil, nil
}

func (st *State) fillCosts() {
	if st.price == nil || st.costs != nil {
		return
	}
	st.costs = make([]int64, 0, st.count)
	for n := range int32(st.count) {
		st.costs = append(st.costs, st.priceOf(n))
	}
}

// priceOf returns the amount of a row as it is now.
func (st *State) priceOf(n int32) int64 {
	r := st.Row(n)
	return st.price(r.UID(), r.Word(StatusRef))
}

// reprice updates the amount of a row after a change of its status.
func (st *State) reprice(n int32) {
	if st.price == nil || int(n) >= len(st.costs) {
		return
	}
	if now := st.priceOf(n); now != st.costs[n] {
		st.costs[n] = now
		st.touch(n, CostOrder)
	}
}

// costOf returns the cost of a row, or 0 if SetCosts was not called yet.
func (st *State) costOf(n int32) int64 {
	if int(n) < len(st.costs) {
		return st.costs[n]
	}
	return 0
}
