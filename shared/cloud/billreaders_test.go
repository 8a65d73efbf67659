package cloud

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// file is a file that counts its fetches.
type file struct {
	bytes []byte
	calls int
	fails int // so many calls break off
	err   error
}

func (f *file) fetch(_ context.Context, p []byte, off int64) error {
	if f.calls++; f.calls <= f.fails {
		return f.err
	}
	copy(p, f.bytes[off:])
	return nil
}

func newFile(size int) *file {
	f := &file{bytes: make([]byte, size)}
	for i := range f.bytes {
		f.bytes[i] = byte(i * 7 >> 3)
	}
	return f
}

func TestRangedBill_ReadsInLongPieces(t *testing.T) {
	f := newFile(2*longPiece + 5)
	r := NewRangedBill(t.Context(), int64(len(f.bytes)), f.fetch)
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, f.bytes) || f.calls != 3 {
		t.Errorf("%d bytes in %d calls, %v; want %d in 3", len(got), f.calls, err, len(f.bytes))
	}
}

func TestRangedBill_KeepsWhatIsReadHereAndThere(t *testing.T) {
	f := newFile((keptPieces + 2) * shortPiece)
	r := NewRangedBill(t.Context(), int64(len(f.bytes)), f.fetch)
	for range 3 {
		for _, off := range []int64{0, 10, shortPiece - 4, int64(len(f.bytes)) - 8} {
			p := make([]byte, 8)
			if n, err := r.ReadAt(p, off); n != 8 || err != nil || !bytes.Equal(p, f.bytes[off:off+8]) {
				t.Errorf("at %d: %v, %d, %v", off, p, n, err)
			}
		}
	}
	if f.calls != 3 {
		t.Errorf("%d calls; want one for each of the 3 pieces", f.calls)
	}
	if _, err := r.ReadAt(make([]byte, len(f.bytes)), 0); err != nil || len(r.(*rangedBill).short) > keptPieces {
		t.Errorf("%v, %d pieces are kept; want %d at the most", err, len(r.(*rangedBill).short), keptPieces)
	}
	if _, err := r.ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("what is before the beginning is read")
	}
}

func TestRangedBill_AsksAgainForWhatBreaksOff(t *testing.T) {
	for name, tt := range map[string]struct {
		fails, calls int
		err          error
		reads        bool
	}{
		"what may pass":       {pieceTries - 1, pieceTries, &Error{Class: Transient}, true},
		"what does not pass":  {1 << 20, pieceTries, &Error{Class: Transient}, false},
		"what was replaced":   {1 << 20, 1, &Error{Class: Moving}, false},
		"what is not allowed": {1 << 20, 1, &Error{Class: Denied}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFile(100)
			f.fails, f.err = tt.fails, tt.err
			got, err := io.ReadAll(NewRangedBill(t.Context(), 100, f.fetch))
			if (err == nil) != tt.reads || f.calls != tt.calls || tt.reads && len(got) != 100 {
				t.Errorf("%d bytes, %v in %d calls; want %d", len(got), err, f.calls, tt.calls)
			}
		})
	}
}

func TestPagedBill_ReadsPagesUntilTheLast(t *testing.T) {
	pages := [][]byte{[]byte("one "), nil, []byte("two")}
	r := NewPagedBill(func() ([]byte, error) {
		if len(pages) == 0 {
			return nil, io.EOF
		}
		p := pages[0]
		pages = pages[1:]
		return p, nil
	})
	got, err := io.ReadAll(r)
	if string(got) != "one two" || err != nil || r.Size() != -1 {
		t.Errorf("%q, %v, %d", got, err, r.Size())
	}
	if _, err = r.ReadAt(make([]byte, 1), 0); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v; want that an answer has no places", err)
	}
}

// biller is a cloud that repeats the secret in all its answers about bills.
type biller struct{ gossip }

func (biller) Connect(context.Context, Account) (Conn, error) { return biller{}, nil }

func (biller) Deliveries(context.Context, time.Time) ([]Delivery, error) {
	return []Delivery{{Notice: "because of " + told}}, says()
}

func (biller) OpenBill(_ context.Context, _ Delivery, f BillFile) (BillReader, error) {
	if f.Name == "" {
		return nil, says()
	}
	return NewPagedBill(func() ([]byte, error) { return nil, says() }), nil
}

func (biller) ControlTotal(context.Context, time.Time) (total, currency string, ok bool, err error) {
	return "", "", false, says()
}

func TestDiscreetBills(t *testing.T) {
	c, err := ConnectRedacted(t.Context(), biller{}, Account{Credentials: map[string]string{"secretAccessKey": told}})
	if err != nil {
		t.Fatal(err)
	}
	b := c.(Biller)
	all, list := b.Deliveries(t.Context(), time.Time{})
	_, open := b.OpenBill(t.Context(), Delivery{}, BillFile{})
	r, _ := b.OpenBill(t.Context(), Delivery{}, BillFile{Name: "x"})
	_, read := io.ReadAll(r)
	_, _, _, control := b.ControlTotal(t.Context(), time.Time{})
	for name, err := range map[string]error{"list": list, "open": open, "read": read, "control": control} {
		if err == nil || strings.Contains(err.Error(), told) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if strings.Contains(all[0].Notice, told) {
		t.Errorf("notice %q", all[0].Notice)
	}
}

func TestDiscreetBills_OfACloudThatHasNone(t *testing.T) {
	c, err := ConnectRedacted(t.Context(), gossip{}, Account{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.(Biller).Deliveries(t.Context(), time.Time{}); err == nil || ClassOf(err) != Unsupported {
		t.Errorf("Deliveries: %v; want that there are none", err)
	}
	if _, err = c.(Biller).OpenBill(t.Context(), Delivery{}, BillFile{}); err == nil || ClassOf(err) != Unsupported {
		t.Errorf("OpenBill: %v; want that there are none", err)
	}
	if _, _, ok, err := c.(Biller).ControlTotal(t.Context(), time.Time{}); ok || err != nil {
		t.Errorf("ControlTotal: %v, %v; want nothing told", ok, err)
	}
}
