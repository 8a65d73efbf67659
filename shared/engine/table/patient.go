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
	patienceLimit   = 2 * time.Minute  // for which a transaction is tried where its context has no end
	longestPause    = 2 * time.Second
)

// PatientStore tries a transaction that was throttled, or in conflict, for as long as its context has time: for workers, whose next
// run would only ask the store for more, and that must record what they have done elsewhere.
type PatientStore struct {
	Store
	clock clock.Clock
}

// NewPatientStore makes s patient; c is waited on.
func NewPatientStore(s Store, c clock.Clock) PatientStore { return PatientStore{s, c} }

// Transact is Store's. One write costs what it does outside of a transaction, which is half.
func (p PatientStore) Transact(ctx context.Context, ws ...Write) error {
	end := p.clock.Now().Add(patienceLimit)
	if at, dated := ctx.Deadline(); dated {
		end = at.Add(-patienceReserve)
	}
	for pause := longestPause / 16; ; pause = min(2*pause, longestPause) {
		err := p.try(ctx, ws)
		busy := errors.Is(err, ErrThrottled) || errors.Is(err, ErrConflicted)
		if !busy || p.clock.Now().After(end) {
			return err
		}
		if p.clock.Sleep(ctx, pause/2+rand.N(pause)) != nil { //nolint:gosec // spreads load, guards nothing
			return err
		}
	}
}

func (p PatientStore) try(ctx context.Context, ws []Write) error {
	if len(ws) == 1 && ws[0].Verb != CheckVerb {
		_, err := p.Write(ctx, ws[0])
		return err
	}
	return p.Store.Transact(ctx, ws...)
}
