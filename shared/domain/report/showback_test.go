package report_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
)

var day = time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)

func usd(s string) money.Amount { return money.MustParse(s) }

func support(amount string) report.SharedCost {
	return report.SharedCost{Day: day, Values: map[string]string{"service_name": "Support"}, Amount: usd(amount)}
}

func shares(teams ...string) (out []report.ShowbackShare) {
	for _, id := range teams {
		out = append(out, report.ShowbackShare{TeamID: id})
	}
	return out
}

func TestApply_SplitsAsTheMethodSays(t *testing.T) {
	direct := map[string]money.Amount{"team_a": usd("30"), "team_b": usd("10")}
	for name, c := range map[string]struct {
		rule             report.ShowbackRule
		a, b, unassigned string
	}{
		"evenly": {
			report.ShowbackRule{Method: report.Even, Shares: shares("team_a", "team_b")},
			"50",
			"50", "0",
		},
		"by what each costs by itself": {report.ShowbackRule{
			Method: report.Proportional,
			Shares: shares("team_a", "team_b"),
		}, "75", "25", "0"},
		"by percent, the rest stays": {
			report.ShowbackRule{
				Method: report.Fixed,
				Shares: []report.ShowbackShare{
					{TeamID: "team_a", Percent: usd("60")},
					{TeamID: "team_b", Percent: usd("12.5")},
				},
			},
			"60", "12.5", "27.5",
		},
		"not on a day before it holds": {report.ShowbackRule{
			Method: report.Even, Shares: shares("team_a"),
			From: day.AddDate(0, 0, 1),
		}, "0", "0", "100"},
		"not on the day it ends": {
			report.ShowbackRule{Method: report.Even, Shares: shares("team_a"), To: day},
			"0",
			"0", "100",
		},
		"nothing of another service": {
			report.ShowbackRule{
				Method: report.Even, Shares: shares("team_a"),
				Selector: map[string][]string{"service_name": {"EC2"}},
			}, "0", "0", "100",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := report.ApplyShowback([]report.ShowbackRule{c.rule}, []report.SharedCost{support("100")}, direct)
			if got.Teams["team_a"] != usd(c.a) || got.Teams["team_b"] != usd(c.b) ||
				got.Unassigned != usd(c.unassigned) {
				t.Errorf("%v and %s stay", got.Teams, got.Unassigned)
			}
		})
	}
}

func TestApply_TheFirstRuleThatTakesACostDecides(t *testing.T) {
	all := report.ShowbackRule{ID: "b", Order: 2, Method: report.Even, Shares: shares("team_a")}
	special := report.ShowbackRule{
		ID: "a", Order: 1, Method: report.Even, Shares: shares("team_b"),
		Selector: map[string][]string{"service_name": {"Support", "Tax"}},
	}
	got := report.ApplyShowback([]report.ShowbackRule{all, special},
		[]report.SharedCost{support("7"), {Day: day, Amount: usd("2")}},
		nil)
	if got.Teams["team_b"] != usd("7") || got.Teams["team_a"] != usd("2") {
		t.Errorf("%v", got.Teams)
	}
}

func TestApply_ProportionalToNothingIsEvenAndSaysSo(t *testing.T) {
	rule := report.ShowbackRule{ID: "rule", Method: report.Proportional, Shares: shares("team_a", "team_b")}
	got := report.ApplyShowback([]report.ShowbackRule{rule}, []report.SharedCost{support("9")},
		map[string]money.Amount{"team_a": usd("-4")})
	if got.Teams["team_a"] != usd("4.5") || !slices.Equal(got.FellBack, []string{"rule"}) {
		t.Errorf("%+v", got)
	}
}

func TestApply_TeamsAndUnassignedAreTheWhole(t *testing.T) {
	r := seed.Fixed(t, 11, 12)
	draw := func() money.Amount { return money.FromScaled(r.Int64N(10_000_000)-1_000_000, r.IntN(12)) }
	for range 3000 {
		rules, costs, direct := make([]report.ShowbackRule, r.IntN(5)), make([]report.SharedCost, r.IntN(8)),
			map[string]money.Amount{}
		for i := range rules {
			rules[i] = report.ShowbackRule{
				ID: strconv.Itoa(i), Order: r.IntN(3),
				Method: []report.ShowbackMethod{report.Even, report.Proportional, report.Fixed}[r.IntN(3)],
			}
			rules[i].Selector = map[string][]string{"service_name": {strconv.Itoa(r.IntN(3)), strconv.Itoa(r.IntN(3))}}
			for n := range 1 + r.IntN(6) {
				rules[i].Shares = append(rules[i].Shares,
					report.ShowbackShare{
						TeamID:  fmt.Sprint("team_", n),
						Percent: money.FromScaled(1+r.Int64N(1600), 2),
					})
			}
		}
		var whole money.Amount
		for i := range costs {
			costs[i] = report.SharedCost{
				Day: day, Values: map[string]string{"service_name": strconv.Itoa(r.IntN(4))},
				Amount: draw(),
			}
			whole = whole.Add(costs[i].Amount)
		}
		for n := range r.IntN(6) {
			direct[fmt.Sprint("team_", n)] = draw()
		}
		got := report.ApplyShowback(rules, costs, direct)
		sum := got.Unassigned
		for _, a := range got.Teams {
			sum = sum.Add(a)
		}
		if sum != whole {
			t.Fatalf("%s of %s", sum, whole)
		}
	}
}

func TestCheck_NamesFieldAndValue(t *testing.T) {
	for name, r := range map[string]report.ShowbackRule{
		"nobody shares":        {Method: report.Even},
		"an unknown method":    {Method: "odd", Shares: shares("team_a")},
		"a team twice":         {Method: report.Even, Shares: shares("team_a", "team_a")},
		"a team without an id": {Method: report.Even, Shares: shares("")},
		"no percent":           {Method: report.Fixed, Shares: shares("team_a")},
		"more than all": {
			Method: report.Fixed,
			Shares: []report.ShowbackShare{{"team_a", usd("60")}, {"team_b", usd("40.01")}},
		},
		"an end before its begin": {Method: report.Even, Shares: shares("team_a"), From: day, To: day},
	} {
		if err := r.Check(); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (report.ShowbackRule{
		Method: report.Fixed,
		Shares: []report.ShowbackShare{{"team_a", usd("60")}, {"team_b", usd("40")}},
	}).Check(); err != nil {
		t.Error(err)
	}
}

func TestDimensions_AreEachOnce(t *testing.T) {
	rules := []report.ShowbackRule{
		{Selector: map[string][]string{"region": nil, "tag:env": nil}},
		{Selector: map[string][]string{"region": nil}},
	}
	if got := report.ShowbackDimensions(rules); !slices.Equal(got, []string{"region", "tag:env"}) {
		t.Errorf("%v", got)
	}
}
