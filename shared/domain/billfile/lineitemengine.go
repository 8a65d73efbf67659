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
	a, err := costquery.Run(ctx, j.Query, func(take func(*bill.Charge) error) error {
		bounded := func(c *bill.Charge) error {
			if rows++; rows%10_000 == 0 && e.clock.Now().After(until) {
				return errLong
			}
			refused = take(c)
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
	take func(*bill.Charge) error,
) error {
	for k := range l.Parts {
		name := l.Part(org, k)
		size, err := e.files.Size(ctx, name)
		if err != nil {
			return fault.Wrap("read line items", err)
		}
		file := cloud.NewRangedBill(ctx, size, func(ctx context.Context, p []byte, off int64) error {
			return e.files.ReadAt(ctx, name, p, off)
		})
		_, err = ReadColumns(ctx, columns, name, file, fill(l, take))
		if err = errors.Join(err, file.Close()); err != nil {
			return fault.Wrap("read line items", err)
		}
	}
	return nil
}

// fill returns a function that sets the times that were not read, which are only left out for whole months: each line
// counts in its billing period. It skips lines that count on another bill.
func fill(l *cost.LineItems, take func(*bill.Charge) error) func(*bill.Charge) error {
	var line bill.Charge
	month := l.Month.Start()
	return func(c *bill.Charge) error {
		if l.Leaves(c.SubAccountID) {
			return nil
		}
		line = *c
		if line.BillingPeriodStart.IsZero() {
			line.BillingPeriodStart = month
		}
		if line.ChargePeriodStart.IsZero() {
			line.ChargePeriodStart = month
		}
		return take(&line)
	}
}

var _ costquery.Engine = (*LineItemEngine)(nil)
