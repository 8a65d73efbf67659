package money

import (
	"cmp"
	"slices"
)

// RoundParts rounds parts to so many places such that they add up to the rounded sum of all: by largest remainder, ties by position.
// It is how a level of a breakdown is shown.
func RoundParts(parts []Amount, places int) []Amount {
	return roundTo(parts, Sum(parts...).Round(places), places)
}

// RoundPartsTo is RoundParts of parts that are to add up to another total than their own, as the values below a node do to what the node
// shows.
func RoundPartsTo(parts []Amount, total Amount, places int) []Amount {
	return roundTo(parts, total.Round(places), places)
}

// SplitByWeight splits a by weights into parts of so many places that add up to a; a is rounded to them first. Weights are
// not negative; what weighs nothing gets nothing, but when nothing weighs anything the parts are equal. Without weights there are no parts.
func (a Amount) SplitByWeight(weights []Amount, places int) []Amount {
	total, even := Sum(weights...), int64(len(weights))
	var parts []Amount
	var at []int // where in weights each of the parts is
	for i, w := range weights {
		switch {
		case total.IsZero():
			parts, at = append(parts, a.DivInt(even)), append(at, i)
		case !w.IsZero():
			parts, at = append(parts, a.MulDiv(w, total)), append(at, i)
		}
	}
	out := make([]Amount, len(weights))
	for i, p := range roundTo(parts, a.Round(places), places) {
		out[at[i]] = p
	}
	return out
}

// SplitEvenly splits a into n equal parts that add up to it exactly: the first ones take what is over in the last place.
func (a Amount) SplitEvenly(n int) []Amount { return a.SplitByWeight(make([]Amount, n), Scale) }

// roundTo rounds parts to so many places and hands out what is then missing to total, a unit each, to those that lost most.
func roundTo(parts []Amount, total Amount, places int) []Amount {
	out := make([]Amount, len(parts))
	order := make([]int, len(parts))
	lost := make([]Amount, len(parts))
	for i, p := range parts {
		out[i], order[i] = p.Round(places), i
		lost[i] = p.Sub(out[i])
		total = total.Sub(out[i])
	}
	unit := Amount{powers[Scale-places]}
	if total.Sign() < 0 {
		unit = unit.Neg()
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(lost[j].Cmp(lost[i])*unit.Sign(), cmp.Compare(i, j))
	})
	for n := 0; !total.IsZero() && len(order) > 0; n++ {
		i := order[n%len(order)]
		out[i], total = out[i].Add(unit), total.Sub(unit)
	}
	return out
}
