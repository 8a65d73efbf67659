package pricing

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/foundation/packing"
)

// costSet is the known costs of resources in memory: columns in the order of the hashes of native IDs.
type costSet struct {
	generation int64
	hashes     []uint64
	rates      []uint32 // places in pool
	toDate     []int64  // cents; unbilled for resources that were not invoiced
	last       []int64
	current    []uint64 // bits: a bill of this month has arrived
	pool       []HourlyRate
}

// unbilled replaces an amount if nothing was invoiced.
const unbilled = math.MinInt64

// rateBytes is the approximate memory of one rate.
const rateBytes = 160

// Bytes returns the approximate size of the set in memory.
func (s *costSet) Bytes() int { return 28*cap(s.hashes) + 8*cap(s.current) + rateBytes*len(s.pool) }

// find returns the rate and the billed cost of a resource; nil for each that is unknown.
func (s *costSet) find(uid string) (*HourlyRate, *Invoiced) {
	i, ok := slices.BinarySearch(s.hashes, hashUID(uid))
	if !ok {
		return nil, nil
	}
	rate := s.pool[s.rates[i]]
	if s.toDate[i] == unbilled {
		return &rate, nil
	}
	return &rate, &Invoiced{money.FromScaled(
		s.toDate[i], 2), money.FromScaled(s.last[i], 2), s.current[i/64]>>(i%64)&1 == 1}
}

// unknownCost is the amount of a resource without a known cost: below every amount, credits too.
const unknownCost = math.MinInt64

// Generation returns the generation of the head that named the parts of the set.
func (s *costSet) Generation() int64 { return s.generation }

// Order returns the sort amount for a list by cost, in millionths of a dollar. It is the amount of the displayed cost
// (SourceOfCost). A billed cost is last month's, or this month's if that is 0. An estimated cost is a month at the
// rate of the status.
func (s *costSet) Order(uid string, status cloud.Status) int64 {
	rate, billed := s.find(uid)
	switch source := SourceOfCost(rate, billed); {
	case source == BilledCost && !billed.LastMonth.IsZero():
		return millionths(billed.LastMonth)
	case source == BilledCost:
		return millionths(billed.MonthToDate)
	case source == EstimatedCost:
		return millionths(rate.Hourly(status).MulInt(HoursPerMonth))
	}
	return unknownCost
}

func millionths(a money.Amount) int64 { return scaled(a, 6) }

// scaled returns an amount in units of 10^-places, or the nearest representable amount.
func scaled(a money.Amount, places int) int64 {
	limit := money.FromScaled(math.MaxInt64/1000, places)
	if a.Cmp(limit) > 0 {
		a = limit
	} else if a.Cmp(limit.Neg()) < 0 {
		a = limit.Neg()
	}
	var n int64
	for _, c := range []byte(a.Fixed(places)) {
		if c >= '0' && c <= '9' {
			n = 10*n + int64(c-'0')
		}
	}
	if a.Sign() < 0 {
		return -n
	}
	return n
}

// costsPerPart is how many resources one item holds: about 12 bytes each before they are compressed, and an item takes
// 400,000.
const costsPerPart = 12_000

// costCollection collects the known costs of resources in any order, in 32 bytes each.
type costCollection struct {
	costs  []hashedCost
	places map[HourlyRate]uint32
	pool   []HourlyRate
}

// hashedCost is a cost under the hash of its native id.
type hashedCost struct {
	hash         uint64
	toDate, last int64  // cents; unbilled for resources that were not invoiced
	rate         uint32 // place in the pool
	current      bool
}

func newCostCollection() *costCollection { return &costCollection{places: map[HourlyRate]uint32{}} }

func (all *costCollection) add(c *KnownCost) {
	place, known := all.places[c.Rate]
	if !known {
		place = uint32(len(all.pool)) //nolint:gosec // fewer than resources
		all.places[c.Rate], all.pool = place, append(all.pool, c.Rate)
	}
	h := hashedCost{hash: hashUID(c.UID), toDate: unbilled, rate: place}
	if c.Billed != nil {
		h.toDate, h.last = scaled(c.Billed.MonthToDate, 2), scaled(c.Billed.LastMonth, 2)
		h.current = c.Billed.Current
	}
	all.costs = append(all.costs, h)
}

// encode writes the costs in the order of the hashes of their native ids, in parts that fit into an item. The same
// costs are always written the same way. The costs are sorted afterwards.
func (all *costCollection) encode() [][]byte {
	slices.SortFunc(all.costs, func(a, b hashedCost) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.last, b.last), cmp.Compare(a.toDate, b.toDate))
	})
	sorted := slices.CompactFunc(all.costs, func(a, b hashedCost) bool { return a.hash == b.hash })
	var parts [][]byte
	for some := range slices.Chunk(sorted, costsPerPart) {
		parts = append(parts, costPacker.Append(nil, all.encodePart(some)))
	}
	return parts
}

// encodeCosts encodes costs.
func encodeCosts(costs []KnownCost) [][]byte {
	all := newCostCollection()
	for i := range costs {
		all.add(&costs[i])
	}
	return all.encode()
}

// encodePart writes the rates, then the resources, and then a bit for each resource that says whether a bill of this
// month has arrived. The previous program version does not read the bits.
func (all *costCollection) encodePart(some []hashedCost) []byte {
	places, pool := map[uint32]uint64{}, []byte{}
	var rows []byte
	current := make([]byte, (len(some)+7)/8)
	before := uint64(0)
	for i, c := range some {
		place, known := places[c.rate]
		if !known {
			place = uint64(len(places))
			places[c.rate], pool = place, appendRate(pool, &all.pool[c.rate])
		}
		billed := c.toDate != unbilled
		rows = binary.AppendUvarint(rows, c.hash-before)
		rows = binary.AppendUvarint(rows, place<<1|bit(billed))
		if billed {
			rows = binary.AppendVarint(binary.AppendVarint(rows, c.toDate), c.last)
			current[i/8] |= byte(bit(c.current)) << (i % 8)
		}
		before = c.hash
	}
	out := append(binary.AppendUvarint(nil, uint64(len(places))), pool...)
	out = binary.AppendUvarint(out, uint64(len(some)))
	return append(append(out, rows...), current...)
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func appendRate(out []byte, r *HourlyRate) []byte {
	for _, text := range []string{r.Version, r.Reason} {
		out = append(binary.AppendUvarint(out, uint64(len(text))), text...)
	}
	out = append(out, byte(bit(r.Stale)|bit(r.Shared)<<1))
	return r.Off.AppendBinary(r.Running.AppendBinary(out))
}

var (
	costPacker   packing.Packer
	costUnpacker = packing.Unpacker{Max: 64 << 20}
)

// errCosts reports a part that encodeCosts did not write.
var errCosts = errors.New("costs: malformed")

// decode appends a part to the set. Call it with the parts in their order.
func (s *costSet) decode(z []byte) error {
	b, err := costUnpacker.Unpack(z)
	if err != nil {
		return fmt.Errorf("%w: %w", errCosts, err)
	}
	r := costReader{rest: b}
	first := len(s.pool)
	for range r.count() {
		s.pool = append(s.pool, r.rate())
	}
	n := r.count()
	s.hashes = slices.Grow(s.hashes, n)
	at := uint64(0)
	before := len(s.hashes)
	for range n {
		at += r.number()
		s.addRow(&r, at, first)
	}
	if r.bad {
		return errCosts
	}
	s.addCurrent(r.rest, before)
	return nil
}

// addCurrent adds the bits of the resources from place on. The previous program version writes no bits, and treats all
// billed costs as current.
func (s *costSet) addCurrent(bits []byte, place int) {
	s.current = append(s.current, make([]uint64, (len(s.hashes)+63)/64-len(s.current))...)
	for i := place; i < len(s.hashes); i++ {
		n := i - place
		if len(bits) == 0 || n/8 < len(bits) && bits[n/8]>>(n%8)&1 == 1 {
			s.current[i/64] |= 1 << (i % 64)
		}
	}
}

// addRow adds the next resource of a part whose rates begin at first.
func (s *costSet) addRow(r *costReader, at uint64, first int) {
	place := r.number()
	toDate, last := int64(unbilled), int64(0)
	if place&1 == 1 {
		toDate, last = r.signed(), r.signed()
	}
	if place>>1 >= uint64(len(s.pool)-first) {
		r.bad = true
		return
	}
	s.hashes = append(s.hashes, at)
	s.rates = append(s.rates, uint32(first+int(place>>1))) //nolint:gosec // below the length of the pool
	s.toDate, s.last = append(s.toDate, toDate), append(s.last, last)
}

// costReader decodes a part; bad reports that the part is malformed.
type costReader struct {
	rest []byte
	bad  bool
}

func (r *costReader) skip(n int) {
	if n <= 0 || n > len(r.rest) {
		r.bad, r.rest = true, nil
		return
	}
	r.rest = r.rest[n:]
}

func (r *costReader) number() uint64 {
	v, n := binary.Uvarint(r.rest)
	r.skip(n)
	return v
}

func (r *costReader) signed() int64 {
	v, n := binary.Varint(r.rest)
	r.skip(n)
	return v
}

// count decodes the number of elements that follow. Each takes at least one byte, so a larger number is malformed.
func (r *costReader) count() int {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.bad = true
		return 0
	}
	return int(n) //nolint:gosec // as much as there are bytes
}

func (r *costReader) text() string {
	n := r.count()
	out := string(r.rest[:n])
	r.rest = r.rest[n:]
	return out
}

func (r *costReader) amount() money.Amount {
	a, n := money.DecodeBinary(r.rest)
	r.skip(n)
	return a
}

func (r *costReader) rate() HourlyRate {
	out := HourlyRate{Version: r.text(), Reason: r.text()}
	if len(r.rest) > 0 {
		out.Stale, out.Shared = r.rest[0]&1 == 1, r.rest[0]&2 == 2
	}
	r.skip(1)
	out.Running, out.Off = r.amount(), r.amount()
	return out
}

// hashUID returns the hash under which a set stores a native ID.
func hashUID(uid string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(uid)) // never fails
	return h.Sum64()
}
