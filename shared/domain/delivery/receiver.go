package delivery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// ReceiverPartition holds an organization's failing receivers. A working receiver has no row.
const ReceiverPartition table.Partition = "ORG#*#RECEIVER"

const (
	// tolerated is the number of failures in a row after which a receiver is only probed.
	tolerated = 10
	// probeEvery is the interval of probes.
	probeEvery = 5 * time.Minute
)

// receiver is the failure state of a receiver.
type receiver struct {
	Failures int       `json:"failures"` // in a row
	Since    time.Time `json:"since"`
	ProbeAt  time.Time `json:"probeAt"` // the next probe, once Failures reaches tolerated
	Told     bool      `json:"told"`    // its owners were informed
}

func receiverRow(k receiverKey) table.Key {
	return table.Key{PK: table.OrgPK(k.org) + "RECEIVER", SK: string(k.Kind) + "#" + k.ID}
}

// standing caches the failure states of receivers during one pass.
type standing struct {
	e *Engine

	mu    sync.Mutex
	known map[receiverKey]receiver
}

func (e *Engine) newStanding() *standing { return &standing{e: e, known: map[receiverKey]receiver{}} }

func (s *standing) of(k receiverKey) receiver {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[k]
}

func (s *standing) learn(k receiverKey, r receiver) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[k] = r
}

// read loads the failure states of the deliveries' receivers that are not cached. It takes a round trip per hundred.
func (s *standing) read(ctx context.Context, org string, records []Record) error {
	ask := map[table.Key]receiverKey{}
	for i := range records {
		k := receiverKey{org, records[i].Target}
		s.mu.Lock()
		_, had := s.known[k]
		s.mu.Unlock()
		if !had {
			ask[receiverRow(k)] = k
		}
	}
	if len(ask) == 0 {
		return nil
	}
	got, err := s.e.Table.BatchGet(table.Eventually(within(ctx, org)), slices.Collect(maps.Keys(ask))...)
	if err != nil {
		return fmt.Errorf("read how receivers of %s stand: %w", org, err)
	}
	for row, k := range ask {
		var r receiver
		if it, there := got[row]; there {
			if r, err = table.Decode[receiver](it); err != nil {
				return err
			}
		}
		s.learn(k, r)
	}
	return nil
}

// mayAsk reports whether a receiver may be tried now. A failing receiver is probed by one engine once per probeEvery.
func (s *standing) mayAsk(ctx context.Context, k receiverKey) (bool, error) {
	now, r := s.e.Clock.Now(), s.of(k)
	if r.Failures < tolerated {
		return true, nil
	}
	if now.Before(r.ProbeAt) {
		return false, nil
	}
	was := r.ProbeAt.Format(time.RFC3339Nano)
	r.ProbeAt = now.Add(probeEvery)
	s.learn(k, r)
	_, err := s.e.store.table.Write(within(ctx, k.org),
		table.Update(receiverRow(k), []table.Change{table.Set("probeAt", r.ProbeAt)}, table.Equal("probeAt", was)))
	if _, another := errors.AsType[*table.ConditionError](err); another {
		return false, nil
	}
	return err == nil, fault.Wrap("begin to ask "+k.ID+" again", err)
}

// fail counts a failed try of a receiver.
func (s *standing) fail(ctx context.Context, k receiverKey) error {
	now := s.e.Clock.Now()
	it, err := s.e.store.table.Write(within(ctx, k.org), table.Update(receiverRow(k), []table.Change{
		table.Add("failures", 1), table.SetOnce("since", now), table.Set("probeAt", now.Add(probeEvery)),
		table.Expire(now.Add(Keep)),
	}))
	if err != nil {
		return fmt.Errorf("count a failure of %s: %w", k.ID, err)
	}
	r, err := table.Decode[receiver](it)
	if err == nil {
		s.learn(k, r)
	}
	return err
}

// succeed removes the failure state of a receiver, and records its recovery if its owners were informed.
func (s *standing) succeed(ctx context.Context, k receiverKey) error {
	r := s.of(k)
	if r.Failures == 0 && !r.Told {
		return nil
	}
	if h := s.e.Health[k.Kind]; h != nil && r.Told {
		_, err := h.RecordHealth(within(ctx, k.org), k.org, k.Target, Health{At: s.e.Clock.Now()})
		if err != nil && !fault.Is(err, fault.NotFound) {
			return fmt.Errorf("note that %s works again: %w", k.ID, err)
		}
	}
	if _, err := s.e.store.table.Write(within(ctx, k.org), table.Delete(receiverRow(k))); err != nil {
		return fmt.Errorf("forget failures of %s: %w", k.ID, err)
	}
	s.learn(k, receiver{})
	return nil
}
