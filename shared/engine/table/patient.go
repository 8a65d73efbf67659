package table

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

const (
	patienceReserve = 15 * time.Second // before the end of a context, in which nothing is tried again
	patienceLimit   = 2 * time.Minute  // for which a write is tried where its context has no end
	longestPause    = 2 * time.Second
)

// PatientStore tries a write that was throttled, or in conflict, for as long as its context has time: for workers, whose next run
// would only ask the store for more, and that must record what they have done elsewhere.
type PatientStore struct{ Store }

// NewPatientStore makes s patient.
func NewPatientStore(s Store) PatientStore { return PatientStore{s} }

// Transact is Store's. One write costs what it does outside of a transaction, which is half.
func (p PatientStore) Transact(ctx context.Context, ws ...Write) error {
	if len(ws) == 1 && ws[0].Verb != CheckVerb {
		_, err := p.Write(ctx, ws[0])
		return err
	}
	return p.insist(ctx, func() error { return p.Store.Transact(ctx, ws...) })
}

// Write is Store's.
func (p PatientStore) Write(ctx context.Context, w Write) (it Item, err error) {
	err = p.insist(ctx, func() error {
		it, err = p.Store.Write(ctx, w)
		return err
	})
	return it, err
}

// BatchWrite is Store's.
func (p PatientStore) BatchWrite(ctx context.Context, ws ...Write) error {
	return p.insist(ctx, func() error { return p.Store.BatchWrite(ctx, ws...) })
}

// insist makes a call until it is not refused any more, or time is up. It waits by the machine's clock also where the service goes
// by another one: how long a store is throttled is no time of day.
func (PatientStore) insist(ctx context.Context, call func() error) error {
	machine := clock.System{}
	end := machine.Now().Add(patienceLimit)
	if at, dated := ctx.Deadline(); dated {
		end = at.Add(-patienceReserve)
	}
	for pause := longestPause / 16; ; pause = min(2*pause, longestPause) {
		err := call()
		busy := errors.Is(err, ErrThrottled) || errors.Is(err, ErrConflicted)
		if !busy || machine.Now().After(end) {
			return err
		}
		if machine.Sleep(ctx, pause/2+rand.N(pause)) != nil { //nolint:gosec // spreads load, guards nothing
			return err
		}
	}
}
