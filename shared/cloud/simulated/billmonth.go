package simulated

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// lineType is the type of a line of a bill.
type lineType uint8

const (
	usageLine      lineType = iota // an hour of something, at its public price
	coveredLine                    // an hour that the savings plan covers
	planLine                       // the savings plan itself, of one day
	unusedLine                     // the unused part of the plan on that day
	supportLine                    // shared by all
	taxLine                        // of support and plan
	creditLine                     // a promotion
	refundLine                     // of something that failed
	correctionLine                 // comes when the month is closed: it restates it
)

// line is a line of a bill. Costs are in billionths of a dollar.
type line struct {
	what       lineType
	day        time.Time
	product    product
	region     string
	node       *node  // nil for a line without a resource of the inventory
	resource   string // the native identifier of what else the line is of
	name       string
	text       string
	thousandth int64 // of hours, or of GB
	list       int64
	billed     int64
	effective  int64
	used       int64 // of a planLine: the used part
	extra      int64 // of billed: the planted part
}

// bill is one billing period of an account, as it was delivered: its days before through.
type bill struct {
	*settings
	start, through  time.Time
	final, restated bool

	days    []billDay
	planted anomaly
	month   int     // months since year 0
	plan    int64   // the cost of the savings plan a day
	used    []int64 // of it, by day
	support int64
}

// The settings of an account determine its savings plan: the plan costs the usage that it covers, and 5 % more that
// stays unused.
const (
	planShare    = 4 // one in so many production instances is covered
	planPrice    = 72
	planMargin   = 105
	supportShare = 3 // percent of the month's total cost
	leastSupport = 29 * dollar
	taxShare     = 8
	creditAmount = 25 * dollar
	refundAmount = 3*dollar + 21*cent
	correction   = 12*dollar + 34*cent
	transferRate = 9 * cent // a GB
)

// Days of a month on which something is billed, and from which on the month before is restated.
const (
	refundDay    = 15
	correctedDay = 20
	restatedFrom = 10
	restateEvery = 3 // one month in so many is
)

const day = 24 * time.Hour

// newBill makes the bill of the month of start as it is at the time now; nil if it does not exist yet.
func (s *settings) newBill(start, now time.Time) *bill {
	b := s.outlineBill(start, now)
	if b != nil {
		b.commitSavingsPlan()
	}
	return b
}

// outlineBill is newBill without the look at each resource: the bill lacks its savings plan and the cost of support.
func (s *settings) outlineBill(start, now time.Time) *bill {
	end := start.AddDate(0, 1, 0)
	b := &bill{
		settings: s, start: start, through: now.UTC().Truncate(day),
		month: start.Year()*12 + int(start.Month()) - 1,
	}
	if b.through.After(end) {
		b.through = end
	}
	if !b.through.After(start) {
		return nil
	}
	b.final = !now.Before(end.AddDate(0, 0, 3))
	b.restated = b.month%restateEvery == 0 && !now.Before(end.AddDate(0, 0, restatedFrom-1))
	b.used = make([]int64, int(b.through.Sub(start)/day))
	for i := range b.used {
		b.days = append(b.days, newBillDay(start.AddDate(0, 0, i)))
	}
	return b
}

// isSame reports whether b and o are the same bill of one account.
func (b *bill) isSame(o *bill) bool {
	return b.start.Equal(o.start) && b.through.Equal(o.through) && b.final == o.final && b.restated == o.restated
}

// deliveredAt is when the bill came out.
func (b *bill) deliveredAt() time.Time {
	end := b.start.AddDate(0, 1, 0)
	switch {
	case b.restated:
		return end.AddDate(0, 0, restatedFrom-1)
	case b.final:
		return end.AddDate(0, 0, 3)
	}
	return b.through
}

// fingerprint is the same for the same content.
func (b *bill) fingerprint() string {
	return fmt.Sprintf("%016x-%s-%s-%t-%t",
		hashParts(strconv.FormatUint(b.key, 16)+b.changesKey(), fmt.Sprint(b.counts, b.billing.form)),
		b.start.Format("2006-01"), b.through.Format(time.DateOnly), b.final, b.restated)
}

// changesKey distinguishes bills by the day of the changes of the past. Without one it is empty.
func (s *settings) changesKey() string {
	if s.changedOn.IsZero() {
		return ""
	}
	return s.changedOn.Format(time.DateOnly)
}

// commitSavingsPlan calculates the daily cost of the savings plan, its use on each day, and the cost of support. It
// also plants the month's spike.
func (b *bill) commitSavingsPlan() {
	var hour int64
	b.eachNode(0, -1, func(n node) {
		u := b.usageOf(n)
		hour += u.rate
		if !u.covered {
			return
		}
		b.plan += u.rate * 24 * planPrice / 100
		for i := range b.used {
			b.used[i] += u.rate * u.hoursOn(&b.days[i]) * planPrice / 100
		}
	})
	b.plan = b.plan * planMargin / 100
	b.support = max(hour*monthHours*supportShare/100, leastSupport) / cent * cent
	b.planted = b.plantedIn(b.month, b.start)
}

// nodesInFile is the number of resources in one file of a bill. Lines of the whole account are in the last file.
const nodesInFile = 2000

// fileCount returns in how many files the bill comes.
func (b *bill) fileCount() int {
	nodes := 0
	for _, regions := range b.counts {
		for _, n := range regions {
			nodes += n
		}
	}
	return (nodes+nodesInFile-1)/nodesInFile + 1
}

// eachNode calls f with count nodes of the account from the place from on, or with all when count is negative.
func (s *settings) eachNode(from, count int, f func(node)) {
	for k, regions := range s.counts {
		for r, n := range regions {
			if from >= n {
				from -= n
				continue
			}
			region := slices.Index(regionNames, s.regions[r])
			for ; from < n && count != 0; from, count = from+1, count-1 {
				one := node{kind: uint8(k), region: uint8(region), number: uint32(from)}
				if !s.drawHit(one, asVanish, s.faults.vanish) {
					f(one)
				}
			}
			if from = 0; count == 0 {
				return
			}
		}
	}
}

// eachLine calls f with the lines of a file. f must not keep the line.
func (b *bill) eachLine(file int, f func(*line)) {
	if file == b.fileCount()-1 {
		b.accountLines(f)
		return
	}
	b.eachNode(file*nodesInFile, nodesInFile, func(n node) { b.nodeLines(n, f) })
}

// nodeLines are the lines of one resource: one a day.
func (b *bill) nodeLines(n node, f func(*line)) {
	u := b.usageOf(n)
	if u.rate == 0 || !u.on {
		return
	}
	l := line{product: productOf(kinds[n.kind]), region: regionNames[n.region], node: &n}
	for i := range b.days {
		d := &b.days[i]
		hours := u.hoursOn(d)
		if hours == 0 {
			continue
		}
		rate := b.rateOn(n, &u, d.at)
		l.day, l.what, l.extra = d.at, usageLine, 0
		l.thousandth = hours * u.hourVariation(d)
		if u.covered {
			l.what, l.thousandth = coveredLine, hours*1000
		} else if times := b.planted.factorOn(b, n, d.at); times > 1 {
			l.extra = rate * l.thousandth / 1000 * (times - 1)
			l.thousandth *= times
		}
		l.list = rate * l.thousandth / 1000
		l.billed, l.effective = l.list, l.list
		if u.covered {
			l.billed, l.effective = 0, l.list*planPrice/100
		}
		f(&l)
	}
}

// accountLines are the lines without a resource of the inventory.
func (b *bill) accountLines(f func(*line)) {
	for i := range b.used {
		at := b.start.AddDate(0, 0, i)
		b.regionLines(at, f)
		if b.plan > 0 {
			f(&line{
				what: planLine, day: at, product: savingsPlans, text: "1 year No Upfront Compute Savings Plan",
				thousandth: 24_000, billed: b.plan, used: b.used[i],
			})
			f(&line{
				what: unusedLine, day: at, product: savingsPlans, text: "Unused commitment of the savings plan",
				effective: b.plan - b.used[i],
			})
		}
	}
	tax := (b.support + b.plan*int64(len(b.used))) * taxShare / 100
	for _, l := range []line{
		{
			what: supportLine, day: b.start, product: support, text: "AWS Support (Business)", thousandth: 1000,
			billed: b.support,
		},
		{
			what: taxLine, day: b.start, product: support, text: "Tax for product code AWSSupportBusiness",
			billed: tax / cent * cent,
		},
		{what: creditLine, day: b.start, product: products["ec2"], text: "Promotional credit", billed: -creditAmount},
		{
			what: refundLine, day: b.start.AddDate(0, 0, refundDay-1), product: products["rds"],
			text: "Refund: service level not met", billed: -refundAmount,
		},
	} {
		if l.effective = l.billed; l.day.Before(b.through) {
			f(&l)
		}
	}
	if b.restated {
		f(&line{
			what: correctionLine, day: b.start.AddDate(0, 0, correctedDay-1), product: transfer,
			text: "Correction of data transfer", billed: -correction, effective: -correction,
		})
	}
}

// regionLines are the costs of a region besides its resources: its cluster and its outgoing traffic. A restatement
// triples the traffic on one day.
func (b *bill) regionLines(at time.Time, f func(*line)) {
	for i, region := range b.regions {
		if b.counts[kindNodeGroup][i] > 0 {
			cost := int64(24 * 10 * cent)
			f(&line{
				day: at, product: clusters, region: region, resource: b.clusterUID(region), name: mainCluster,
				text:       "Cluster",
				thousandth: 24_000, list: cost, billed: cost, effective: cost,
			})
		}
		gb := int64(b.counts[kindEC2][i]/4) + int64(mixBits(b.key+uint64(i)+uint64(at.Unix()))%9)
		if b.restated && at.Day() == correctedDay {
			gb *= 3
		}
		if cost := gb * transferRate; cost > 0 {
			f(&line{
				day: at, product: transfer, region: region, text: "Data transfer out", thousandth: gb * 1000,
				list: cost, billed: cost, effective: cost,
			})
		}
	}
}
