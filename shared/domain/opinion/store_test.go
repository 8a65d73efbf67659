package opinion_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/opinion"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/seed"
)

const org = apitest.Org

// opinions returns n opinions about resources, with texts that do not compress if noise is true.
func opinions(t *testing.T, n int, noise bool) []opinion.Opinion {
	t.Helper()
	rng := seed.Fixed(t, 1, 2)
	out := make([]opinion.Opinion, n)
	for i := range out {
		o := &out[i]
		o.ID, o.ResourceUID, o.Action = fmt.Sprint("o-", i), fmt.Sprintf("i-%017d", i), cloud.OpinionStop
		o.Current = "m5.xlarge"
		if noise {
			text := make([]byte, 250)
			for j := range text {
				text[j] = byte('!' + rng.IntN(90))
			}
			o.Recommended = string(text)
		}
		o.USD = new(money.FromInt(int64(i)))
	}
	return out
}

// readAll reads the imported opinions of all shards.
func readAll(f *apitest.Fixture, s *opinion.Store) map[opinion.Subject][]opinion.Opinion {
	f.Helper()
	accounts := apitest.Value(s.Accounts(f.In(org), org))(f)
	out := map[opinion.Subject][]opinion.Opinion{}
	for shard := range opinion.Shards {
		for k, v := range apitest.Value(s.ReadShard(f.In(org), org, shard, accounts))(f) {
			out[k] = append(out[k], v...)
		}
	}
	return out
}

func TestImport_ReplacesTheLastOne(t *testing.T) {
	f := apitest.New(t)
	s := opinion.New(f.Platform)
	a := opinion.Account{AccountID: "ca_1", Provider: "aws", State: cloud.OpinionsRead}
	f.Must(s.Import(f.In(org), org, a, opinions(t, 20_000, true)))
	if got := len(readAll(f, s)); got != 20_000 {
		t.Fatalf("%d subjects; want 20,000", got)
	}
	f.Clock.Advance(24 * time.Hour)
	f.Must(s.Import(f.In(org), org, opinion.Account{AccountID: "ca_2", Provider: "aws"}, opinions(t, 3, false)))
	commitment := opinion.Opinion{Opinion: cloud.Opinion{ID: "c", Action: cloud.OpinionCommit}}
	f.Must(s.Import(f.In(org), org, a, append(opinions(t, 2, false), commitment)))
	all := readAll(f, s)
	if len(all) != 6 || all[opinion.Subject{AccountID: "ca_1"}] == nil {
		t.Errorf("%d subjects; want 3 of each account, the commitment among them", len(all))
	}
	f.Must(s.Forget(f.In(org), org, "ca_1"))
	if got := len(readAll(f, s)); got != 3 {
		t.Errorf("%d subjects after an account was forgotten; want 3", got)
	}
}

func TestNoteFailure_KeepsTheLastImport(t *testing.T) {
	f := apitest.New(t)
	s := opinion.New(f.Platform)
	a := opinion.Account{AccountID: "ca_1", Provider: "aws", State: cloud.OpinionsRead}
	f.Must(s.Import(f.In(org), org, a, opinions(t, 3, false)))
	imported := f.Clock.Now()
	f.Clock.Advance(24 * time.Hour)
	last := apitest.Value(s.LastImport(f.In(org), org, "ca_1"))(f)
	if !last.Due(f.Clock.Now()) {
		t.Error("yesterday's import is not due")
	}
	f.Must(s.NoteFailure(f.In(org), org, a, errors.New("the cloud is \x00 away")))
	last = apitest.Value(s.LastImport(f.In(org), org, "ca_1"))(f)
	if !last.At.Equal(imported) || last.Count != 3 || last.Error == "" || last.Due(f.Clock.Now()) || !last.WasRead() {
		t.Errorf("after a failure: %+v", last)
	}
	if got := len(readAll(f, s)); got != 3 {
		t.Errorf("%d subjects; want those of the last import", got)
	}
	f.Must(s.NoteFailure(f.In(org), org, opinion.Account{AccountID: "ca_9", Provider: "gcp"}, errors.New("x")))
	if first := apitest.Value(s.LastImport(f.In(org), org, "ca_9"))(f); first.WasRead() || first.Error != "x" {
		t.Errorf("a first failure is %+v", first)
	}
}

func TestWriteCompared_ManyParts(t *testing.T) {
	f := apitest.New(t)
	s := opinion.New(f.Platform)
	for _, n := range []int{9_000, 1, 0} {
		all := make([]opinion.Compared, n)
		for i, o := range opinions(t, n, n > 1) {
			all[i] = opinion.Compared{Opinion: o, AccountID: "ca_1", Verdict: opinion.Agree}
		}
		f.Must(s.WriteCompared(f.In(org), org, 3, all))
		got := apitest.Value(s.ReadComparison(f.In(org), org))(f)
		if len(got.All) != n {
			t.Errorf("%d of %d compared opinions", len(got.All), n)
		}
		if n > 0 && !got.All[n-1].ComparedAt.Equal(f.Clock.Now()) {
			t.Errorf("compared at %s", got.All[n-1].ComparedAt)
		}
	}
}
