package simulated

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// foldEvery is how many log items are kept before their outcome is written down.
const foldEvery = 500

// perChunk is how many transitions one item of a stored outcome holds: about 200 kB.
const perChunk = 1500

// head says which log items the stored outcome contains, and how many chunks it has.
type head struct {
	Folded int64 `json:"folded"`
	Chunks int   `json:"chunks"`
}

// chunk is a part of the stored outcome.
type chunk struct {
	Nodes  []foldedState  `json:"nodes"`
	Values []foldedValues `json:"values,omitempty"`
}

// foldedValues are the values of a node that remediation has set.
type foldedValues struct {
	Kind   uint8             `json:"k"`
	Region uint8             `json:"r"`
	Number uint32            `json:"n"`
	Values map[string]string `json:"v"`
}

type foldedState struct {
	Kind   uint8 `json:"k"`
	Region uint8 `json:"r"`
	At     int64 `json:"at"`
	move
}

func (w *world) headKey() table.Key { return table.Key{PK: w.pk, SK: "HEAD"} }

func (w *world) chunkKey(seq int64, i int) table.Key {
	return table.Key{PK: w.pk, SK: fmt.Sprintf("F#%015d#%06d", seq, i)}
}

// loadOutcome reads the stored outcome. It starts over when the outcome was replaced meanwhile.
func (w *world) loadOutcome(ctx context.Context) error {
	for {
		h, err := w.readHead(ctx)
		if err != nil {
			return err
		}
		keys := make([]table.Key, h.Chunks)
		for i := range keys {
			keys[i] = w.chunkKey(h.Folded, i)
		}
		items, err := w.store.BatchGet(ctx, keys...)
		if err != nil {
			return fmt.Errorf("read outcome of %s: %w", w.pk, err)
		}
		if len(items) == len(keys) {
			return w.takeOutcome(h, items)
		}
	}
}

// takeOutcome makes the outcome in items the history.
func (w *world) takeOutcome(h head, items map[table.Key]table.Item) error {
	nodes, values := map[node]transition{}, map[node]map[string]string{}
	w.nodes, w.seq, w.folded = nil, h.Folded, h.Folded
	kept := world{nodes: nodes}
	for _, it := range items {
		c, err := table.Decode[chunk](it)
		if err != nil {
			return err
		}
		for _, f := range c.Nodes {
			kept.applyEntry(entry{At: f.At, Kind: f.Kind, Region: f.Region, Moves: []move{f.move}})
		}
		for _, f := range c.Values {
			values[node{kind: f.Kind, region: f.Region, number: f.Number}] = f.Values
		}
	}
	w.nodes, w.values = nodes, values
	return nil
}

// readHead reads the head, and makes it at the first time.
func (w *world) readHead(ctx context.Context) (head, error) {
	h, err := table.Read[head](ctx, w.store, w.headKey())
	if !fault.Is(err, fault.NotFound) {
		return h, err
	}
	it, err := table.NewItem(w.headKey(), head{})
	if err != nil {
		return head{}, err
	}
	if _, err = w.store.Write(ctx, table.Put(it, table.Absent())); fault.Is(err, fault.Conflict) {
		return table.Read[head](ctx, w.store, w.headKey())
	}
	return head{}, err
}

// foldLog writes the outcome down when the log is long, and cuts the log. Dying in between leaves either the old
// outcome with the whole log or the new one with some log items too many; both read the same.
func (w *world) foldLog(ctx context.Context) error {
	if w.seq-w.folded < foldEvery {
		return nil
	}
	before, h := w.folded, head{Folded: w.seq}
	parts := w.chunksOf()
	h.Chunks = len(parts)
	for i, part := range parts {
		if err := w.putItem(ctx, w.chunkKey(w.seq, i), part); err != nil {
			return err
		}
	}
	it, err := table.NewItem(w.headKey(), h)
	if err != nil {
		return err
	}
	_, err = w.store.Write(ctx, table.Put(it, table.Equal("folded", before)))
	if fault.Is(err, fault.Conflict) { // another process has folded; its outcome is as good
		h, err = w.readHead(ctx)
		w.folded = h.Folded
		return err
	}
	if err != nil {
		return fmt.Errorf("fold %s: %w", w.pk, err)
	}
	w.folded = w.seq
	return w.cutLog(ctx)
}

func (w *world) putItem(ctx context.Context, k table.Key, v any) error {
	it, err := table.NewItem(k, v)
	if err != nil {
		return err
	}
	if err = w.store.BatchWrite(ctx, table.Put(it)); err != nil {
		return fmt.Errorf("write %s %s: %w", k.PK, k.SK, err)
	}
	return nil
}

// chunksOf returns the history in items.
func (w *world) chunksOf() []chunk {
	var out []chunk
	for part := range slices.Chunk(w.outcomeOf(), perChunk) {
		out = append(out, chunk{Nodes: part})
	}
	for part := range slices.Chunk(w.valuesOf(), perValuesChunk) {
		out = append(out, chunk{Values: part})
	}
	return out
}

// perValuesChunk is how many nodes with values one item of a stored outcome holds.
const perValuesChunk = 500

// valuesOf returns the values that were set, in a fixed order.
func (w *world) valuesOf() []foldedValues {
	out := make([]foldedValues, 0, len(w.values))
	for n, v := range w.values {
		out = append(out, foldedValues{n.kind, n.region, n.number, v})
	}
	slices.SortFunc(out, func(a, b foldedValues) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Number, b.Number))
	})
	return out
}

// outcomeOf returns the history in a fixed order, so that two processes that fold at the same place write the same.
func (w *world) outcomeOf() []foldedState {
	out := make([]foldedState, 0, len(w.nodes))
	for n, t := range w.nodes {
		m := move{Number: n.number, Millis: t.millis, On: t.on, Falls: t.falls, Was: t.was}
		if t.cap != (capacity{}) {
			m.Cap = &t.cap
		}
		if t.had != (capacity{}) {
			m.Had = &t.had
		}
		out = append(out, foldedState{Kind: n.kind, Region: n.region, At: t.at, move: m})
	}
	slices.SortFunc(out, func(a, b foldedState) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Number, b.Number))
	})
	return out
}

// cutLog deletes the log items that the outcome contains but the last, and the outcomes before it. A later outcome that
// another process is writing stays.
func (w *world) cutLog(ctx context.Context) error {
	ranges := []table.Query{
		{PK: w.pk, From: "L#", To: w.logKey(w.folded - 1).SK, Limit: foldEvery},
		{PK: w.pk, From: "F#", To: w.chunkKey(w.folded-1, 999_999).SK, Limit: 20},
	}
	for _, q := range ranges {
		if err := w.clearItems(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) clearItems(ctx context.Context, q table.Query) error {
	for {
		page, err := w.store.Query(ctx, q)
		if err != nil {
			return fmt.Errorf("cut log of %s: %w", w.pk, err)
		}
		ws := make([]table.Write, len(page.Items))
		for i, it := range page.Items {
			ws[i] = table.Delete(it.Key)
		}
		if err = w.store.BatchWrite(ctx, ws...); err != nil {
			return fmt.Errorf("cut log of %s: %w", w.pk, err)
		}
		if page.Next == "" {
			return nil
		}
	}
}
