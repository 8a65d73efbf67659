package cost

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
)

func TestAmounts_AreReadAsTheyWereWritten(t *testing.T) {
	r := seed.Fixed(t, 7, 8)
	for name, draw := range map[string]func() money.Amount{
		"alike":          func() money.Amount { return money.MustParse("12.5") },
		"of one scale":   func() money.Amount { return money.FromScaled(r.Int64N(1_000_000)-500_000, 6) },
		"of many scales": func() money.Amount { return money.FromScaled(r.Int64N(1000)-500, r.IntN(12)) },
		"too wide":       func() money.Amount { return money.FromScaled(r.Int64(), r.IntN(30)) },
		"none":           func() money.Amount { return money.Amount{} },
		"at the ends": func() money.Amount {
			return money.FromScaled([]int64{1<<63 - 1, -1<<63 + 1, 0}[r.IntN(3)], 0)
		},
		"small among large": func() money.Amount { return money.MustParse([]string{"1e40", "1e-30", "-3"}[r.IntN(3)]) },
	} {
		for _, lag := range []int{0, 1, 10} {
			all := make([]money.Amount, 50)
			for i := range all {
				all[i] = draw()
			}
			content := encodeAmounts(all, lag)
			s := scanner{b: content}
			got := s.amounts(len(all), lag, nil)
			for i, want := range all {
				if s.bad || got.wide == nil && money.FromScaled(got.narrow[i], got.places) != want || got.wide != nil &&
					got.wide[i] != want {
					t.Fatalf("%s, lag %d: amount %d is not %s", name, lag, i, want)
				}
			}
			for n := range content {
				s := scanner{b: content[:n]}
				if s.amounts(len(all), lag, nil); !s.bad {
					t.Fatalf("%s: %d of %d bytes are read", name, n, len(content))
				}
			}
		}
	}
}

func TestColumn_IsReadAsItWasWritten(t *testing.T) {
	for _, distinct := range []int{1, 2, 256, 257, 70_000} {
		c := newColumn(0)
		for i := range 70_001 {
			c.add("word " + strconv.Itoa(i%distinct))
		}
		content := append(c.append(nil), "next"...)
		s, skipped := scanner{b: content}, scanner{b: content}
		got := s.column(70_001)
		skipped.skipColumn(70_001)
		equal(t, "what comes behind", string(s.b)+string(skipped.b), "nextnext")
		for i := range 70_001 {
			if got.name(i) != "word "+strconv.Itoa(i%distinct) {
				t.Fatalf("%d of %d is %s", i, distinct, got.name(i))
			}
		}
		for n := range min(len(content)-4, 300) {
			s := scanner{b: content[:n]}
			if s.column(70_001); !s.bad {
				t.Fatalf("%d of %d bytes are read", n, len(content))
			}
		}
	}
}

func TestSeries_AddUpWhateverTheirScale(t *testing.T) {
	r := seed.Fixed(t, 13, 14)
	for range 2000 {
		var s series
		var want [31]money.Amount
		for range r.IntN(40) {
			day, a := r.IntN(31), money.FromScaled(r.Int64N(1000)-500, r.IntN(6))
			switch r.IntN(30) {
			case 0:
				a = money.FromScaled(r.Int64()-r.Int64(), r.IntN(31))
			case 1:
				a = money.FromScaled(1<<63-1, 3)
			}
			s.add(day, &a)
			want[day] = want[day].Add(a)
		}
		for day := range want {
			if got := s.at(day); got != want[day] {
				t.Fatalf("day %d is %s, want %s", day, got, want[day])
			}
		}
		equal(t, "sum", s.sum(), money.Sum(want[:]...))
	}
}

func FuzzScanner(f *testing.F) {
	c := newColumn(0)
	c.add("a")
	c.add("b")
	f.Add(c.append(nil), 2)
	f.Add(encodeAmounts([]money.Amount{money.FromInt(1), money.MustParse("1e40")}, 1), 2)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if n < 0 || n > 1000 {
			return
		}
		s := scanner{b: b}
		if c := s.column(n); !s.bad {
			for i := range n {
				_ = c.name(i)
			}
		}
		s = scanner{b: b}
		if a := s.amounts(n, 1, nil); !s.bad && a.len() != n {
			t.Errorf("%d of %d amounts", a.len(), n)
		}
	})
}

func TestAsk_SaysWhichChunkIsDamaged(t *testing.T) {
	s := newFixture(t)
	p := s.bring(imported("ca_1", "one", now), charge(1, "i-1", "EC2", "10"))
	k := chunkKey(testOrg, p.Generation, chunkName(wordsFamily, 0), 0)
	for _, z := range [][]byte{
		nil,
		{chunkVersion, 1, 2},
		{9},
		compressor.Append([]byte{chunkVersion}, []byte{200, 1}),
	} {
		it, err := table.NewItem(k, packed{z})
		s.Must(err)
		s.Must(s.Table.BatchWrite(s.ctx, table.Put(it)))
		_, err = s.fresh().Ask(s.ctx, testOrg, ofMarch(ServiceDim))
		if err == nil || !strings.Contains(err.Error(), p.Generation) {
			t.Errorf("% x: %v, want an error that names the generation", z, err)
		}
	}
	s.Must(s.Table.BatchWrite(s.ctx, table.Delete(k)))
	if _, err := s.fresh().Ask(s.ctx, testOrg, ofMarch(ServiceDim)); err == nil {
		t.Error("a chunk that is gone is taken for nothing")
	}
}

func TestAsk_ReadsAgainWhatAReplicaDoesNotHaveYet(t *testing.T) {
	s := newFixture(t)
	s.bring(imported("ca_1", "one", now), charge(1, "i-1", "EC2", "10"))
	s.faulty.Inject(table.Injection{Harm: table.Lag, Method: table.BatchGetMethod})
	a, err := s.fresh().Ask(s.ctx, testOrg, ofMarch(ServiceDim))
	s.Must(err)
	equal(t, "total", a.Total.String(), "10")
}

func TestBuilder_FoldsWhatIsTooMuch(t *testing.T) {
	s := newFixture(t)
	b, err := s.store.Begin(s.ctx, imported("ca_1", "one", now))
	s.Must(err)
	b.lines.most = 2
	for n := range 5 {
		c := charge(1, "i-"+strconv.Itoa(n), "EC2", "1")
		s.Must(b.Add(&c))
	}
	p, err := b.Commit(s.ctx)
	s.Must(err)
	equal(t, "folded", []int64{p.Folded, p.Rows, int64(p.Lines)}, []int64{3, 5, 3})
	equal(t, "resources", rows(s.ask(ofMarch(ResourceDim))), []string{"=3", "i-0=1", "i-1=1"})
}

func TestBuilder_KeepsNothingOfTheRow(t *testing.T) {
	s := newFixture(t)
	b, err := s.store.Begin(s.ctx, imported("ca_1", "one", now))
	s.Must(err)
	c := charge(1, "i-1", "EC2", "1")
	s.Must(b.Add(&c))
	c.Tags[0] = bill.Tag{Key: "other", Value: "x"}
	c.BilledCost, c.ResourceID = money.FromInt(9), "i-2"
	_, err = b.Commit(s.ctx)
	s.Must(err)
	equal(t, "as it was added", rows(s.ask(ofMarch(ResourceDim, "tag:env"))), []string{"i-1,prod=1"})
}

func TestStore_ReadsPartsOfLargeChunks(t *testing.T) {
	s := newFixture(t)
	b, err := s.store.Begin(s.ctx, imported("ca_1", "one", now))
	s.Must(err)
	r := seed.Fixed(t, 9, 10)
	var total money.Amount
	for n := range 16_500 {
		c := charge(1, "i-"+strconv.Itoa(n), "EC2", "1")
		for day := range 3 {
			c.ChargePeriodStart = march.Start().AddDate(0, 0, day)
			c.BilledCost = money.FromScaled(r.Int64N(1<<50), 10)
			total = total.Add(c.BilledCost)
			s.Must(b.Add(&c))
		}
	}
	p, err := b.Commit(s.ctx)
	s.Must(err)
	_, err = s.tryBring(imported("ca_1", "late", now.Add(-time.Minute)))
	equal(t, "an earlier one", err != nil, true)
	pointers, err := s.store.readPointers(s.ctx, testOrg, march, march)
	s.Must(err)
	equal(t, "blocks", len(pointers[0].Blocks), 2)
	equal(t, "parts of a day family", pointers[0].Blocks[0].Parts["B"] > 1, true)
	q := ofMarch()
	q.Daily = true
	a, err := s.fresh().Ask(s.ctx, testOrg, q)
	s.Must(err)
	equal(t, "total", []money.Amount{a.Total, p.ByCurrency[USD].Billed}, []money.Amount{total, total})
}
