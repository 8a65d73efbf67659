package anomaly

import (
	"slices"

	"lamplighter.dev/shared/foundation/money"
)

// membersDay is what the resources of a scope tell of a day.
type membersDay struct {
	excess   money.Amount     // of the resources whose cost is unusual, above their baselines
	ordinary money.Amount     // what other resources cost above their typical cost, because it recurs or varies
	back     map[string][]int // the days of the baseline of each unusual resource
}

// judge judges a day of a scope by its resources, and by its own past. Its cost is above 0.
//
// An event that is small beside the rest of a scope is hidden by the variation of the rest, but the resource that has
// it is not. So the excess of a scope is the sum of the excesses of the resources that are unusual. What its own past
// finds besides, such as the cost of many new resources, counts if it is not explained by ordinary days of resources.
func (r *Rules) judge(s *Series, i int) (Spike, bool) {
	own, found := r.judgeOwn(s, i)
	if len(s.Members) == 0 || !r.WeekdayBaseline {
		return own, found
	}
	day := r.membersOn(s, i)
	if spike, found := r.spikeOfMembers(s, i, &day); found {
		return spike, true
	}
	if !found || own.NewSpend || day.ordinary.IsZero() {
		return own, found
	}
	rest := Series{Scope: s.Scope, Days: slices.Clone(s.Days[:i+1])}
	if rest.Days[i] = rest.Days[i].Sub(day.ordinary); rest.Days[i].Sign() <= 0 {
		return Spike{}, false
	}
	_, found = r.judgeOwn(&rest, i)
	return own, found
}

// membersOn compares the resources of a scope with their similar days. Resources of less than 14 days have none.
func (r *Rules) membersOn(s *Series, i int) (out membersDay) {
	for _, m := range s.Members {
		first := m.firstDay()
		if first < 0 || i-first < leastAge {
			continue
		}
		switch c := m.compared(r, i); {
		case c == nil:
		case c.unusual:
			out.excess = out.excess.Add(m.Days[i].Sub(c.mean()))
			if out.back == nil {
				out.back = map[string][]int{}
			}
			out.back[m.ID] = c.back
		default:
			out.ordinary = out.ordinary.Add(m.Days[i].Sub(c.typical.mean()))
		}
	}
	return out
}

// spikeOfMembers returns the spike that the unusual resources of a scope make.
func (r *Rules) spikeOfMembers(s *Series, i int, day *membersDay) (Spike, bool) {
	base := baseline{sum: s.Days[i].Sub(day.excess), n: 1}
	if len(day.back) == 0 || r.tooSmall(&base) {
		return Spike{}, false
	}
	spike, found := r.spikeAbove(s.Type, s.Days[i], &base)
	spike.Members = day.back
	return spike, found
}

// BaselineOf returns the part of the baseline of a spike on day i that costs of a resource by day make.
func (s *Spike) BaselineOf(resource string, days []money.Amount, i int) money.Amount {
	back := s.Back
	if s.Members != nil {
		unusual, found := s.Members[resource]
		if !found {
			return days[i]
		}
		back = unusual
	}
	if len(back) == 0 {
		return money.Amount{}
	}
	b := mean(days, i, back)
	return b.mean()
}
