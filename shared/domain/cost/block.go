package cost

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lamplighter.dev/shared/engine/table"
)

// lineBlock holds the columns that were read from a block.
type lineBlock struct {
	pointer *pointer
	lines   int
	content map[string][]byte
	scratch []int64 // for amounts
	bad     bool
}

// wordNumbers maps a dimension to the position of its column within the family.
var wordNumbers = map[string]int{
	SubAccountDim: subAccountWord, RegionDim: regionWord, TypeDim: typeWord, ServiceDim: serviceWord,
	PurchaseDim: purchaseWord, CategoryDim: categoryWord, CurrencyDim: currencyWord, ClassDim: classWord,
}

// familyOf returns the family of the column of a dimension: "" for a dimension whose value is in the pointer. It
// returns false for an unknown dimension.
func familyOf(dim string) (string, bool) {
	if _, ok := wordNumbers[dim]; ok {
		return wordsFamily, true
	}
	switch dim {
	case ProviderDim, AccountDim:
		return "", true
	case ResourceDim:
		return resourceFamily, true
	case TeamDim, GroupDim:
		return stampFamily, true
	}
	return tagsFamily, dim == TagKeysDim || strings.HasPrefix(dim, TagDim) && len(dim) > len(TagDim)
}

// place identifies a block of a period: the n-th block of its lines or of its rollup.
type place struct {
	pointer *pointer
	n       int
	rolled  bool
}

func (p *place) block() *block {
	if p.rolled {
		return &p.pointer.Rollup[p.n]
	}
	return &p.pointer.Blocks[p.n]
}

// chunks returns the chunks of a block to read for the families. It skips absent families. For absent amounts that
// equal the billed ones it returns the billed ones.
func (p *place) chunks(families []string) []wanted {
	var out []wanted
	parts := p.block().Parts
	for _, f := range families {
		if parts[f] == 0 && (f == dayFamilies[1] || f == dayFamilies[2]) {
			f = dayFamilies[0]
		}
		switch {
		case parts[f] == 0, slices.ContainsFunc(out, func(w wanted) bool { return w.name[:1] == f }):
		case p.rolled:
			out = append(out, wanted{p.pointer.Stamps, rollupName(f, p.n), parts[f]})
		case f == stampFamily:
			out = append(out, wanted{p.pointer.Stamps, chunkName(f, p.n), parts[f]})
		default:
			out = append(out, wanted{p.pointer.Generation, chunkName(f, p.n), parts[f]})
		}
	}
	return out
}

// readBlock reads the given families of a block.
func (s *Store) readBlock(ctx context.Context, org string, at place, families ...string) (*lineBlock, error) {
	chunks := at.chunks(families)
	contents, err := s.load(ctx, org, chunks)
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", at.pointer.Month, at.pointer.AccountID, err)
	}
	return at.newBlock(chunks, contents), nil
}

func (p *place) newBlock(chunks []wanted, contents [][]byte) *lineBlock {
	b := &lineBlock{pointer: p.pointer, lines: p.block().Lines, content: make(map[string][]byte, len(chunks))}
	for i := range chunks {
		b.content[chunks[i].name[:1]] = contents[i]
	}
	return b
}

// word returns the column of a dimension.
func (b *lineBlock) word(dim string) column {
	switch dim {
	case ProviderDim:
		return column{names: []string{b.pointer.Provider}}
	case AccountDim:
		return b.accounts()
	case ResourceDim:
		return b.nth(resourceFamily, 0)
	case TeamDim:
		return b.nth(stampFamily, teamsColumn)
	case GroupDim:
		return b.nth(stampFamily, groupsColumn)
	}
	if n, ok := wordNumbers[dim]; ok {
		return b.nth(wordsFamily, n)
	}
	tags := b.nth(tagsFamily, 0)
	values := make([]string, len(tags.names))
	for i, set := range tags.names {
		if dim == TagKeysDim {
			values[i] = tagKeys(set)
		} else {
			values[i] = tagValue(set, strings.TrimPrefix(dim, TagDim))
		}
	}
	return column{values, tags.codes}
}

// accounts returns the column of the lines' accounts.
func (b *lineBlock) accounts() column {
	if len(b.pointer.Members) == 0 {
		return column{names: []string{b.pointer.AccountID}}
	}
	subs := b.nth(wordsFamily, subAccountWord)
	out := column{make([]string, len(subs.names)), subs.codes}
	for i, sub := range subs.names {
		out.names[i] = b.pointer.accountOf(sub)
	}
	return out
}

// native returns the column of the resource names on the bill.
func (b *lineBlock) native() column {
	if b.content[nativeFamily] != nil {
		return b.nth(nativeFamily, 0)
	}
	return b.nth(resourceFamily, 0)
}

// nth reads the n-th column of a family.
func (b *lineBlock) nth(family string, n int) column {
	r := scanner{b: b.content[family]}
	for range n {
		r.skipColumn(b.lines)
	}
	if family == wordsFamily && n == classWord && !r.bad && len(r.b) == 0 {
		return column{names: []string{""}} // a block of an earlier version
	}
	c := r.column(b.lines)
	if r.bad {
		b.bad = true
		return column{names: []string{""}}
	}
	return c
}

// tagValue returns the value of a key in a set of tags, or "" if the set does not have it.
func tagValue(set, key string) string {
	r := scanner{b: []byte(set)}
	for len(r.b) > 0 {
		k := r.take(r.uint())
		v := r.take(r.uint())
		if string(k) == key {
			return string(v)
		}
	}
	return ""
}

// tagKeys returns the keys of a set of tags, one on each line.
func tagKeys(set string) string {
	var out []string
	for r := (scanner{b: []byte(set)}); len(r.b) > 0; r.take(r.uint()) {
		out = append(out, string(r.take(r.uint())))
	}
	return strings.Join(out, "\n")
}

// total returns the amounts of the month of a metric.
func (b *lineBlock) total(metric int) amounts {
	r := scanner{b: b.content[totalsFamily]}
	billed := r.take(r.uint())
	section := billed
	for range metric {
		section = r.take(r.uint())
	}
	if len(section) == 0 {
		section = billed
	}
	return b.read(section, 1)
}

// byDay returns the amounts of a metric: of all lines on the first day, then on the second, and so on.
func (b *lineBlock) byDay(metric int) amounts {
	content := b.content[dayFamilies[metric]]
	if content == nil {
		content = b.content[dayFamilies[0]]
	}
	return b.read(content, b.pointer.Month.Days())
}

func (b *lineBlock) read(content []byte, days int) amounts {
	r, lag := scanner{b: content}, 0
	if days > 1 {
		lag = b.lines
	}
	a := r.amounts(b.lines*days, lag, b.scratch)
	if r.bad || a.len() != b.lines*days {
		b.bad = true
	}
	return a
}

// check returns an error for chunks that the encoder cannot have written.
func (b *lineBlock) check() error {
	if b.bad {
		return fmt.Errorf("%w: %s of %s, generation %s", errColumn, b.pointer.Month, b.pointer.AccountID,
			b.pointer.Generation)
	}
	return nil
}

// ChunkPartitions returns the partitions of the generations that the given items of the cost partition name. Erasure
// uses it to delete all costs.
func ChunkPartitions(org string, items []table.Item) ([]string, error) {
	var out []string
	for _, it := range items {
		var names []string
		switch {
		case strings.HasPrefix(it.SK, periodPrefix):
			p, err := table.Decode[pointer](it)
			if err != nil {
				return nil, err
			}
			names = p.only(&pointer{})
		case strings.HasPrefix(it.SK, idlePrefix):
			names = []string{strings.TrimPrefix(it.SK, idlePrefix)}
		}
		for _, g := range names {
			out = append(out, PK(org)+"#"+g)
		}
	}
	return out, nil
}
