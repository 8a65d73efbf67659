package cost

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

// Rebuild says anew which teams and groups resources are in, in the periods of the months that are not closed, and makes the summaries of the months anew;
// without months, of all. It may be repeated, and be killed anywhere.
func (s *Store) Rebuild(ctx context.Context, org string, months ...Month) error {
	pointers, err := s.readPointers(ctx, org, firstMonth, lastMonth)
	if err != nil {
		return err
	}
	d, err := s.inventory.OpenDirectory(ctx, org)
	if err != nil {
		return err
	}
	touched := map[Month]bool{}
	for i := range pointers {
		p := &pointers[i]
		if len(months) > 0 && !slices.Contains(months, p.Month) {
			continue
		}
		touched[p.Month] = true
		if err = s.restamp(ctx, org, p, d); err != nil {
			return fmt.Errorf("stamp %s of %s anew: %w", p.Month, p.AccountID, err)
		}
	}
	return s.Summarize(ctx, org, slices.Sorted(maps.Keys(touched))...)
}

// restamp writes the stamps of a period anew, if they are others. An import that comes between has newer ones anyway.
func (s *Store) restamp(ctx context.Context, org string, p *pointer, d *inventory.Directory) error {
	if p.Final {
		return nil
	}
	st, err := s.newStamper(ctx, org, p.AccountID, p, d)
	if err != nil || !st.changes() {
		return err
	}
	next := *p
	next.Seq, next.Stamps, next.Blocks = p.Seq+1, s.newGeneration(), nil
	if err = s.announce(ctx, org, next.Stamps, ""); err != nil {
		return err
	}
	out := restamping{writing{store: s, org: org, generation: next.Stamps}, st, newRollup()}
	for n := range p.Blocks {
		made, err := out.block(ctx, place{pointer: p, n: n})
		if err != nil {
			return err
		}
		next.Blocks = append(next.Blocks, made)
	}
	if err = out.writing.rollup(ctx, out.roll, &next); err != nil {
		return err
	}
	err = s.point(ctx, org, p, &next, nil)
	if _, moved := errors.AsType[*table.ConditionError](err); moved {
		return nil
	}
	return err
}

// restamping is new stamps on their way to the table, and the rollup that they make.
type restamping struct {
	writing writing
	stamper *stamper
	roll    *rollup
}

// block writes the stamps of a block, and returns the block with them.
func (r *restamping) block(ctx context.Context, at place) (block, error) {
	families := append([]string{wordsFamily, resourceFamily, nativeFamily}, dayFamilies[:]...)
	b, err := r.writing.store.readBlock(ctx, r.writing.org, at, families...)
	if err != nil {
		return block{}, err
	}
	native, columns := b.native(), stampColumns{}
	stamps := make([]stamp, len(native.names))
	for i, name := range native.names {
		stamps[i] = r.stamper.stamp(name)
	}
	for i := range b.lines {
		columns.add(&stamps[native.code(i)])
	}
	b.rollInto(r.roll, func(i int) *stamp { return &stamps[native.code(i)] })
	if err = b.check(); err != nil {
		return block{}, err
	}
	made := block{at.block().Lines, maps.Clone(at.block().Parts)}
	made.Parts[stampFamily], err = r.writing.chunk(ctx, chunk{r.writing.generation, chunkName(stampFamily, at.n), columns.content()})
	return made, err
}

// rollInto counts the lines of a block that was read.
func (b *lineBlock) rollInto(r *rollup, stampOf func(i int) *stamp) {
	var columns [resourceWord]column
	for w := range columns {
		columns[w] = b.nth(wordsFamily, w)
	}
	var days [3]amounts
	for m, family := range dayFamilies {
		if m == 0 || b.content[family] != nil {
			days[m] = b.byDay(m)
		}
	}
	for i := 0; i < b.lines && !b.bad; i++ {
		var words fewWords
		for w := range words {
			words[w] = columns[w].name(i)
		}
		var l line
		for m := range days {
			l.days[m] = days[m].series(i, b.lines)
		}
		r.add(&words, stampOf(i), &l)
	}
}

// series returns the amounts of the i-th of n lines by day; none of a metric that was not read.
func (a *amounts) series(i, n int) series {
	out := series{places: a.places}
	for ; i < a.len(); i += n {
		if a.wide != nil {
			out.wide = append(out.wide, a.wide[i])
		} else {
			out.narrow = append(out.narrow, a.narrow[i])
		}
	}
	return out
}
