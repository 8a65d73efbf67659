package cost

import "time"

// SettledByAccount returns the last day with complete bills of each account that the periods bill. Estimates and
// superseded bills do not count.
func SettledByAccount(periods []Period) map[string]time.Time {
	out := map[string]time.Time{}
	for i := range periods {
		p := &periods[i]
		if p.Estimated {
			continue
		}
		through := midnight(p.SettledThrough)
		for _, account := range p.Accounts() {
			if through.After(out[account]) {
				out[account] = through
			}
		}
	}
	return out
}
