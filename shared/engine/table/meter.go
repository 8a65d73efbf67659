package table

import (
	"context"
	"sync/atomic"
)

// Meter counts what the store calls under one context cost. It is safe for use by many goroutines.
type Meter struct {
	outer      *Meter
	trips      atomic.Int64
	readHalves atomic.Int64
	writes     atomic.Int64
}

// Usage is what a Meter has counted. A read unit is 4 KB read strongly consistent, a write unit 1 KB written; both count
// twice in a transaction (DynamoDB's rules for on-demand tables).
type Usage struct {
	RoundTrips int
	ReadUnits  float64
	WriteUnits float64
}

type meterKey struct{}

// WithMeter counts the store calls of the context that it returns. A meter that ctx already has goes on counting too.
func WithMeter(ctx context.Context) (context.Context, *Meter) {
	m := &Meter{outer: meterOf(ctx)}
	return context.WithValue(ctx, meterKey{}, m), m
}

// Usage returns what was counted so far.
func (m *Meter) Usage() Usage {
	return Usage{int(m.trips.Load()), float64(m.readHalves.Load()) / 2, float64(m.writes.Load())}
}

// meterOf is ctx's meter, or nil, on which counting is no work.
func meterOf(ctx context.Context) *Meter {
	m, _ := ctx.Value(meterKey{}).(*Meter)
	return m
}

// countTrips counts n round trips.
func (m *Meter) countTrips(n int) {
	for ; m != nil; m = m.outer {
		m.trips.Add(int64(n))
	}
}

// countRead counts read units.
func (m *Meter) countRead(units float64) {
	for ; m != nil; m = m.outer {
		m.readHalves.Add(int64(units * 2))
	}
}

// countWrite counts write units.
func (m *Meter) countWrite(units float64) {
	for ; m != nil; m = m.outer {
		m.writes.Add(int64(units))
	}
}

// readUnits returns the price of reading size bytes strongly consistent; an absent item costs a unit too.
func readUnits(size int) int { return max(1, (size+4095)/4096) }

// writeUnits returns the price of writing size bytes.
func writeUnits(size int) int { return max(1, (size+1023)/1024) }
