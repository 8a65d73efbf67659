package cost

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
)

// Rebuild says anew which teams and groups resources are in, in the periods of the months that are not closed, and makes the summaries of the months anew;
// without months, of all. It may be repeated, and be killed anywhere.
func (s *Store) Rebuild(ctx context.Context, org string, months ...Month) error {
	pointers, err := s.readPointers(ctx, org, firstMonth, lastMonth)
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
		if err = s.restamp(ctx, org, p); err != nil {
			return fmt.Errorf("stamp %s of %s anew: %w", p.Month, p.AccountID, err)
		}
	}
	return s.Summarize(ctx, org, slices.Sorted(maps.Keys(touched))...)
}

// restamp writes the stamps of a period anew. An import that comes between has newer ones anyway.
func (s *Store) restamp(ctx context.Context, org string, p *pointer) error {
	if p.Final || len(p.Blocks) == 0 {
		return nil
	}
	st, err := s.newStamper(ctx, org, p.AccountID, p)
	if err != nil {
		return err
	}
	next := *p
	next.Seq, next.Stamps, next.Blocks = p.Seq+1, s.newGeneration(), nil
	if err = s.announce(ctx, org, next.Stamps); err != nil {
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
	err = s.point(ctx, org, p, &next)
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
	native, teams, groups := b.native(), newColumn(b.lines), newColumn(b.lines)
	stamps := make([]stamp, len(native.names))
	for i, name := range native.names {
		stamps[i] = r.stamper.stamp(name)
	}
	for i := range b.lines {
		teams.add(stamps[native.code(i)].teams)
		groups.add(stamps[native.code(i)].groups)
	}
	b.rollInto(r.roll, func(i int) *stamp { return &stamps[native.code(i)] })
	if err = b.check(); err != nil {
		return block{}, err
	}
	made := block{at.block().Lines, maps.Clone(at.block().Parts)}
	made.Parts[stampFamily], err = r.writing.chunk(ctx, chunk{r.writing.generation, chunkName(stampFamily, at.n), groups.append(teams.append(nil))})
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

// ResourceCost is what a resource costs in a month.
type ResourceCost struct {
	Billed    money.Amount // so far
	Estimated bool         // some of it is an estimate
}

// ResourceCosts returns what the resources of an organization are billed in a month, by their native ids.
func (s *Store) ResourceCosts(ctx context.Context, org string, m Month) (map[string]ResourceCost, error) {
	pointers, err := s.readPointers(ctx, org, m, m)
	if err != nil {
		return nil, err
	}
	out := map[string]ResourceCost{}
	for _, estimated := range []bool{false, true} {
		q := Question{From: m.Start(), To: m.End(), Metric: Billed, Dims: []string{ResourceDim}}
		t := newTally(&q)
		spans := slices.DeleteFunc(spansOf(pointers, &q), func(sp span) bool { return sp.pointer.Estimated != estimated })
		for _, some := range batches(spans, t) {
			if err = s.count(ctx, org, some, t); err != nil {
				return nil, err
			}
		}
		for _, row := range t.answer().Rows {
			if uid := row.Keys[0]; uid != "" {
				out[uid] = ResourceCost{out[uid].Billed.Add(row.Amount), out[uid].Estimated || estimated}
			}
		}
	}
	return out, nil
}
