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
	for _, m := range slices.Sorted(maps.Keys(touched)) {
		if err = s.summarize(ctx, org, m); err != nil {
			return err
		}
	}
	return s.sweep(ctx, org)
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
	out := writing{store: s, org: org, generation: next.Stamps}
	for n := range p.Blocks {
		made, err := s.restampBlock(ctx, &out, st, blockOf{p, n})
		if err != nil {
			return err
		}
		next.Blocks = append(next.Blocks, made)
	}
	if err = out.flush(ctx); err != nil {
		return err
	}
	err = s.point(ctx, org, p, &next)
	if _, moved := errors.AsType[*table.ConditionError](err); moved {
		return nil
	}
	return err
}

// blockOf is the n-th block of a period.
type blockOf struct {
	pointer *pointer
	n       int
}

func (s *Store) restampBlock(ctx context.Context, out *writing, st *stamper, at blockOf) (block, error) { //nolint:revive // what of which, to where
	b, err := s.readBlock(ctx, out.org, at.pointer, at.n, resourceFamily, nativeFamily)
	if err != nil {
		return block{}, err
	}
	native, teams, groups := b.native(), newColumn(b.lines), newColumn(b.lines)
	stamps := make([]stamp, len(native.names))
	for i, name := range native.names {
		stamps[i] = st.stamp(name)
	}
	for i := range b.lines {
		teams.add(stamps[native.code(i)].teams)
		groups.add(stamps[native.code(i)].groups)
	}
	if err = b.check(); err != nil {
		return block{}, err
	}
	old := at.pointer.Blocks[at.n]
	made := block{old.Lines, maps.Clone(old.Parts)}
	made.Parts[stampFamily], err = out.chunk(ctx, chunk{out.generation, chunkName(stampFamily, at.n), groups.append(teams.append(nil))})
	return made, err
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
