package budgeting

import (
	"cmp"
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// State is the state of a budget in a period.
type State struct {
	Budget   Budget
	From, To time.Time      // the period, To exclusive
	Known    []money.Amount // all charges of the settled days of the period
	Trail    Trail
	Spent    money.Amount // all charges so far, including days that have not settled
	Forecast Range
	Signal   Signal
}

// History is the daily costs of a scope, from First on.
type History struct {
	First   time.Time
	Billed  []money.Amount // all charges
	Usage   []money.Amount // usage charges only
	Settled time.Time      // the last day with complete bills
}

// Needed returns the first day of the history that the state of a budget needs.
func (b *Budget) Needed(now time.Time) time.Time {
	from, _ := b.Period.Window(now)
	now = now.UTC()
	// for the fees of the last month before the last settled day
	trail := time.Date(now.Year(), now.Month()-2, 1, 0, 0, 0, 0, time.UTC)
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
	if before := from.AddDate(0, 0, -1); settled.Before(before) {
		settled = before // no day of the period is known, and all of it is in the future
	}
	begin := settled.AddDate(0, 0, 1-TrailingDays)
	if begin.Before(h.begins()) {
		begin = h.begins()
	}
	lastMonth := time.Date(settled.Year(), settled.Month()-1, 1, 0, 0, 0, 0, time.UTC)
	month := func(of []money.Amount) money.Amount {
		return money.Sum(h.between(of, lastMonth, lastMonth.AddDate(0, 1, 0))...)
	}
	return Trail{
		Spent: money.Sum(h.between(h.Billed, from, settled.AddDate(0, 0, 1))...),
		Usage: h.between(h.Usage, begin, settled.AddDate(0, 0, 1)),
		Last:  settled, To: to, Fees: month(h.Billed).Sub(month(h.Usage)),
	}
}

// begins returns the first day with a cost.
func (h *History) begins() time.Time {
	for i, a := range h.Usage {
		if !a.IsZero() {
			return h.First.AddDate(0, 0, i)
		}
	}
	return h.First.AddDate(0, 0, len(h.Usage))
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
