package cost

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
)

// withFiles lets the store keep files in a folder, and returns the folder.
func (s *fixture) withFiles(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	s.store.files = archive.NewFolder(dir)
	return dir
}

// resumable returns an import of March that has line items.
func resumable(fingerprint string) Import {
	in := imported("ca_1", fingerprint, now)
	in.Lines, in.Native = true, "111122223333"
	return in
}

func (s *fixture) begin(in Import) *Builder {
	s.Helper()
	b, err := s.store.Begin(s.ctx, in)
	s.Must(err)
	return b
}

// anyCharge returns a charge of any class, currency and size.
func anyCharge(r *rand.Rand) bill.Charge {
	c := charge(1+r.IntN(31), fmt.Sprint("i-", r.IntN(30)), []string{"EC2", "S3"}[r.IntN(2)], "0")
	for _, a := range []*money.Amount{&c.BilledCost, &c.EffectiveCost, &c.ListCost} {
		*a = money.FromScaled(r.Int64N(1<<40)-1<<38, r.IntN(13))
		if r.IntN(10) == 0 { // wider than 64 bits
			*a = a.Mul(money.MustParse("1.00000000000001")).MulInt(1 + r.Int64N(1<<40))
		}
	}
	if r.IntN(2) == 0 {
		c.EffectiveCost, c.ListCost = c.BilledCost, c.BilledCost
	}
	switch r.IntN(8) {
	case 0:
		c.ChargeClass, c.ChargePeriodStart = bill.Correction, c.ChargePeriodStart.AddDate(0, -1, 0)
	case 1:
		c.ChargePeriodStart = c.ChargePeriodStart.AddDate(0, -2, 0)
	case 2:
		c.BillingCurrency, c.USDRate = "EUR", money.FromScaled(100+r.Int64N(20), 2)
	case 3:
		c.SubAccountID, c.BillingAccountID = "", "999"
	case 4:
		c.ChargeCategory, c.Tags = bill.Purchase, []bill.Tag{{Key: "team", Value: strconv.Itoa(r.IntN(5))}}
	}
	return c
}

func (s *fixture) addAll(b *Builder, charges []bill.Charge) {
	s.Helper()
	for i := range charges {
		s.Must(b.Add(&charges[i]))
	}
}

// A restored Builder equals the saved one in every field that its charges determine, at any charge and also when lines
// are folded.
func TestCheckpoint_RestoresTheStateExactly(t *testing.T) {
	r := seed.Random(t)
	for n := range 40 {
		s := newFixture(t)
		s.withFiles(t)
		saved := s.begin(resumable("1"))
		saved.lines.most = []int{maxLines, 50}[n%2]
		for range 1 + r.IntN(2000) { // before the first charge, what is restored is empty and not nil
			c := anyCharge(r)
			s.Must(saved.Add(&c))
		}
		_, items, err := saved.BeginItems(s.ctx)
		s.Must(err)
		items.Rows, items.Parts, items.Columns = 7, 3, map[string]int64{"BilledCost": 12}
		at := Position{File: 3, Charges: 12, Billed: money.MustParse("1.5"), Rows: 700}
		s.Must(saved.Checkpoint(s.ctx, &items, at))
		got := s.begin(resumable("1"))
		if got.Position() != at || !reflect.DeepEqual(*got.begun, items) {
			t.Fatalf("the position is %+v, the line items are %+v", got.Position(), got.begun)
		}
		got.lines.most, got.lines.buf, saved.lines.buf = saved.lines.most, nil, nil
		for i := range saved.lines.all { // an empty series has no form
			for m, days := range saved.lines.all[i].days {
				if days.len() == 0 {
					saved.lines.all[i].days[m] = series{}
				}
			}
		}
		if !reflect.DeepEqual(got.lines, saved.lines) || !reflect.DeepEqual(got.totals, saved.totals) ||
			!reflect.DeepEqual(got.own, saved.own) || got.shared != saved.shared || got.through != saved.through ||
			got.late != saved.late || got.corrections != saved.corrections {
			t.Fatalf("another state is restored: %d lines of %d", len(got.lines.all), len(saved.lines.all))
		}
	}
}

// An import that is continued at any charge commits the period and the answers of one that is not interrupted.
func TestCheckpoint_AContinuedImportEqualsAnUninterruptedOne(t *testing.T) {
	r := seed.Random(t)
	for range 20 {
		var charges []bill.Charge
		for range 300 {
			charges = append(charges, anyCharge(r))
		}
		whole, cut := newFixture(t), newFixture(t)
		whole.withFiles(t)
		dir := cut.withFiles(t)
		b := whole.begin(resumable("1"))
		whole.addAll(b, charges)
		want := whole.commitWithItems(b)

		for done := 0; done < len(charges); {
			b := cut.begin(resumable("1"))
			if b.Position().Charges != int64(done) {
				t.Fatalf("continued at %+v, not at %d", b.Position(), done)
			}
			n := min(1+r.IntN(100), len(charges)-done)
			cut.addAll(b, charges[done:done+n])
			done += n
			_, items, err := b.BeginItems(cut.ctx)
			cut.Must(err)
			items.Rows += int64(n)
			cut.Must(b.Checkpoint(cut.ctx, &items, Position{Charges: int64(done)}))
		}
		got := cut.commitWithItems(cut.begin(resumable("1")))
		got.Generation, want.Generation = "", ""
		equal(t, "the period", got, want)
		for _, dims := range [][]string{
			{ResourceDim, ServiceDim, CategoryDim},
			{ClassDim, CurrencyDim},
			{TagDim + "team"},
		} {
			for _, metric := range Metrics {
				q := ofMarch(dims...)
				q.Metric, q.Daily = metric, true
				equal(t, fmt.Sprint(dims), cut.ask(q), whole.ask(q))
			}
		}
		if left, err := filepath.Glob(dir + "/*/*/*/*/*/" + checkpointsFolder); err != nil || len(left) > 0 {
			t.Errorf("the states are left behind: %v, %v", left, err)
		}
		if _, there := cut.checkpointOf(resumable("1")); there {
			t.Error("the checkpoint is left behind")
		}
	}
}

// commitWithItems commits with the line items that the builder has begun.
func (s *fixture) commitWithItems(b *Builder) Period {
	s.Helper()
	_, items, err := b.BeginItems(s.ctx)
	s.Must(err)
	b.Attach(items)
	p, err := b.Commit(s.ctx)
	s.Must(err)
	return p
}

func (s *fixture) checkpointOf(in Import) (checkpoint, bool) {
	s.Helper()
	found, err := s.Table.BatchGet(s.ctx, in.checkpointKey())
	s.Must(err)
	it, there := found[in.checkpointKey()]
	if !there {
		return checkpoint{}, false
	}
	c, err := table.Decode[checkpoint](it)
	s.Must(err)
	return c, true
}

// saveAt saves a checkpoint after one charge.
func (s *fixture) saveAt(b *Builder, file int) error {
	s.Helper()
	c := charge(1, "i-1", "EC2", "1")
	s.Must(b.Add(&c))
	_, items, err := b.BeginItems(s.ctx)
	s.Must(err)
	return b.Checkpoint(s.ctx, &items, Position{File: file})
}

func TestCheckpoint_IsOnlyOfItsDeliveryAndItsTime(t *testing.T) {
	for name, tt := range map[string]struct {
		fingerprint string
		later       time.Duration
		program     string
		files       string
		file        int
	}{
		"the same delivery":            {"1", time.Hour, "", "", 1},
		"the delivery is replaced":     {"2", time.Hour, "", "", 0},
		"the line items may be erased": {"1", checkpointKept, "", "", 0},
		"its files have another order": {"1", time.Hour, "", "b, a", 0},
		"another version reads it":     {"1", time.Hour, "v2", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			s.withFiles(t)
			s.Must(s.saveAt(s.begin(resumable("1")), 1))
			s.Clock.Advance(tt.later)
			s.store.program = tt.program
			in := resumable(tt.fingerprint)
			in.Files = tt.files
			b := s.begin(in)
			if b.Position().File != tt.file {
				t.Errorf("continued at %+v", b.Position())
			}
			s.Must(s.saveAt(b, 5)) // replaces the other checkpoint
			if got := s.begin(in).Position().File; got != 5 {
				t.Errorf("then continued at file %d", got)
			}
		})
	}
}

// Of two runs that import the same delivery at once, one is ahead, and the other one continues from its checkpoint.
// When one has committed, nothing is left to do.
func TestCheckpoint_OfTwoRunsOneIsAhead(t *testing.T) {
	s := newFixture(t)
	s.withFiles(t)
	first, second := s.begin(resumable("1")), s.begin(resumable("1"))
	s.Must(s.saveAt(first, 1))
	if err := s.saveAt(second, 1); !errors.Is(err, ErrOvertaken) {
		t.Errorf("the second run: %v", err)
	}
	second = s.begin(resumable("1"))
	if second.Position().File != 1 {
		t.Errorf("the second run continues at %+v", second.Position())
	}
	s.Must(s.saveAt(second, 2))
	if err := s.saveAt(first, 2); !errors.Is(err, ErrOvertaken) {
		t.Errorf("the first run: %v", err)
	}
	late := s.begin(resumable("1"))
	if p := s.commitWithItems(second); p.Rows != 2 {
		t.Errorf("%d rows", p.Rows)
	}
	_, items, err := late.BeginItems(s.ctx)
	s.Must(err)
	late.Attach(items)
	if _, err = late.Commit(s.ctx); !errors.Is(err, ErrSame) {
		t.Errorf("the other commit: %v", err)
	}
	if _, err = s.store.Begin(s.ctx, resumable("1")); !errors.Is(err, ErrSame) {
		t.Errorf("a third run: %v", err)
	}
	equal(t, "the costs", s.ask(ofMarch()).Total, money.FromInt(2))
}

// An object that is missing or damaged costs a second reading of the files, and nothing else.
func TestCheckpoint_ThatCannotBeReadStartsAnew(t *testing.T) {
	for name, harm := range map[string]func(content []byte) []byte{
		"missing":             func([]byte) []byte { return nil },
		"empty":               func([]byte) []byte { return []byte{} },
		"cut off":             func(b []byte) []byte { return b[:len(b)-5] },
		"another version":     func(b []byte) []byte { b[0]++; return b },
		"a flipped bit":       func(b []byte) []byte { b[len(b)/2] ^= 4; return b },
		"longer than written": func(b []byte) []byte { b[1] ^= 0x80; return b },
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			dir := s.withFiles(t)
			s.Must(s.saveAt(s.begin(resumable("1")), 1))
			found, err := filepath.Glob(dir + "/*/*/*/*/*/*/*/state")
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			content, err := os.ReadFile(found[0])
			s.Must(err)
			s.Must(os.Remove(found[0]))
			if content = harm(content); content != nil {
				s.Must(os.WriteFile(found[0], content, 0o600))
			}
			b := s.begin(resumable("1"))
			if b.Position() != (Position{}) || len(b.lines.all) > 0 || len(b.totals) > 0 {
				t.Fatalf("continued at %+v with %d lines", b.Position(), len(b.lines.all))
			}
			s.Must(s.saveAt(b, 1))
			if p := s.commitWithItems(s.begin(resumable("1"))); p.Rows != 1 {
				t.Errorf("%d rows", p.Rows)
			}
		})
	}
}
