package evaluation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// StatePartition is how far the evaluation of an organization is, and what it has decided and not yet done.
const StatePartition table.Partition = "ORG#*#EVALUATION"

// state is how far an organization is evaluated: whoever moves Until on has decided what is done for the minutes between, alone.
type state struct {
	Until   int64  `json:"until"`             // the last minute that was evaluated
	Change  int64  `json:"change"`            // counts the changes, which each is conditioned on
	Round   string `json:"round,omitempty"`   // what was decided and is not done yet
	Parts   int    `json:"parts,omitempty"`   // of the round
	DriftAt int64  `json:"driftAt,omitempty"` // the minute of the next look at drift
}

func statePK(org string) string { return table.OrgPK(org) + "EVALUATION" }

func stateKey(org string) table.Key { return table.Key{PK: statePK(org), SK: "STATE"} }

func partKey(org, round string, n int) table.Key {
	return table.Key{PK: statePK(org), SK: fmt.Sprintf("R#%s#%04d", round, n)}
}

// part is some of what a round has decided.
type part struct {
	Orders  []execution.Order `json:"orders,omitempty"`
	Entries []Entry           `json:"entries,omitempty"`
}

// forgotten is when what was written down for a round goes that nobody came to commit.
const forgotten = 48 * time.Hour

// partSize is how large a part is at most, in bytes, of the 400,000 of an item.
const partSize = 300_000

// readState reads how far an organization is; the zero state when it was never evaluated.
func (s *Store) readState(ctx context.Context, org string) (state, error) {
	st, err := table.Read[state](ctx, s.p.Table, stateKey(org))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return st, fmt.Errorf("read how far %s is evaluated: %w", org, err)
	}
	return st, nil
}

// begin reads how far an organization is, in one round trip with whether it is there at all: one that has ended, or is erased, is
// evaluated no more.
func (s *Store) begin(ctx context.Context, org string) (st state, there bool, err error) {
	got, err := s.p.Table.BatchGet(ctx, stateKey(org), identity.AccessKey(org))
	if err != nil {
		return st, false, fmt.Errorf("read how far %s is evaluated: %w", org, err)
	}
	it, there := got[identity.AccessKey(org)]
	if !there {
		return st, false, nil
	}
	access, err := table.Decode[identity.Access](it)
	if err != nil || access.Ended {
		return st, false, err
	}
	if it, there = got[stateKey(org)]; there {
		st, err = table.Decode[state](it)
	}
	return st, true, err
}

// move stores next in place of st as it was read; false when another evaluator was faster.
func (s *Store) move(ctx context.Context, org string, st, next state) (bool, error) { //nolint:revive // from, to
	next.Change = st.Change + 1
	it, err := table.NewItem(stateKey(org), next)
	if err != nil {
		return false, err
	}
	unchanged := table.Equal("change", st.Change)
	if st.Change == 0 {
		unchanged = table.Absent()
	}
	_, err = s.p.Table.Write(ctx, table.Put(it, unchanged))
	if _, faster := errors.AsType[*table.ConditionError](err); faster {
		return false, nil
	}
	return err == nil, fault.Wrap("note how far "+org+" is evaluated", err)
}

// parts cuts what a round has decided into parts.
func parts(orders []execution.Order, entries []Entry) ([]part, error) {
	var out []part
	size := partSize
	add := func(v any, put func(*part)) error {
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("encode what was decided: %w", err)
		}
		if size += len(b) + 1; size > partSize {
			out, size = append(out, part{}), len(b)
		}
		put(&out[len(out)-1])
		return nil
	}
	for _, o := range orders {
		if err := add(o, func(p *part) { p.Orders = append(p.Orders, o) }); err != nil {
			return nil, err
		}
	}
	for _, e := range entries {
		if err := add(e, func(p *part) { p.Entries = append(p.Entries, e) }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// decide writes down what a round has decided, and then has the organization be evaluated until the minute of next: from then on it
// is done, once, by whoever comes to it. False when another evaluator was faster, and nothing of this round is ever done.
func (s *Store) decide(ctx context.Context, org string, st, next state, p *plan) (bool, error) { //nolint:revive // from, to, what
	now := s.p.Clock.Now()
	orders := p.numbered(next.Round, now)
	ps, err := parts(orders, p.kept(now))
	if err != nil {
		return false, err
	}
	if next.Parts = len(ps); next.Parts == 0 {
		next.Round = ""
	}
	var ws []table.Write
	for _, o := range orders {
		it, err := o.NamedItem(org)
		if err != nil {
			return false, err
		}
		it.Expires = now.Add(forgotten)
		ws = append(ws, table.Put(it))
	}
	for n, v := range ps {
		it, err := table.NewItem(partKey(org, next.Round, n), v)
		if err != nil {
			return false, err
		}
		it.Expires = now.Add(forgotten)
		ws = append(ws, table.Put(it))
	}
	if len(ws) > 0 {
		if err = s.p.Table.BatchWrite(ctx, ws...); err != nil {
			return false, fmt.Errorf("write down what is to be done in %s: %w", org, err)
		}
	}
	return s.move(ctx, org, st, next)
}

// queuers is how many orders are queued side by side.
const queuers = 16

// carryOut does what the round of st has decided, and notes that it is done. It may be called again, and twice at once.
func (s *Store) carryOut(ctx context.Context, org string, st state) (queued int, err error) {
	var ws []table.Write
	for n := range st.Parts {
		v, err := table.Read[part](ctx, s.p.Table, partKey(org, st.Round, n))
		if fault.Is(err, fault.NotFound) { // another evaluator has done it
			continue
		}
		if err != nil {
			return queued, fmt.Errorf("read what is to be done in %s: %w", org, err)
		}
		some, err := s.doPart(ctx, org, v)
		if queued += some; err != nil {
			return queued, err
		}
		ws = append(ws, table.Delete(partKey(org, st.Round, n)))
	}
	next := st
	next.Round, next.Parts = "", 0
	if _, err = s.move(ctx, org, st, next); err != nil || len(ws) == 0 {
		return queued, err
	}
	return queued, fault.Wrap("clear up a round of "+org, s.p.Table.BatchWrite(ctx, ws...))
}

// doPart queues the orders of a part, and puts its entries into the log.
func (s *Store) doPart(ctx context.Context, org string, v part) (int, error) {
	var g errgroup.Group
	g.SetLimit(queuers)
	queued := make([]int, len(v.Orders))
	for i, o := range v.Orders {
		g.Go(func() error {
			now, err := execution.QueueOrders(ctx, table.NewPatientStore(s.p.Table), org, []execution.Order{o})
			queued[i] = len(now)
			s.start(ctx, org, now)
			return err
		})
	}
	err := g.Wait()
	n := 0
	for _, one := range queued {
		n += one
	}
	if err != nil || len(v.Entries) == 0 {
		return n, err
	}
	ws := make([]table.Write, len(v.Entries))
	for i, e := range v.Entries {
		it, err := e.item(org)
		if err != nil {
			return n, err
		}
		ws[i] = table.Put(it)
	}
	return n, fault.Wrap("write the log of schedules of "+org, s.p.Table.BatchWrite(ctx, ws...))
}
