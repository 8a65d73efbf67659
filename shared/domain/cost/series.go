package cost

import (
	"slices"

	"lamplighter.dev/shared/foundation/money"
)

// series is the daily amounts from day first on, as integers of a common scale while they fit. These take a quarter of
// the memory of an Amount, and an import has a series for each line.
type series struct {
	first  int
	places int
	narrow []int64
	wide   []money.Amount // in place of narrow
}

func (s *series) len() int { return max(len(s.narrow), len(s.wide)) }

// add adds an amount on a day.
func (s *series) add(day int, a *money.Amount) {
	switch {
	case s.len() == 0:
		s.first = day
	case day < s.first:
		s.shift(s.first - day)
	}
	for s.first+s.len() <= day {
		if s.wide != nil {
			s.wide = append(s.wide, money.Amount{})
		} else {
			s.narrow = append(s.narrow, 0)
		}
	}
	day -= s.first
	if s.wide == nil && s.addNarrow(day, a) {
		return
	}
	s.widen()
	s.wide[day].Increase(a)
}

// shift makes room for days before the first one.
func (s *series) shift(days int) {
	s.first -= days
	if s.wide != nil {
		s.wide = slices.Concat(make([]money.Amount, days), s.wide)
		return
	}
	s.narrow = slices.Concat(make([]int64, days), s.narrow)
}

// addNarrow adds an amount as an integer. It returns false if the amount or the sum does not fit into 64 bits.
func (s *series) addNarrow(i int, a *money.Amount) bool {
	places := s.places
	n, ok := a.Scaled(places)
	for !ok && places < money.Scale {
		places++
		n, ok = a.Scaled(places)
	}
	if !ok {
		return false
	}
	if places > s.places {
		scaled := slices.Clone(s.narrow)
		if !rescale(scaled, places-s.places) {
			return false
		}
		s.narrow, s.places = scaled, places
	}
	sum, ok := addExactly(s.narrow[i], n)
	if ok {
		s.narrow[i] = sum
	}
	return ok
}

func (s *series) widen() {
	if s.wide != nil {
		return
	}
	s.wide = make([]money.Amount, len(s.narrow))
	for i, n := range s.narrow {
		s.wide[i] = money.FromScaled(n, s.places)
	}
	s.narrow = nil
}

func (s *series) at(day int) money.Amount {
	i := day - s.first
	switch {
	case i < 0 || i >= s.len():
		return money.Amount{}
	case s.wide != nil:
		return s.wide[i]
	}
	return money.FromScaled(s.narrow[i], s.places)
}

func (s *series) sum() money.Amount {
	var out money.Amount
	for i := range s.len() {
		a := s.at(s.first + i)
		out.Increase(&a)
	}
	return out
}

func (s *series) clone() series {
	return series{s.first, s.places, slices.Clone(s.narrow), slices.Clone(s.wide)}
}
