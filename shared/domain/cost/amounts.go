package cost

import (
	"encoding/binary"
	"slices"

	"lamplighter.dev/shared/foundation/money"
)

// A column of amounts is stored as integers of a common scale, or as formatted by package money if some do not fit
// into 64 bits.

// amounts is a column of amounts in memory: integers of a common scale, or wide ones.
type amounts struct {
	places int
	narrow []int64
	wide   []money.Amount
}

func (a *amounts) len() int { return max(len(a.narrow), len(a.wide)) }

const (
	wideAmounts  = 255  // in place of the number of places
	sameAsBefore = 0xff // in place of a wide amount that equals the one lag places before
)

// encodeAmounts encodes each amount as its difference from the amount lag places before it; with a lag of 0, as
// itself.
func encodeAmounts(all []money.Amount, lag int) []byte {
	places, narrow := narrowed(all)
	if narrow == nil {
		return appendWide([]byte{wideAmounts}, all, lag)
	}
	b := []byte{byte(places)}
	for i, v := range narrow {
		if lag > 0 && i >= lag {
			v -= narrow[i-lag]
		}
		b = binary.AppendVarint(b, v)
	}
	return b
}

// narrowed returns amounts as integers of their smallest common scale, or nil if there is none.
func narrowed(all []money.Amount) (int, []int64) {
	out, places := make([]int64, len(all)), 0
	for i := range all {
		before := places
		for n, ok := all[i].Scaled(places); ; n, ok = all[i].Scaled(places) {
			if ok {
				out[i] = n
				break
			}
			if places++; places > money.Scale {
				return 0, nil
			}
		}
		if places > before && !rescale(out[:i], places-before) {
			return 0, nil
		}
	}
	return places, out
}

// rescale multiplies integers to a scale with more places. It returns false if one does not fit any more.
func rescale(all []int64, places int) bool {
	if places > 18 {
		return !slices.ContainsFunc(all, func(n int64) bool { return n != 0 })
	}
	factor := int64(1)
	for range places {
		factor *= 10
	}
	for i, n := range all {
		if all[i] = n * factor; all[i]/factor != n {
			return false
		}
	}
	return true
}

func appendWide(b []byte, all []money.Amount, lag int) []byte {
	for i := range all {
		if lag > 0 && i >= lag && all[i] == all[i-lag] {
			b = append(b, sameAsBefore)
			continue
		}
		b = all[i].AppendBinary(b)
	}
	return b
}

// amounts reads n amounts. Integers are read into scratch, if they fit.
func (r *scanner) amounts(n, lag int, scratch []int64) amounts {
	head := r.take(1)
	if r.bad || n > len(r.b) {
		r.fail()
		return amounts{}
	}
	switch {
	case head[0] == wideAmounts:
		return amounts{wide: r.wide(n, lag)}
	case int(head[0]) > money.Scale:
		r.fail()
		return amounts{}
	}
	return amounts{places: int(head[0]), narrow: r.narrow(grown(scratch, n), lag)}
}

// grown returns the first n elements of s, or a new slice of n if s is shorter.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

func (r *scanner) narrow(out []int64, lag int) []int64 {
	b := r.b
	for i := range out {
		var v int64
		if len(b) > 0 && b[0] < 0x80 { // almost always, for similar amounts
			v = int64(b[0]>>1) ^ -int64(b[0]&1)
			b = b[1:]
		} else {
			w, size := binary.Varint(b)
			if size <= 0 {
				r.fail()
				return nil
			}
			v, b = w, b[size:]
		}
		if lag > 0 && i >= lag {
			v += out[i-lag]
		}
		out[i] = v
	}
	r.b = b
	return out
}

func (r *scanner) wide(n, lag int) []money.Amount {
	out := make([]money.Amount, n)
	for i := range out {
		if lag > 0 && i >= lag && len(r.b) > 0 && r.b[0] == sameAsBefore {
			out[i], r.b = out[i-lag], r.b[1:]
			continue
		}
		a, size := money.DecodeBinary(r.b)
		if size == 0 {
			r.fail()
			return nil
		}
		out[i], r.b = a, r.b[size:]
	}
	return out
}
