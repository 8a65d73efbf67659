package anomaly

import (
	"fmt"
	"testing"

	"lamplighter.dev/shared/foundation/money"
)

// account returns the series of an account and of the resources that it consists of.
func account(members ...[]money.Amount) []Series {
	all := make([]Series, len(members)+1)
	all[0] = Series{Scope: Scope{CloudAccount, "ca_1"}, Until: len(members[0])}
	for n, days := range members {
		all[n+1] = Series{Scope: Scope{Resource, fmt.Sprint("vm-", n)}, Days: money.SeriesOf(days...), Until: len(days)}
		all[0].Members = append(all[0].Members, &all[n+1])
		all[0].Days.Add(&all[n+1].Days)
	}
	return all
}

// jobs returns resources with a job every three to nine days, which makes their sum vary a lot.
func jobs() (out [][]money.Amount) {
	for interval := 3; interval <= 9; interval++ {
		days := every(interval)
		out = append(out, shape(49, days(49), days))
	}
	return out
}

func TestRules_Pass_JudgesAnAccountByItsResources(t *testing.T) {
	alike := func(int) int64 { return 100 }
	monthly := on(600, 20, 18)
	unborn := func(int) int64 { return 0 }
	for name, c := range map[string]struct {
		members  [][]money.Amount
		baseline string // of the account; empty: no anomaly
	}{
		"days on which jobs meet are no anomaly": {append(jobs(), shape(49, 100, alike)), ""},
		"an event that jobs hide is found":       {append(jobs(), shape(49, 400, alike)), "520"},
		"monthly costs of some resources are no anomaly": {
			[][]money.Amount{shape(49, 600, monthly), shape(49, 600, monthly), shape(49, 100, alike)}, "",
		},
		"a new resource is found": {
			[][]money.Amount{shape(49, 100, alike), shape(49, 70, unborn)}, "100",
		},
		"many small events are found": {[][]money.Amount{
			shape(49, 29, func(int) int64 { return 20 }), shape(49, 29, func(int) int64 { return 20 }),
			shape(49, 29, func(int) int64 { return 20 }),
		}, "60"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Rules{Settings: DefaultSettings(), MinUSD: money.FromInt(1)}
			got := ""
			for _, f := range r.Pass(account(c.members...), 49) {
				if f.Type == CloudAccount {
					got = f.Baseline.Fixed(0)
				}
			}
			if got != c.baseline {
				t.Errorf("the baseline is %q, want %q", got, c.baseline)
			}
		})
	}
}

func TestSpike_BaselineOf_CountsOtherResourcesAsExpected(t *testing.T) {
	r := Rules{Settings: DefaultSettings(), MinUSD: money.FromInt(1)}
	all := account(append(jobs(), shape(49, 400, func(int) int64 { return 100 }))...)
	for _, f := range r.Pass(all, 49) {
		if f.Type != CloudAccount {
			continue
		}
		var sum money.Amount
		for _, m := range all[0].Members {
			sum = sum.Add(f.BaselineOf(m.ID, &m.Days, f.Day))
		}
		seven := money.SeriesOf(money.FromInt(7))
		other := f.BaselineOf("", &seven, 0)
		if sum != f.Baseline || f.Excess() != money.FromInt(300) || other != money.FromInt(7) {
			t.Errorf("the baselines of the resources are %s, that of the account is %s", sum, f.Baseline)
		}
		return
	}
	t.Error("the account is no anomaly")
}
