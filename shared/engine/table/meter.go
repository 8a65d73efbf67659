package table

import (
	"context"
	"maps"
	"sync"
)

// Meter counts the cost of the store calls with a context. It is safe for concurrent use.
type Meter struct {
	outer *Meter
	mu    sync.Mutex
	usage Usage
	parts map[string]Units // nil if units are not counted by partition
}

// Usage is the count of a Meter. A read unit is a strongly consistent read of 4 KB, a write unit is a write of 1 KB.
// Both cost double in a transaction (DynamoDB's rules for on-demand tables).
type Usage struct {
	RoundTrips int
	ReadUnits  float64
	WriteUnits float64
}

// Units are the units of a partition.
type Units struct{ Read, Write float64 }

type meterKey struct{}

// WithMeter returns a context with a new meter. An existing meter of ctx continues to count too.
func WithMeter(ctx context.Context) (context.Context, *Meter) {
	m := &Meter{outer: meterOf(ctx)}
	return context.WithValue(ctx, meterKey{}, m), m
}

// WithPartitionMeter is WithMeter, and also counts by partition. That costs two maps for each request, so use it only
// if the result is read.
func WithPartitionMeter(ctx context.Context) (context.Context, *Meter) {
	m := &Meter{outer: meterOf(ctx), parts: map[string]Units{}}
	return context.WithValue(ctx, meterKey{}, m), m
}

// Usage returns the count so far.
func (m *Meter) Usage() Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.usage
}

// Partitions returns the units by partition key, for a meter of WithPartitionMeter. DynamoDB reports the units of a
// call for several partitions as one number; they are distributed in proportion to the items of each partition.
func (m *Meter) Partitions() map[string]Units {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.parts)
}

// meterOf returns ctx's meter, or nil, which counts nothing.
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

// countRead counts read units, distributed among the partitions pks.
func (m *Meter) countRead(units float64, pks ...string) { m.countUnits(Units{Read: units}, pks) }

// countWrite counts write units, distributed among the partitions pks.
func (m *Meter) countWrite(units float64, pks ...string) { m.countUnits(Units{Write: units}, pks) }

// countWrites counts writes of items with the given sizes; price is the cost of one unit. There may be fewer sizes than
// writes.
func (m *Meter) countWrites(ws []Write, sizes []int, price float64) {
	for i, size := range sizes {
		m.countWrite(price*float64(writeUnits(size)), ws[i].Item.PK)
	}
}

// countUnits counts units of the partitions pks.
func (m *Meter) countUnits(u Units, pks []string) {
	for ; m != nil; m = m.outer {
		m.addUnits(u, pks)
	}
}

// addUnits counts in this meter only.
func (m *Meter) addUnits(u Units, pks []string) {
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

// readUnits returns the units for a strongly consistent read of size bytes. An absent item costs one unit.
func readUnits(size int) int { return max(1, (size+4095)/4096) }

// writeUnits returns the units for a write of size bytes.
func writeUnits(size int) int { return max(1, (size+1023)/1024) }
