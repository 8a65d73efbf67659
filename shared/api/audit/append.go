package audit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// Head is where a chain ends: its last row. The zero Head is that of an empty chain.
type Head struct {
	Seq  int64     `json:"seq"`
	At   time.Time `json:"at"`
	Hash string    `json:"hash"`
}

// attempt is rows as they were sent to the store, and the head after them.
type attempt struct {
	rows []Row
	head Head
}

// group is entries that are written together.
type group struct {
	entries []*entry
	raced   bool      // another process was first
	unsure  []attempt // the store did not say what became of them
}

// accept gives the entries the rows that they became.
func (g *group) accept(a attempt) {
	for i, e := range g.entries {
		e.row = a.rows[i]
	}
}

// tries bounds how often a group is sent, because others were first or the store gave no answer.
const tries = 20

// commitGroup has a group written: all of it or nothing.
func (c *chain) commitGroup(ctx context.Context, entries []*entry) error {
	g := &group{entries: entries}
	var err error
	for n := range tries {
		var done bool
		if done, err = c.send(ctx, g); done {
			return err
		}
		if (clock.System{}).Sleep(ctx, jitter(n)) != nil {
			break
		}
	}
	return err
}

// longest is the longest pause between two tries.
const longest = 400 * time.Millisecond

// jitter draws the pause after try n: none after the first, because who was told the new head can use it at once. It is
// waited for by the machine's clock also where the service goes by another one: it is no time of day.
func jitter(n int) time.Duration {
	if n == 0 {
		return 0
	}
	return rand.N(min(time.Millisecond<<n, longest)) //nolint:gosec // spreads load, guards nothing
}

// send makes one try; it is done when there is to be no other.
func (c *chain) send(ctx context.Context, g *group) (done bool, err error) {
	if done, err = c.settle(ctx, g); done || err != nil {
		return done, err
	}
	a, ws, err := c.link(g.entries)
	if err != nil {
		return true, err
	}
	err = c.log.store.Transact(ctx, ws...)
	if lost, ok := errors.AsType[*table.ConditionError](err); ok {
		g.raced = true
		return false, c.learn(lost)
	}
	switch {
	case err == nil:
		c.head = a.head
		g.accept(a)
		return true, nil
	case fault.Is(err, fault.Unavailable):
		g.unsure = append(g.unsure, a)
		return false, err
	}
	return true, err
}

// settle finds out, once the head is known to have moved, whether it was one of our own tries that moved it. Without
// that, a row whose reply was lost would be written twice.
func (c *chain) settle(ctx context.Context, g *group) (done bool, err error) {
	if !g.raced {
		return false, nil
	}
	for _, a := range g.unsure {
		took, err := c.took(ctx, a)
		if err != nil {
			return false, err
		}
		if took {
			g.accept(a)
			return true, nil
		}
	}
	g.unsure = nil
	return false, nil
}

// took reports whether a was written.
func (c *chain) took(ctx context.Context, a attempt) (bool, error) {
	if a.head.Hash == c.head.Hash {
		return true, nil
	}
	first := a.rows[0]
	was, err := table.Read[Row](ctx, c.log.store, table.Key{PK: c.place.PK, SK: sortKey(first.At, first.Seq)})
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return was.Hash == first.Hash, err
}

// link makes the rows of entries, behind the head, and the writes that store them if the head is still there.
func (c *chain) link(entries []*entry) (attempt, []table.Write, error) {
	a := attempt{rows: make([]Row, len(entries)), head: c.head}
	ws := make([]table.Write, 1, len(entries)+1)
	now := c.log.clock.Now()
	for i, e := range entries {
		a.rows[i] = e.row
		a.head = a.rows[i].sealAfter(a.head, now)
		ws = append(ws, table.Put(a.rows[i].storedItem(c.place.PK), table.Absent()))
	}
	here := table.Absent()
	if c.head.Seq > 0 {
		here = table.Equal("hash", c.head.Hash)
	}
	row, err := table.NewItem(c.place.Head, a.head)
	ws[0] = table.Put(row, here)
	return a, ws, err
}

// learn takes the true head from the store's refusal. Only an empty chain has none.
func (c *chain) learn(lost *table.ConditionError) error {
	was, moved := lost.Old(0)
	if !moved {
		return fmt.Errorf("the rows of %s do not end where its head says: %w", c.place.PK, lost)
	}
	c.head = Head{}
	if was.Data == nil {
		return fmt.Errorf("the chain %s began anew: %w", c.place.PK, lost)
	}
	h, err := table.Decode[Head](was)
	if err != nil {
		return err
	}
	c.head = h
	return lost
}
