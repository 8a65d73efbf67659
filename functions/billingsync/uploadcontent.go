package billingsync

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/foundation/fault"
)

// checkContent returns an error if a file that is read several times has other sums than before. A client can PUT
// another file of the same length while the address is valid, and the months of two files would be mixed.
func (r *uploaded) checkContent(ctx context.Context, got *billfile.Totals) error {
	content := digestSums(got)
	switch {
	case r.upload.Content == content:
		return nil
	case r.upload.Content != "":
		return fault.New(fault.Invalid, "%s was replaced while it was imported; periods names the months that are "+
			"imported from the first file: withdraw this import, and upload the file again with POST /billing/imports",
			r.upload.FileName)
	case len(r.waits) == 0:
		return nil
	}
	r.upload.Content = content
	return r.changeUpload(ctx, r.in, func(u *billimport.Upload) { u.Content = content })
}

// digestSums returns a digest of the numbers and sums of the charges of each month.
func digestSums(got *billfile.Totals) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d\n", got.Rows)
	for i := range got.Months {
		m := &got.Months[i]
		fmt.Fprintf(h, "%s %s %d %s %s %s\n", m.Month.Format("2006-01"), m.Currency, m.Charges, m.Billed, m.Effective,
			m.List)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
