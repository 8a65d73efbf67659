package cost

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/seed"
)

// Each write of a checkpoint fails once, before or after it took effect. The import continues from the old or from the
// new checkpoint.
func TestCheckpoint_ThatIsCutShortIsWholeOrNot(t *testing.T) {
	for _, harm := range []table.Harm{table.FailBefore, table.FailAfter} {
		s := newFixture(t)
		s.withFiles(t)
		b := s.begin(resumable("1"))
		s.Must(s.saveAt(b, 1))
		s.faulty.Inject(table.Injection{Harm: harm, PK: PK(testOrg), Method: table.WriteMethod, Call: 1})
		_ = s.saveAt(b, 2)
		s.faulty.RemoveFaults()
		got := s.begin(resumable("1"))
		if at := got.Position().File; int64(at) != got.Totals()[USD].Rows || at == 0 {
			t.Errorf("harm %d: continued at file %d with %d rows", harm, at, got.Totals()[USD].Rows)
		}
	}
}

// The line items of an import with checkpoints are erased a week after they were replaced, and those of an abandoned
// one a week after it began.
func TestCheckpoint_TheirFoldersAreErased(t *testing.T) {
	s := newFixture(t)
	dir := s.withFiles(t)
	s.Must(s.saveAt(s.begin(resumable("1")), 1))
	s.commitWithItems(s.begin(resumable("1")))
	s.Must(s.saveAt(s.begin(resumable("2")), 1)) // abandoned
	files := func() (n int) {
		s.Must(filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				n++
			}
			return err
		}))
		return n
	}
	if n := files(); n != 1 { // the state of the abandoned import
		t.Errorf("%d files", n)
	}
	later := resumable("3")
	later.DeliveredAt = now.Add(time.Hour)
	s.commitWithItems(s.begin(later))
	s.Clock.Advance(idleKept + time.Hour)
	s.Must(s.store.Summarize(s.ctx, testOrg))
	if n := files(); n != 0 {
		t.Errorf("%d files a week later", n)
	}
	equal(t, "the costs", s.ask(ofMarch()).Total, money.Amount{})
}

// A period that was imported with checkpoints keeps its line items while an upload has replaced it, and when the upload
// is withdrawn. They are erased when another delivery has replaced it for a week.
func TestCheckpoint_LineItemsAreKeptForAWithdrawal(t *testing.T) {
	s := newFixture(t)
	s.withFiles(t)
	s.Must(s.saveAt(s.begin(resumable("1")), 1))
	b := s.begin(resumable("1"))
	_, items, err := b.BeginItems(s.ctx)
	s.Must(err)
	s.Must(s.store.files.Put(s.ctx, items.Part(testOrg, 0), func(to io.Writer) error {
		_, err := to.Write([]byte("line items"))
		return err
	}))
	items.Parts = 1
	b.Attach(items)
	_, err = b.Commit(s.ctx)
	s.Must(err)
	kept := func() bool {
		s.Clock.Advance(idleKept + time.Hour)
		s.Must(s.store.Summarize(s.ctx, testOrg))
		_, err := s.store.files.Size(s.ctx, items.Part(testOrg, 0))
		return err == nil
	}
	if !kept() {
		t.Error("the line items are erased a week after the import")
	}
	upload := resumable("2")
	upload.DeliveredAt, upload.Withdrawable = now.Add(time.Hour), true
	s.Must(s.saveAt(s.begin(upload), 1))
	s.commitWithItems(s.begin(upload))
	if !kept() {
		t.Error("the line items are erased a week after the upload")
	}
	s.Must(s.store.Withdraw(s.ctx, testOrg, Withdrawal{AccountID: "ca_1", Month: march, Fingerprint: "2"}))
	if got := apitest.Value(s.store.LineItems(s.ctx, testOrg, march, march))(s); !kept() || len(got) != 1 ||
		got[0].Generation != items.Generation || got[0].Parts != 1 {
		t.Errorf("after the withdrawal the line items are %+v", got)
	}
	last := resumable("3")
	last.DeliveredAt = now.Add(2 * time.Hour)
	s.commitWithItems(s.begin(last))
	if kept() {
		t.Error("the line items are left a week after another delivery")
	}
}

// BenchmarkCheckpoint_OfTheMostLines saves and restores the largest state: 400,000 resources that differ on each day.
func BenchmarkCheckpoint_OfTheMostLines(b *testing.B) {
	s := newFixture(b)
	dir := s.withFiles(b)
	into := s.begin(resumable("1"))
	r := seed.Fixed(b, 1, 2)
	for i := range maxLines {
		c := charge(1, fmt.Sprintf("arn:aws:ec2:eu-west-1:123456789012:instance/i-%017d", i), "EC2", "0")
		for day := range 31 {
			c.ChargePeriodStart = march.Start().AddDate(0, 0, day)
			c.BilledCost = money.FromScaled(r.Int64N(1e9), 10)
			c.EffectiveCost, c.ListCost = c.BilledCost, c.BilledCost
			s.Must(into.Add(&c))
		}
	}
	_, items, err := into.BeginItems(s.ctx)
	s.Must(err)
	b.Run("save", func(b *testing.B) {
		for b.Loop() {
			s.Must(into.Checkpoint(s.ctx, &items, Position{File: 1}))
		}
	})
	found, err := filepath.Glob(dir + "/*/*/*/*/*/*/*/state")
	s.Must(err)
	about, err := os.Stat(found[0])
	s.Must(err)
	b.Run("restore", func(b *testing.B) {
		for b.Loop() {
			if s.begin(resumable("1")).Lines() != maxLines {
				b.Fatal("lines are missing")
			}
		}
		b.ReportMetric(float64(about.Size())/1e6, "MB")
	})
}
