package billfile_test

import (
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/foundation/money"
)

// group is the key of a resource's daily sums: the day, and the numbers of provider, account, service and region.
type group [5]int32

type sums struct{ billed, effective money.Amount }

// dailySums adds charges up by day, provider, account, service, region and resource. It compares only the groups of
// the resource, because a resource has few.
type dailySums struct {
	days      *bill.Translation[time.Time, int32]
	texts     [4]*bill.Numbering[string]
	resources *bill.Numbering[string]
	first     []int32 // of a resource: the number of its newest group, 0 for none
	count     int32   // the number of the last group
	groups    [][]dailySum
}

// perChunk is the number of groups that are allocated at once.
const perChunk = 4096

func (d *dailySums) at(n int32) *dailySum { return &d.groups[n/perChunk][n%perChunk] }

// dailySum is a group. before is the number of the resource's group before it.
type dailySum struct {
	key    group
	before int32
	sums   sums
}

func newDailySums() *dailySums {
	same := func(s string) string { return s }
	d := &dailySums{
		days:      bill.NewTranslation(func(t time.Time) int32 { return int32(t.Unix() / 86400) }),
		resources: bill.NewNumbering(same), groups: [][]dailySum{make([]dailySum, perChunk)},
	}
	for i := range d.texts {
		d.texts[i] = bill.NewNumbering(same)
	}
	return d
}

func (d *dailySums) take(b *bill.Block) error {
	start := b.Times["ChargePeriodStart"]
	days := d.days.Of(start)
	d.resources.Use(b.Texts["ResourceId"])
	for i, name := range [...]string{"ProviderName", "SubAccountId", "ServiceName", "RegionId"} {
		d.texts[i].Use(b.Texts[name])
	}
	billed, effective := b.Amounts["BilledCost"], b.Amounts["EffectiveCost"]
	for row := range b.Rows {
		s := &d.at(d.find(row, days[start.Numbers[row]])).sums
		s.billed.Increase(&billed.Words[billed.Numbers[row]])
		s.effective.Increase(&effective.Words[effective.Numbers[row]])
	}
	return nil
}

// takeCharge returns a function that adds up charges.
func (d *dailySums) takeCharge() (take func(*bill.Charge) error, end func()) {
	k := bill.NewCollector(eight)
	end = func() { _ = d.take(k.Block()) }
	return func(c *bill.Charge) error {
		if k.Add(c); k.Len() == 4096 {
			end()
		}
		return nil
	}, end
}

// find returns the number of the row's group.
func (d *dailySums) find(row int, day int32) int32 {
	key := group{day}
	for i, t := range d.texts {
		key[i+1] = t.At(row)
	}
	resource := d.resources.At(row)
	for int(resource) >= len(d.first) {
		d.first = append(d.first, 0)
	}
	for n := d.first[resource]; n > 0; n = d.at(n).before {
		if d.at(n).key == key {
			return n
		}
	}
	return d.add(dailySum{key: key, before: d.first[resource]}, resource)
}

func (d *dailySums) add(s dailySum, resource int32) int32 {
	d.count++
	if int(d.count) == len(d.groups)*perChunk {
		d.groups = append(d.groups, make([]dailySum, perChunk))
	}
	*d.at(d.count), d.first[resource] = s, d.count
	return d.count
}

// total returns the sum of all groups. It must be the same for every way of adding up.
func (d *dailySums) total() (out sums) {
	for n := range d.count + 1 {
		out.billed.Increase(&d.at(n).sums.billed)
		out.effective.Increase(&d.at(n).sums.effective)
	}
	return out
}

// benchTotals are the sums of a million rows, a thousand times those of the sample.
var benchTotals = sums{money.MustParse("20520.22672899"), money.MustParse("14976.51418586")}

func (d *dailySums) check(b *testing.B, totals billfile.Totals) billfile.Totals {
	b.Helper()
	if totals.Rows == benchRows && d.total() != benchTotals {
		b.Fatalf("the sums are %v", d.total())
	}
	b.ReportMetric(float64(d.count), "groups")
	return totals
}
