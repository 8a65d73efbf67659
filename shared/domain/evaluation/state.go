package evaluation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// StatePartition holds the evaluation state of an organization, and the rounds that are decided but not yet carried
// out.
const StatePartition table.Partition = "ORG#*#EVALUATION"

// state is an organization's evaluation checkpoint. It advances by compare-and-swap on Change, so exactly one
// evaluator decides a given minute.
type state struct {
	Until   int64  `json:"until"`             // the last minute that was evaluated
	Change  int64  `json:"change"`            // number of changes; each change is conditioned on it
	Round   string `json:"round,omitempty"`   // decided, not yet carried out
	Parts   int    `json:"parts,omitempty"`   // number of parts of the round
	DriftAt int64  `json:"driftAt,omitempty"` // the minute of the next look at drift

	RecentFrom int64    `json:"recentFrom,omitempty"` // the first minute that Recent knows; 0 when it knows none
	Recent     []recent `json:"recent,omitempty"`
	Troubles   troubles `json:"troubles,omitempty"` // failures to try again
}

// equals reports whether two states are equal, apart from the round under way.
func (st state) equals(other state) bool {
	for _, s := range []*state{&st, &other} {
		s.Change, s.Round, s.Parts = 0, "", 0
	}
	return reflect.DeepEqual(st, other)
}

func statePK(org string) string { return table.OrgPK(org) + "EVALUATION" }

func stateKey(org string) table.Key { return table.Key{PK: statePK(org), SK: "STATE"} }

func partKey(org, round string, n int) table.Key {
	return table.Key{PK: statePK(org), SK: fmt.Sprintf("R#%s#%04d", round, n)}
}

// part is the part of a round that fits into one item.
type part struct {
	Orders  []execution.Order `json:"orders,omitempty"`
	Entries []Entry           `json:"entries,omitempty"`
}

// forgotten is how long the parts of an uncommitted round are kept.
const forgotten = 48 * time.Hour

// partSize limits the size of a part, in bytes. An item holds 400,000 bytes.
const partSize = 300_000

// readState reads the state of an organization. It is zero if the organization was never evaluated.
func (s *Store) readState(ctx context.Context, org string) (state, error) {
	st, err := table.Read[state](ctx, s.p.Table, stateKey(org))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return st, fmt.Errorf("read how far %s is evaluated: %w", org, err)
	}
	return st, nil
}

// begin reads the state of an organization, and whether it is active, in one round trip. An organization that has
// ended or is erased is not evaluated any more.
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

// moveState replaces old, as it was read, by next, in one transaction with the writes in more. It returns false if
// another evaluator was faster.
func (s *Store) moveState(ctx context.Context, org string, old, next state, more ...table.Write) (bool, error) {
	next.Change = old.Change + 1
	it, err := table.NewItem(stateKey(org), next)
	if err != nil {
		return false, err
	}
	unchanged := table.Equal("change", old.Change)
	if old.Change == 0 {
		unchanged = table.Absent()
	}
	err = s.p.Table.Transact(ctx, append([]table.Write{table.Put(it, unchanged)}, more...)...)
	if _, faster := errors.AsType[*table.ConditionError](err); faster {
		return false, nil
	}
	return err == nil, fault.Wrap("note how far "+org+" is evaluated", err)
}

// parts splits the orders and entries of a round into parts.
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

// decide stores the parts of a round, and then advances the organization's state to the minute of p.next. From then on
// any evaluator carries the round out, once. The drifts are stored in the same transaction, so that drift is enforced
// once. decide returns false if another evaluator was faster; then this round is never carried out.
func (e *pass) decide(ctx context.Context, p planned) (bool, error) {
	now, next := e.p.Clock.Now(), *p.next
	orders := p.numbered(next.Round, now)
	ps, err := parts(orders, p.kept(now))
	if err != nil {
		return false, err
	}
	if next.Parts = len(ps); next.Parts == 0 {
		next.Round = ""
	}
	ws, err := roundWrites(e.org, next.Round, ps, now.Add(forgotten))
	if err != nil {
		return false, err
	}
	named, err := stagedWrites(e.org, orders, now.Add(forgotten))
	if err != nil {
		return false, err
	}
	if ws = append(ws, named...); len(ws) > 0 {
		if err = e.p.Table.BatchWrite(ctx, ws...); err != nil {
			return false, fmt.Errorf("write down what is to be done in %s: %w", e.org, err)
		}
	}
	var more []table.Write
	if p.open != nil {
		w, err := p.open.write(e.org)
		if err != nil {
			return false, err
		}
		more = append(more, w)
	}
	return e.moveState(ctx, e.org, e.state, next, more...)
}

// roundWrites returns the writes that store the parts of a round.
func roundWrites(org, round string, ps []part, expires time.Time) ([]table.Write, error) {
	ws := make([]table.Write, len(ps))
	for n, v := range ps {
		it, err := table.NewItem(partKey(org, round, n), v)
		if err != nil {
			return nil, err
		}
		it.Expires = expires
		ws[n] = table.Put(it)
	}
	return ws, nil
}

// stagedWrites returns the writes that store the resources of orders, before the orders are queued.
func stagedWrites(org string, orders []execution.Order, expires time.Time) ([]table.Write, error) {
	ws := make([]table.Write, len(orders))
	for n, o := range orders {
		it, err := o.NamedItem(org)
		if err != nil {
			return nil, err
		}
		it.Expires = expires
		ws[n] = table.Put(it)
	}
	return ws, nil
}
