package money

import (
	"cmp"
	"slices"
)

// RoundParts rounds parts to the given number of decimal places, so that they add up to their rounded sum. It uses the
// largest remainder method; ties go to the earlier part. Breakdowns of costs are shown this way.
func RoundParts(parts []Amount, places int) []Amount {
	return roundTo(parts, Sum(parts...).Round(places), places)
}

// RoundPartsTo is RoundParts with a total that differs from the sum of the parts, for example the shown value of the
// parent node.
func RoundPartsTo(parts []Amount, total Amount, places int) []Amount {
	return roundTo(parts, total.Round(places), places)
}

// SplitByWeight splits a, rounded to the given number of decimal places, into parts in proportion to weights that are
// not negative. The parts add up to the rounded a. The part of a zero weight is 0, unless all weights are zero: then
// the parts are equal. Without weights there are no parts.
func (a Amount) SplitByWeight(weights []Amount, places int) []Amount {
	total, even := Sum(weights...), int64(len(weights))
	var parts []Amount
	var at []int // index in weights of each part
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

// SplitEvenly splits a into n equal parts that add up to it exactly. The first parts take the remainder of the last
// decimal place.
func (a Amount) SplitEvenly(n int) []Amount { return a.SplitByWeight(make([]Amount, n), Scale) }

// roundTo rounds parts, and then corrects them by one unit of the last place each, starting with the part that rounding
// changed most, until they add up to total.
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
