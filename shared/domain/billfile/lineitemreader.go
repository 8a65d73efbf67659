package billfile

import (
	"context"
	"errors"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/foundation/fault"
)

// ReadLineItems passes the line items of a billing period that count on its bill to take, in the order of their files.
// Take must not keep the pointer nor change the charge. Memory is that of a row group.
func ReadLineItems(ctx context.Context, files archive.Files, org string, l *cost.LineItems,
	take func(*bill.Charge) error,
) error {
	return eachLineItemFile(ctx, files, partsOf(org, l), func(name string, file cloud.BillReader) error {
		_, err := Read(ctx, cloud.FOCUSForm, name, file, func(c *bill.Charge) error {
			if l.Leaves(c.SubAccountID) {
				return nil
			}
			return take(c)
		})
		return err
	})
}

// partsOf returns the names of the files of a billing period.
func partsOf(org string, l *cost.LineItems) []string {
	out := make([]string, l.Parts)
	for k := range out {
		out[k] = l.Part(org, k)
	}
	return out
}

// eachLineItemFile opens the named files one after another.
func eachLineItemFile(ctx context.Context, files archive.Files, names []string,
	read func(name string, file cloud.BillReader) error,
) error {
	for _, name := range names {
		size, err := files.Size(ctx, name)
		if err != nil {
			return fault.Wrap("read line items", err)
		}
		file := cloud.NewRangedBill(ctx, size, func(ctx context.Context, p []byte, off int64) error {
			return files.ReadAt(ctx, name, p, off)
		})
		if err = errors.Join(read(name, file), file.Close()); err != nil {
			return fault.Wrap("read line items", err)
		}
	}
	return nil
}
