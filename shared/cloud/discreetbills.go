package cloud

import (
	"context"
	"time"
)

var (
	_ Biller      = discreet{}
	_ BillSpender = discreet{}
)

func (d discreet) biller() (Biller, error) {
	if b, ok := d.conn.(Biller); ok {
		return b, nil
	}
	return nil, &Error{Class: Unsupported, Message: "this provider delivers no bills"}
}

// Deliveries returns the Conn's; class Unsupported when the Conn has none.
func (d discreet) Deliveries(ctx context.Context, from time.Time) ([]Delivery, error) {
	b, err := d.biller()
	if err != nil {
		return nil, err
	}
	all, err := b.Deliveries(ctx, from)
	for i := range all {
		all[i].Notice = d.s.Replace(all[i].Notice)
	}
	return all, d.s.hide(err)
}

// OpenBill returns the Conn's; class Unsupported when the Conn has none.
func (d discreet) OpenBill(ctx context.Context, of Delivery, file BillFile) (BillReader, error) {
	b, err := d.biller()
	if err != nil {
		return nil, err
	}
	r, err := b.OpenBill(ctx, of, file)
	if err != nil {
		return nil, d.s.hide(err)
	}
	return discreetBill{r, d.s}, nil
}

// ControlTotal returns the Conn's total; ok is false for a Conn without bills.
func (d discreet) ControlTotal(ctx context.Context, period time.Time) (total, currency string, ok bool, err error) {
	b, err := d.biller()
	if err != nil {
		return "", "", false, nil //nolint:nilerr // there is none to tell
	}
	total, currency, ok, err = b.ControlTotal(ctx, period)
	return total, currency, ok, d.s.hide(err)
}

// Spent returns the Conn's Spent; zero if the Conn charges nothing.
func (d discreet) Spent() BillSpending {
	if b, ok := d.conn.(BillSpender); ok {
		return b.Spent()
	}
	return BillSpending{}
}

// discreetBill is a file whose errors contain no secrets.
type discreetBill struct {
	BillReader
	hidden secrets
}

// Read returns the file's.
func (d discreetBill) Read(p []byte) (int, error) {
	n, err := d.BillReader.Read(p)
	return n, d.hidden.hide(err)
}

// ReadAt returns the file's.
func (d discreetBill) ReadAt(p []byte, off int64) (int, error) {
	n, err := d.BillReader.ReadAt(p, off)
	return n, d.hidden.hide(err)
}
