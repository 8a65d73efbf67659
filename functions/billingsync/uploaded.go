package billingsync

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/fault"
)

// A file may hold 36 months, in any order. Each open month has sums and a file of line items, so a few are open at a
// time: the file is read again for the months that had to wait. It is read to its end before the first month is
// replaced, so a faulty file replaces none.

// uploaded is the import of an uploaded file under way.
type uploaded struct {
	*worker
	in     billimport.Input
	upload billimport.Upload
	size   int64
	native string // the provider's ID of the account; empty for a vendor that is no provider

	pace  *pace
	rows  int64
	row   int64               // the faulty row
	known map[cost.Month]bool // the months of the file that are found so far
	done  map[cost.Month]bool // of these, those that are imported, by this try or by an earlier one

	months map[cost.Month]*period // the months of this reading
	opened []cost.Month           // the same, in the order in which they were opened
	waits  map[cost.Month]bool    // the months that wait for the next reading

	late, corrections int64 // rows of cost.Late and cost.Correction
}

func newUploaded(w *worker, in billimport.Input,
	u billimport.Upload, //nolint:gocritic // it becomes a field
) *uploaded {
	return &uploaded{
		worker: w, in: in, upload: u, pace: newPace(w.p.Clock),
		known: map[cost.Month]bool{}, done: map[cost.Month]bool{},
	}
}

// importMonths replaces the months of the file. If anything is wrong with the file, it replaces none. It returns
// errPaused or cost.ErrOvertaken if the next call continues.
func (r *uploaded) importMonths(ctx context.Context) error {
	for {
		if err := r.readOpenMonths(ctx); err != nil {
			return err
		}
		if len(r.done) == len(r.known) {
			return r.countRows(ctx)
		}
		if r.pace.isOver(stretch) {
			return errPaused
		}
	}
}

// readOpenMonths reads the file to its end, and replaces the months that were open.
func (r *uploaded) readOpenMonths(ctx context.Context) error {
	r.months, r.opened, r.waits = map[cost.Month]*period{}, nil, map[cost.Month]bool{}
	defer r.discard()
	if err := r.read(ctx); err != nil {
		return err
	}
	for _, month := range r.opened {
		if err := r.months[month].commit(ctx); err != nil && !errors.Is(err, cost.ErrSame) {
			return fmt.Errorf("import %s of %s: %w", month, r.upload.ID, err)
		}
		r.done[month] = true
		delete(r.months, month)
	}
	return nil
}

// read adds up the open months of the file.
func (r *uploaded) read(ctx context.Context) error {
	name := billimport.UploadName(r.in.Org, r.upload.ID)
	file := cloud.NewRangedBill(ctx, r.size, func(ctx context.Context, p []byte, off int64) error {
		return r.p.Inbox.ReadAt(ctx, name, p, off)
	})
	defer file.Close() //nolint:errcheck // it was only read
	var charges int64
	got, err := r.worker.read(ctx, cloud.UploadForm, r.upload.FileName, file, func(c *bill.Charge) error {
		charges++
		if err := r.pace.watch(r.upload.FileName, charges); err != nil {
			return err
		}
		if charges%linesEvery == 0 {
			r.putOffMonths()
		}
		return r.add(ctx, c)
	})
	if r.rows = got.Rows; err != nil {
		r.row = got.Rows
		return err
	}
	if got.Rows == 0 {
		return fault.New(fault.Invalid, "%s: the file has no rows", r.upload.FileName)
	}
	for _, month := range r.opened {
		if err = r.months[month].endFile(ctx, got.Rows); err != nil {
			return err
		}
	}
	return r.checkContent(ctx, &got)
}

// linesEvery is the number of charges between two looks at the number of lines.
const linesEvery = 1 << 10

// putOffMonths closes the months that were opened last while there are too many lines.
func (r *uploaded) putOffMonths() {
	for len(r.opened) > 1 && r.openLines() > r.limits.openLines {
		last := len(r.opened) - 1
		month := r.opened[last]
		r.months[month].lines.Discard()
		delete(r.months, month)
		r.opened, r.waits[month] = r.opened[:last], true
	}
}

func (r *uploaded) openLines() (sum int) {
	for _, b := range r.months {
		sum += b.sums.Lines()
	}
	return sum
}

func (r *uploaded) add(ctx context.Context, c *bill.Charge) error {
	month := cost.MonthOf(c.BillingPeriodStart)
	b := r.months[month]
	if b == nil && !r.done[month] && !r.waits[month] {
		var err error
		if b, err = r.open(ctx, month); err != nil {
			return err
		}
	}
	if b == nil {
		return nil
	}
	return b.add(ctx, c)
}

// open begins a month at its first charge. It returns nil if the month is imported, or waits because too many are open.
func (r *uploaded) open(ctx context.Context, month cost.Month) (*period, error) {
	if err := r.checkMonth(month); err != nil {
		return nil, err
	}
	r.known[month] = true
	if len(r.opened) == r.limits.openMonths || r.openLines() > r.limits.openLines {
		r.waits[month] = true
		return nil, r.costs.CheckOrder(ctx, r.importOf(month))
	}
	b, err := r.beginPeriod(ctx, r.importOf(month), r.pace)
	if errors.Is(err, cost.ErrSame) {
		r.done[month] = true
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	b.beginFile(r.upload.FileName, r.size)
	r.months[month], r.opened = b, append(r.opened, month)
	return b, nil
}

// checkMonth returns an error for a month that cannot be imported.
func (r *uploaded) checkMonth(month cost.Month) error {
	if next := cost.MonthOf(r.p.Clock.Now()).Add(1); month > next {
		return fault.New(fault.Invalid, "the billing period %s is in the future; the latest that can be "+
			"imported is %s: correct BillingPeriodStart", month, next)
	}
	if len(r.known) == billimport.MaxUploadMonths && !r.known[month] {
		return fault.New(
			fault.Invalid, "the file holds more than %d billing periods: split it", billimport.MaxUploadMonths)
	}
	return nil
}

func (r *uploaded) importOf(month cost.Month) cost.Import {
	return cost.Import{
		Org: r.in.Org, AccountID: r.upload.AccountID, Provider: r.upload.Provider, Month: month,
		Fingerprint: billimport.Fingerprint(r.upload.ID), Withdrawable: true,
		DeliveredAt: r.upload.CreatedAt, Source: string(cloud.UploadedBill), Export: r.upload.FileName,
		Native:   r.native,
		RateOf:   r.rates.RateOf,
		Accounts: func(ctx context.Context) ([]cost.Account, error) { return r.connected(ctx, r.in.Org) },
	}
}

// countRows adds up the late rows and the corrections of the imported months, also of those that an earlier call
// imported.
func (r *uploaded) countRows(ctx context.Context) error {
	all, err := r.costs.Periods(ctx, r.in.Org)
	for i := range all {
		if p := &all[i]; p.AccountID == r.upload.AccountID && p.Fingerprint == billimport.Fingerprint(r.upload.ID) {
			r.late, r.corrections = r.late+p.Late, r.corrections+p.Corrections
		}
	}
	return err
}

// discard gives up the months that were not committed.
func (r *uploaded) discard() {
	for _, b := range r.months {
		b.lines.Discard()
	}
	r.months = nil
}

// tell writes the result of the import into the record of the upload.
func (r *uploaded) tell(u *billimport.Upload, err error) {
	u.Rows, u.Late, u.Corrections = r.rows, r.late, r.corrections
	if err != nil {
		u.Errors = []billimport.RowError{{Row: r.row, Message: messageOf(err)}}
	}
	for _, month := range r.imported() {
		u.Months = append(u.Months, month.String())
	}
}

// imported returns the months of the file that are imported, in order.
func (r *uploaded) imported() []cost.Month { return slices.Sorted(maps.Keys(r.done)) }
