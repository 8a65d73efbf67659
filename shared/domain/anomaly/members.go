package anomaly

import (
	"lamplighter.dev/shared/foundation/money"
)

// unusualMembers are the resources of a scope whose cost of a day is unusual.
type unusualMembers struct {
	excess money.Amount     // above their baselines
	back   map[string][]int // the days of the baseline of each
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
	unusual := r.unusualMembers(s, i)
	if spike, found := r.spikeOfMembers(s, i, &unusual); found {
		return spike, true
	}
	if !found || own.NewSpend {
		return own, found
	}
	rest := Series{Scope: s.Scope, Days: s.Days.Clone(i + 1)}
	ordinary := r.ordinaryExcess(s, i).Neg()
	if rest.Days.Increase(i, &ordinary); rest.Days.At(i).Sign() <= 0 {
		return Spike{}, false
	}
	_, found = r.judgeOwn(&rest, i)
	return own, found
}

// isKnown reports whether a resource has cost anything for 14 days, so that it can be compared.
func (s *Series) isKnown(i int) bool { return s.firstDay() >= 0 && i-s.firstDay() >= leastAge }

func (r *Rules) unusualMembers(s *Series, i int) (out unusualMembers) {
	for _, m := range s.Members {
		if !m.isKnown(i) {
			continue
		}
		c := m.compared(r, i)
		if c == nil || !c.unusual {
			continue
		}
		out.excess = out.excess.Add(m.Days.At(i).Sub(c.mean()))
		if out.back == nil {
			out.back = map[string][]int{}
		}
		out.back[m.ID] = c.back
	}
	return out
}

// ordinaryExcess returns what the resources that are not unusual cost above their typical cost, because it recurs or
// varies. It is below 0 if they cost less.
func (r *Rules) ordinaryExcess(s *Series, i int) (sum money.Amount) {
	for _, m := range s.Members {
		if !m.isKnown(i) {
			continue
		}
		if c := m.compared(r, i); c == nil || !c.unusual {
			typical := medianBack(&m.Days, i, typicalBack).notNegative()
			sum = sum.Add(m.Days.At(i).Sub(typical.mean()))
		}
	}
	return sum
}

// spikeOfMembers returns the spike that the unusual resources of a scope make.
func (r *Rules) spikeOfMembers(s *Series, i int, unusual *unusualMembers) (Spike, bool) {
	base := baseline{sum: s.Days.At(i).Sub(unusual.excess), n: 1}
	if len(unusual.back) == 0 || r.tooSmall(&base) {
		return Spike{}, false
	}
	spike, found := r.spikeAbove(s.Type, s.Days.At(i), &base)
	spike.Members = unusual.back
	return spike, found
}

// BaselineOf returns the part of the baseline of a spike on day i that costs of a resource by day make.
func (s *Spike) BaselineOf(resource string, days *money.Series, i int) money.Amount {
	back := s.Back
	if s.Members != nil {
		unusual, found := s.Members[resource]
		if !found {
			return days.At(i)
		}
		back = unusual
	}
	if len(back) == 0 {
		return money.Amount{}
	}
	b := mean(days, i, back)
	return b.mean()
}
