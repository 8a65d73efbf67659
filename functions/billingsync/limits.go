package billingsync

import (
	"fmt"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/foundation/fault"
)

// The limits of a delivery. maxRows takes some three hours, in many calls. A call reads a file from its beginning, also
// if it continues within the file, so a file of maxFileRows leaves half of the call's time for new rows.
const (
	maxRows     = 1_000_000_000
	maxFileRows = 100_000_000
	maxFiles    = 10_000
)

// limits bound the memory and the temporary files of an import.
type limits struct {
	partLines  int64 // of a file of line items
	openMonths int   // of an uploaded file, in one reading
	openLines  int   // of the open months (cost.Builder.Lines) above which all but one are put off
}

var defaultLimits = limits{partLines: billfile.PartLines, openMonths: 4, openLines: 400_000}

// checkManifest returns an error for a delivery whose manifest says that it cannot be imported.
func checkManifest(d *cloud.Delivery) error {
	rows := d.Rows
	if rows < 0 {
		rows = listedRows(d)
	}
	switch {
	case rows > maxRows:
		return fault.New(fault.Invalid, "%s: the manifest lists %d rows; at most %d rows of a month can be imported: "+
			"export the accounts in several exports, or by day instead of by hour", name(d), rows, maxRows)
	case len(d.Files) > maxFiles:
		return fault.New(fault.Invalid, "%s: the manifest lists %d files with %s; at most %d files of a month can be "+
			"imported: let the export write larger files", name(d), len(d.Files), countOf(rows), maxFiles)
	}
	for i := range d.Files {
		if f := &d.Files[i]; f.Rows > maxFileRows {
			return fault.New(fault.Invalid,
				"%s: the manifest lists %d rows for the file %s; a file can have at most %d "+
					"rows: let the export write smaller files", name(d), f.Rows, f.Name, maxFileRows)
		}
	}
	return nil
}

// listedRows returns the sum of the rows of the files, or -1 if the manifest does not list them.
func listedRows(d *cloud.Delivery) (sum int64) {
	for i := range d.Files {
		if d.Files[i].Rows < 0 {
			return -1
		}
		sum += d.Files[i].Rows
	}
	return sum
}

func countOf(rows int64) string {
	if rows < 0 {
		return "an unknown number of rows"
	}
	return fmt.Sprintf("%d rows", rows)
}

// checkRows returns an error if the delivery has more rows than can be imported, for manifests without numbers of rows.
func (p *period) checkRows() error {
	if rowsOf(p.sums) <= maxRows {
		return nil
	}
	return fault.New(fault.Invalid, "%s of this bill has more than %d charges, which is the limit of a month: export "+
		"the accounts in several exports, or by day instead of by hour", p.month, maxRows)
}

// watch returns an error if the call has no time to read on in a file: errPaused if it saved a checkpoint, else
// fault.Invalid, because the next call would not come further.
func (p *pace) watch(name string, charges int64) error {
	if charges%clockEvery != 0 || !p.isOver(longestStretch) {
		return nil
	}
	if p.progressed {
		return errPaused
	}
	return fault.New(fault.Invalid,
		"%s: reading its first %d charges takes more than %d minutes; a file should have at "+
			"most %d rows: split it", name, charges, int(longestStretch.Minutes()), maxFileRows)
}
