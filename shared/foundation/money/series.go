package money

import (
	"math"
	"math/bits"
	"slices"
)

// Series is a list of exact amounts, such as those of the days of a month. It takes 8 bytes an amount if all of them
// have at most 12, 15 or 18 decimal places and fit into 63 bits at that scale, else 32 bytes. The zero value is empty.
// Copies share their amounts.
type Series struct {
	narrow []int64 // in units of 10^-places; nil if wide is used
	places int     // one of narrowPlaces
	wide   []Amount
}

// narrowPlaces are the decimal places of the units in which amounts are kept, in the order in which they are tried.
// Amounts of bills have mostly up to 10, converted ones up to 15.
var narrowPlaces = [...]int{12, 15, 18}

// NewSeries returns a series of n zeros.
func NewSeries(n int) Series { return Series{narrow: make([]int64, n), places: narrowPlaces[0]} }

// SeriesOf returns the series of the amounts.
func SeriesOf(amounts ...Amount) Series {
	s := NewSeries(len(amounts))
	for i := range amounts {
		s.Increase(i, &amounts[i])
	}
	return s
}

// Clone returns a copy of the first n amounts.
func (s *Series) Clone(n int) Series {
	out := Series{places: s.places}
	if s.wide != nil {
		out.wide = slices.Clone(s.wide[:n])
	} else {
		out.narrow = slices.Clone(s.narrow[:n])
	}
	return out
}

// Len returns the number of amounts.
func (s *Series) Len() int { return max(len(s.narrow), len(s.wide)) }

// At returns the amount at an index.
func (s *Series) At(i int) Amount {
	if s.wide != nil {
		return s.wide[i]
	}
	if s.narrow[i] == 0 {
		return Amount{}
	}
	return FromScaled(s.narrow[i], s.places)
}

// Increase adds an amount to that at an index.
func (s *Series) Increase(i int, by *Amount) {
	if by.IsZero() {
		return
	}
	for s.wide == nil {
		if n, fits := by.scaledTo(s.places); fits && !overflows(s.narrow[i], n) {
			s.narrow[i] += n
			return
		}
		s.refine()
	}
	s.wide[i].Increase(by)
}

// refine changes the unit to the next smaller one, or makes the series wide.
func (s *Series) refine() {
	for _, places := range narrowPlaces {
		if places > s.places {
			if s.scale(int64(math.Pow10(places - s.places))) {
				s.places = places
				return
			}
			break
		}
	}
	s.wide, s.narrow = s.Amounts(), nil
}

// scale multiplies all amounts. It returns false, and changes nothing, if one of them becomes too large.
func (s *Series) scale(by int64) bool {
	for _, n := range s.narrow {
		if n > math.MaxInt64/by || n < -math.MaxInt64/by {
			return false
		}
	}
	for i := range s.narrow {
		s.narrow[i] *= by
	}
	return true
}

// overflows reports whether a + b is no 64-bit integer.
func overflows(a, b int64) bool {
	sum := a + b
	return (sum > a) != (b > 0)
}

// scaledTo returns a in units of 10^-places, if that is an integer of 63 bits with a sign. There are 12 to 18 places.
func (a Amount) scaledTo(places int) (n int64, fits bool) {
	magnitude := a.Abs().v
	unit := powers[Scale-places][0]
	if magnitude[3]|magnitude[2] != 0 || magnitude[1] >= unit {
		return 0, false
	}
	quotient, rest := bits.Div64(magnitude[1], magnitude[0], unit)
	if rest != 0 || quotient > math.MaxInt64 {
		return 0, false
	}
	if a.Sign() < 0 {
		return -int64(quotient), true //nolint:gosec // compared above
	}
	return int64(quotient), true //nolint:gosec // compared above
}

// Add adds the amounts of more, index by index. An empty series becomes a copy of more.
func (s *Series) Add(more *Series) {
	if s.Len() == 0 {
		*s = NewSeries(more.Len())
	}
	for i := range more.Len() {
		a := more.At(i)
		s.Increase(i, &a)
	}
}

// AddTo adds the amounts to sums, index by index. There are at least as many sums.
func (s *Series) AddTo(sums []Amount) {
	for i := range s.Len() {
		a := s.At(i)
		sums[i].Increase(&a)
	}
}

// HasAmount reports whether any amount is not 0.
func (s *Series) HasAmount() bool {
	for i := range s.Len() {
		if a := s.At(i); !a.IsZero() {
			return true
		}
	}
	return false
}

// Sum returns the sum of the amounts.
func (s *Series) Sum() (sum Amount) {
	for i := range s.Len() {
		a := s.At(i)
		sum.Increase(&a)
	}
	return sum
}

// Amounts returns a copy of the amounts; nil if there are none.
func (s *Series) Amounts() []Amount {
	if s.Len() == 0 {
		return nil
	}
	out := make([]Amount, s.Len())
	s.AddTo(out)
	return out
}
