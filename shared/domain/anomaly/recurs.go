package anomaly

// The limits of costs that recur.
const (
	recurringDays    = 35  // how many days back the earlier incidents may lie
	leastRecurrences = 2   // incidents of a similar size in these days
	smallestSimilar  = 1.5 // an excess that is less than this many times that of a past day is similar to it
	largestSimilar   = 0.5 // an excess that is at least this share of that of a past day is similar to it

	nearestMonth, furthestMonth = 28, 31   // how many days a monthly cost may lie back
	monthlyShare, monthlyGrowth = 0.55, 2. // of the excess a month ago: the excess is still that of the monthly cost
)

// excess is the cost of a day above its baseline.
type excess struct {
	*history
	baseline, amount float64
}

// isOrdinary reports whether an excess has recurred before, or may be a monthly cost that the scope is too young to
// have had before. age is that of the scope in days.
func (e *excess) isOrdinary(age int, careful bool) bool {
	begin := e.beginning()
	if careful && age < aMonth && begin == len(e.cost) {
		return true
	}
	return e.recurrences(begin) >= leastRecurrences || e.isMonthly()
}

// above returns how far a past day was above its expected cost.
func (e *excess) above(day int) float64 {
	if e.interval == 0 {
		return e.cost[day] - e.baseline
	}
	return e.cost[day] - e.expected(day)
}

// expected returns the expected cost of a past day: by the interval, or else the typical cost.
func (e *excess) expected(day int) float64 {
	if e.interval > 0 {
		if cost, known := e.repeated(day, e.interval); known {
			return cost
		}
	}
	return e.typical[day]
}

// beginning returns the first of the days right before the judged one that were 30 % above the baseline, too. These
// belong to the same incident.
func (e *excess) beginning() int {
	i := len(e.cost)
	for i > leastSettled && e.above(i-1) >= 0.3*e.baseline {
		i--
	}
	return i
}

// recurrences counts the incidents of a similar size before a day. Days in a row are one incident.
func (e *excess) recurrences(before int) (n int) {
	within := false
	for i := max(leastSettled, len(e.cost)-recurringDays); i < before; i++ {
		above := e.above(i)
		similar := e.amount <= smallestSimilar*above && e.amount >= largestSimilar*above
		if similar && !within {
			n++
		}
		within = similar
	}
	return n
}

// isMonthly reports whether a day about a month ago had an excess of this size.
func (e *excess) isMonthly() bool {
	for back := nearestMonth; back <= min(furthestMonth, len(e.cost)); back++ {
		day := len(e.cost) - back
		above := e.cost[day] - e.baseline
		if day >= leastSettled {
			above = e.cost[day] - e.expected(day)
		}
		if e.amount >= monthlyShare*above && e.amount <= monthlyGrowth*above {
			return true
		}
	}
	return false
}
