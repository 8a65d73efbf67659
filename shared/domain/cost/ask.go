package cost

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Question asks for costs. Its answer uses one read of the pointers, so all periods are of the same moment.
type Question struct {
	From, To time.Time // days, To exclusive; at most MaxDays
	Metric   Metric
	Dims     []string            // ordered; none: totals only
	Filter   map[string][]string // of a dimension any of these values; all dimensions must agree
	Within   *Within             // the caller's scope; nil for all costs
	Daily    bool                // an amount a day, too
	// only charges of the category Usage that show how much a day cost: neither corrections nor late usage
	UsageOnly bool
	BillsOnly bool // no estimates
	// reports whether the charges of a resource count, by native id; nil: all charges do
	Resource func(uid string) bool `json:"-"`
}

// The limits of a question.
const (
	MaxDays = 800
	MaxDims = 6
)

// Within is the part of the costs that a caller may see: those of the resources in Resources. Only the teams in Teams
// appear by name; the shares of other teams appear under "".
type Within struct {
	Resources inventory.ResourceSet
	Teams     grant.Scopes
}

// Answer is exact amounts in USD. Rows are in descending order of amount, ties by keys; Total is their sum.
type Answer struct {
	Rows        []Row
	Total       money.Amount
	Days        []money.Amount // by day, with Daily
	Estimated   []bool         // by day: part of the cost is estimated
	Unconverted []CurrencyTotal
	Attribution Attribution // of the bills that were read
}

// Row is an amount with its values of the requested dimensions.
type Row struct {
	Keys   []string
	Amount money.Amount
	Days   money.Series // by day, with Daily; they add up to Amount
}

// CurrencyTotal is the total of the amounts in a currency without a rate, which cannot be converted to USD.
type CurrencyTotal struct {
	Currency string
	Amount   money.Amount
}

// check returns an error if a question is invalid.
func (q *Question) check() error {
	n := daysBetween(q.From, q.To)
	if q.From != midnight(q.From) || q.To != midnight(q.To) || n < 1 || n > MaxDays {
		return fault.New(fault.Invalid, "costs from %s to %s: name whole days in UTC, the later one second, at most %d",
			q.From.Format(time.RFC3339), q.To.Format(time.RFC3339), MaxDays)
	}
	if _, ok := metricNumber[q.Metric]; !ok {
		return fault.New(fault.Invalid, "cost: %.32q is none of %v", q.Metric, Metrics)
	}
	if len(q.Dims) > MaxDims {
		return fault.New(fault.Invalid, "dims: %d are named; at most %d can be", len(q.Dims), MaxDims)
	}
	for i, dim := range q.Dims {
		if _, ok := familyOf(dim); !ok {
			return unknownDim("dims", dim)
		}
		if slices.Contains(q.Dims[:i], dim) {
			return fault.New(fault.Invalid, "dims: %.64q is named twice; name it once", dim)
		}
	}
	for dim := range q.Filter {
		if _, ok := familyOf(dim); !ok {
			return unknownDim("filter", dim)
		}
	}
	return nil
}

func unknownDim(at, dim string) error {
	return fault.New(fault.Invalid, "%s: %.64q is no dimension; send one of %s, %s or %s<key>", at, dim,
		strings.Join(SummaryDims, ", "), ResourceDim, TagDim)
}

// Ask answers a question: one round trip for the pointers, and one for each batch of chunks that are not cached.
func (s *Store) Ask(ctx context.Context, org string, q Question) (Answer, error) {
	q.From, q.To = q.From.UTC(), q.To.UTC()
	if err := q.check(); err != nil {
		return Answer{}, err
	}
	pointers, err := s.readPointers(ctx, org, MonthOf(q.From), MonthOf(q.To.Add(-day)))
	if err != nil {
		return Answer{}, err
	}
	return s.ask(ctx, org, pointers, q)
}

// ask answers a question from pointers.
func (s *Store) ask(ctx context.Context, org string, pointers []pointer, q Question) (Answer, error) {
	spans, err := spansOf(pointers, &q)
	if err != nil {
		return Answer{}, fmt.Errorf("find out which bills of %s count: %w", org, err)
	}
	t := newTally(&q)
	for _, some := range batches(spans, t) {
		if err := s.count(ctx, org, some.pieces, t); err != nil {
			return Answer{}, err
		}
	}
	out := t.answer()
	out.Attribution = newAttribution(spans)
	return out, nil
}

// piece is a block with the names of the chunks that a question reads from it.
type piece struct {
	span   *span
	place  place
	chunks []wanted
}

// batch is a list of pieces. One round trip reads its uncached chunks.
type batch struct {
	pieces []piece
	parts  int // items
	lines  int // of all items
}

// fits reports whether a piece can be added to the batch: the number of lines limits the expected memory.
func (b *batch) fits(parts, lines int) bool {
	return b.parts == 0 || b.parts+parts <= keysAtOnce && b.lines+lines <= partsAtOnce*blockLines
}

// batches groups the blocks that a question reads into batches.
func batches(spans []span, t *tally) []batch {
	out := []batch{{}}
	for i := range spans {
		p := spans[i].pointer
		blocks, rolled := p.Blocks, false
		if t.rollable() && p.Rollup != nil && !p.inexact() {
			blocks, rolled = p.Rollup, true
		}
		for n := range blocks {
			one := piece{span: &spans[i], place: place{p, n, rolled}}
			one.chunks = one.place.chunks(t.families(&spans[i]))
			parts := 0
			for _, c := range one.chunks {
				parts += c.parts
			}
			if !out[len(out)-1].fits(parts, parts*blocks[n].Lines) {
				out = append(out, batch{})
			}
			last := &out[len(out)-1]
			last.pieces, last.parts, last.lines = append(last.pieces, one), last.parts+parts,
				last.lines+parts*blocks[n].Lines
		}
	}
	return out
}

// count reads blocks and adds them to the tally.
func (s *Store) count(ctx context.Context, org string, some []piece, t *tally) error {
	var chunks []wanted
	for i := range some {
		chunks = append(chunks, some[i].chunks...)
	}
	contents, err := s.load(ctx, org, chunks)
	if err != nil {
		return err
	}
	for i := range some {
		one := &some[i]
		b := one.place.newBlock(one.chunks, contents[:len(one.chunks)])
		contents = contents[len(one.chunks):]
		t.count(one.span, b)
		if err = b.check(); err != nil {
			return err
		}
	}
	return nil
}
