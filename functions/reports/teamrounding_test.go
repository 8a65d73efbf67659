package reports

import (
	"testing"

	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
)

func amounts(texts ...string) (out []money.Amount) {
	for _, s := range texts {
		out = append(out, money.MustParse(s))
	}
	return out
}

// TestRoundShares_AddUpToNothing has two teams that take over 0.4 cents each. With each team rounded by itself, the
// shares come to -0.01.
func TestRoundShares_AddUpToNothing(t *testing.T) {
	direct, shared := amounts("0.004", "0.004", "0.01"), amounts("0.004", "0.004", "-0.008")
	shown := amounts("0.01", "0.01", "0")
	alone := make([]money.Amount, len(shown))
	for i := range shown {
		alone[i] = money.RoundPartsTo([]money.Amount{direct[i], shared[i]}, shown[i], 2)[1]
	}
	if sum := money.Sum(alone...); sum != cent.Neg() {
		t.Fatalf("each by itself comes to %s", sum)
	}
	if got := roundShares(direct, shared, shown); !money.Sum(got...).IsZero() || got[2] != cent.Neg() {
		t.Errorf("%s come to %s", got, money.Sum(got...))
	}
}

// TestRoundShares_OfAnyTeams checks random teams: the shares add up, a team without a share gets none, and each part is
// rounded by less than a cent where the cents of the teams allow it, else by less than two.
func TestRoundShares_OfAnyTeams(t *testing.T) {
	r := seed.Random(t)
	wide := 0
	for range 2000 {
		n := 1 + r.IntN(9)
		direct, shared, sums := make([]money.Amount, n), make([]money.Amount, n), make([]money.Amount, n)
		for i := range n {
			direct[i] = money.FromScaled(r.Int64N(100_000), 4)
			if i > 0 && r.IntN(4) > 0 {
				shared[i] = money.FromScaled(r.Int64N(10_000), 4)
				shared[0] = shared[0].Sub(shared[i])
			}
		}
		for i := range n {
			sums[i] = direct[i].Add(shared[i])
		}
		shown := cents(sums)
		got := roundShares(direct, shared, shown)
		if !money.Sum(got...).IsZero() {
			t.Fatalf("%s of %s come to %s", got, shared, money.Sum(got...))
		}
		for i := range n {
			if shared[i].IsZero() && !got[i].IsZero() {
				t.Fatalf("team %d has no share and gets %s", i, got[i])
			}
			off := maxAmount(got[i].Sub(shared[i]).Abs(), shown[i].Sub(got[i]).Sub(direct[i]).Abs())
			if off.Cmp(cent.MulInt(2)) >= 0 {
				t.Fatalf("team %d: %s of %s and %s is off by %s", i, got[i], shared[i], direct[i], off)
			}
			if off.Cmp(cent) >= 0 {
				wide++
			}
		}
	}
	if wide > 20 {
		t.Errorf("%d parts of 10,000 are rounded by a cent or more", wide)
	}
}
