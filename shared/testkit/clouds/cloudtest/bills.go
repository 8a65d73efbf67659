package cloudtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
)

// Bills are the bills of a cloud, for the contract of cloud.Biller. A nil field leaves its cases out.
type Bills struct {
	From time.Time // asked for: there are older deliveries
	// of the newest delivery of each period from From on, the contents of its files in order
	Content map[time.Time][]string
	Totals  map[time.Time][2]string  // the amounts of the provider's own API: total and currency
	Empty   time.Time                // a period from which on there is nothing; the zero time leaves the case out
	Deliver func(contents ...string) // makes a newer delivery of the last period
	Replace func()                   // puts other content in place of the files of the last period's newest delivery
	Lose    func()                   // removes a file of it, which the manifest goes on listing
	Deny    map[string]func(on bool) // takes a permission away, by its name, or gives it back
	Cut     func(on bool)            // makes reads of files break off, or ends that
	Break   func(on bool)            // nothing answers any more, or again
}

// RunBills tests a connection against the contract of cloud.Biller. The last cases change the deliveries.
func RunBills(t *testing.T, conn cloud.Conn, f Bills) {
	t.Helper()
	b, is := conn.(cloud.Biller)
	if !is {
		t.Fatal("the connection is no Biller")
	}
	r := billing{b, f}
	t.Run("deliveries are one for each period, the oldest first", r.order)
	t.Run("files hold what was delivered, from the beginning and anywhere", r.content)
	t.Run("what did not change has the same fingerprint", r.same)
	t.Run("the control total is the provider's own", r.control)
	t.Run("a period without deliveries says what to do", r.none)
	t.Run("a missing permission is named", r.denied)
	t.Run("what breaks off is an error", r.cut)
	t.Run("what does not answer may be tried again", r.unreachable)
	t.Run("a newer delivery replaces an older one", r.newer)
	t.Run("a file that was replaced is not read on", r.replaced)
	t.Run("a file that is not there is named", r.missing)
}

type billing struct {
	conn cloud.Biller
	Bills
}

func (b billing) list(t *testing.T) []cloud.Delivery {
	t.Helper()
	got, err := b.conn.Deliveries(t.Context(), b.From)
	if err != nil {
		t.Fatalf("Deliveries: %v", err)
	}
	return got
}

func (b billing) last(t *testing.T) cloud.Delivery {
	t.Helper()
	all := b.list(t)
	if len(all) == 0 {
		t.Fatal("there are no deliveries")
	}
	return all[len(all)-1]
}

func (b billing) read(ctx context.Context, d cloud.Delivery, f cloud.BillFile) ([]byte, error) {
	r, err := b.conn.OpenBill(ctx, d, f)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(r)
}

func (b billing) order(t *testing.T) {
	got := b.list(t)
	var periods []time.Time
	for _, d := range got {
		periods = append(periods, d.Period)
		if d.Source == "" || d.Export == "" || d.Fingerprint == "" || d.DeliveredAt.IsZero() || len(d.Files) == 0 {
			t.Errorf("%+v: source, export, fingerprint, time and files have to be told", d)
		}
		if d.Period.Day() != 1 || d.Period.Location() != time.UTC || d.DeliveredAt.Before(d.Period) {
			t.Errorf("period %s, delivered at %s", d.Period, d.DeliveredAt)
		}
	}
	var want []time.Time
	for p := range b.Content {
		want = append(want, p)
	}
	slices.SortFunc(want, time.Time.Compare)
	if !slices.Equal(periods, want) {
		t.Errorf("periods %v; want %v", periods, want)
	}
}

func (b billing) content(t *testing.T) {
	for _, d := range b.list(t) {
		want := b.Content[d.Period]
		if len(d.Files) != len(want) {
			t.Errorf("%s has the files %+v; want %d", d.Period, d.Files, len(want))
			continue
		}
		for i, f := range d.Files {
			got, err := b.read(t.Context(), d, f)
			if err != nil || string(got) != want[i] {
				t.Errorf("%s holds %.300q, %v; want %.300q", f.Name, got, err, want[i])
			}
			b.anywhere(t, d, f, want[i])
		}
	}
}

// anywhere reads a file from its end, as a Parquet file is.
func (b billing) anywhere(t *testing.T, d cloud.Delivery, f cloud.BillFile, want string) {
	t.Helper()
	r, err := b.conn.OpenBill(t.Context(), d, f)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if r.Size() < 0 {
		if _, err = r.ReadAt(make([]byte, 1), 0); err == nil {
			t.Errorf("%s has no size, and can be read anywhere", f.Name)
		}
		return
	}
	if r.Size() != int64(len(want)) || f.Size >= 0 && f.Size != r.Size() {
		t.Errorf("%s has %d bytes, of %d listed; want %d", f.Name, r.Size(), f.Size, len(want))
	}
	tail := make([]byte, min(8, len(want)))
	n, err := r.ReadAt(tail, r.Size()-int64(len(tail)))
	if string(tail[:n]) != want[len(want)-len(tail):] || err != nil && !errors.Is(err, io.EOF) {
		t.Errorf("the end of %s is %q, %v", f.Name, tail[:n], err)
	}
	if n, err = r.ReadAt(make([]byte, 2), r.Size()-1); n != 1 || !errors.Is(err, io.EOF) {
		t.Errorf("past the end of %s: %d, %v; want 1 byte and the end", f.Name, n, err)
	}
}

func (b billing) same(t *testing.T) {
	first, second := b.list(t), b.list(t)
	for i, d := range second {
		if d.Fingerprint != first[i].Fingerprint {
			t.Errorf("%s: %s, and again %s", d.Period, first[i].Fingerprint, d.Fingerprint)
		}
		if i > 0 && d.Fingerprint == second[i-1].Fingerprint {
			t.Errorf("%s and %s have the same fingerprint", d.Period, second[i-1].Period)
		}
	}
}

func (b billing) control(t *testing.T) {
	for period, want := range b.Totals {
		total, currency, ok, err := b.conn.ControlTotal(t.Context(), period)
		if total != want[0] || currency != want[1] || !ok || err != nil {
			t.Errorf("%s: %s %s, %v, %v; want %v", period, total, currency, ok, err, want)
		}
	}
	if len(b.Totals) == 0 {
		if _, _, ok, err := b.conn.ControlTotal(t.Context(), b.From); ok || err != nil {
			t.Errorf("a total is told where there is none: %v, %v", ok, err)
		}
	}
}

func (b billing) none(t *testing.T) {
	if b.Empty.IsZero() {
		t.Skip("SKIPPED: this cloud always has something")
	}
	got, err := b.conn.Deliveries(t.Context(), b.Empty)
	if len(got) != 0 || err == nil || cloud.ClassOf(err) != cloud.NotFound {
		t.Errorf("%+v, %v; want an error that says what to do", got, err)
	}
}

func (b billing) denied(t *testing.T) {
	d := b.last(t)
	for name, deny := range b.Deny {
		deny(true)
		_, err := b.conn.Deliveries(t.Context(), b.From)
		if err == nil {
			_, err = b.read(t.Context(), d, d.Files[0])
		}
		deny(false)
		wantClass(t, "without "+name, err, cloud.Denied)
		if err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v; want it named", name, err)
		}
	}
}

func (b billing) cut(t *testing.T) {
	if b.Cut == nil {
		t.Skip("SKIPPED: nothing of this cloud breaks off")
	}
	d := b.last(t)
	b.Cut(true)
	defer b.Cut(false)
	got, err := b.read(t.Context(), d, d.Files[0])
	if err == nil || !cloud.ClassOf(err).Retryable() {
		t.Errorf("%d bytes, %v; want that it broke off", len(got), err)
	}
}

func (b billing) unreachable(t *testing.T) {
	d := b.last(t)
	b.Break(true)
	defer b.Break(false)
	got, err := b.conn.Deliveries(t.Context(), b.From)
	if err == nil || !cloud.ClassOf(err).Retryable() {
		t.Errorf("Deliveries %+v, %v; want an error that passes", got, err)
	}
	if _, err = b.read(t.Context(), d, d.Files[0]); err == nil || !cloud.ClassOf(err).Retryable() {
		t.Errorf("OpenBill: %v; want an error that passes", err)
	}
}

func (b billing) newer(t *testing.T) {
	if b.Deliver == nil {
		t.Skip("SKIPPED: this cloud delivers nothing anew")
	}
	before := b.last(t)
	b.Deliver("newer 1", "newer 2")
	after := b.last(t)
	if after.Period != before.Period || after.Fingerprint == before.Fingerprint ||
		after.DeliveredAt.Before(before.DeliveredAt) || len(after.Files) != 2 {
		t.Errorf("%+v after %+v", after, before)
	}
	got, err := b.read(t.Context(), after, after.Files[1])
	if err != nil || string(got) != "newer 2" {
		t.Errorf("%q, %v", got, err)
	}
}

func (b billing) replaced(t *testing.T) {
	if b.Replace == nil {
		t.Skip("SKIPPED: nothing of this cloud is replaced")
	}
	d := b.last(t)
	r, err := b.conn.OpenBill(t.Context(), d, d.Files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	b.Replace()
	got, err := io.ReadAll(r)
	if err == nil || bytes.Contains(got, []byte("replaced")) {
		t.Errorf("%q, %v; want an error", got, err)
	}
	wantClass(t, "read on", err, cloud.Moving)
	_, err = b.read(t.Context(), d, d.Files[0])
	wantClass(t, "read anew", err, cloud.Moving)
}

func (b billing) missing(t *testing.T) {
	if b.Lose == nil {
		t.Skip("SKIPPED: this cloud loses nothing")
	}
	b.Deliver("kept", "lost")
	b.Lose()
	d := b.last(t)
	if len(d.Files) != 2 {
		t.Fatalf("%+v; want the file listed that is not there", d)
	}
	_, err := b.read(t.Context(), d, d.Files[1])
	wantClass(t, "a file that is not there", err, cloud.NotFound)
	if err != nil && !strings.Contains(err.Error(), d.Files[1].Name) {
		t.Errorf("%v; want %s named", err, d.Files[1].Name)
	}
}
