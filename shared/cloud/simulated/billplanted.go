package simulated

import (
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/money"
)

// anomalyDimensions are the dimensions of the planted spikes. Each month has one spike, in the next dimension; five
// months cover all.
var anomalyDimensions = []string{"org", "cloud_account", "resource_group", "resource", "team"}

// anomaly is the spike that is planted in a month: on one day its resources run for several times their hours.
type anomaly struct {
	dimension string
	day       time.Time
	key       string // of the tag that its resources have; empty of an account, an organization or a resource
	value     string
	resource  node
	factor    int64
}

// plantedIn returns the spike of a month: on the first Wednesday from the 10th on, so that no weekend is near; that of
// a cloud account on the one after in every second account, so that it is not that of all.
func (s *settings) plantedIn(month int, start time.Time) anomaly {
	a := anomaly{dimension: anomalyDimensions[month%len(anomalyDimensions)], day: start.AddDate(0, 0, 9), factor: 3}
	for a.day.Weekday() != time.Wednesday {
		a.day = a.day.AddDate(0, 0, 1)
	}
	turn := month / len(anomalyDimensions)
	switch a.dimension {
	case "cloud_account":
		a.day = a.day.AddDate(0, 0, 7*int(s.key%2))
	case "resource_group":
		a.key, a.value = "app", apps[turn%len(apps)]
	case "team":
		a.key, a.value = "team", teams[turn%len(teams)]
	case "resource":
		a.factor = 6
		a.resource = s.dearestInstance(start)
	}
	return a
}

// dearestInstance returns the dearest instance of the first thousand that is on the bill of a whole month, tagged, and
// not covered.
func (s *settings) dearestInstance(start time.Time) (best node) {
	var most int64
	first := newBillDay(start)
	s.eachNode(0, 1000, func(n node) {
		u := s.usageOf(n)
		if u.rate > most && n.kind == kindEC2 && !u.covered && s.isTagged(n) && u.hoursOn(&first) == 24 &&
			s.envOf(n) == "prod" {
			best, most = n, u.rate
		}
	})
	return best
}

// factorOn returns how many times its hours n runs on the day. A node with a change of the past has no spike, so that
// its bill shows the change alone.
func (a anomaly) factorOn(b *bill, n node, at time.Time) int64 {
	if _, changed := b.pastOf(n); changed || !at.Equal(a.day) {
		return 1
	}
	hit := true
	switch {
	case a.key != "":
		hit = b.tagOf(n, a.key) == a.value
	case a.dimension == "resource":
		hit = n == a.resource
	}
	if hit {
		return a.factor
	}
	return 1
}

// Plan is the content of an account's bills. An import of them must give the same figures.
type Plan struct {
	Months    []PlannedMonth // oldest first
	Anomalies []PlannedAnomaly
}

// PlannedMonth are the sums of one billing period in US dollars. Tax, Support, Credit, Refund, Correction and Plan
// (the savings plan) are parts of Billed, Unused is one of Effective.
type PlannedMonth struct {
	Period                                                     time.Time
	Final, Restated                                            bool
	Rows                                                       int64 // in its files, as they are delivered
	Billed, Effective                                          money.Amount
	Tax, Support, Credit, Refund, Correction, Purchase, Unused money.Amount
}

// PlannedAnomaly is a spike: on Date, Dimension ("org", "cloud_account", "resource_group", "resource", "team") cost
// Excess more than without it. Resource is the native identifier of the one resource that spikes, or else TagKey and
// TagValue are on all that do; of an account and an organization, everything does. A group or a team has the
// dimension's spike when its members are those with the tag.
type PlannedAnomaly struct {
	Dimension, Resource, TagKey, TagValue string
	Date                                  time.Time
	Excess                                money.Amount
}

// Planted returns the content of the bills of account a at the time now.
func Planted(a cloud.Account, now time.Time) (Plan, error) {
	s, err := parseSettings(a)
	if err != nil {
		return Plan{}, err
	}
	var out Plan
	for _, b := range s.billsAt(now) {
		m, excess := b.sumLines()
		out.Months = append(out.Months, m)
		if p := b.planted; excess > 0 {
			told := PlannedAnomaly{
				Dimension: p.dimension, TagKey: p.key, TagValue: p.value, Date: p.day,
				Excess: nanoDollars(excess),
			}
			if p.dimension == "resource" {
				told.Resource = s.nativeUID(p.resource)
			}
			out.Anomalies = append(out.Anomalies, told)
		}
	}
	return out, nil
}

func nanoDollars(n int64) money.Amount { return money.FromScaled(n, 9) }

// sumLines returns the totals of the bill, and the planted amount in them.
func (b *bill) sumLines() (PlannedMonth, int64) {
	var billed, effective, excess int64
	var byType [correctionLine + 1]int64
	m := PlannedMonth{Period: b.start, Final: b.final, Restated: b.restated}
	for file := range b.fileCount() {
		b.eachLine(file, func(l *line) {
			m.Rows += b.billing.rowsOf(l)
			billed, effective, excess = billed+l.billed, effective+l.effective, excess+l.extra
			byType[l.what] += l.billed
			if l.what == unusedLine {
				byType[unusedLine] += l.effective
			}
		})
	}
	m.Billed, m.Effective = nanoDollars(billed), nanoDollars(effective)
	m.Tax, m.Support, m.Credit, m.Refund = nanoDollars(byType[taxLine]), nanoDollars(byType[supportLine]),
		nanoDollars(byType[creditLine]), nanoDollars(byType[refundLine])
	m.Correction, m.Purchase, m.Unused = nanoDollars(byType[correctionLine]), nanoDollars(byType[planLine]),
		nanoDollars(byType[unusedLine])
	return m, excess
}
