package table_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/tabletest"
)

// callAll calls every method of a store with the partition pk, and returns the errors.
func callAll(ctx context.Context, s table.Store, pk string) map[string]error {
	k := table.Key{PK: pk, SK: "1"}
	it := table.Item{Key: k, Data: []byte(`{}`)}
	errs := map[string]error{}
	_, errs["write"] = s.Write(ctx, table.Put(it))
	_, errs["get"] = s.Get(ctx, k)
	_, errs["batch get"] = s.BatchGet(ctx, k)
	_, errs["query"] = s.Query(ctx, table.Query{PK: pk, Limit: 1})
	errs["batch write"] = s.BatchWrite(ctx, table.Put(it))
	errs["transact"] = s.Transact(ctx, table.Put(it))
	return errs
}

func TestTheFence(t *testing.T) {
	for _, c := range []struct {
		name string
		ctx  func(context.Context) context.Context
		pk   string
		pass bool
	}{
		{"refuses everything by default", func(ctx context.Context) context.Context { return ctx }, "ORG#a#RES", false},
		{"lets a tenant at its own", func(ctx context.Context) context.Context {
			return table.WithOrg(ctx, "a")
		}, "ORG#a#RES", true},
		{"keeps a tenant from another", func(ctx context.Context) context.Context {
			return table.WithOrg(ctx, "a")
		}, "ORG#b#RES", false},
		{"keeps a tenant from one whose name begins alike", func(ctx context.Context) context.Context {
			return table.WithOrg(ctx, "a")
		}, "ORG#ab#RES", false},
		{"keeps a tenant from the system", func(ctx context.Context) context.Context {
			return table.WithOrg(ctx, "a")
		}, "USR#1", false},
		{"adds what is named", func(ctx context.Context) context.Context {
			return table.Within(table.WithOrg(ctx, "a"), "PENDING#")
		}, "PENDING#03", true},
		{"replaces one tenant by another", func(ctx context.Context) context.Context {
			return table.WithOrg(table.WithOrg(ctx, "a"), "b")
		}, "ORG#a#RES", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inner := tabletest.New(t)
			for name, err := range callAll(c.ctx(t.Context()), table.Fenced(inner), c.pk) {
				if c.pass && err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if !c.pass && (!errors.Is(err, table.ErrFence) || fault.KindOf(err) != fault.Internal) {
					t.Errorf("%s: %v, want the fence", name, err)
				}
			}
			if p, err := inner.Query(t.Context(), table.Query{PK: c.pk, Limit: 1}); !c.pass &&
				(err != nil || len(p.Items) > 0) {
				t.Errorf("something went through: %v, %v", p, err)
			}
		})
	}
}

func TestTheFenceGuardsTheFeed(t *testing.T) {
	s := table.Fenced(tabletest.New(t))
	if _, err := s.Feed(table.WithOrg(t.Context(), "a"), "", 1); !errors.Is(err, table.ErrFence) {
		t.Errorf("a tenant read the feed of all: %v", err)
	}
	if _, err := s.Feed(table.Within(t.Context(), table.OutboxSuffix), "", 1); err != nil {
		t.Error(err)
	}
}

func TestTheFenceLooksAtEveryKey(t *testing.T) {
	s := table.Fenced(tabletest.New(t))
	ctx := table.WithOrg(t.Context(), "a")
	mine, theirs := table.Key{PK: "ORG#a#RES", SK: "1"}, table.Key{PK: "ORG#b#RES", SK: "1"}
	_, err := s.BatchGet(ctx, mine, theirs)
	for _, err := range []error{
		err,
		s.Transact(ctx, table.Put(table.Item{Key: mine}), table.Check(theirs, table.Absent())),
		s.BatchWrite(ctx, table.Put(table.Item{Key: mine}), table.Delete(theirs)),
	} {
		if !errors.Is(err, table.ErrFence) {
			t.Errorf("a second key was not looked at: %v", err)
		}
	}
}

func TestInjectedFaults(t *testing.T) {
	k := table.Key{PK: "p", SK: "1"}
	write := func(s table.Store) error { _, err := s.Write(t.Context(), table.Put(table.Item{Key: k})); return err }
	for _, c := range []struct {
		name   string
		fault  table.Injection
		errs   []error
		stored bool
	}{
		{"before: nothing happens", table.Injection{Harm: table.FailBefore}, []error{table.ErrDown}, false},
		{
			"after: it happened and the reply is lost",
			table.Injection{Harm: table.FailAfter},
			[]error{table.ErrLost},
			true,
		},
		{"throttled", table.Injection{Harm: table.Throttle, Call: 1}, []error{table.ErrThrottled, nil}, true},
		{
			"the third call",
			table.Injection{Harm: table.FailBefore, Call: 3},
			[]error{nil, nil, table.ErrDown, nil},
			true,
		},
		{"another method", table.Injection{Harm: table.FailBefore, Method: table.GetMethod}, []error{nil}, true},
		{"another partition", table.Injection{Harm: table.FailBefore, PK: "q"}, []error{nil}, true},
		{
			"this partition and method",
			table.Injection{Harm: table.FailBefore, PK: "p", Method: table.WriteMethod},
			[]error{table.ErrDown, table.ErrDown},
			false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := table.NewFaultyStore(tabletest.New(t), clock.System{}, c.fault)
			for i, want := range c.errs {
				if err := write(f); !errors.Is(err, want) {
					t.Errorf("call %d: %v, want %v", i, err, want)
				}
			}
			f.RemoveFaults()
			if _, err := f.Get(t.Context(), k); (err == nil) != c.stored {
				t.Errorf("stored = %v, want %t", err, c.stored)
			}
		})
	}
}

func TestADelayWaitsOnTheClock(t *testing.T) {
	m := clock.NewManual(time.Unix(1000, 0))
	f := table.NewFaultyStore(tabletest.New(t), m)
	f.Inject(table.Injection{Harm: table.Delay, Wait: time.Minute})
	done := make(chan error)
	go func() { done <- f.BatchWrite(t.Context()) }()
	if err := m.AwaitSleepers(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	m.Advance(time.Minute)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestTheSweepRemovesWhatIsPastItsTime(t *testing.T) {
	m := clock.NewManual(time.Unix(1_800_000_000, 0))
	s := tabletest.NewAt(t, m)
	var ws []table.Write
	for i := range 1200 {
		it := table.Item{Key: table.Key{PK: "p", SK: strconv.Itoa(i)}, Expires: m.Now().Add(time.Hour)}
		if i >= 1100 {
			it.Expires = m.Now().Add(48 * time.Hour)
		}
		ws = append(ws, table.Put(it))
	}
	ws = append(ws, table.Put(table.Item{Key: table.Key{PK: "o#EVENTS", SK: "old"}}))
	if err := s.BatchWrite(t.Context(), ws...); err != nil {
		t.Fatal(err)
	}
	_, err := s.Write(t.Context(),
		table.Update(table.Key{PK: "p", SK: "7"}, []table.Change{table.Expire(m.Now().Add(72 * time.Hour))}))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		ahead   time.Duration
		removed int
		feed    int
	}{
		{30 * time.Minute, 0, 1},
		{time.Hour, 1099, 1},
		{22 * time.Hour, 0, 1},
		{2 * time.Hour, 1, 0},
		{24 * time.Hour, 100, 0},
		{48 * time.Hour, 1, 0},
	} {
		m.Advance(step.ahead)
		if n, err := s.Sweep(t.Context()); err != nil || n != step.removed {
			t.Errorf("%v later %d were removed, %v; want %d", step.ahead, n, err, step.removed)
		}
		if f, err := s.Feed(t.Context(), "", 10); err != nil || len(f.Items) != step.feed {
			t.Errorf("%v later the feed has %d, %v; want %d", step.ahead, len(f.Items), err, step.feed)
		}
	}
}

func TestTheSweepRunsByItself(t *testing.T) {
	m := clock.NewManual(time.Unix(1_800_000_000, 0))
	s, err := table.Open(t.TempDir()+"/store.db", table.Options{NoSync: true, Clock: m})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for range 3 {
		if err := m.AwaitSleepers(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		put := table.Put(table.Item{Key: table.Key{PK: "p", SK: "1"}, Expires: m.Now().Add(time.Second)})
		if _, err := s.Write(t.Context(), put); err != nil {
			t.Fatal(err)
		}
		m.Advance(time.Minute)
	}
	if err := m.AwaitSleepers(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Sweep(t.Context()); err != nil || n != 0 {
		t.Errorf("%d were left by the sweep, %v", n, err)
	}
}
