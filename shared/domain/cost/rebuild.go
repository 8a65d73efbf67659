package cost

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Rebuild updates the teams and groups of resources in periods that are not closed, the connected accounts in all
// periods, and the summaries of changed months. With nil accounts, the connected accounts stay unchanged. Without
// months, it covers all months. It is idempotent and safe to kill at any time.
func (s *Store) Rebuild(ctx context.Context, org string, accounts []Account, months ...Month) error {
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
		if err = s.rebuildPeriod(ctx, org, p, rebuilding{d, accounts}); err != nil {
			return fmt.Errorf("rebuild %s of %s: %w", p.Month, p.AccountID, err)
		}
	}
	return s.Summarize(ctx, org, slices.Sorted(maps.Keys(touched))...)
}

// rebuilding holds the inputs of a rebuild.
type rebuilding struct {
	directory *inventory.Directory
	accounts  []Account // nil leaves them unchanged
}

// rebuildPeriod rebuilds a period. It starts over if the period is imported in the meantime, because that import may
// have begun with older inputs.
func (s *Store) rebuildPeriod(ctx context.Context, org string, p *pointer, after rebuilding) error {
	for range swapTries {
		err := s.reconnect(ctx, org, p, after.accounts)
		if err == nil {
			err = s.restamp(ctx, org, p, after.directory)
		}
		if _, moved := errors.AsType[*table.ConditionError](err); !moved {
			return err
		}
		if *p, err = table.Read[pointer](ctx, s.table, periodKey(org, p.Month, p.AccountID, p.Estimated)); err != nil {
			return err
		}
	}
	return fault.New(fault.Unavailable, "it is being imported by many at once; try again")
}

// reconnect stores in a period which accounts are connected now.
func (s *Store) reconnect(ctx context.Context, org string, p *pointer, accounts []Account) error {
	next := *p
	changed, err := next.connect(accounts)
	if err != nil || !changed {
		return err
	}
	next.Seq++
	if err = s.point(ctx, org, p, &next, nil); err == nil {
		*p = next
	}
	return err
}

// restamp rewrites the stamps of a period that is not closed, if they have changed.
func (s *Store) restamp(ctx context.Context, org string, p *pointer, d *inventory.Directory) error {
	if p.Final {
		return nil
	}
	st, err := s.newStamper(ctx, org, p, d)
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
	return s.point(ctx, org, p, &next, nil)
}

// restamping holds new stamps that are being written, and the rollup made from them.
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
	columns, stampOf := stampColumns{}, r.stampsOf(b)
	for i := range b.lines {
		columns.add(stampOf(i))
	}
	b.rollInto(r.roll, stampOf)
	if err = b.check(); err != nil {
		return block{}, err
	}
	made := block{at.block().Lines, maps.Clone(at.block().Parts)}
	made.Parts[stampFamily], err = r.writing.chunk(ctx,
		chunk{r.writing.generation, chunkName(stampFamily, at.n), columns.content()})
	return made, err
}

// stampsOf returns a function that returns the stamp of a line of a block.
func (r *restamping) stampsOf(b *lineBlock) func(line int) *stamp {
	sub, native, stamps := b.word(SubAccountDim), b.native(), map[[2]uint32]*stamp{}
	return func(i int) *stamp {
		at := [2]uint32{sub.code(i), native.code(i)}
		if stamps[at] == nil {
			st := r.stamper.stamp(billedAs{sub.name(i), native.name(i)})
			stamps[at] = &st
		}
		return stamps[at]
	}
}

// rollInto adds the lines of a read block to a rollup.
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

// series returns the amounts of the i-th of n lines by day. It is empty for a metric that was not read.
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
