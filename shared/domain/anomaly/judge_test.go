package anomaly

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// amounts makes a series from decimal strings.
func amounts(words ...string) []money.Amount {
	out := make([]money.Amount, len(words))
	for i, w := range words {
		out[i] = money.MustParse(w)
	}
	return out
}

// flat makes a series of n equal days, and one more.
func flat(each string, n int, last string) []money.Amount {
	out := make([]money.Amount, n, n+1)
	for i := range out {
		out[i] = money.MustParse(each)
	}
	return append(out, money.MustParse(last))
}

func TestRules_Judge_TheBareRule(t *testing.T) {
	bare := Rules{Settings: Bare(), MinUSD: money.FromInt(1)}
	for name, c := range map[string]struct {
		days     []money.Amount
		severity Severity
		percent  string
	}{
		"29.9999 percent is nothing":                 {flat("100", 7, "129.9999"), "", ""},
		"30 percent is a warning, exactly":           {flat("100", 7, "130"), Warning, "30"},
		"a hair below 100 percent does not read 100": {flat("100", 7, "199.9999"), Warning, "99.9"},
		"100 percent is critical":                    {flat("100", 7, "200"), Critical, "100"},
		"just below 500 percent is critical":         {flat("100", 7, "599.999999999"), Critical, "499.9"},
		"500 percent is an emergency":                {flat("100", 7, "600"), Emergency, "500"},
		"thirds, whose mean is no decimal, count exactly": {amounts("1", "1", "2", "1", "2", "2", "1",
			"1.857142857142857142857142857142"), "", ""},
		"a third of which is reached is a warning": {amounts("1", "1", "2", "1", "2", "2", "1",
			"1.857142857142857142857142857143"), Warning, "30"},
		"three days of data are not judged": {flat("100", 3, "1000"), "", ""},
		"four days of data are":             {flat("100", 4, "1000"), Emergency, "900"},
		"days before the first that cost anything count not": {
			amounts("0", "0", "0", "100", "100", "100", "1000"), "",
			"",
		},
		"a baseline below the minimum is not judged": {flat("0.99", 7, "1000"), "", ""},
		"a baseline of the minimum is":               {flat("1", 7, "1.3"), Warning, "30"},
		"a fall is none":                             {flat("100", 7, "1"), "", ""},
		"a day without cost is none":                 {flat("100", 7, "0"), "", ""},
		"a credit of a day is none":                  {flat("100", 7, "-500"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, found := bare.Judge(Resource, money.SeriesOf(c.days...), len(c.days)-1)
			if s.Severity != c.severity || found != (c.severity != "") {
				t.Fatalf("%+v, %v; want %q", s, found, c.severity)
			}
			if p, ok := s.Percent(); found && (!ok || p != money.MustParse(c.percent)) {
				t.Errorf("%s percent, %v; want %s", p, ok, c.percent)
			}
		})
	}
}

// Each gate rejects a day that passes when only that gate is switched off.
func TestRules_Judge_EachGateCanBeSwitchedOff(t *testing.T) {
	weekly := make([]money.Amount, 29) // off at weekends; the last day is the weekday after
	for i := range weekly {
		if i%7 < 5 {
			weekly[i] = money.FromInt(100)
		}
	}
	noisy := make([]money.Amount, 43)
	for i := range noisy {
		noisy[i] = money.FromInt(int64(60 + (5+i)*i*i%79))
	}
	noisy[42] = money.FromInt(195)
	for name, c := range map[string]struct {
		days []money.Amount
		off  func(*Gates)
	}{
		"weekday-aware baseline": {weekly, func(g *Gates) { g.WeekdayBaseline = false }},
		"minimum history":        {flat("100", 13, "1000"), func(g *Gates) { g.MinimumHistory = false }},
		"floors":                 {flat("10", 35, "19"), func(g *Gates) { g.Floors = false }},
		"noise band":             {noisy, func(g *Gates) { g.NoiseBand = false }},
	} {
		t.Run(name, func(t *testing.T) {
			r := Rules{Settings: DefaultSettings(), MinUSD: money.FromInt(1)}
			if s, found := r.Judge(Resource, money.SeriesOf(c.days...), len(c.days)-1); found {
				t.Errorf("with the gate: %+v", s)
			}
			c.off(&r.Gates)
			if _, found := r.Judge(Resource, money.SeriesOf(c.days...), len(c.days)-1); !found {
				t.Error("nothing without the gate")
			}
		})
	}
}

func TestRules_Judge_NewSpendIsAWarningByChoice(t *testing.T) {
	for _, c := range []struct {
		on   bool
		cost string
		org  string
		want bool
	}{
		{true, "49.99", "100", false},
		{true, "50", "1000", true},
		{true, "50", "1000.01", false}, // 5 % of it is more
		{true, "5000", "9000", true},   // never an emergency
		{false, "5000", "9000", false},
	} {
		r := Rules{Settings: DefaultSettings(), MinUSD: money.FromInt(1), OrgDays: flat("0", 20, c.org)}
		r.NewSpend = c.on
		days := flat("0", 20, c.cost)
		s, found := r.Judge(CloudAccount, money.SeriesOf(days...), 20)
		if found != c.want || found && (s.Severity != Warning || !s.NewSpend) {
			t.Errorf("%+v: %+v, %v", c, s, found)
		}
		if _, ok := s.Percent(); ok {
			t.Error("a percentage of nothing")
		}
		if _, found = r.Judge(Org, money.SeriesOf(days...), 20); found {
			t.Error("the organization itself is no new spend")
		}
	}
}

func TestRules_Pass_TellsOfAnIncidentOnceAndAgainWhenItIsWorse(t *testing.T) {
	days := flat("100", 35, "140")
	for _, next := range []string{"160", "250", "250", "100", "300"} {
		days = append(days, money.MustParse(next))
	}
	r := Rules{Settings: DefaultSettings(), MinUSD: money.FromInt(1)}
	var got []string
	vm := Series{Scope: Scope{Resource, "vm"}, Days: money.SeriesOf(days...), Until: len(days)}
	for _, f := range r.Pass([]Series{vm}, 35) {
		got = append(got, fmt.Sprint(f.Day-35, " ", f.Severity, " ", f.Tells()))
	}
	if want := "0 warning true;1 warning false;2 critical true;3 critical false;5 critical true"; strings.Join(got,
		";") != want {
		t.Errorf("%s; want %s", got, want)
	}
	r.Latch = false
	vm = Series{Scope: Scope{Resource, "vm"}, Days: money.SeriesOf(days...), Until: len(days)}
	for _, f := range r.Pass([]Series{vm}, 35) {
		if !f.Tells() {
			t.Errorf("without the latch day %d is not told of", f.Day)
		}
	}
}

func TestRules_Pass_DaysThatHaveNotSettledAreNotJudged(t *testing.T) {
	days := append(flat("100", 35, "400"), money.FromInt(400))
	r := Rules{Settings: DefaultSettings()}
	got := r.Pass([]Series{{Scope: Scope{Resource, "vm"}, Days: money.SeriesOf(days...), Until: 36}}, 35)
	if len(got) != 1 || got[0].Day != 35 {
		t.Errorf("%+v", got)
	}
}

func TestRules_Pass_TheNarrowestScopeThatExplainsItIsToldOf(t *testing.T) {
	org, acct := Scope{Type: Org}, Scope{CloudAccount, "ca_1"}
	series := func(s Scope, base, last string, within ...Scope) Series {
		d := flat(base, 35, last)
		return Series{Scope: s, Days: money.SeriesOf(d...), Until: len(d), Within: within}
	}
	for name, c := range map[string]struct {
		vm, group string // cost of the last day; 100 and 200 on other days
		tells     []Scope
	}{
		"a resource that is all of it":    {"2000", "2100", []Scope{{Resource, "vm"}}},
		"one that is 80 percent":          {"900", "1200", []Scope{{Resource, "vm"}}}, // 800 of 1,000
		"less than 80 percent: the group": {"890", "1200", []Scope{{ResourceGroup, "grp_1"}, {Resource, "vm"}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := Rules{Settings: DefaultSettings()}
			all := []Series{
				series(org, "1000", money.MustParse(c.group).Add(money.FromInt(800)).String()),
				series(acct, "500", money.MustParse(c.group).Add(money.FromInt(300)).String()),
				series(Scope{ResourceGroup, "grp_1"}, "200", c.group, acct),
				series(Scope{Resource, "vm"}, "100", c.vm, acct, Scope{ResourceGroup, "grp_1"}),
			}
			var tells []Scope
			for _, f := range r.Pass(all, 35) {
				if f.Tells() {
					tells = append(tells, f.Scope)
				}
			}
			if fmt.Sprint(tells) != fmt.Sprint(c.tells) {
				t.Errorf("%v; want %v", tells, c.tells)
			}
			r.Nesting = false
			for _, f := range r.Pass(all, 35) {
				if f.ExplainedBy != nil {
					t.Errorf("without nesting %v is explained by %v", f.Scope, f.ExplainedBy)
				}
			}
		})
	}
}

func TestSpike_Contributors_SumToTheSpikeToTheCent(t *testing.T) {
	const n = 25
	parts, costs := make([]Part, n), make([][]money.Amount, n)
	whole := make([]money.Amount, 36)
	for p := range parts {
		parts[p].Key = fmt.Sprintf("part%02d", p)
		for d := range whole {
			a := money.FromScaled(int64(1_000_003*(p+1)+7*d), 6).DivInt(3)
			if d == 35 && p == 4 {
				a = money.FromInt(500)
			}
			costs[p] = append(costs[p], a)
			whole[d] = whole[d].Add(a)
		}
	}
	r := Rules{Settings: DefaultSettings()}
	s, found := r.Judge(Org, money.SeriesOf(whole...), 35)
	if !found {
		t.Fatal("no spike")
	}
	for p := range parts {
		days := money.SeriesOf(costs[p]...)
		parts[p].Cost, parts[p].Baseline = costs[p][35], s.BaselineOf("", &days, 35)
	}
	got, err := s.Contributors("service_name", parts)
	if err != nil || len(got) != listed+1 || got[0].Key != "part04" || !got[listed].Others {
		t.Fatalf("%+v, %v", got, err)
	}
	var cost, base, excess money.Amount
	for _, c := range got {
		cost, base, excess = cost.Add(c.Cost), base.Add(c.Baseline), excess.Add(c.Excess)
	}
	if cost != s.Cost.Round(2) || base != s.Baseline.Round(2) || excess != cost.Sub(base) {
		t.Errorf("%s - %s = %s; want %s - %s", cost, base, excess, s.Cost.Round(2), s.Baseline.Round(2))
	}
	parts[0].Cost = money.FromInt(9)
	if _, err = s.Contributors("service_name", parts); err == nil {
		t.Error("parts of other bills are taken")
	}
}

func TestIDOf_IsOfOneOrganizationScopeAndDay(t *testing.T) {
	day := time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC)
	ids := map[string]bool{
		IDOf("org_a", Scope{Type: Org}, day): true, IDOf("org_b", Scope{Type: Org}, day): true,
		IDOf("org_a", Scope{Type: Org}, day.AddDate(0, 0, 1)): true,
		IDOf("org_a", Scope{Type: Team, ID: "x"}, day):        true,
		IDOf("org_a", Scope{Type: Resource, ID: "x"}, day):    true,
	}
	if len(ids) != 5 {
		t.Errorf("five anomalies have %d ids", len(ids))
	}
}
