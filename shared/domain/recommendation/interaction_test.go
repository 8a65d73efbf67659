package recommendation

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/testkit/seed"
)

func numbered(kind byte, n int) (u ulid.ULID) {
	u[0] = kind
	binary.BigEndian.PutUint32(u[10:], uint32(n))
	return u
}

// statusNumber returns the number of a status in the columns.
func statusNumber(s Status) uint8 { return numberOf(statusNames, s) }

// onResource returns an open entry that claims cents of a resource.
func onResource(id, resource int, s Strength, cents, cost int64) entry {
	return entry{
		id: numbered(1, id), resource: numbered(2, resource), net: cents, gross: cents, cost: cost,
		strength: uint8(s), status: statusNumber(Open), version: 1,
	}
}

// columnsOf returns the columns of entries of one rule and place.
func columnsOf(entries ...entry) *Columns {
	s := newSegment()
	s.names.placeNumber(place{"res", "aws", "aws-ec2", "ca_1", "eu-west-1"})
	s.names.ruleNumber(ruleName{"aws-ec2-idle", "Idle", "idle"})
	s.entries = entries
	return newColumns("org_1").with(s)
}

// nets returns what the entries count, by the order of their ids.
func nets(entries ...entry) []int64 { return columnsOf(entries...).stand(start.UnixMilli()).net }

func TestStand_TheStrongestCountsAndTheOthersAreAlternatives(t *testing.T) {
	c := columnsOf(
		onResource(1, 1, ByDiscount, 300, 1000), onResource(2, 1, BySize, 500, 1000),
		onResource(3, 1, BySchedule, 600, 1000), onResource(4, 2, ByTier, 100, 1000),
	)
	s := c.stand(start.UnixMilli())
	if !slices.Equal(s.net, []int64{0, 0, 600, 100}) || !slices.Equal(s.stronger, []int32{2, 2, -1, -1}) {
		t.Errorf("%v, %v", s.net, s.stronger)
	}
}

func TestStand_CountsWithTheOrderOfTheDesign(t *testing.T) {
	order := []Strength{ByDelete, ByStop, BySchedule, BySize, ByTier, ByDiscount}
	for len(order) > 0 {
		var all []entry
		for i, s := range order {
			all = append(all, onResource(i, 1, s, 100, 1000))
		}
		if got := nets(all...); got[0] != 100 || slices.Max(append(got[1:], 0)) != 0 {
			t.Errorf("of %v count %v", order, got)
		}
		order = order[1:]
	}
}

func TestStand_AStrongerOneThatSavesLessThanHalfDoesNotHideALargeOne(t *testing.T) {
	if got := nets(
		onResource(1, 1, BySchedule, 40, 1000),
		onResource(2, 1, BySize, 100, 1000),
	); got[0] != 0 ||
		got[1] != 100 {
		t.Error(got)
	}
	if got := nets(
		onResource(1, 1, BySchedule, 50, 1000),
		onResource(2, 1, BySize, 100, 1000),
	); got[0] != 50 ||
		got[1] != 0 {
		t.Error(got)
	}
}

func TestStand_AnAppliedOneAndAnOpenOneMultiply(t *testing.T) {
	schedule := onResource(1, 1, BySchedule, 600, 1000) // 60 %
	schedule.status = statusNumber(Applied)
	got := nets(schedule, onResource(2, 1, BySize, 500, 1000)) // half of what is left
	if got[0] != 0 || got[1] != 200 {
		t.Error(got)
	}
}

func TestStand_AChainCountsACostOnceWhereItArises(t *testing.T) {
	machine := onResource(1, 1, ByDelete, 900, 600) // the machine with its two disks
	machine.extra().claims = []claim{
		{numbered(2, 1), 600, 600},
		{numbered(2, 2), 200, 200},
		{numbered(2, 3), 100, 100},
	}
	disk := onResource(2, 2, ByTier, 40, 200)
	other := onResource(3, 4, ByTier, 40, 200)
	if got := nets(machine, disk, other); !slices.Equal(got, []int64{900, 0, 40}) {
		t.Error(got)
	}
	machine.status = statusNumber(Dismissed)
	if got := nets(machine, disk, other); !slices.Equal(got, []int64{0, 40, 40}) {
		t.Error(got)
	}
}

func TestStand_JointClaimsAddUpAndCompeteAsOne(t *testing.T) {
	joint := func(id int, cents int64) entry {
		e := onResource(id, 9, BySize, 0, 0)
		e.flags |= jointFlag
		e.extra().claims = []claim{{numbered(2, 1), cents, 1000}}
		return e
	}
	single := func(s Strength, cents int64) entry { return onResource(3, 1, s, cents, 1000) }
	pair := func(other entry) []entry { return []entry{joint(1, 300), joint(2, 200), other} }
	for name, tt := range map[string]struct {
		all  []entry
		want []int64
	}{
		"alone they add up":              {[]entry{joint(1, 300), joint(2, 200)}, []int64{300, 200}},
		"to the cost at most":            {[]entry{joint(1, 900), joint(2, 600)}, []int64{600, 400}},
		"a weaker one is an alternative": {pair(single(ByTier, 450)), []int64{300, 200, 0}},
		"a stronger one hides all":       {pair(single(ByStop, 450)), []int64{0, 0, 450}},
		"a larger one hides all":         {pair(single(ByTier, 600)), []int64{0, 0, 600}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := nets(tt.all...); !slices.Equal(got, tt.want) {
				t.Errorf("count %v, want %v", got, tt.want)
			}
		})
	}
}

func TestStand_ADismissalThatIsOverCounts(t *testing.T) {
	e := onResource(1, 1, ByStop, 100, 100)
	e.status, e.until = statusNumber(Dismissed), start.UnixMilli()
	c := columnsOf(e)
	if before := c.standingAt(start.Add(-1)); before.net[0] != 0 {
		t.Error("it counts while it is dismissed")
	}
	if after := c.standingAt(start); after.net[0] != 100 {
		t.Error("it does not count when the dismissal is over")
	}
}

func TestTakeSavings_CountsNoMoreThanTheCostAndNoBound(t *testing.T) {
	r := reach(t, Open).row
	r.Savings.Net, r.Savings.Form = r.Savings.Cost.MulInt(2), "all"
	if e := newEntry(newNames(), &r); e.net != 12_000 {
		t.Error(e.net)
	}
	r.Savings.Form = "bound:half"
	if e := newEntry(newNames(), &r); e.net != 0 || e.gross != 10_000 {
		t.Error(e.net, e.gross)
	}
}

// randomSet returns entries on a few resources with random costs, strengths, chains and statuses, and the costs.
func randomSet(r *rand.Rand) (all []entry, cost map[ulid.ULID]int64) {
	cost = map[ulid.ULID]int64{}
	resources := 1 + r.IntN(5)
	for n := range resources {
		cost[numbered(2, n)] = 1 + r.Int64N(100_000)
	}
	share := func(of int64) int64 { return r.Int64N(of + 1) }
	for i := range 1 + r.IntN(12) {
		own := r.IntN(resources)
		e := onResource(i, own, Strength(1+r.IntN(int(strengthsCount)-1)), share(cost[numbered(2, own)]),
			cost[numbered(2, own)])
		e.status = statusNumber([]Status{Open, Open, Open, Applied, Dismissed, Optimised}[r.IntN(6)])
		if r.IntN(3) == 0 {
			e.flags |= jointFlag
		}
		for n := range resources {
			if r.IntN(6) == 0 {
				b := numbered(2, n)
				more := e.extra()
				more.claims = append(more.claims, claim{b, share(cost[b]), cost[b]})
			}
		}
		all = append(all, e)
	}
	return all, cost
}

// own returns the saving of an entry by itself.
func own(e *entry) (sum int64) {
	for _, s := range e.stakes(nil, 0, false) {
		sum += s.cents
	}
	return sum
}

func total(nets []int64) (sum int64) {
	for _, n := range nets {
		sum += n
	}
	return sum
}

// The properties of section 5 of the design, over 10,000 sets: the sum is at most the cost, of each resource and of
// all
// of them; the order of the entries does not matter; when a recommendation goes, the sum rises by no more than its own
// saving.
func TestStand_NeverCountsMoreThanTheCost(t *testing.T) {
	r := seed.Random(t)
	for range 10_000 {
		all, cost := randomSet(r)
		got := nets(all...)
		whole := int64(0)
		for b, c := range cost {
			whole += c
			if sum := countedAt(all, b); sum > c {
				t.Fatalf("resource %v costs %d, and %d are saved: %+v", b, c, sum, all)
			}
		}
		if total(got) > whole {
			t.Fatalf("%d of %d: %+v", total(got), whole, all)
		}
		mixed := slices.Clone(all)
		r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		if again := nets(mixed...); !slices.Equal(again, got) {
			t.Fatalf("in another order %v become %v", got, again)
		}
		for i := range all {
			without := slices.Delete(slices.Clone(all), i, i+1)
			if rise := total(nets(without...)) - total(got); rise > own(&all[i]) {
				t.Fatalf("without %d, which saves %d, the sum rises by %d: %+v", i, own(&all[i]), rise, all)
			}
		}
	}
}

// countedAt returns what entries save at one resource, together with what was applied there.
func countedAt(all []entry, bearer ulid.ULID) int64 {
	var at []entry
	for _, e := range all {
		for _, s := range e.stakes(nil, 0, false) {
			if s.bearer == bearer {
				one := onResource(0, 0, Strength(e.strength), s.cents, s.cost)
				one.id, one.resource, one.status = numbered(1, len(at)), bearer, e.status
				one.flags = e.flags
				at = append(at, one)
			}
		}
	}
	left, sum := int64(0), total(nets(at...))
	for _, e := range at {
		if statusNames[e.status] == Applied {
			left = max(left, e.net) // the least that was saved already
		}
	}
	return sum + left
}

func BenchmarkStand(b *testing.B) {
	r := seed.Fixed(b, 1, 2)
	var all []entry
	for i := range 100_000 {
		all = append(all, onResource(i, r.IntN(40_000), Strength(1+r.IntN(6)), r.Int64N(10_000), 10_000))
	}
	c := columnsOf(all...)
	b.ReportAllocs()
	for b.Loop() {
		c.stand(start.UnixMilli())
	}
}
