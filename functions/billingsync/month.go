package billingsync

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// importMonth replaces a billing period by its delivery, unless this or a later delivery is already imported. On an
// error the period is unchanged, and the returned step is the one that failed. The error is errPaused or
// cost.ErrOvertaken if the next call continues.
func (s *session) importMonth(ctx context.Context, d *cloud.Delivery) (billimport.Step, error) {
	b, err := s.beginPeriod(ctx, cost.Import{
		Org: s.in.Org, AccountID: s.account.ID, Provider: s.account.Provider, Month: cost.MonthOf(d.Period),
		Fingerprint: d.Fingerprint, Files: digestFiles(d.Files),
		DeliveredAt: d.DeliveredAt, Final: d.Final, Source: string(d.Source), Export: d.Export,
		Native:   s.account.CloudAccountID,
		RateOf:   s.rates.RateOf,
		Accounts: func(ctx context.Context) ([]cost.Account, error) { return s.connected(ctx, s.in.Org) },
	}, s.pace)
	if isIn(err) {
		return "", nil
	}
	if err != nil {
		return billimport.Reachability, err
	}
	defer b.lines.Discard()
	if step, err := s.readFiles(ctx, d, b); err != nil {
		return step, err
	}
	rows := b.at.Rows
	if d.Rows >= 0 && rows != d.Rows {
		return billimport.Totals,
			fault.New(fault.Invalid, "%s: the manifest lists %d rows, its files have %d; the month stays as it was",
				name(d), d.Rows, rows)
	}
	if err = s.checkTotal(ctx, d, b.sums); err != nil {
		return billimport.Totals, err
	}
	if err = checkEmptied(d, rows, b.sums); err != nil {
		return billimport.Totals, err
	}
	if err = b.commit(ctx); isIn(err) {
		err = nil
	}
	return billimport.Reachability, err
}

// isIn reports whether err says that the delivery, or a later one, is already imported.
func isIn(err error) bool { return errors.Is(err, cost.ErrSame) || errors.Is(err, cost.ErrOlder) }

func name(d *cloud.Delivery) string {
	if d.Export == "" {
		return d.Period.Format("2006-01")
	}
	return d.Export + " of " + d.Period.Format("2006-01")
}

// digestFiles identifies files and their order.
func digestFiles(files []cloud.BillFile) string {
	h := sha256.New()
	for i := range files {
		f := &files[i]
		fmt.Fprintf(h, "%q %q %q %d\n", f.Name, f.Version, f.Form, f.Size)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// readFiles adds the charges of the files that the checkpoint does not contain. A call reads one file at least.
func (s *session) readFiles(ctx context.Context, d *cloud.Delivery, b *period) (billimport.Step, error) {
	if err := checkManifest(d); err != nil {
		return billimport.Schema, err
	}
	b.saved = func(ctx context.Context) error { return s.noteImporting(ctx, d, b.at.File) }
	for first := b.at.File; b.at.File < len(d.Files); {
		if b.at.File > first {
			if err := s.saveOrPause(ctx, b, stretch); err != nil {
				return billimport.Reachability, err
			}
		}
		if step, err := s.readFile(ctx, d, d.Files[b.at.File], b); err != nil {
			return step, err
		}
	}
	if s.pace.isOver(partStretch) { // the commit takes time, too
		return billimport.Reachability, b.pause(ctx)
	}
	return "", nil
}

// saveOrPause saves a checkpoint between two files if the last one is long ago, and pauses if the call has taken so
// long.
func (s *session) saveOrPause(ctx context.Context, b *period, limit time.Duration) error {
	if s.pace.isOver(limit) {
		return b.pause(ctx)
	}
	return b.saveInTime(ctx)
}

// readFile adds the charges of a file.
func (s *session) readFile(ctx context.Context, d *cloud.Delivery, f cloud.BillFile, b *period) (billimport.Step,
	error,
) {
	r, err := s.bills.OpenBill(ctx, *d, f)
	if err != nil {
		return billimport.Reachability, err
	}
	defer r.Close() //nolint:errcheck // it was only read
	form := d.Form
	if f.Form != "" {
		form = f.Form
	}
	read := s.read
	if d.Source == cloud.SimulatedBills {
		read = billfile.Read // we made the file ourselves
	}
	var charges int64
	b.beginFile(f.Name, r.Size())
	got, err := read(ctx, form, f.Name, r, func(c *bill.Charge) error {
		charges++
		if err := s.pace.watch(f.Name, charges); err != nil {
			return err
		}
		if d.Shared && cost.MonthOf(c.BillingPeriodStart) != cost.MonthOf(d.Period) {
			return nil
		}
		return b.add(ctx, c)
	})
	if err != nil {
		return stepOf(got), err
	}
	if f.Rows >= 0 && got.Rows != f.Rows {
		return billimport.Totals,
			fault.New(fault.Invalid, "%s: the manifest lists %d rows, the file has %d; the month stays as it was",
				f.Name, f.Rows, got.Rows)
	}
	return billimport.Reachability, b.endFile(ctx, got.Rows)
}

// stepOf returns the step where reading a file failed. After the first row it is the step of that row.
func stepOf(got billfile.Totals) billimport.Step {
	if got.Rows > 0 {
		return billimport.Sample
	}
	return billimport.Schema
}

// openShare is the tolerance for an open month: its control total may differ from the export by 1/openShare (0.5 %)
// before the difference is reported.
const openShare = 200

// checkTotal compares the imported total with the control total of the provider's own interface. It refuses a closed
// month that differs. In an open month the interface is ahead of the export, or behind it, by an unknown number of
// hours. There a difference of more than 1/openShare is reported with the account, and the month is replaced.
func (s *session) checkTotal(ctx context.Context, d *cloud.Delivery, b *cost.Builder) error {
	told, currency, ok, err := s.bills.ControlTotal(ctx, d.Period)
	if e, is := errors.AsType[*cloud.Error](err); is && !e.Class.Retryable() {
		return nil // the account may not ask for it
	}
	if err != nil || !ok {
		return err
	}
	want, err := money.Parse(told)
	if err != nil {
		return err
	}
	got := b.Totals()[currency].Billed
	off := got.Sub(want).Abs()
	text := fmt.Sprintf("%s: its files come to %s %s, the provider says %s", name(d), got.Fixed(2), currency,
		want.Fixed(2))
	closed := d.Final || !s.p.Clock.Now().Before(d.Period.AddDate(0, 1, 0).Add(closing))
	switch {
	case off.Cmp(money.FromScaled(1, 2)) < 0, !closed && off.Cmp(want.Abs().DivInt(openShare)) < 0:
		return nil
	case closed:
		return fault.New(fault.Invalid, "%s; the month stays as it was", text)
	}
	s.in.Notice = text + ", which may be ahead of them while the month is open"
	return nil
}

// closing is the time after a month's end until its total is final.
const closing = 15 * 24 * time.Hour
