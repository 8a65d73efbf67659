package billfile

import (
	"context"
	"errors"
	"io"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/foundation/fault"
)

// PartLines is the number of lines in a file of line items: 20 to 100 MB, so that engines can read files concurrently.
const PartLines = 1 << 20

// LineItemWriter writes the line items of a billing period during its import. It must be used by one goroutine. After
// an error, call Discard.
//
// A file ends after PartLines lines, and where EndFile says. So the name of a file determines its lines, for each
// attempt to import the same delivery: an attempt that continues from a checkpoint replaces the files that were written
// after the checkpoint by equal ones.
type LineItemWriter struct {
	files   archive.Files
	builder *cost.Builder
	org     string
	items   cost.LineItems
	part    *part // nil before the first line, and between two files
	rows    int64 // of part
	perPart int64
}

// NewLineItemWriter returns a writer of the line items of the charges that are added to b.
func NewLineItemWriter(files archive.Files, b *cost.Builder) *LineItemWriter {
	return NewLineItemWriterOf(files, b, PartLines)
}

// NewLineItemWriterOf is NewLineItemWriter for files of another number of lines.
func NewLineItemWriterOf(files archive.Files, b *cost.Builder, lines int64) *LineItemWriter {
	return &LineItemWriter{files: files, builder: b, perPart: lines}
}

// Add writes a charge that the builder has added. The caller may reuse the charge.
func (w *LineItemWriter) Add(ctx context.Context, c *bill.Charge) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	if w.part == nil {
		w.part = newPart(ctx, w.files, w.items.Part(w.org, w.items.Parts))
	}
	line := *c
	if line.BillingPeriodStart.IsZero() {
		line.BillingPeriodStart = w.items.Month.Start()
	}
	if err := w.part.rows.Add(&line); err != nil {
		return w.part.refuse(err)
	}
	w.items.Rows++
	if w.rows++; w.rows < w.perPart {
		return nil
	}
	return w.endPart()
}

func (w *LineItemWriter) begin(ctx context.Context) (err error) {
	if w.items.Generation == "" {
		w.org, w.items, err = w.builder.BeginItems(ctx)
	}
	return err
}

// EndFile ends the present file at the end of a file of the bill.
func (w *LineItemWriter) EndFile() error { return w.endPart() }

// IsBetweenFiles reports whether all lines are in complete files, so that Checkpoint may be called.
func (w *LineItemWriter) IsBetweenFiles() bool { return w.part == nil }

// Checkpoint saves the state of the import (cost.Builder.Checkpoint) between two files.
func (w *LineItemWriter) Checkpoint(ctx context.Context, at cost.Position) error {
	if w.part != nil {
		return fault.New(fault.Internal, "a checkpoint within a file of line items")
	}
	if err := w.begin(ctx); err != nil {
		return err
	}
	return w.builder.Checkpoint(ctx, &w.items, at)
}

// Close ends the last file, and attaches the location of all files to the builder. If there are no lines, it attaches
// that there are none.
func (w *LineItemWriter) Close(ctx context.Context) error {
	if err := errors.Join(w.begin(ctx), w.endPart()); err != nil {
		return err
	}
	w.builder.Attach(w.items)
	return nil
}

// Discard abandons the files that are not closed.
func (w *LineItemWriter) Discard() {
	if w.part != nil {
		w.part.discard()
		w.part = nil
	}
}

func (w *LineItemWriter) endPart() error {
	p := w.part
	if p == nil {
		return nil
	}
	w.part, w.rows = nil, 0
	if err := p.end(); err != nil {
		return err
	}
	w.items.Parts++
	w.items.Footers += p.bytes
	for name, n := range p.rows.ColumnBytes() {
		w.items.Columns[name] += n
		w.items.Footers -= n
	}
	return nil
}

// part is a file that is being stored. The store reads it from a pipe.
type part struct {
	rows  *ParquetWriter
	into  *io.PipeWriter
	bytes int64
	put   chan error
}

var errDiscarded = errors.New("the line items were given up")

func newPart(ctx context.Context, files archive.Files, name string) *part {
	from, into := io.Pipe()
	p := &part{into: into, put: make(chan error, 1)}
	p.rows = NewParquetWriter(p)
	go func() {
		err := files.Put(ctx, name, func(to io.Writer) error {
			_, err := io.Copy(to, from)
			return err
		})
		from.CloseWithError(err)
		p.put <- err
	}()
	return p
}

// Write writes to the pipe and counts the bytes.
func (p *part) Write(b []byte) (int, error) {
	n, err := p.into.Write(b)
	p.bytes += int64(n)
	return n, err
}

func (p *part) end() error {
	if err := p.rows.Close(); err != nil {
		return p.refuse(err)
	}
	return fault.Wrap("keep line items", errors.Join(p.into.Close(), <-p.put))
}

// refuse returns the store's error, if any, which is the cause of a failed write.
func (p *part) refuse(err error) error {
	_ = p.into.CloseWithError(err) // it never fails
	if why := <-p.put; why != nil {
		err = why
	}
	p.put <- err // for discard
	return fault.Wrap("keep line items", err)
}

func (p *part) discard() {
	_ = p.into.CloseWithError(errDiscarded) // it never fails
	<-p.put                                 //nolint:errcheck // it was told before, or is that of the line above
}
