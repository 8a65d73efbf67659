package commitment

import (
	"slices"

	"lamplighter.dev/shared/foundation/money"
)

// Level is a size of a commitment. Money is in USD.
type Level struct {
	Name LevelName `json:"name"`
	// Hourly is the use that it covers, at prices on demand, and Commitment what is paid for it, each an hour.
	Hourly     money.Amount `json:"hourly"`
	Commitment money.Amount `json:"commitment"`
	Upfront    money.Amount `json:"upfront,omitzero"` // what AllUpfront pays at once; 0 of other payments
	// Gain is the net gain a month on the days of Advice.Days.
	Gain money.Amount `json:"gain"`
	// Coverage is the covered part of the use, Utilization the used part of the commitment, and BreakEven the smallest
	// utilization without a loss, in percent.
	Coverage    money.Amount `json:"coverage"`
	Utilization money.Amount `json:"utilization"`
	BreakEven   money.Amount `json:"breakEven"`
	// BreakEvenMonths is after how many months the cost on demand of the covered use reaches the price of the whole
	// term; 0 if the term is unknown, or it never does within the term.
	BreakEvenMonths money.Amount `json:"breakEvenMonths,omitzero"`
}

// LevelName is the name of a level.
type LevelName string

// The levels, from the most careful, and None for comparison.
const (
	None    LevelName = "none"
	Safe    LevelName = "safe"    // the minimum of the last 30 days
	Default LevelName = "default" // the 10th percentile of the last 13 weeks
	Best    LevelName = "best"    // the quantile of the discount of the last 13 weeks; offered unless the use falls
)

// The days that levels are chosen from. Quantiles are of whole weeks: where a seventh of the days is near the discount,
// one weekend more or less in 90 days would decide between the level of weekends and that of other days.
const (
	safeDays  = 30
	levelDays = 13 * 7
	trendDays = 4 * 7
)

// tenth is the quantile of the default level.
var tenth = money.FromScaled(1, 1)

// Trend is the direction of a use.
type Trend string

// The trends.
const (
	Flat    Trend = "flat"
	Rising  Trend = "rising"
	Falling Trend = "falling"
)

// trendPercent is how far the mean of the last 4 weeks may be from that of the 9 weeks before: within 5 % it is flat.
const trendPercent = 5

// TrendOf compares the mean of the last 4 weeks with that of up to 9 weeks before. Without days before it is flat.
func TrendOf(u *Use) Trend {
	last := u.last(trendDays)
	all := u.last(levelDays)
	before := all[:len(all)-len(last)]
	if len(before) == 0 {
		return Flat
	}
	now := money.Sum(last...).MulInt(int64(len(before))).MulInt(100)
	then := money.Sum(before...).MulInt(int64(len(last)))
	switch {
	case now.Cmp(then.MulInt(100-trendPercent)) < 0:
		return Falling
	case now.Cmp(then.MulInt(100+trendPercent)) > 0:
		return Rising
	}
	return Flat
}

// levels are the sizes of the three levels in USD on demand a period. Best is Default while the use falls.
type levels struct {
	safe, normal, best money.Amount
	falling            bool
}

// choose returns the levels that the last days of a use suggest at a rate.
func choose(u *Use, rate money.Amount) levels {
	days := sorted(u.last(levelDays))
	out := levels{
		safe: lowest(u.last(safeDays)), normal: Quantile(days, tenth), falling: TrendOf(u) == Falling,
	}
	if out.best = Quantile(days, one.Sub(rate)); out.falling {
		out.best = out.normal
	}
	return out
}

// lowest returns the smallest cost; 0 of no costs.
func lowest(costs []money.Amount) money.Amount {
	if len(costs) == 0 {
		return money.Amount{}
	}
	return slices.MinFunc(costs, money.Amount.Cmp)
}

// of returns the size of a level.
func (l *levels) of(name LevelName) money.Amount {
	switch name {
	case Safe:
		return l.safe
	case Default:
		return l.normal
	case Best:
		return l.best
	case None:
	}
	return money.Amount{}
}

// places is to how many decimal places figures of a level are rounded.
const places = 6

// figure returns the figures of a level on the last days of a use.
func figure(u *Use, o *Offer, name LevelName, size money.Amount) Level {
	days := u.last(levelDays)
	hours := int64(len(days)) * u.Basis.hours()
	used, all := covered(days, size), money.Sum(days...)
	out := Level{
		Name: name, Hourly: size.DivInt(u.Basis.hours()).Round(places), BreakEven: percent(o.Rate, one),
		Gain:     Gain(days, size, o.Rate).MulInt(hoursPerMonth).DivInt(hours).Round(places),
		Coverage: percent(used, all), Utilization: percent(used, size.MulInt(int64(len(days)))),
	}
	paid := size.Mul(o.Rate).DivInt(u.Basis.hours())
	out.Commitment = paid.Round(places)
	if o.Years == 0 || used.IsZero() {
		return out
	}
	term := paid.MulInt(int64(o.Years) * 12 * hoursPerMonth)
	if o.Payment == AllUpfront {
		out.Upfront = term.Round(places)
	}
	month := used.MulInt(hoursPerMonth).DivInt(hours)
	if months := term.MulDiv(one, month).Round(1); months.Cmp(money.FromInt(int64(o.Years)*12)) <= 0 {
		out.BreakEvenMonths = months
	}
	return out
}

// percent returns a part of a whole in percent, to one decimal place; 0 of nothing.
func percent(part, whole money.Amount) money.Amount {
	if whole.Sign() <= 0 {
		return money.Amount{}
	}
	return part.MulDiv(money.FromInt(100), whole).Round(1)
}
