package table

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

const (
	patienceReserve = 15 * time.Second // before the end of a context; nothing is retried in that time
	patienceLimit   = 2 * time.Minute  // duration of retries if the context has no deadline
	longestPause    = 2 * time.Second
)

// PatientStore retries a write that was throttled or in conflict until the context's deadline. It is for workers: their
// next run would only send more requests, and they must record effects that they already had elsewhere.
type PatientStore struct{ Store }

// NewPatientStore returns a PatientStore of s.
func NewPatientStore(s Store) PatientStore { return PatientStore{s} }

// Transact implements Store. It does a single write without a transaction, which costs half.
func (p PatientStore) Transact(ctx context.Context, ws ...Write) error {
	if len(ws) == 1 && ws[0].Verb != CheckVerb {
		_, err := p.Write(ctx, ws[0])
		return err
	}
	return p.retryWhileBusy(ctx, func() error { return p.Store.Transact(ctx, ws...) })
}

// Write implements Store.
func (p PatientStore) Write(ctx context.Context, w Write) (it Item, err error) {
	err = p.retryWhileBusy(ctx, func() error {
		it, err = p.Store.Write(ctx, w)
		return err
	})
	return it, err
}

// BatchWrite implements Store.
func (p PatientStore) BatchWrite(ctx context.Context, ws ...Write) error {
	return p.retryWhileBusy(ctx, func() error { return p.Store.BatchWrite(ctx, ws...) })
}

// retryWhileBusy repeats a call until it is not refused or the time is up. It always waits on the machine's clock, even
// if the service has another clock, because throttling does not depend on the time of day.
func (PatientStore) retryWhileBusy(ctx context.Context, call func() error) error {
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
