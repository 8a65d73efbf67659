package budgets

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/costtest"
	"lamplighter.dev/shared/testkit/inventorytest"
	"lamplighter.dev/shared/testkit/seed"
)

// makeFor creates a budget of an amount in a period. It does not check whether the scope exists.
func (f *fixture) makeFor(period, name string, of budgeting.ScopeType, scopeID, amount string) budgeting.Budget {
	f.Helper()
	f.Clock.Advance(time.Millisecond)
	return apitest.Value(budgeting.NewStore(f.Table).Create(f.In(apitest.Org), apitest.Org, budgeting.Budget{
		ID: id.New("bud", f.Clock.Now()), Name: name, ScopeType: of, ScopeID: scopeID, CreatedAt: f.Clock.Now(),
		Amount: money.MustParse(amount), Period: budgeting.Period(period),
	}))(f)
}

// describeTotals returns the totals with the names of budgets: "month 100.00 of 200.00: a b, not c (a)".
func describeTotals(s *BudgetSummary) string {
	names := map[string]string{}
	for _, b := range s.Items {
		names[b.BudgetID] = b.Name
	}
	var out []string
	for _, t := range s.ByPeriod {
		var counted, left []string
		for _, budgetID := range t.Counted {
			counted = append(counted, names[budgetID])
		}
		for _, l := range t.LeftOut {
			left = append(left, fmt.Sprintf("%s (%s)", names[l.BudgetID], names[l.SharesCostsWith]))
		}
		out = append(out, fmt.Sprintf("%s %s of %s: %s, not %s", t.Period, t.SpentUSD, t.AmountUSD,
			strings.Join(counted, " "), strings.Join(left, " ")))
	}
	return strings.Join(out, "; ")
}

func (f *fixture) summary() BudgetSummary {
	f.Helper()
	return apitest.Data[BudgetSummary](f.Call(ada, "GET /budgets/summary"))
}

// In March i-0 costs 90 and i-1 costs 45 until the 9th, and the fee is 30.
func TestBudgets_SummaryCountsEachCostOnce(t *testing.T) {
	type plan struct {
		period, name string
		of           budgeting.ScopeType
		scopeID      string
		amount       string
	}
	f := newFixture(t)
	both := id.New("grp", f.Clock.Now().Add(time.Second))
	_, err := inventory.New(f.Platform).CreateGroup(f.In(apitest.Org), apitest.Org,
		inventory.Group{ID: both, Name: "Both"}, []inventory.GroupPlacement{
			{ResourceID: f.ids[0], Tier: 1, Order: 1}, {ResourceID: f.ids[1], Tier: 1, Order: 2},
		})
	f.Must(err)
	f.importCosts(f.Clock.Now().Add(time.Minute)) // again, with the group
	account := inventorytest.Account
	for name, c := range map[string]struct {
		plans []plan
		want  string
	}{
		"a team inside of the organization": {
			[]plan{
				{"month", "team", budgeting.Team, f.team, "900"}, {"month", "org", budgeting.Org, "", "500"},
			},
			"month 165.00 of 500.00: org, not team (org)",
		},
		"a team and a group inside of an account": {
			[]plan{
				{"month", "team", budgeting.Team, f.team, "900"},
				{"month", "group", budgeting.ResourceGroup, f.group, "1"},
				{"month", "account", budgeting.CloudAccount, account, "500"},
			},
			"month 165.00 of 500.00: account, not team (account) group (account)",
		},
		"scopes without common costs": {
			[]plan{
				{"month", "team", budgeting.Team, f.team, "100"}, {"month", "i-1", budgeting.Resource, "i-1", "50"},
			},
			"month 135.00 of 150.00: team i-1, not ",
		},
		"groups with a common resource": {
			[]plan{
				{"month", "first", budgeting.ResourceGroup, f.group, "100"},
				{"month", "both", budgeting.ResourceGroup, both, "50"},
			},
			"month 135.00 of 50.00: both, not first (both)",
		},
		"values of a tag, and a resource of one of them": {
			[]plan{
				{"month", "prod", budgeting.Tag, "env=prod", "100"},
				{"month", "dev", budgeting.Tag, "env=dev", "50"},
				{"month", "i-1", budgeting.Resource, "i-1", "60"},
			},
			"month 135.00 of 160.00: prod i-1, not dev (i-1)",
		},
		"two budgets of one scope": {
			[]plan{
				{"month", "goal", budgeting.Org, "", "400"}, {"month", "limit", budgeting.Org, "", "500"},
			},
			"month 165.00 of 500.00: limit, not goal (limit)",
		},
		"months, quarters and years": {
			[]plan{
				{"year", "year", budgeting.Org, "", "9000"},
				{"quarter", "quarter", budgeting.Team, f.team, "3000"},
				{"quarter", "i-1", budgeting.Resource, "i-1", "50"},
				{"month", "month", budgeting.Org, "", "700"},
			},
			"month 165.00 of 700.00: month, not ; quarter 1020.00 of 3050.00: quarter i-1, not ; " +
				"year 1110.00 of 9000.00: year, not ",
		},
		"a scope without costs": {
			[]plan{
				{"month", "none", budgeting.Tag, "env=test", "10"}, {"month", "team", budgeting.Team, f.team, "100"},
			},
			"month 90.00 of 110.00: team none, not ",
		},
		"no budget": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var made []string
			for _, p := range c.plans {
				made = append(made, f.makeFor(p.period, p.name, p.of, p.scopeID, p.amount).ID)
			}
			s := f.summary()
			if got := describeTotals(&s); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			if len(s.ByPeriod) > 0 && (s.Period != s.ByPeriod[0].Period || s.SpentUSD != s.ByPeriod[0].SpentUSD ||
				s.AmountUSD != s.ByPeriod[0].AmountUSD) {
				t.Errorf("%s %s of %s at the top", s.Period, s.SpentUSD, s.AmountUSD)
			}
			for _, budgetID := range made {
				f.Call(ada, "DELETE /budgets/"+budgetID)
			}
		})
	}
}

func TestBudgets_SummaryComparesTheFirstTagKeys(t *testing.T) {
	f := newFixture(t)
	for _, key := range []string{"a", "b", "c", "d", "zone"} {
		f.makeFor("month", key, budgeting.Tag, key+"=x", "10")
	}
	f.makeFor("month", "zone2", budgeting.Tag, "zone=y", "10")
	f.makeFor("month", "team", budgeting.Team, f.team, "100")
	s := f.summary()
	if got := describeTotals(&s); got != "month 90.00 of 140.00: team a b c d, not zone (team) zone2 (team)" {
		t.Error(got)
	}
}

// TestBudgets_SummaryOfRandomScopes compares the totals of random budgets with the costs of the resources that they
// are for: each resource has a cost of its own, a power of two, so a cost that counts twice or never shows.
func TestBudgets_SummaryOfRandomScopes(t *testing.T) {
	r := seed.Random(t)
	for range 3 {
		f := &fixture{Fixture: apitest.New(t, Operations)}
		f.ids = inventorytest.Discover(f.Fixture, apitest.Org, "aws-ec2", inventorytest.Instances(8)...)
		scopes := f.makeScopes(r)
		f.importPowers(scopes)
		members := map[string]int{}
		for n := range 10 {
			sc := scopes[r.IntN(len(scopes))]
			period := []string{"month", "quarter"}[r.IntN(2)]
			b := f.makeFor(period, fmt.Sprint("b", n), sc.of, sc.id, fmt.Sprint(1+r.IntN(99)))
			members[b.ID] = sc.members
		}
		s := f.summary()
		seen := 0
		for _, total := range s.ByPeriod {
			checkTotal(t, &total, members)
			seen += len(total.Counted) + len(total.LeftOut)
		}
		if seen != len(members) {
			t.Errorf("%d budgets are named; want %d", seen, len(members))
		}
	}
}

// checkTotal checks a total. The members of a budget are a bit for each resource; a resource costs 2 to the power of
// its bit each day.
func checkTotal(t *testing.T, total *BudgetPeriodTotal, members map[string]int) {
	t.Helper()
	days := map[budgeting.Period]int64{budgeting.Month: 9, budgeting.Quarter: 68}[total.Period]
	union := 0
	for _, budgetID := range total.Counted {
		if union&members[budgetID] != 0 {
			t.Fatalf("%+v: a cost counts twice", total)
		}
		union |= members[budgetID]
	}
	if want := money.FromInt(int64(union) * days).Fixed(2); total.SpentUSD != want {
		t.Fatalf("%s: %s; want %s", total.Period, total.SpentUSD, want)
	}
	for _, l := range total.LeftOut {
		mine, other := members[l.BudgetID], members[l.SharesCostsWith]
		if mine&other == 0 && mine != other || mine > other || !slices.Contains(total.Counted, l.SharesCostsWith) {
			t.Fatalf("%s: %b is left out for %b", total.Period, mine, other)
		}
	}
}

// testScope is a scope with a bit for each of its resources.
type testScope struct {
	of      budgeting.ScopeType
	id      string
	members int
}

// makeScopes makes random groups and teams, tags of random resources, and returns them with the single resources.
func (f *fixture) makeScopes(r *rand.Rand) (out []testScope) {
	f.Helper()
	owner := make([]int, len(f.ids)) // a resource belongs to one team at most
	for n := range f.ids {
		owner[n] = r.IntN(3)
		out = append(out, testScope{budgeting.Resource, fmt.Sprint("i-", n), 1 << n})
	}
	for k := range 3 {
		var placed []inventory.GroupPlacement
		var owned []string
		group, team, tag := 0, 0, r.IntN(1<<len(f.ids))
		for n, resourceID := range f.ids {
			if r.IntN(3) == 0 {
				group |= 1 << n
				placed = append(placed, inventory.GroupPlacement{ResourceID: resourceID, Tier: 1, Order: n + 1})
			}
			if owner[n] == k {
				team |= 1 << n
				owned = append(owned, resourceID)
			}
		}
		g := id.New("grp", f.Clock.Now().Add(time.Duration(k)*time.Second))
		_, err := inventory.New(f.Platform).CreateGroup(f.In(apitest.Org), apitest.Org,
			inventory.Group{ID: g, Name: fmt.Sprint("group ", k)}, placed)
		f.Must(err)
		out = append(out, testScope{budgeting.ResourceGroup, g, group},
			testScope{budgeting.Tag, fmt.Sprintf("k%d=x", k), tag},
			testScope{budgeting.Team, inventorytest.Team(f.Fixture, apitest.Org, fmt.Sprint("team ", k), owned...), team})
	}
	return out
}

// importPowers imports the costs of January to 9 March, with the tags of the scopes.
func (f *fixture) importPowers(scopes []testScope) {
	f.Helper()
	var lines []costtest.Line
	for n := range f.ids {
		l := costtest.Line{Resource: fmt.Sprint("i-", n), Service: "EC2", USD: costtest.Every(fmt.Sprint(1 << n))}
		for _, sc := range scopes {
			if sc.of == budgeting.Tag && sc.members&(1<<n) != 0 {
				key, value, _ := strings.Cut(sc.id, "=")
				l.Tags = append(l.Tags, bill.Tag{Key: key, Value: value})
			}
		}
		lines = append(lines, l)
	}
	jan := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	costtest.Import(f.Fixture, costtest.Bill{
		Org: apitest.Org, Account: inventorytest.Account, From: jan, To: jan.AddDate(0, 0, 68),
		Delivered: f.Clock.Now(),
	}, lines...)
}
