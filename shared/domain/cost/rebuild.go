package cost

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Rebuild updates the teams and groups of resources in all periods that follow the present ones, the connected accounts
// in all periods, and the summaries of changed months. With nil accounts, the connected accounts stay unchanged.
// Without months, it covers all months. It is idempotent and safe to kill at any time. A period that fails does not
// prevent the update of the others.
func (s *Store) Rebuild(ctx context.Context, org string, accounts []Account, months ...Month) error {
	_, err := s.rebuild(ctx, org, rebuilding{accounts, months, true})
	return err
}

// RebuildOpen is Rebuild without the teams and groups of closed months. It reports whether closed months have to be
// attributed again: see ClosedMonths.
func (s *Store) RebuildOpen(ctx context.Context, org string, accounts []Account) (behind bool, err error) {
	return s.rebuild(ctx, org, rebuilding{accounts: accounts})
}

// rebuilding is the scope of a rebuild.
type rebuilding struct {
	accounts []Account // nil leaves them unchanged
	months   []Month   // none: all
	closed   bool      // closed periods are attributed, too
}

// rebuild reports whether closed periods should follow the present teams and groups, but do not.
func (s *Store) rebuild(ctx context.Context, org string, r rebuilding) (behind bool, err error) {
	pointers, err := s.readPointers(ctx, org, firstMonth, lastMonth)
	if err != nil {
		return false, err
	}
	d, err := s.readDefinitions(ctx, org, true)
	if err != nil {
		return false, err
	}
	var errs []error
	touched := map[Month]bool{}
	for i := range pointers {
		p := &pointers[i]
		if len(r.months) > 0 && !slices.Contains(r.months, p.Month) {
			continue
		}
		touched[p.Month] = true
		errs = append(errs, s.change(ctx, org, p, func() error {
			err := s.reconnect(ctx, org, p, r.accounts)
			if err == nil && d.applyTo(p) && (r.closed || !p.Final) {
				err = s.attribute(ctx, org, p, d)
			}
			return err
		}))
		behind = behind || p.Final && d.isBehind(p)
	}
	errs = append(errs, s.finishRebuild(ctx, org, slices.Sorted(maps.Keys(touched))))
	return behind, errors.Join(errs...)
}

// finishRebuild updates the summaries of months, and their times of attribution.
func (s *Store) finishRebuild(ctx context.Context, org string, months []Month) error {
	errs := []error{s.Summarize(ctx, org, months...)}
	for _, m := range months {
		errs = append(errs, s.noteAttribution(ctx, org, m))
	}
	return errors.Join(errs...)
}

// change changes a period. It starts over with the present pointer if the period is imported in the meantime, because
// that import may have begun with older inputs. It does nothing if the period is withdrawn in the meantime.
func (s *Store) change(ctx context.Context, org string, p *pointer, apply func() error) error {
	for range swapTries {
		err := apply()
		if _, moved := errors.AsType[*table.ConditionError](err); !moved {
			return fault.Wrap(fmt.Sprintf("rebuild %s of %s", p.Month, p.AccountID), err)
		}
		*p, err = table.Read[pointer](ctx, s.table, periodKey(org, p.Month, p.AccountID, p.Estimated))
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return fault.New(fault.Unavailable, "%s of %s is being imported by many at once; try again", p.Month, p.AccountID)
}

// reconnect stores in a period which accounts are connected now. A closed period is then attributed again, because its
// resources may be those of other accounts.
func (s *Store) reconnect(ctx context.Context, org string, p *pointer, accounts []Account) error {
	next := *p
	changed, err := next.connect(accounts)
	if err != nil || !changed {
		return err
	}
	next.Seq++
	next.Definitions = ""
	if err = s.point(ctx, org, p, &next, nil); err == nil {
		*p = next
	}
	return err
}

// attribute makes a period follow the present teams and groups, unless it follows later ones. It rewrites the stamps
// only if they have changed.
func (s *Store) attribute(ctx context.Context, org string, p *pointer, d *definitions) error {
	if p.AttributedAt.After(d.at) {
		return nil
	}
	st, err := s.newStamper(ctx, org, p, d)
	if err != nil {
		return err
	}
	if !st.changes() {
		return s.confirm(ctx, org, p, d)
	}
	return s.restamp(ctx, org, p, restamping{
		writing: writing{store: s, org: org, generation: s.newGeneration()}, stamper: st, definitions: d,
		roll: newRollup(),
	})
}

// confirm records that the stamps of a period follow the present teams and groups. It writes nothing if that is known.
func (s *Store) confirm(ctx context.Context, org string, p *pointer, d *definitions) error {
	if p.Definitions == d.version {
		return nil
	}
	at := periodKey(org, p.Month, p.AccountID, p.Estimated)
	_, err := s.table.Write(ctx, table.Update(at, []table.Change{
		table.Set("attributedAt", d.at), table.Set("definitions", d.version), table.Add("seq", 1),
	}, table.Equal("seq", p.Seq)))
	if err == nil {
		p.AttributedAt, p.Definitions = d.at, d.version
		p.Seq++
	}
	return err
}

// restamp writes new stamps of a period.
func (s *Store) restamp(ctx context.Context, org string, p *pointer, out restamping) error {
	next := *p
	next.Seq, next.Stamps, next.Blocks = p.Seq+1, out.writing.generation, nil
	next.AttributedAt, next.Definitions = out.definitions.at, out.definitions.version
	if err := s.announce(ctx, org, next.Stamps, ""); err != nil {
		return err
	}
	for n := range p.Blocks {
		made, err := out.block(ctx, place{pointer: p, n: n})
		if err != nil {
			return err
		}
		next.Blocks = append(next.Blocks, made)
	}
	if err := out.writing.rollup(ctx, out.roll, &next); err != nil {
		return err
	}
	err := s.point(ctx, org, p, &next, nil)
	if err == nil {
		*p = next
	}
	return err
}

// restamping holds new stamps that are being written, and the rollup made from them.
type restamping struct {
	writing     writing
	stamper     *stamper
	definitions *definitions
	roll        *rollup
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
