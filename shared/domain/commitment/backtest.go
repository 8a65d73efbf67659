package commitment

import "lamplighter.dev/shared/foundation/money"

// Backtest compares the levels on the past. It walks over months of 4 weeks: at the beginning of each it chooses the
// levels from the days before, as today's are chosen, and applies them to the days of the month, which the choice has
// not seen.
type Backtest struct {
	Months  int       `json:"months"` // of 4 weeks that were tested: all after the first 13 weeks
	Results []Outcome `json:"results"`
}

// Outcome is what a level gained in a back-test, in USD.
type Outcome struct {
	Level LevelName    `json:"level"`
	Gain  money.Amount `json:"gain"` // of all tested months
	// Regret is how much more the best commitment of each month would have gained, had its use been known before.
	Regret money.Amount `json:"regret"`
	Losses int          `json:"losses"` // the months that ended with a loss
}

// tested are the levels that a back-test compares.
var tested = []LevelName{None, Safe, Default, Best}

// monthDays is the length of a tested month.
const monthDays = 4 * 7

// Test walks over a use with an offer. It returns no results for a use of fewer than 119 days.
func Test(u *Use, o *Offer) Backtest {
	out := Backtest{}
	perDay := hoursPerDay / int(u.Basis.hours())
	sums := make([]Outcome, len(tested))
	for at := levelDays * perDay; at+monthDays*perDay <= len(u.Cost); at += monthDays * perDay {
		out.Months++
		past := Use{u.Basis, u.From, u.Cost[:at]}
		month := u.Cost[at : at+monthDays*perDay]
		chosen := choose(&past, o.Rate)
		known := Gain(month, BestLevel(month, o.Rate), o.Rate)
		for i, name := range tested {
			gain := Gain(month, chosen.of(name), o.Rate)
			sums[i].Level = name
			sums[i].Gain, sums[i].Regret = sums[i].Gain.Add(gain), sums[i].Regret.Add(known.Sub(gain))
			if gain.Sign() < 0 {
				sums[i].Losses++
			}
		}
	}
	if out.Months == 0 {
		return out
	}
	for i := range sums {
		sums[i].Gain, sums[i].Regret = sums[i].Gain.Round(places), sums[i].Regret.Round(places)
	}
	out.Results = sums
	return out
}
