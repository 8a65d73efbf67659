package table

import (
	"context"
	"maps"
	"sync"
)

// Meter counts what the store calls under one context cost. It is safe for use by many goroutines.
type Meter struct {
	outer *Meter
	mu    sync.Mutex
	usage Usage
	parts map[string]Units // nil when partitions are not told apart
}

// Usage is what a Meter has counted. A read unit is 4 KB read strongly consistent, a write unit 1 KB written; both count
// twice in a transaction (DynamoDB's rules for on-demand tables).
type Usage struct {
	RoundTrips int
	ReadUnits  float64
	WriteUnits float64
}

// Units is the part of a Usage that a partition bears.
type Units struct{ Read, Write float64 }

type meterKey struct{}

// WithMeter counts the store calls of the context that it returns. A meter that ctx already has goes on counting too.
func WithMeter(ctx context.Context) (context.Context, *Meter) {
	m := &Meter{outer: meterOf(ctx)}
	return context.WithValue(ctx, meterKey{}, m), m
}

// WithPartitionMeter is WithMeter that counts by partition too: two maps a request, which are for those who read them.
func WithPartitionMeter(ctx context.Context) (context.Context, *Meter) {
	m := &Meter{outer: meterOf(ctx), parts: map[string]Units{}}
	return context.WithValue(ctx, meterKey{}, m), m
}

// Usage returns what was counted so far.
func (m *Meter) Usage() Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.usage
}

// Partitions returns what a meter of WithPartitionMeter counted so far, by partition key. DynamoDB tells the units of a call that touches several
// partitions as one number; it is shared out by how many of the items are of each.
func (m *Meter) Partitions() map[string]Units {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.parts)
}

// meterOf is ctx's meter, or nil, on which counting is no work.
func meterOf(ctx context.Context) *Meter {
	m, _ := ctx.Value(meterKey{}).(*Meter)
	return m
}

// countTrips counts n round trips.
func (m *Meter) countTrips(n int) {
	for ; m != nil; m = m.outer {
		m.mu.Lock()
		m.usage.RoundTrips += n
		m.mu.Unlock()
	}
}

// countRead counts read units of the partitions pks, shared out among them.
func (m *Meter) countRead(units float64, pks ...string) { m.count(Units{Read: units}, pks) }

// countWrite counts write units of the partitions pks, shared out among them.
func (m *Meter) countWrite(units float64, pks ...string) { m.count(Units{Write: units}, pks) }

// countWrites counts writes of items of these sizes, each unit at a price; of writes without a size nothing is known.
func (m *Meter) countWrites(ws []Write, sizes []int, price float64) {
	for i, size := range sizes {
		m.countWrite(price*float64(writeUnits(size)), ws[i].Item.PK)
	}
}

// count counts units of the partitions pks.
func (m *Meter) count(u Units, pks []string) {
	for ; m != nil; m = m.outer {
		m.add(u, pks)
	}
}

// add counts in this meter alone.
func (m *Meter) add(u Units, pks []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.usage.ReadUnits += u.Read
	m.usage.WriteUnits += u.Write
	if m.parts == nil {
		return
	}
	n := float64(len(pks))
	for _, pk := range pks {
		sum := m.parts[pk]
		m.parts[pk] = Units{sum.Read + u.Read/n, sum.Write + u.Write/n}
	}
}

// readUnits returns the price of reading size bytes strongly consistent; an absent item costs a unit too.
func readUnits(size int) int { return max(1, (size+4095)/4096) }

// writeUnits returns the price of writing size bytes.
func writeUnits(size int) int { return max(1, (size+1023)/1024) }
