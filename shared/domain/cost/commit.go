package cost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// swapTries limits how often a swap is repeated after another import of the period was faster.
const swapTries = 8

func (s *Store) newGeneration() string {
	return strings.ToLower(ulid.MustNew(ulid.Timestamp(s.clock.Now()), ulid.DefaultEntropy()).String())
}

// Commit writes the sums under a new generation and then moves the pointer of the period to it, so readers see all of
// it at once. It returns ErrSame or ErrOlder if another import was faster. If the process dies at any moment, the
// period is unchanged or complete.
func (b *Builder) Commit(ctx context.Context) (Period, error) {
	s, org := b.store, b.in.Org
	if b.items == nil {
		b.generation = s.newGeneration()
	}
	next := pointer{
		Period: b.period(b.generation), Stamps: b.generation, LineItems: b.items != nil, Exact: true,
		Withdrawable: b.in.Withdrawable,
	}
	var err error
	if next.Rates, err = b.rates(ctx); err != nil {
		return Period{}, err
	}
	b.lines.roundForeign(next.Rates)
	if err = next.describe(ctx, b); err != nil {
		return Period{}, err
	}
	if b.items == nil {
		if err = s.announce(ctx, org, b.generation, ""); err != nil {
			return Period{}, err
		}
	}
	if err = b.write(ctx, &next); err != nil {
		return Period{}, fmt.Errorf("write %s of %s: %w", b.in.Month, b.in.AccountID, err)
	}
	if err = b.swap(ctx, &next); err != nil {
		return Period{}, err
	}
	if b.in.Unsummarized {
		return next.Period, nil
	}
	return next.Period, cmp.Or(s.catchUp(ctx, org, &next), s.Summarize(ctx, org, b.in.Month))
}

// Summarize updates the summaries of months, and deletes the generations that have been idle for idleKept. Commit does
// the same, except for an Import with Unsummarized.
func (s *Store) Summarize(ctx context.Context, org string, months ...Month) error {
	for _, m := range months {
		if err := s.summarize(ctx, org, m); err != nil {
			return err
		}
	}
	return s.sweep(ctx, org)
}

// write writes the chunks of all lines, block by block.
func (b *Builder) write(ctx context.Context, next *pointer) error {
	d, err := b.store.readDefinitions(ctx, b.in.Org, b.old.Final)
	if err != nil {
		return err
	}
	st, err := b.store.newStamper(ctx, b.in.Org, &b.old, d)
	if err != nil {
		return err
	}
	st.of = next
	if next.AttributedAt, next.Definitions = d.at, d.version; st.keeps {
		next.AttributedAt, next.Definitions = b.old.attributedAt(), b.old.Definitions
	}
	b.lines.sort()
	stamps, roll := map[[2]uint32]stamp{}, newRollup()
	out := writing{store: b.store, org: b.in.Org, generation: next.Generation}
	for some := range slices.Chunk(b.lines.all, blockLines) {
		e := encoding{words: &b.lines.words, days: b.in.Month.Days(), cells: out.cells}
		for i := range some {
			at := [2]uint32{some[i].key[subAccountWord], some[i].key[resourceWord]}
			if _, ok := stamps[at]; !ok {
				stamps[at] = st.stamp(billedAs{b.lines.names[at[0]], b.lines.names[at[1]]})
			}
			e.lines = append(e.lines, stamped{&some[i], stamps[at]})
		}
		made, err := out.block(ctx, e.families(), chunkNames{chunkName, len(next.Blocks), len(e.lines)})
		if err != nil {
			return err
		}
		next.Blocks, out.cells = append(next.Blocks, made), e.cells
		roll.addBlock(&e)
	}
	return out.rollup(ctx, roll, next)
}

// writing collects chunks that are being written to the table.
type writing struct {
	store      *Store
	org        string
	generation string
	waiting    []table.Write
	cells      []money.Amount
}

// chunkNames is the naming of the chunks of the n-th block, with its number of lines.
type chunkNames struct {
	name     func(family string, n int) string
	n, lines int
}

func (w *writing) block(ctx context.Context, families map[string][]byte, names chunkNames) (block, error) {
	made := block{names.lines, map[string]int{}}
	for family, content := range families {
		n, err := w.chunk(ctx, chunk{w.generation, names.name(family, names.n), content})
		if err != nil {
			return made, err
		}
		made.Parts[family] = n
	}
	return made, nil
}

// rollup writes the rollup of a period, if it is worth it, and flushes all waiting chunks.
func (w *writing) rollup(ctx context.Context, r *rollup, of *pointer) error {
	of.Rollup = nil
	if !r.worth(of.Lines, w.store.rolling) {
		return w.flush(ctx)
	}
	for n, e := range r.encodings(of.Month.Days()) {
		made, err := w.block(ctx, e.fewFamilies(), chunkNames{rollupName, n, len(e.lines)})
		if err != nil {
			return err
		}
		of.Rollup = append(of.Rollup, made)
	}
	return w.flush(ctx)
}

// chunk writes a chunk or queues it with others, and returns its number of items.
func (w *writing) chunk(ctx context.Context, c chunk) (int, error) {
	ws, err := c.items(w.org)
	if err != nil {
		return 0, err
	}
	w.waiting = append(w.waiting, ws...)
	if len(w.waiting) >= partsAtOnce {
		err = w.flush(ctx)
	}
	return len(ws), err
}

func (w *writing) flush(ctx context.Context) error {
	if len(w.waiting) == 0 {
		return nil
	}
	err := w.store.table.BatchWrite(ctx, w.waiting...)
	w.waiting = w.waiting[:0]
	return fault.Wrap("write chunks of generation "+w.generation, err)
}

// swap moves the pointer to the new generation. If another import was faster, the later delivery wins.
func (b *Builder) swap(ctx context.Context, next *pointer) error {
	for range swapTries {
		next.Seq = b.old.Seq + 1
		err := b.store.point(ctx, b.in.Org, &b.old, next, b.items)
		lost, ok := errors.AsType[*table.ConditionError](err)
		if !ok {
			return fault.Wrap(fmt.Sprintf("put %s of %s in", b.in.Month, b.in.AccountID), err)
		}
		b.old = pointer{}
		if found, failed := lost.Old(0); failed && found.Data != nil {
			if b.old, err = table.Decode[pointer](found); err != nil {
				return err
			}
		}
		if b.old.Generation == next.Generation {
			next.Seq = b.old.Seq
			return nil // the answer to the first try was lost
		}
		if err = b.in.supersedes(&b.old); err != nil {
			return err
		}
	}
	return fault.New(fault.Unavailable, "%s of %s is being imported by many at once; try again", b.in.Month,
		b.in.AccountID)
}

// point replaces the pointer old by next in one transaction. The transaction also marks the generations of next as
// used, the generations that only old names as idle, and the summary of the month as stale. items are the line items
// of next, or nil if the pointer keeps its present ones.
func (s *Store) point(ctx context.Context, org string, old, next *pointer, items *LineItems) error {
	cond := table.Equal("seq", old.Seq)
	if old.Seq == 0 {
		cond = table.Absent()
	}
	it, err := table.NewItem(periodKey(org, next.Month, next.AccountID, next.Estimated), next)
	if err != nil {
		return err
	}
	ws := []table.Write{
		table.Put(it, cond),
		table.Update(summaryKey(org, next.Month), []table.Change{table.Add("seq", 1)}),
	}
	for _, generation := range next.only(old) {
		ws = append(ws, table.Delete(idleKey(org, generation)))
	}
	of, err := itemsOf(org, old, next, items)
	if err != nil {
		return err
	}
	ws = append(ws, of...)
	until := s.clock.Now().UTC().Add(idleKept)
	if next.replaces(old) {
		until = s.clock.Now().UTC().Add(replacedKept + day)
		w, err := s.putReplaced(ctx, org, old, next)
		if err != nil {
			return err
		}
		ws = append(ws, w)
	}
	idles, err := putIdles(org, until, old, next)
	if err != nil {
		return err
	}
	return s.table.Transact(ctx, append(ws, idles...)...)
}

// only returns the generations that p names and other does not.
func (p *pointer) only(other *pointer) []string {
	var out []string
	for _, g := range []string{p.Generation, p.Stamps} {
		if g != "" && g != other.Generation && g != other.Stamps && !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out
}
