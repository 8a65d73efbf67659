// Package scheduleddiscovery is the worker that starts due discoveries. Every account is discovered at its own minute
// within six hours. Each minute the worker starts the accounts of that minute, and continues where the previous run
// stopped.
package scheduleddiscovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

// These constants bound one run. A wave of discoveries after an outage of the function must leave capacity for other
// work; the next run continues.
const (
	mostStarts = 200
	mostTries  = 3 // of a page in which a start fails, so that one account does not delay the others
	pageSize   = 50
	stretch    = 45 * time.Second
	pause      = 200 * time.Millisecond // between two starts, half of it on average
)

// Started summarizes a run: the minutes and accounts that it processed, the discoveries that it started, and the
// minutes left for the next run.
type Started struct {
	Minutes  int `json:"minutes"`
	Accounts int `json:"accounts"`
	Started  int `json:"started"`
	Behind   int `json:"behind"`
}

// position is the progress: the next minute since 1970, and the next page in it.
type position struct {
	Minute int64  `json:"minute"`
	Cursor string `json:"cursor,omitempty"`
	Tries  int    `json:"tries,omitempty"` // of that page, so far
	Change int    `json:"change"`          // counts the changes of the row, which each is conditioned on
}

var positionKey = table.Key{PK: discovery.DuePrefix + "POSITION", SK: "POSITION"}

// Handler starts the due discoveries. EventBridge calls it every minute.
func Handler(p *platform.Platform) workflow.Handler {
	return func(ctx context.Context, _ json.RawMessage) (any, error) { return StartDue(ctx, p) }
}

// StartDue starts the discoveries of this minute and of missed minutes, at most six hours back. If two calls run at
// once, each discovery starts once. An account that cannot be discovered does not affect the others.
func StartDue(ctx context.Context, p *platform.Platform) (Started, error) {
	ctx = table.Within(ctx, discovery.DuePrefix)
	r := &round{Platform: p, until: p.Clock.Now().Add(stretch)}
	if err := r.readPosition(ctx); err != nil {
		return r.did, err
	}
	var errs []error
	for r.at.Minute <= r.minute() && r.did.Started < mostStarts && p.Clock.Now().Before(r.until) {
		ahead, err := r.startPage(ctx)
		if errs = append(errs, err); !ahead {
			break
		}
	}
	r.did.Behind = int(max(r.minute()-r.at.Minute+1, 0))
	return r.did, errors.Join(errs...)
}

// round is one run.
type round struct {
	*platform.Platform
	until time.Time
	at    position
	did   Started
}

func (r *round) minute() int64 { return r.Clock.Now().Unix() / 60 }

// readPosition reads the position to continue from. It is the present minute if none is stored. Missed minutes are
// caught up once, at most six hours of them, because six hours contain every account.
func (r *round) readPosition(ctx context.Context) error {
	at, err := table.Read[position](ctx, r.Table, positionKey)
	if fault.Is(err, fault.NotFound) {
		at, err = position{Minute: r.minute()}, nil
	}
	if err != nil {
		return fmt.Errorf("read which discoveries are due: %w", err)
	}
	if first := r.minute() - int64(discovery.Slots) + 1; at.Minute < first {
		r.Log.WarnContext(ctx, "discoveries were not started for long; those of the last six hours are started now",
			"minutes", first-at.Minute)
		at.Minute, at.Cursor = first, ""
	}
	r.at = at
	return nil
}

// startPage starts a page of the minute's accounts and stores the progress. It returns false if a start failed with a
// transient error, so that the page is due again, or if another run is faster.
func (r *round) startPage(ctx context.Context) (bool, error) {
	all, next, err := table.ReadPage[discovery.Due](ctx, r.Table, table.Query{
		PK: discovery.SlotPK(r.at.Minute), Limit: pageSize, Cursor: r.at.Cursor,
	})
	if err != nil {
		return false, fmt.Errorf("read which accounts are due: %w", err)
	}
	again, errs := false, []error(nil)
	for _, d := range all {
		err = r.startDiscovery(ctx, d)
		if ctx.Err() != nil {
			return false, err
		}
		again = again || fault.Is(err, fault.Unavailable)
		errs = append(errs, err)
	}
	ahead, err := r.advance(ctx, next, again)
	return ahead, errors.Join(append(errs, err)...)
}

// startDiscovery starts the discovery of an account. A deleted account is removed from the list.
func (r *round) startDiscovery(ctx context.Context, d discovery.Due) error {
	if r.did.Started > 0 {
		if err := r.Clock.Sleep(ctx, rand.N(pause)); err != nil { //nolint:gosec // spreads load, keeps no secret
			return fmt.Errorf("start discoveries: %w", err)
		}
	}
	r.did.Accounts++
	begun, err := discovery.StartDue(ctx, r.Platform, d, time.Unix(r.at.Minute*60, 0).UTC())
	if begun {
		r.did.Started++
	}
	if fault.Is(err, fault.NotFound) {
		_, err = r.Table.Write(ctx, discovery.RemoveDue(d.AccountID))
	}
	return fault.Wrap("start the discovery of "+d.AccountID, err)
}

// advance stores that the minute's accounts before the cursor are started (all of them if it is empty), or, if again
// is set, that the same page is due again, up to mostTries times. It returns false if the page is due again, or if
// another run was faster.
func (r *round) advance(ctx context.Context, cursor string, again bool) (bool, error) {
	next := position{Minute: r.at.Minute, Cursor: cursor, Change: r.at.Change + 1}
	if again = again && r.at.Tries < mostTries; again {
		next.Cursor, next.Tries = r.at.Cursor, r.at.Tries+1
	} else if cursor == "" {
		next.Minute++
		r.did.Minutes++
	}
	unchanged := table.Equal("change", r.at.Change)
	if r.at.Change == 0 {
		unchanged = table.Absent()
	}
	w, err := table.PutFields(positionKey, next, unchanged)
	if err != nil {
		return false, err
	}
	_, err = r.Table.Write(ctx, w)
	if _, faster := errors.AsType[*table.ConditionError](err); faster {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("note which discoveries were started: %w", err)
	}
	r.at = next
	return !again, nil
}
