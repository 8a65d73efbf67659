package anomalycheck

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/anomaly"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
)

// sharedRows returns the costs of resources by day. Some resources are in several rows: of two services, or shared by
// two teams. Each resource has a job of its own interval, and some have an event on the last day.
func sharedRows(r *rand.Rand) (rows []cost.Row) {
	for n := range 15 {
		size, interval, event := r.Int64N(30_000_000), 2+r.IntN(8), r.IntN(5) == 0
		for range 1 + r.IntN(3) {
			days := make([]money.Amount, anomaly.WindowDays)
			for d := range days {
				amount := size + r.Int64N(200_000)
				if d%interval == 0 {
					amount *= 2
				}
				if event && d == anomaly.WindowDays-1 {
					amount *= 8
				}
				days[d] = money.FromScaled(amount, 5).DivInt(3)
			}
			rows = append(rows, cost.Row{Days: money.SeriesOf(days...), Keys: []string{
				[]string{"", fmt.Sprint("i-", n)}[min(n, 1)], fmt.Sprint("ca_", n%3), fmt.Sprint("team_", r.IntN(4)),
				[]string{"", "grp_1", "grp_2"}[n%3], []string{"EC2", "S3"}[r.IntN(2)],
			}})
		}
	}
	return rows
}

func TestScopes_BaselinesOfRowsSumToThatOfEachFinding(t *testing.T) {
	r := seed.Random(t)
	from, found, byMembers := day("2026-02-01"), 0, 0
	for range 30 {
		a := cost.Answer{Rows: sharedRows(r)}
		settled := map[string]time.Time{}
		for n := range 3 {
			settled[fmt.Sprint("ca_", n)] = from.AddDate(0, 0, anomaly.WindowDays-1)
		}
		s := newScopes(a, from, settled)
		rules := anomaly.Rules{Settings: anomaly.DefaultSettings(), MinUSD: money.FromInt(1)}
		for _, f := range rules.Pass(s.series(), anomaly.WindowDays-anomaly.Rejudged) {
			found++
			if f.Members != nil {
				byMembers++
			}
			s.checkBaseline(t, &f)
		}
	}
	if found < 100 || byMembers < 30 {
		t.Errorf("%d findings, %d of them by their resources", found, byMembers)
	}
}

// checkBaseline compares the baseline of a finding with those of its rows. Halves of amounts are rounded at the last
// place.
func (s *scopes) checkBaseline(t *testing.T, f *anomaly.Finding) {
	t.Helper()
	var baseline, all money.Amount
	for _, row := range s.of[f.Scope] {
		r := &s.rows[row]
		baseline = baseline.Add(f.BaselineOf(r.Keys[resourceKey], &r.Days, f.Day))
		all = all.Add(r.Days.At(f.Day))
	}
	if difference := baseline.Sub(f.Baseline).Abs(); difference.Cmp(money.FromScaled(1, 25)) > 0 || all != f.Cost {
		t.Errorf("%s %s: the rows cost %s above %s, the finding %s above %s", f.Type, f.ID, all, baseline, f.Cost,
			f.Baseline)
	}
	got, err := s.contributors(f)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]money.Amount{}
	for _, c := range got {
		sums[c.Dim] = sums[c.Dim].Add(c.Cost)
	}
	for dim, sum := range sums {
		if sum != f.Cost.Round(2) {
			t.Errorf("%s %s: the contributors by %s cost %s, the finding %s", f.Type, f.ID, dim, sum, f.Cost)
		}
	}
}

func TestScopes_ATeamIsJudgedByItsShareOfResources(t *testing.T) {
	share := func(team string, base, last int64) cost.Row {
		days := make([]money.Amount, anomaly.WindowDays)
		for d := range days {
			days[d] = money.FromInt(base)
		}
		days[len(days)-1] = money.FromInt(last)
		return cost.Row{Keys: []string{"i-1", "ca_1", team, "grp_1", "EC2"}, Days: money.SeriesOf(days...)}
	}
	from := day("2026-02-01")
	s := newScopes(cost.Answer{Rows: []cost.Row{share("web", 100, 400), share("ml", 50, 50)}}, from,
		map[string]time.Time{"ca_1": from.AddDate(0, 0, anomaly.WindowDays-1)})
	rules := anomaly.Rules{Settings: anomaly.DefaultSettings(), MinUSD: money.FromInt(1)}
	got := map[anomaly.Scope]string{}
	for _, f := range rules.Pass(s.series(), anomaly.WindowDays-1) {
		got[f.Scope] = f.Excess().Fixed(0) + " above " + f.Baseline.Fixed(0)
	}
	want := map[anomaly.Scope]string{{Type: anomaly.Team, ID: "web"}: "300 above 100"}
	for _, scope := range []anomaly.Scope{
		{Type: anomaly.Org},
		{Type: anomaly.CloudAccount, ID: "ca_1"},
		{Type: anomaly.ResourceGroup, ID: "grp_1"},
		{Type: anomaly.Resource, ID: "i-1"},
	} {
		want[scope] = "300 above 150"
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
