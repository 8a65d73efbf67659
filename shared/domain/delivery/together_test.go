package delivery_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// Two notifiers process the same events and make rounds at the same time.
func TestDeliver_TwoAtOnceTellOnce(t *testing.T) {
	f := newFixture(t, chat, hook, delivery.Target{Kind: delivery.Email, ID: "usr_1"})
	rows := f.happen(event.ResourceStarted, 12)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			e := f.engine()
			for _, failed := range e.Deliver(f.Context(), rows[i%2*3:]) {
				t.Error(failed.Err)
			}
			if err := e.Round(f.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	f.rounds(3 * time.Minute)
	per, n := map[string]int{}, map[delivery.Kind]int{}
	for _, m := range f.post.sent {
		per[m.ID]++
		n[m.Target.Kind] += m.Total
	}
	for dlv, times := range per {
		if times > 1 {
			t.Errorf("%s was sent %d times", dlv, times)
		}
	}
	f.Equal("events told", n, map[delivery.Kind]int{delivery.Channel: 12, delivery.Webhook: 12, delivery.Email: 12})
}

// killedStore is the store of a process that dies at a call. All later calls fail.
type killedStore struct {
	table.Store
	mu    *sync.Mutex
	left  *int
	after bool // the last call takes effect
}

func (k killedStore) dies(writes bool) (now, dead bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if *k.left < 0 {
		return false, true
	}
	if writes {
		*k.left--
	}
	return *k.left < 0, false
}

func (k killedStore) Transact(ctx context.Context, ws ...table.Write) error {
	now, dead := k.dies(true)
	if dead || now && !k.after {
		return table.ErrDown
	}
	err := k.Store.Transact(ctx, ws...)
	if now {
		return table.ErrLost
	}
	return err
}

func (k killedStore) Write(ctx context.Context, w table.Write) (table.Item, error) {
	now, dead := k.dies(true)
	if dead || now && !k.after {
		return table.Item{}, table.ErrDown
	}
	it, err := k.Store.Write(ctx, w)
	if now {
		return it, table.ErrLost
	}
	return it, err
}

// The process is killed at each write in turn, before and after the write takes effect. The next process delivers
// each event once. Only a message that was sent but not recorded is sent again, with the same ID.
func TestDeliver_KilledAnywhereLosesNothing(t *testing.T) {
	for _, after := range []bool{false, true} {
		for call := 0; ; call++ {
			f := newFixture(t, chat, hook)
			rows := f.happen(event.ResourceStarted, 4)
			whole, left := f.Table, call
			f.Table = killedStore{whole, &sync.Mutex{}, &left, after}
			f.engine().Deliver(f.Context(), rows)
			f.Table = whole
			lived := left >= 0
			f.deliver(rows)
			f.rounds(4 * time.Minute)
			ids, told := map[string]int{}, map[string]bool{}
			for _, m := range f.post.sent {
				ids[m.ID]++
				for _, e := range m.Events {
					told[m.Target.ID+e.ID] = true
				}
			}
			if len(told) != 8 || len(ids) != 8 || f.due() != 0 {
				t.Errorf("killed at write %d (after: %v): %d told in %d messages, %d due", call, after, len(told),
					len(ids), f.due())
			}
			if lived {
				for dlv, n := range ids {
					if n > 1 {
						t.Errorf("%s was sent %d times", dlv, n)
					}
				}
				break
			}
		}
	}
}

// One organization's hanging receivers do not delay another organization, even if they came first and are many.
func TestRound_SlowReceiversOfOneOrganizationHoldUpNoOther(t *testing.T) {
	var slow []delivery.Target
	for i := range 200 {
		slow = append(slow, delivery.Target{Kind: delivery.Webhook, ID: fmt.Sprint("wh_slow", i)})
	}
	f := newFixture(t)
	release, hung := make(chan struct{}), make(chan struct{}, 1000)
	for _, to := range slow {
		f.post.answer[to.ID] = func(ctx context.Context) (delivery.Answer, error) {
			hung <- struct{}{}
			<-release
			return delivery.Answer{}, down
		}
	}
	e := delivery.NewEngine(delivery.Parts{
		Table: f.Table, Clock: f.Clock, Log: f.Platform.Log, Sealer: f.Sealer,
		Matchers: []delivery.Matcher{byOrganization{org: slow, apitest.OtherOrg: {hook}}},
		Senders:  map[delivery.Kind]delivery.Sender{delivery.Webhook: f.post},
	})
	var all sync.WaitGroup
	rows := f.happen(event.ResourceFailed, 1)
	all.Go(func() { e.Deliver(f.Context(), rows) })
	for range 32 {
		<-hung // all tries that this organization may have at once hang
	}
	w, err := event.Put(apitest.OtherOrg, "x", f.Clock.Now(),
		event.Event{Key: event.ResourceFailed, ScopeType: "org", At: f.Clock.Now(), Data: []byte("{}")})
	f.Must(err)
	e.Deliver(f.Context(), []table.Item{w.Item})
	if f.post.count() != 1 {
		t.Errorf("%d arrived", f.post.count())
	}
	close(release)
	all.Wait()
}

// byOrganization is a matcher that returns the targets of the organization.
type byOrganization map[string][]delivery.Target

func (b byOrganization) Match(_ context.Context, of string, events []event.Event) ([][]delivery.Target, error) {
	return slices.Repeat([][]delivery.Target{b[of]}, len(events)), nil
}

// broken is a matcher that fails while *fails is true.
type broken struct {
	everybody
	fails *bool
}

func (b broken) Match(ctx context.Context, of string, events []event.Event) ([][]delivery.Target, error) {
	if *b.fails {
		return nil, table.ErrDown
	}
	return b.everybody.Match(ctx, of, events)
}

// Events whose receivers cannot be found are neither lost nor repeated before the events of others. An unreadable row
// does not block other rows.
func TestRound_TellsOfWhatNobodyCouldBeToldOfBefore(t *testing.T) {
	f := newFixture(t, hook)
	fails := true
	e := delivery.NewEngine(delivery.Parts{
		Table: f.Table, Clock: f.Clock, Log: f.Platform.Log, Sealer: f.Sealer,
		Matchers: []delivery.Matcher{broken{f.to, &fails}},
		Senders:  map[delivery.Kind]delivery.Sender{delivery.Webhook: f.post},
	})
	rows := f.happen(event.ResourceFailed, 3)
	damaged := table.Item{Key: table.Key{PK: event.PK(org), SK: "event_damaged"}, Data: []byte(`{"z":"AAAA"}`)}
	if failed := e.Deliver(f.Context(), append(rows, damaged)); len(failed) != 0 {
		t.Fatalf("to be brought again: %+v", failed)
	}
	for range 30 { // the first rounds fail
		_ = e.Round(f.Context())
		f.Clock.Advance(time.Minute)
		if f.Clock.Now().Sub(apitest.Start) > 8*time.Minute {
			fails = false
		}
	}
	if f.post.count() != 3 || f.due() != 0 {
		t.Errorf("%d arrived, %d due", f.post.count(), f.due())
	}
}
