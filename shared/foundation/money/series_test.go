package money

import (
	"slices"
	"testing"

	"lamplighter.dev/shared/testkit/seed"
)

func TestSeries_HoldsTheSumsOfAnyAmounts(t *testing.T) {
	r := seed.Random(t)
	for range 2000 {
		n := 1 + r.IntN(5)
		s, want := NewSeries(n), make([]Amount, n)
		for range r.IntN(20) {
			i, by := r.IntN(n), FromScaled(r.Int64()>>r.IntN(64), r.IntN(Scale+1))
			if r.IntN(3) == 0 {
				by = by.MulInt(-1 - r.Int64N(1<<40))
			}
			s.Increase(i, &by)
			want[i].Increase(&by)
		}
		if got := s.Amounts(); !slices.Equal(got, want) {
			t.Fatalf("amounts %v, want %v", got, want)
		}
		if s.Len() != n || s.Sum() != Sum(want...) || s.At(n-1) != want[n-1] {
			t.Fatalf("%d amounts, sum %s, last %s; want those of %v", s.Len(), s.Sum(), s.At(n-1), want)
		}
	}
}

func TestSeries_IsNarrowAsLongAsAllAmountsFit(t *testing.T) {
	for name, c := range map[string]struct {
		amounts []string
		places  int // 0: wide
	}{
		"nothing":                      {nil, 12},
		"cents and ten decimal places": {[]string{"0.01", "-3.0123456789", "9000000"}, 12},
		"converted amounts":            {[]string{"0.01", "1.012345678901234"}, 15},
		"18 places":                    {[]string{"0.01", "1.012345678901234567", "-9"}, 18},
		"a long and a large amount":    {[]string{"1.012345678901234567", "10"}, 0},
		"an amount too large":          {[]string{"10000000"}, 0},
		"a sum too large for the unit": {[]string{"9000000", "0.000000000000001"}, 0},
		"more places than units have":  {[]string{"0.0000000000000000001"}, 0},
		"an amount of three words":     {[]string{"1000000000000"}, 0},
		"the largest amount":           {[]string{"9223372.036854775807"}, 12},
	} {
		t.Run(name, func(t *testing.T) {
			want := make([]Amount, len(c.amounts))
			for i, text := range c.amounts {
				want[i] = MustParse(text)
			}
			s := SeriesOf(want...)
			if got := s.Amounts(); !slices.Equal(got, want) && len(want) > 0 {
				t.Errorf("amounts %v, want %v", got, want)
			}
			if wide := s.wide != nil; wide != (c.places == 0) || !wide && s.places != c.places {
				t.Errorf("wide %t, places %d; want %d places", wide, s.places, c.places)
			}
		})
	}
}

func TestSeries_BecomesWideWhenASumOverflows(t *testing.T) {
	most := MustParse("9223372.036854775807")
	s := SeriesOf(most)
	s.Increase(0, &most)
	if got := s.At(0); got != most.MulInt(2) {
		t.Errorf("%s, want %s", got, most.MulInt(2))
	}
}

func BenchmarkSeries_Increase(b *testing.B) {
	s, by := NewSeries(31), MustParse("12.3456789012")
	b.ReportAllocs()
	for b.Loop() {
		for i := range 31 {
			s.narrow[i] = 0
			s.Increase(i, &by)
		}
	}
}
