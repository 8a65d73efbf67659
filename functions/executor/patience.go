package executor

import (
	"context"
	"math/rand/v2"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

const (
	// reserved is the time before the end of a run in which no transaction is tried again.
	reserved = 15 * time.Second
	// undated is for how long one is tried again where a run has no end.
	undated = 2 * time.Minute
	// longPause is the longest pause between two tries.
	longPause = 2 * time.Second
)

// patientStore tries a transaction that the store could not take for as long as there is time: what was done in the cloud must be
// recorded, and another run would only ask the store for more. Every transaction of this package may be done twice, as each is
// conditional on what it changes.
type patientStore struct {
	table.Store
	clock clock.Clock
}

// store returns the executor's store for transactions.
func (e *Executor) store() table.Store { return patientStore{e.p.Table, e.p.Clock} }

// Transact is Store's.
func (s patientStore) Transact(ctx context.Context, ws ...table.Write) error {
	end := s.clock.Now().Add(undated)
	if at, dated := ctx.Deadline(); dated {
		end = at.Add(-reserved)
	}
	for pause := longPause / 16; ; pause = min(2*pause, longPause) {
		err := s.try(ctx, ws)
		if err == nil || !fault.Is(err, fault.Unavailable) || s.clock.Now().After(end) {
			return err
		}
		if s.clock.Sleep(ctx, pause/2+rand.N(pause)) != nil { //nolint:gosec // spreads load, guards nothing
			return err
		}
	}
}

// try does one write by itself, which costs half of what it does in a transaction.
func (s patientStore) try(ctx context.Context, ws []table.Write) error {
	if len(ws) == 1 {
		_, err := s.Store.Write(ctx, ws[0])
		return err
	}
	return s.Store.Transact(ctx, ws...)
}
