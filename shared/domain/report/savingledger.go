package report

import (
	"cmp"
	"slices"
	"time"

	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/money"
)

// ledgerDays is how long the saving of an applied recommendation counts. ledgerApart is how far apart two lines of a
// resource must begin so that no day after the one application is among the days before the other. ledgerReach is how
// long before a day lines may begin that count on it, or stand beside one that does.
const (
	ledgerDays  = recommendation.LedgerDays * day
	ledgerApart = (recommendation.ComparedDays + 1) * day
	ledgerReach = ledgerDays + ledgerApart
)

// ledger adds up the savings of some days: stops first, then recommendations in the hours without stops.
type ledger struct {
	from, until time.Time // until is not after the present time
	changes     []execution.StateChange
	read        []recommendation.LedgerLine
	lines       []ledgerLine // of read, those that count on the days
	rateOf      func(uid string) *pricing.HourlyRate
	known       map[string]*inventory.Listed // the resources in sight that exist, by native id
	gone        bool                         // the caller sees everything, and so the resources that are gone
	stops       map[string][]execution.Stop  // by native id, since the first line of a recommendation began
	out         RealizedSaving
}

// ledgerLine is the line of a recommendation and the end of the time that it counts.
type ledgerLine struct {
	recommendation.LedgerLine
	end time.Time
}

// arrange chooses the lines that count on the days. Of two lines of a resource whose compared weeks overlap, both
// contain the same fall of the cost: the larger one counts. A line ends when its recommendation is applied again.
func (l *ledger) arrange() {
	of := map[string][]*recommendation.LedgerLine{}
	for i := range l.read {
		one := &l.read[i]
		of[one.ResourceUID] = append(of[one.ResourceUID], one)
	}
	for i := range l.read {
		one := ledgerLine{l.read[i], l.read[i].From.Add(ledgerDays)}
		same := of[one.ResourceUID]
		if slices.ContainsFunc(same, one.standsBehind) {
			continue
		}
		for _, other := range same {
			if other.RecommendationID == one.RecommendationID && other.From.After(one.From) {
				one.end = clock.Earliest(one.end, other.Applied())
			}
		}
		if one.end.After(l.from) && one.From.Before(l.until) {
			l.lines = append(l.lines, one)
		}
	}
}

// standsBehind reports whether another line contains the same fall of the cost, and counts in place of this one.
func (l *ledgerLine) standsBehind(other *recommendation.LedgerLine) bool {
	apart := l.From.Sub(other.From).Abs()
	if apart >= ledgerApart || apart == 0 && l.RecommendationID == other.RecommendationID {
		return false
	}
	if c := other.Month.Cmp(l.Month); c != 0 {
		return c > 0
	}
	if c := other.From.Compare(l.From); c != 0 {
		return c < 0
	}
	return other.RecommendationID < l.RecommendationID
}

// begin returns the time from which stops are needed.
func (l *ledger) begin() time.Time {
	begin := l.from
	for i := range l.lines {
		begin = clock.Earliest(begin, l.lines[i].From)
	}
	return begin
}

// resources returns the native ids of the resources of stops and lines.
func (l *ledger) resources(stops []execution.Stop) []string {
	out := make([]string, 0, len(stops)+len(l.lines))
	for i := range stops {
		out = append(out, stops[i].Change.ResourceUID)
	}
	for i := range l.lines {
		out = append(out, l.lines[i].ResourceUID)
	}
	return out
}

// see takes the resources in sight.
func (l *ledger) see(found []inventory.Listed) {
	l.known = make(map[string]*inventory.Listed, len(found))
	for i := range found {
		l.known[found[i].UID] = &found[i]
	}
}

// addStops adds the stops of resources in sight. One that is gone has no price.
func (l *ledger) addStops(stops []execution.Stop) {
	for i := range stops {
		st := &stops[i]
		res := l.known[st.Change.ResourceUID]
		if res == nil {
			continue
		}
		rate := l.rateOf(res.UID)
		amount, priced := rate.Saved(st.To.Sub(st.From))
		if !priced {
			l.out.WithoutRate++
			continue
		}
		l.out.Lines = append(l.out.Lines, SavingLine{
			ResourceUID: res.UID, ResourceName: res.Name, ResourceType: res.Type, From: st.From, To: st.To,
			Counted: st.To.Sub(st.From), Hourly: rate.Running.Sub(rate.Off), Amount: amount,
			Change: st.Change, Rate: rate,
		})
		l.addByDay(st, rate)
	}
}

// addByDay adds the saving of a stop to the days that it covers.
func (l *ledger) addByDay(st *execution.Stop, rate *pricing.HourlyRate) {
	for d := range l.out.Days {
		if within := overlap(st, l.from.AddDate(0, 0, d), l.from.AddDate(0, 0, d+1)); within > 0 {
			part, _ := rate.Saved(within)
			l.out.Days[d].Increase(&part)
		}
	}
}

// overlap returns how long a stop lasted between two times.
func overlap(st *execution.Stop, from, to time.Time) time.Duration {
	return max(0, clock.Earliest(st.To, to).Sub(clock.Latest(st.From, from)))
}

// addRecommendations adds the lines of recommendations for resources in sight. Only a caller who sees everything sees
// those of resources that are gone.
func (l *ledger) addRecommendations() {
	l.stops = map[string][]execution.Stop{}
	for _, st := range execution.StopsOf(l.changes, l.begin(), l.until) {
		l.stops[st.Change.ResourceUID] = append(l.stops[st.Change.ResourceUID], st)
	}
	of := map[string][]ledgerLine{}
	for i := range l.lines {
		if uid := l.lines[i].ResourceUID; l.gone || l.known[uid] != nil {
			of[uid] = append(of[uid], l.lines[i])
		}
	}
	for uid, lines := range of {
		slices.SortFunc(lines, func(a, b ledgerLine) int {
			return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.RecommendationID, b.RecommendationID))
		})
		l.addLinesOf(uid, lines)
	}
}

// addLinesOf adds the lines of a resource, oldest first. On each day its lines and stops together are at most what it
// cost before.
func (l *ledger) addLinesOf(uid string, lines []ledgerLine) {
	counted := make([]money.Amount, len(l.out.Days)) // by day
	for i := range lines {
		one := &lines[i]
		out := l.newLine(one)
		left := one.Unexplained().MulInt(recommendation.LedgerDays).DivInt(recommendation.ComparedDays)
		for at := one.From; at.Before(out.To); at = at.AddDate(0, 0, 1) {
			share, runs := l.shareOf(one, at)
			share = least(share, left)
			left = left.Sub(share)
			if at.Before(l.from) || share.IsZero() {
				continue
			}
			d := int(at.Sub(l.from) / day)
			share = least(share, l.room(uid, lines, at).Sub(counted[d]))
			counted[d].Increase(&share)
			l.out.Days[d].Increase(&share)
			out.Amount, out.Counted = out.Amount.Add(share), out.Counted+runs
		}
		if out.Amount.Sign() > 0 {
			l.out.Lines = append(l.out.Lines, out)
		}
	}
}

// newLine returns the line of a recommendation without its amount.
func (l *ledger) newLine(one *ledgerLine) SavingLine {
	out := SavingLine{
		ResourceUID: one.ResourceUID, ResourceName: one.ResourceName, ResourceType: one.ResourceType,
		From: clock.Latest(one.From, l.from), To: clock.Earliest(one.end, l.until),
		Hourly: one.Share(time.Hour), Recommendation: &one.LedgerLine,
	}
	if res := l.known[one.ResourceUID]; res != nil {
		out.ResourceName = res.Name
	}
	return out
}

// shareOf returns the saving of a line on a day, and the time of the day that it counts: without stops.
func (l *ledger) shareOf(one *ledgerLine, at time.Time) (money.Amount, time.Duration) {
	end := clock.Earliest(at.Add(day), clock.Earliest(one.end, l.until))
	runs := end.Sub(at) - l.stopped(one.ResourceUID, at, end)
	return one.Share(runs), runs
}

// stopped returns how long we kept a resource stopped between two times.
func (l *ledger) stopped(uid string, from, to time.Time) (sum time.Duration) {
	for i := range l.stops[uid] {
		sum += overlap(&l.stops[uid][i], from, to)
	}
	return sum
}

// room returns what recommendations can have saved at a resource on a day: its largest cost before one of them, less
// the savings of its stops on that day.
func (l *ledger) room(uid string, lines []ledgerLine, at time.Time) (most money.Amount) {
	for i := range lines {
		if one := &lines[i]; !at.Before(one.From) && at.Before(one.end) && one.Most(day).Cmp(most) > 0 {
			most = one.Most(day)
		}
	}
	if l.known[uid] != nil {
		saved, _ := l.rateOf(uid).Saved(l.stopped(uid, at, at.Add(day)))
		most = most.Sub(saved)
	}
	return most
}

// least returns the smaller amount, and 0 if it is negative.
func least(a, b money.Amount) money.Amount {
	if b.Cmp(a) < 0 {
		a = b
	}
	if a.Sign() < 0 {
		return money.Amount{}
	}
	return a
}
