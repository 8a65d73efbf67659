package reports

import (
	"slices"
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

// TestRoundTeams_OfSharesThatDoNotAddUpByThemselves has teams whose parts do not add up if each is rounded by itself.
func TestRoundTeams_OfSharesThatDoNotAddUpByThemselves(t *testing.T) {
	for name, c := range map[string]struct{ direct, shared, costs, shares []money.Amount }{
		"two teams that take over 0.4 cents each": {
			amounts("0.004", "0.004", "0.01"), amounts("0.004", "0.004", "-0.008"),
			amounts("0.01", "0.01", "0"), amounts("0.01", "0", "-0.01"),
		},
		"a direct cost of a cent, which was shown as two of one": {
			amounts("0.0195", "0.0037", "0.0025", "0.01"), amounts("-0.0045", "0", "0", "0.0045"),
			amounts("0.02", "0.01", "0", "0.01"), amounts("0", "0", "0", "0"),
		},
		"a direct refund, which was shown as a cost": {
			amounts("-0.0001", "-0.0003", "0.0019", "0.024"), amounts("-0.0057", "0.0057", "0", "0"),
			amounts("-0.01", "0.01", "0", "0.03"), amounts("-0.01", "0.01", "0", "0"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			checkRoundedTeams(t, c.direct, c.shared)
			costs, shares := roundTeams(c.direct, c.shared)
			if !slices.Equal(costs, c.costs) || !slices.Equal(shares, c.shares) {
				t.Errorf("costs %s, shares %s; want %s, %s", costs, shares, c.costs, c.shares)
			}
		})
	}
}

// TestRoundTeams_NoPartPassesTheWholeCentsAroundIt checks random teams, also with refunds: each direct cost, shared cost
// and sum is the whole cent below or above its exact amount. So a cost is never shown as a refund, and a team's direct
// cost is never above its costUSD because of rounding.
func TestRoundTeams_NoPartPassesTheWholeCentsAroundIt(t *testing.T) {
	r := seed.Random(t)
	for range 50_000 {
		n := 2 + r.IntN(3)
		direct, shared := make([]money.Amount, n), make([]money.Amount, n)
		for i := range n {
			direct[i] = money.FromScaled(r.Int64N(300)-r.Int64N(2)*150, 4)
			if i > 0 && r.IntN(4) > 0 {
				shared[i] = money.FromScaled(r.Int64N(120)-r.Int64N(2)*60, 4)
				shared[0] = shared[0].Sub(shared[i])
			}
		}
		checkRoundedTeams(t, direct, shared)
	}
}

func checkRoundedTeams(t *testing.T, direct, shared []money.Amount) {
	t.Helper()
	shown, shares := roundTeams(direct, shared)
	if sum, want := money.Sum(shown...), money.Sum(direct...).Round(2); sum != want {
		t.Fatalf("the teams come to %s; want %s", sum, want)
	}
	if sum := money.Sum(shares...); !sum.IsZero() {
		t.Fatalf("the shares come to %s; want 0", sum)
	}
	for i := range direct {
		for what, pair := range map[string][2]money.Amount{
			"costUSD": {shown[i], direct[i].Add(shared[i])}, "sharedUSD": {shares[i], shared[i]},
			"directUSD": {shown[i].Sub(shares[i]), direct[i]},
		} {
			if pair[0] != floorCent(pair[1]) && pair[0] != ceilCent(pair[1]) {
				t.Fatalf("team %d of %s and shares %s shows %s %s for %s", i, direct, shared, what, pair[0], pair[1])
			}
		}
	}
}
