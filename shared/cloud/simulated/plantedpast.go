package simulated

import (
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/money"
)

// plantedPast is a change of the past: of a planted resource, on the day of the setting changedOn. The zero value is
// none.
type plantedPast struct {
	rule    string
	percent int64       // the cost before the change, of the cost after it
	facts   cloud.Facts // before the change
}

// percentFact is the name of plantedPast.percent in plantedTable.
const percentFact = "cost"

// readPast reads a change of the past: a rule, the cost before in percent and the facts before.
func readPast(text string) plantedPast {
	rule, rest, _ := strings.Cut(text, " ")
	p := plantedPast{rule: rule, facts: plantedFacts(rest)}
	if percent, told := p.facts[percentFact].(float64); told {
		p.percent = int64(percent)
	}
	delete(p.facts, percentFact)
	return p
}

// readDay reads a day, and returns the zero time if the setting is not set.
func (r *reader) readDay(name string) time.Time {
	v := r.readText(name, "")
	if v == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.DateOnly, v)
	if err != nil {
		r.failReading(name, v, "a day such as 2026-03-01")
	}
	return at
}

// pastOf returns the change of the past of a node, and whether there is one.
func (s *settings) pastOf(n node) (plantedPast, bool) {
	p, is := s.plantedAs(n)
	return p.past, is && p.past.rule != "" && !s.changedOn.IsZero()
}

// rateOn returns the rate of a node with usage u on a day. Before a change of the past it differs.
func (s *settings) rateOn(n node, u *usage, at time.Time) int64 {
	if p, is := s.pastOf(n); is && at.Before(s.changedOn) {
		return u.rate * p.percent / 100
	}
	return u.rate
}

// PastChange is a change that was made to a planted resource on a day of the past. From this day on its bill is lower.
type PastChange struct {
	UID, Rule    string
	Day          time.Time
	Facts        cloud.Facts  // before the change, as far as the rule reads them
	Cost, Saving money.Amount // of the 30 days before Day: all of the cost, and the part that the change saves
}

// pastDays is the number of days of PastChange.Cost.
const pastDays = 30

// PastChanges lists the changes of the past of an account. It is empty unless the account has the settings
// facts=planted and changedOn.
func PastChanges(a cloud.Account) ([]PastChange, error) {
	s, err := parseSettings(a)
	if err != nil || s.planted == nil {
		return nil, err
	}
	var out []PastChange
	s.eachNode(0, -1, func(n node) {
		p, is := s.pastOf(n)
		if !is {
			return
		}
		cost := s.costBefore(n)
		out = append(out, PastChange{
			UID: s.nativeUID(n), Rule: p.rule, Day: s.changedOn, Facts: p.facts,
			Cost: nanoDollars(cost), Saving: nanoDollars(cost * (p.percent - 100) / p.percent),
		})
	})
	slices.SortFunc(out, func(a, b PastChange) int { return strings.Compare(a.UID, b.UID) })
	return out, nil
}

// costBefore returns the billed cost of a node on the 30 days before changedOn.
func (s *settings) costBefore(n node) (sum int64) {
	u := s.usageOf(n)
	for ago := 1; ago <= pastDays; ago++ {
		d := newBillDay(s.changedOn.AddDate(0, 0, -ago))
		sum += s.rateOn(n, &u, d.at) * (u.hoursOn(&d) * u.hourVariation(&d)) / 1000
	}
	return sum
}
