package billfile

import (
	"cmp"
	"context"
	"errors"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/costquery"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// longest is the time limit of a question in this process, because a client waits for it.
const longest = 20 * time.Second

// LineItemEngine answers questions in this process, from the files of line items. It reads the columns that it needs,
// file by file.
type LineItemEngine struct {
	files archive.Files
	clock clock.Clock
}

// NewLineItemEngine returns an engine that reads files.
func NewLineItemEngine(files archive.Files, c clock.Clock) *LineItemEngine {
	return &LineItemEngine{files, c}
}

// Advance answers a question completely. It returns fault.Invalid if that takes longer than 20 seconds.
func (e *LineItemEngine) Advance(ctx context.Context, j *costquery.Job) (costquery.Step, error) {
	until := e.clock.Now().Add(longest)
	rows := 0
	var refused error // returned unchanged, without the row of a file
	a, err := costquery.Run(ctx, j.Query, func(take func(*bill.Block) error) error {
		checked := 0
		bounded := func(b *bill.Block) error {
			if rows += b.Rows; rows-checked >= 10_000 {
				checked = rows
				if e.clock.Now().After(until) {
					return errLong
				}
			}
			refused = take(b)
			return refused
		}
		for i := range j.Items {
			if err := e.read(ctx, j.Org, &j.Items[i], j.Query.Reads(&j.Items[i]), bounded); err != nil {
				return cmp.Or(refused, err)
			}
		}
		return nil
	})
	if errors.Is(err, errLong) || err == nil && e.clock.Now().After(until) {
		return costquery.Step{},
			fault.New(fault.Invalid,
				"from: the question took longer than %s, after %d line items; ask of fewer months or columns", longest,
				rows)
	}
	return costquery.Step{Answer: &a, Scanned: j.Query.Scan(j.Items)}, err
}

var errLong = errors.New("the question takes too long")

// read calls take with the line items of a billing period. Only the columns of the question are set.
func (e *LineItemEngine) read(ctx context.Context, org string, l *cost.LineItems, columns []string,
	take func(*bill.Block) error,
) error {
	return eachLineItemFile(ctx, e.files, partsOf(org, l),
		func(name string, file cloud.BillReader) error {
			_, err := ReadBlocks(ctx, columns, name, file, counting(l, take))
			return err
		})
}

// counting returns a function that passes on the lines that count on this bill. A time that was not read, which is only
// left out for whole months, is that of the billing period.
func counting(l *cost.LineItems, take func(*bill.Block) error) func(*bill.Block) error {
	month := l.Month.Start()
	left := bill.NewTranslation(l.Leaves)
	return func(b *bill.Block) error {
		b.Month = month
		if len(l.Left) > 0 {
			keepCounting(b, left)
		}
		return take(b)
	}
}

// keepCounting removes the lines of sub-accounts that count on another bill.
func keepCounting(b *bill.Block, left *bill.Translation[string, bool]) {
	sub := b.Texts["SubAccountId"]
	leaves := left.Of(sub)
	rows := make([]int32, 0, b.Rows)
	for row, number := range sub.Numbers {
		if !leaves[number] {
			rows = append(rows, int32(row)) //nolint:gosec // of a block
		}
	}
	b.Keep(rows)
}

var _ costquery.Engine = (*LineItemEngine)(nil)
