package budgeting

import (
	"slices"
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// Signal is the state of a budget as a colour.
type Signal string

// The signals.
const (
	Green  Signal = "green"
	Yellow Signal = "yellow" // 80 % is spent, or the forecast reaches the amount
	Red    Signal = "red"    // the amount is spent
)

// SignalOf returns the signal of a budget.
func (b *Budget) SignalOf(spent money.Amount, forecast Range) Signal {
	switch {
	case spent.Cmp(b.Amount) >= 0:
		return Red
	case spent.MulInt(5).Cmp(b.Amount.MulInt(4)) >= 0 || forecast.Mean.Cmp(b.Amount) >= 0:
		return Yellow
	}
	return Green
}

// BurnDay is a day of a burn-down, with the remaining amount at its end.
type BurnDay struct {
	Day      time.Time
	Spent    money.Amount // up to and including the day, exact; expected for days that are not complete
	Left     money.Amount // Amount - Spent; negative if overspent
	Planned  money.Amount // the remaining amount if spending were even
	Forecast bool         // the day is not complete
}

// BurnDown returns one day for each day of the period. spent are the known days. The following days are forecast from
// t.
func (b *Budget) BurnDown(from time.Time, spent []money.Amount, t *Trail) []BurnDay {
	n := int64(t.To.Sub(from) / (24 * time.Hour))
	ahead := t.Days()
	out := make([]BurnDay, n)
	var sum money.Amount
	for i := range out {
		day := from.AddDate(0, 0, i)
		future := i - len(spent)
		switch {
		case future < 0:
			sum = sum.Add(spent[i])
		case future < len(ahead):
			sum = sum.Add(ahead[future])
		}
		planned := b.Amount.Sub(b.Amount.MulInt(int64(i + 1)).DivInt(n))
		out[i] = BurnDay{Day: day, Spent: sum, Left: b.Amount.Sub(sum), Planned: planned, Forecast: future >= 0}
	}
	return out
}

// The keys of events.
const (
	WarningEvent  = "budget.warning"  // a threshold below 100 % is reached, or a threshold is forecast to be reached
	ExceededEvent = "budget.exceeded" // a threshold of 100 % or more is reached
)

// Told is the set of alerts that were sent for a budget in a period. Each threshold is sent once, even if bills change
// later.
type Told struct {
	Thresholds []int `json:"thresholds"`
	Forecast   []int `json:"forecast"`
}

// Alert is an alert of a budget.
type Alert struct {
	Key       string `json:"key"`
	Threshold int    `json:"threshold"` // in percent: the highest one reached since the last alert
	Forecast  bool   `json:"forecast"`  // expected, not reached yet
}

// Alerts returns the alerts to send now, and the set of sent alerts after that. If several thresholds of a kind are
// reached at once, only the highest is sent. After a threshold is reached, it gets no forecast alert.
func (b *Budget) Alerts(spent money.Amount, forecast Range, told Told) ([]Alert, Told) {
	highest := map[Alert]int{}
	next := Told{slices.Clone(told.Thresholds), slices.Clone(told.Forecast)}
	for _, t := range b.Thresholds {
		limit := b.Amount.MulInt(int64(t))
		switch {
		case spent.MulInt(100).Cmp(limit) >= 0:
			if !slices.Contains(next.Thresholds, t) {
				next.Thresholds = append(next.Thresholds, t)
				highest[Alert{Key: keyOf(t)}] = t
			}
		case b.ForecastAlerts && forecast.Mean.MulInt(100).Cmp(limit) >= 0 && !slices.Contains(next.Thresholds, t):
			if !slices.Contains(next.Forecast, t) {
				next.Forecast = append(next.Forecast, t)
				highest[Alert{Key: WarningEvent, Forecast: true}] = t
			}
		}
	}
	var out []Alert
	for _, a := range []Alert{{Key: WarningEvent}, {Key: ExceededEvent}, {Key: WarningEvent, Forecast: true}} {
		if t, reached := highest[a]; reached {
			a.Threshold = t
			out = append(out, a)
		}
	}
	return out, next
}

func keyOf(threshold int) string {
	if threshold >= 100 {
		return ExceededEvent
	}
	return WarningEvent
}
