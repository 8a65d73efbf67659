package budgeting

import (
	"cmp"
	"slices"
	"time"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/money"
)

// State is the state of a budget in a period.
type State struct {
	Budget   Budget
	From, To time.Time      // the period, To exclusive
	Known    []money.Amount // all charges of the settled days of the period
	Trail    Trail
	Spent    money.Amount // all charges so far, including days that have not settled
	Recent   money.Amount // all charges since the first day of HistoryFrom, whatever the period
	Forecast Range
	Signal   Signal
	// the moments whose teams and groups own the costs of the months of the period
	Attribution cost.Attribution
}

// History is the daily costs of a scope, from First on.
type History struct {
	First   time.Time
	Billed  []money.Amount // all charges
	Usage   []money.Amount // usage charges only
	Settled time.Time      // the last day with complete bills
}

// historyMonths is how many whole months before the present one a forecast uses.
const historyMonths = 3

// HistoryFrom returns the first day of the history that a forecast needs in a month.
func HistoryFrom(month time.Time) time.Time {
	return time.Date(month.Year(), month.Month()-historyMonths, 1, 0, 0, 0, 0, time.UTC)
}

// Needed returns the first day of the history that the state of a budget needs.
func (b *Budget) Needed(now time.Time) time.Time {
	from, _ := b.Period.Window(now)
	now = now.UTC()
	// for the deviations of HistoryDays, and for the charges of two months before that of the last settled day
	trail := HistoryFrom(now)
	if trail.Before(from) {
		return trail
	}
	return from
}

// Stand returns the state of a budget at a time.
func (b *Budget) Stand(h *History, now time.Time) State {
	from, to := b.Period.Window(now)
	st := State{Budget: *b, From: from, To: to}
	st.Spent = money.Sum(h.between(h.Billed, from, to)...)
	st.Recent = money.Sum(h.between(h.Billed, HistoryFrom(now.UTC()), to)...)
	st.Trail = h.trail(from, to)
	before := max(int(h.First.Sub(from)/(24*time.Hour)), 0) // days of the period before the history
	st.Known = append(make([]money.Amount, before), h.between(h.Billed, from, st.Trail.Last.AddDate(0, 0, 1))...)
	st.Forecast = st.Trail.Forecast()
	if st.Forecast.Mean.Cmp(st.Spent) < 0 { // unexpected charges on days that are not complete
		st.Forecast.Mean = st.Spent
		st.Forecast.High = maxAmount(st.Forecast.High, st.Spent)
	}
	st.Signal = b.SignalOf(st.Spent, st.Forecast)
	return st
}

func maxAmount(a, b money.Amount) money.Amount {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}

// trail returns the data for the forecast of a period.
func (h *History) trail(from, to time.Time) Trail {
	settled := h.Settled
	if last := to.AddDate(0, 0, -1); settled.After(last) {
		settled = last
	}
	known := settled.AddDate(0, 0, 1)
	begin := settled.AddDate(0, 0, 1-HistoryDays)
	if first := h.begins(h.Usage); begin.Before(first) {
		begin = first
	}
	return Trail{
		Spent: money.Sum(h.between(h.Billed, from, known)...),
		Usage: h.between(h.Usage, begin, known), Other: h.otherUntil(known),
		Last: settled, From: from, To: to,
	}
}

// otherUntil returns the charges other than usage from the first day with a cost to the day before until.
func (h *History) otherUntil(until time.Time) []money.Amount {
	first := h.begins(h.Billed)
	other := slices.Clone(h.between(h.Billed, first, until))
	for i, usage := range h.between(h.Usage, first, until) {
		other[i] = other[i].Sub(usage)
	}
	return other
}

// begins returns the first of the known days with a cost.
func (h *History) begins(days []money.Amount) time.Time {
	for i, a := range days {
		if !a.IsZero() {
			return h.First.AddDate(0, 0, i)
		}
	}
	return h.First.AddDate(0, 0, len(days))
}

// between returns the known days from the day from until before the day to.
func (h *History) between(days []money.Amount, from, to time.Time) []money.Amount {
	at := func(t time.Time) int {
		return min(max(int(t.Sub(h.First)/(24*time.Hour)), 0), len(days))
	}
	i, j := at(from), at(to)
	if j <= i {
		return nil
	}
	return days[i:j]
}

// PercentUsed returns the spent part of the amount in percent, rounded down to a tenth. The whole amount is 100.
func (s *State) PercentUsed() float64 {
	if s.Spent.Sign() <= 0 {
		return 0
	}
	tenths := s.Spent.MulDiv(money.FromInt(1000), s.Budget.Amount)
	down := tenths.Round(0)
	if down.Cmp(tenths) > 0 {
		down = down.Sub(money.FromInt(1))
	}
	return down.Float64() / 10
}

var badness = map[Signal]int{Red: 0, Yellow: 1, Green: 2}

// CompareWorst orders states: red, yellow, green, and within a colour the highest spent part first.
func CompareWorst(a, b State) int {
	return cmp.Or(cmp.Compare(badness[a.Signal], badness[b.Signal]), cmp.Compare(b.PercentUsed(), a.PercentUsed()),
		cmp.Compare(a.Budget.Name, b.Budget.Name))
}
