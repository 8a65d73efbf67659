package recommendation

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"
)

// standing is what each entry counts at a time.
type standing struct {
	from, until int64   // Unix milliseconds: it holds from and before; until 0 means no end
	net         []int64 // by entry: cents a month that count in the totals
	stronger    []int32 // by entry: the entry that it is an alternative of, or -1
}

// stake is what one entry claims at one resource.
type stake struct {
	bearer   ulid.ULID
	entry    int32
	cents    int64
	cost     int64 // of the bearer; 0 if it is unknown
	strength uint8
	applied  bool
	joint    bool // it adds up with other joint ones: see settleJoint
}

// standingAt returns what counts at a time.
func (c *Columns) standingAt(at time.Time) *standing {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := at.UnixMilli()
	if s := c.sums; s != nil && now >= s.from && (s.until == 0 || now < s.until) {
		return s
	}
	c.sums, c.orders = c.stand(now), map[string][]int32{}
	return c.sums
}

// stand computes what each open entry counts. A saving counts at the resource where the charge arises, and each
// resource counts one recommendation: see pick.
func (c *Columns) stand(now int64) *standing {
	out := &standing{from: now, net: make([]int64, len(c.entries)), stronger: make([]int32, len(c.entries))}
	var stakes []stake
	for i := range c.entries {
		e := &c.entries[i]
		out.stronger[i] = -1
		if e.until > now && (out.until == 0 || e.until < out.until) {
			out.until = e.until
		}
		if status := e.statusAt(now); status == Open || status == Applied {
			stakes = e.stakes(stakes, int32(i), status == Applied)
		}
	}
	slices.SortFunc(stakes, func(a, b stake) int {
		return cmp.Or(a.bearer.Compare(b.bearer), cmp.Compare(a.entry, b.entry))
	})
	for len(stakes) > 0 {
		n := 1
		for n < len(stakes) && stakes[n].bearer == stakes[0].bearer {
			n++
		}
		out.settle(stakes[:n])
		stakes = stakes[n:]
	}
	out.alternatives()
	return out
}

// stakes appends the stakes of an entry.
func (e *entry) stakes(to []stake, i int32, applied bool) []stake {
	if len(e.claims()) == 0 {
		if e.net == 0 {
			return to
		}
		return append(to, stake{e.resource, i, e.net, e.cost, e.strength, applied, e.has(jointFlag)})
	}
	for _, c := range e.claims() {
		if c.cents > 0 {
			to = append(to, stake{c.bearer, i, c.cents, c.cost, e.strength, applied, e.has(jointFlag)})
		}
	}
	return to
}

// settle decides which of the stakes at one resource counts. What was applied has already lowered the cost, though the
// bill does not show it yet: the open one counts its share of the rest, so both together multiply.
func (s *standing) settle(stakes []stake) {
	if hasJoint(stakes) {
		s.settleJoint(stakes)
		return
	}
	if best := pick(stakes); best >= 0 {
		s.settleOne(stakes[best], stakes)
	}
}

// settleOne lets one of the stakes at a resource count. The other open ones are its alternatives.
func (s *standing) settleOne(best stake, stakes []stake) {
	s.net[best.entry] += left(best.cents, stakes)
	for i := range stakes {
		if e := stakes[i].entry; e != best.entry && !stakes[i].applied && s.stronger[e] < 0 {
			s.stronger[e] = best.entry
		}
	}
}

// left returns how much of a saving is left beside the applied ones of the stakes at the resource.
func left(counted int64, stakes []stake) int64 {
	for i := range stakes {
		if a := &stakes[i]; a.applied && a.cost > 0 {
			counted = mulDiv(counted, max(0, a.cost-a.cents), a.cost)
		}
	}
	return counted
}

// pick returns the open stake that counts, or -1. It is the strongest one among those that save at least half of the
// most; of equally strong ones the largest; of equally large ones the first.
//
// The half makes the sums stable: when the picked one goes, the next one saves at most twice as much, so the total
// rises by no more than the picked one had saved.
func pick(stakes []stake) int {
	most := int64(0)
	for i := range stakes {
		if !stakes[i].applied {
			most = max(most, stakes[i].cents)
		}
	}
	best := -1
	for i := range stakes {
		a := &stakes[i]
		if a.applied || 2*a.cents < most {
			continue
		}
		if best < 0 || a.strength > stakes[best].strength ||
			a.strength == stakes[best].strength && a.cents > stakes[best].cents {
			best = i
		}
	}
	return best
}

// alternatives keeps the stronger entry only of entries that count nothing.
func (s *standing) alternatives() {
	for i, n := range s.net {
		if n > 0 {
			s.stronger[i] = -1
		}
	}
}

// mulDiv returns a × n / d, rounded down. None is negative, and n is at most d.
func mulDiv(a, n, d int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(n))
	q, _ := bits.Div64(hi, lo, uint64(d)) // n ≤ d, so the result fits
	return int64(q)
}
