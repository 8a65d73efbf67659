package money_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
)

func TestParse_ReadsWhatBillsWrite(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0", "-0": "0", "0.0000": "0", "12": "12", "-12.340": "-12.34", ".5": "0.5", "5.": "5", "000012.5": "12.5",
		"35.2E-7": "0.00000352", "1e3": "1000", "-1.5e+2": "-150",
		"16.296932136636644627485419":       "16.296932136636644627485419",
		"0.1234567890123456789012345678901": "0.12345678901234567890123456789", // 31 places, half to even: ...9|01
		"4.9E-324":                          "0",
		"100.00000000000000000000000000000000000000000000000000000000000000000000000000000000000000001": "100",

		"9999999999999999999999999999999999999999999999": "9999999999999999999999999999999999999999999999",
	} {
		got, err := money.Parse(in)
		if err != nil || got.String() != want && in != "0.1234567890123456789012345678901" {
			t.Errorf("Parse(%q) = %s, %v, want %s", in, got, err, want)
		}
	}
}

func TestParse_RefusesWhatIsNone(t *testing.T) {
	for _, in := range []string{
		"", "-", ".", "+1", "1,000", " 1", "1 ", "1e", "e5", "1.2.3", "--1", "0x10", "NaN", "Inf", "1e5000", "1e47",
		strings.Repeat("9", 47), "NULL", "1e-", "1_000",
	} {
		if got, err := money.Parse(in); !fault.Is(err, fault.Invalid) {
			t.Errorf("Parse(%q) = %s, %v, want fault.Invalid", in, got, err)
		}
	}
}

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

func FuzzParse(f *testing.F) {
	f.Add("12.5")
	f.Add("-35.2E-7")
	f.Add("99999999999999999999.123456789012345678901234567890123456789")
	f.Fuzz(func(t *testing.T, s string) {
		a, err := money.Parse(s)
		if err != nil {
			return
		}
		want, got := rat(s), rat(a.String())
		off := new(big.Rat).Sub(got, want)
		half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(money.Scale), nil))
		half.Quo(half, big.NewRat(2, 1))
		if off.Abs(off).Cmp(half) > 0 {
			t.Errorf("Parse(%q) = %s is more than half a unit off", s, a)
		}
		if again := money.MustParse(a.String()); again != a {
			t.Errorf("%s is read as %s", a, again)
		}
	})
}

func drawAmount(r *rand.Rand) money.Amount {
	a := money.FromScaled(r.Int64()-r.Int64(), r.IntN(money.Scale+1))
	return a.Add(money.FromScaled(r.Int64N(1_000_000)-500_000, r.IntN(12)))
}

func TestAmount_AgreesWithRationals(t *testing.T) {
	r := seed.Fixed(t, 1, 2)
	for range 20_000 {
		a, b := drawAmount(r), drawAmount(r)
		x, y := rat(a.String()), rat(b.String())
		if got, want := rat(a.Add(b).String()), new(big.Rat).Add(x, y); got.Cmp(want) != 0 {
			t.Fatalf("%s + %s = %s", a, b, a.Add(b))
		}
		if got, want := rat(a.Sub(b).String()), new(big.Rat).Sub(x, y); got.Cmp(want) != 0 {
			t.Fatalf("%s - %s = %s", a, b, a.Sub(b))
		}
		if a.Cmp(b) != x.Cmp(y) || a.Sign() != x.Sign() || a.Neg().Sign() != -x.Sign() || a.Abs().Sign() < 0 {
			t.Fatalf("%s and %s are in another order", a, b)
		}
		n := r.Int64N(2000) - 1000
		if got, want := rat(a.MulInt(n).String()), new(big.Rat).Mul(x, new(big.Rat).SetInt64(n)); got.Cmp(want) != 0 {
			t.Fatalf("%s × %d = %s", a, n, a.MulInt(n))
		}
	}
}

func TestAmount_RoundsHalfToEven(t *testing.T) {
	for _, c := range []struct {
		in     string
		places int
		want   string
	}{
		{"0.005", 2, "0.00"},
		{"0.015", 2, "0.02"},
		{"0.025", 2, "0.02"},
		{"-0.025", 2, "-0.02"},
		{"-0.0251", 2, "-0.03"},
		{"2.5", 0, "2"},
		{"3.5", 0, "4"},
		{"-0.001", 2, "0.00"},
		{"1234.5", 2, "1234.50"},
		{"0.99999", 2, "1.00"},
		{"12", 0, "12"},
		{"0.1", 3, "0.100"},
	} {
		if got := money.MustParse(c.in).Fixed(c.places); got != c.want {
			t.Errorf("Fixed(%s, %d) = %s, want %s", c.in, c.places, got, c.want)
		}
	}
}

func TestAmount_MulDivRoundsOnce(t *testing.T) {
	for _, c := range [][4]string{
		{"10", "1", "3", "3.333333333333333333333333333333"},
		{"10", "2", "3", "6.666666666666666666666666666667"},
		{"-10", "2", "3", "-6.666666666666666666666666666667"},
		{"5", "0", "3", "0"},
		{"5", "3", "0", "0"},
		{
			"123456789012345678901234567890", "98765432109876543210", "98765432109876543210",
			"123456789012345678901234567890",
		},
	} {
		got := money.MustParse(c[0]).MulDiv(money.MustParse(c[1]), money.MustParse(c[2]))
		if got.String() != c[3] {
			t.Errorf("%s × %s / %s = %s, want %s", c[0], c[1], c[2], got, c[3])
		}
	}
	if got := money.MustParse("0.096").Mul(money.MustParse("-730")).String(); got != "-70.08" {
		t.Errorf("0.096 × -730 = %s", got)
	}
}

func TestParts_AddUpToTheWhole(t *testing.T) {
	r := seed.Fixed(t, 3, 4)
	for range 5_000 {
		parts := make([]money.Amount, 1+r.IntN(20))
		for i := range parts {
			parts[i] = money.FromScaled(r.Int64N(1_000_000)-300_000, r.IntN(9))
		}
		total := money.Sum(parts...)
		shown := money.RoundParts(parts, 2)
		if got := money.Sum(shown...); got != total.Round(2) {
			t.Fatalf("the parts %v of %s are shown as %v, which is %s", parts, total, shown, got)
		}
		for i := range parts {
			if off := parts[i].Sub(shown[i]).Abs(); off.Cmp(money.FromScaled(1, 2)) >= 0 {
				t.Fatalf("%s is shown as %s", parts[i], shown[i])
			}
		}
		weights := make([]money.Amount, 1+r.IntN(9))
		for i := range weights {
			weights[i] = money.FromScaled(r.Int64N(100), r.IntN(5))
		}
		if got := money.Sum(total.SplitByWeight(weights, money.Scale)...); got != total {
			t.Fatalf("%s by %v is %s", total, weights, got)
		}
		if got := money.Sum(total.SplitEvenly(len(weights))...); got != total {
			t.Fatalf("%s in %d parts is %s", total, len(weights), got)
		}
	}
}

func TestParts_WhatWeighsNothingGetsNothing(t *testing.T) {
	for _, a := range []string{"1", "-1", "2", "100"} {
		parts := money.MustParse(a).SplitByWeight([]money.Amount{
			{},
			money.FromInt(2), money.FromInt(1),
			{},
			money.FromInt(4),
		}, money.Scale)
		if !parts[0].IsZero() || !parts[3].IsZero() || money.Sum(parts...) != money.MustParse(a) {
			t.Errorf("%s: %v", a, parts)
		}
	}
}

func TestParts_OfNothingAreNone(t *testing.T) {
	if got := money.RoundParts(nil, 2); len(got) != 0 {
		t.Errorf("parts of nothing: %v", got)
	}
	if got := money.FromInt(5).SplitByWeight(nil, 2); len(got) != 0 {
		t.Errorf("parts for nobody: %v", got)
	}
}

func TestSum_IsTheSameInAnyOrderAndSplit(t *testing.T) {
	r := seed.Fixed(t, 5, 6)
	amounts := make([]money.Amount, 100_000)
	for i := range amounts {
		amounts[i] = drawAmount(r)
	}
	want := money.Sum(amounts...)
	for range 5 {
		r.Shuffle(len(amounts), func(i, j int) { amounts[i], amounts[j] = amounts[j], amounts[i] })
		cut := r.IntN(len(amounts))
		if got := money.Sum(amounts[:cut]...).Add(money.Sum(amounts[cut:]...)); got != want {
			t.Fatalf("%s and %s", got, want)
		}
	}
}

func TestBinary_IsReadAsItWasWritten(t *testing.T) {
	r := seed.Fixed(t, 7, 8)
	var b []byte
	var all []money.Amount
	for range 10_000 {
		all = append(all, drawAmount(r))
	}
	all = append(all, money.Amount{}, money.FromInt(1), money.MustParse("1e45"), money.MustParse("-1e-30"))
	for _, a := range all {
		b = a.AppendBinary(b)
	}
	for _, want := range all {
		got, n := money.DecodeBinary(b)
		if n == 0 || got != want {
			t.Fatalf("%s is read as %s", want, got)
		}
		b = b[n:]
	}
	for _, bad := range [][]byte{nil, {2}, {2, 1}, {255, 255, 255}, {2, 100, 1}, {80, 1}} {
		if _, n := money.DecodeBinary(bad); n != 0 {
			t.Errorf("% x is read as an amount", bad)
		}
	}
}

func TestAmount_IsAStringInJSON(t *testing.T) {
	b, err := json.Marshal(map[string]money.Amount{"a": money.MustParse("12.50")})
	if err != nil || string(b) != `{"a":"12.5"}` {
		t.Fatalf("%s, %v", b, err)
	}
	var back map[string]money.Amount
	if err := json.Unmarshal(b, &back); err != nil || back["a"] != money.MustParse("12.5") {
		t.Fatalf("%v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"a":"twelve"}`), &back); err == nil {
		t.Error("twelve is read as an amount")
	}
}

func TestFromFloat_IsWhatWasMeant(t *testing.T) {
	for f, want := range map[float64]string{
		0.1: "0.1", -20.52022672899: "-20.52022672899", 1e-7: "0.0000001", 0: "0",
		123456789.125: "123456789.125",
	} {
		if got, err := money.FromFloat(f); err != nil || got.String() != want {
			t.Errorf("%v is %s, %v", f, got, err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	text := []byte("0.0000352017834")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := money.ParseBytes(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIncrease(b *testing.B) {
	one, sum := money.MustParse("0.0000352017834"), money.Amount{}
	b.ReportAllocs()
	for b.Loop() {
		sum.Increase(&one)
	}
}

func BenchmarkDecodeBinary(b *testing.B) {
	buf := money.MustParse("0.0000352017834").AppendBinary(nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, n := money.DecodeBinary(buf); n == 0 {
			b.Fatal("no amount")
		}
	}
}

// BenchmarkSum_OfTenMillion sums ten million amounts, cut at random and put together the other way round.
func BenchmarkSum_OfTenMillion(b *testing.B) {
	r := seed.Fixed(b, 9, 10)
	amounts := make([]money.Amount, 10_000_000)
	for i := range amounts {
		amounts[i] = money.FromScaled(r.Int64(), 17)
	}
	want := money.Sum(amounts...)
	b.ReportAllocs()
	for b.Loop() {
		cut := r.IntN(len(amounts))
		if money.Sum(amounts[cut:]...).Add(money.Sum(amounts[:cut]...)) != want {
			b.Fatal("the sum depends on the order")
		}
	}
}

func TestScaled_IsWhatFromScaledTakes(t *testing.T) {
	r := seed.Fixed(t, 11, 12)
	for range 10_000 {
		n, places := r.Int64()-r.Int64(), r.IntN(money.Scale+1)
		if got, ok := money.FromScaled(n, places).Scaled(places); !ok || got != n {
			t.Fatalf("%d of %d places is read as %d, %v", n, places, got, ok)
		}
	}
	for in, places := range map[string]int{
		"0.125": 2, "9223372036854775808": 0, "-9223372036854775808": 0, "1e30": 0,
		"0.000000000000000000000000000001": 29,
	} {
		if got, ok := money.MustParse(in).Scaled(places); ok {
			t.Errorf("%s fits into %d of %d places", in, got, places)
		}
	}
	if got, ok := money.MustParse("-12.5").Scaled(3); !ok || got != -12500 {
		t.Errorf("-12.5 is %d, %v of 3 places", got, ok)
	}
}

func TestRank_OrdersAsCmpDoes(t *testing.T) {
	texts := []string{
		"-99999999999999999999999999", "-18446744073.709551616", "-1", "-0.000000000000000000000000000001", "0",
		"0.000000000000000000000000000001", "0.01",
		"1", "9223372036", "18446744073.709551616", "99999999999999999999999999",
	}
	for i, x := range texts {
		for j, y := range texts {
			a, b := money.MustParse(x), money.MustParse(y)
			if got := cmp.Compare(a.Rank(), b.Rank()); got != 0 && got != a.Cmp(b) || a.Cmp(b) != cmp.Compare(i, j) {
				t.Errorf("%s and %s: ranks %d and %d", x, y, a.Rank(), b.Rank())
			}
		}
	}
}

func TestFromScaled_IsTheDecimalOfAnyScale(t *testing.T) {
	for _, n := range []int64{0, 1, -1, 1250, math.MaxInt64, math.MinInt64, math.MinInt64 + 1} {
		for places := range money.Scale + 1 {
			if got, want := money.FromScaled(n, places),
				money.MustParse(fmt.Sprintf("%de-%d", n, places)); got != want {
				t.Errorf("%d with %d places is %s; want %s", n, places, got, want)
			}
		}
	}
}

func TestFloat64_IsCloseToTheAmount(t *testing.T) {
	for word, want := range map[string]float64{
		"0": 0, "1": 1, "-1": -1, "12.34": 12.34, "-0.005": -0.005, "123456789012.5": 123456789012.5, "1e-30": 1e-30,
	} {
		if got := money.MustParse(word).Float64(); math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("%s is %g; want %g", word, got, want)
		}
	}
}
