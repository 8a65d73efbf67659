package delivery_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// between is a store that calls do just before the first transaction, to simulate a concurrent change.
type between struct {
	table.Store
	do func()
}

func (b between) Transact(ctx context.Context, ws ...table.Write) error {
	b.do()
	return b.Store.Transact(ctx, ws...)
}

// everybody is a matcher that returns all its targets for each event.
type everybody []delivery.Target

func (e everybody) Match(_ context.Context, _ string, events []event.Event) ([][]delivery.Target, error) {
	return slices.Repeat([][]delivery.Target{e}, len(events)), nil
}

// post is a sender that stores its messages. It answers with the function of the receiver's ID, or else with success.
type post struct {
	mu     sync.Mutex
	answer map[string]func(context.Context) (delivery.Answer, error)
	sent   []delivery.Message
	tried  []time.Time
	now    func() time.Time
	more   *sync.Cond // signals a sent message
}

func (p *post) Send(ctx context.Context, m delivery.Message) (delivery.Answer, error) {
	p.mu.Lock()
	p.tried = append(p.tried, p.now())
	answer := p.answer[m.Target.ID]
	p.mu.Unlock()
	if answer != nil {
		if a, err := answer(ctx); err != nil || a.Gone {
			return a, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, m)
	p.more.Broadcast()
	return delivery.Answer{Status: 200}, nil
}

// refuse makes a receiver answer with an error; with nil it accepts messages again.
func (p *post) refuse(receiver string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer[receiver] = func(context.Context) (delivery.Answer, error) { return delivery.Answer{Status: 503}, err }
	if err == nil {
		delete(p.answer, receiver)
	}
}

// await waits until n messages were sent.
func (p *post) await(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.sent) < n {
		p.more.Wait()
	}
}

func (p *post) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sent)
}

// records stores the health that is recorded for receivers.
type records struct {
	mu   sync.Mutex
	said []string
}

func (r *records) RecordHealth(_ context.Context, _ string, t delivery.Target, h delivery.Health) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, fmt.Sprintf("%s failing %v gone %v", t.ID, h.Failing, h.Gone))
	return "Ops <room>", nil
}

var (
	chat = delivery.Target{Kind: delivery.Channel, ID: "chan_1"}
	hook = delivery.Target{Kind: delivery.Webhook, ID: "wh_1"}
	down = fault.New(fault.Unavailable, "it is down")
)

// fixture is an organization with receivers and an engine.
type fixture struct {
	*apitest.Fixture
	post   *post
	health *records
	to     everybody
}

func newFixture(t testing.TB, to ...delivery.Target) *fixture {
	t.Helper()
	return fixtureOn(t, apitest.New(t), to...)
}

func fixtureOn(t testing.TB, a *apitest.Fixture, to ...delivery.Target) *fixture {
	t.Helper()
	p := &post{answer: map[string]func(context.Context) (delivery.Answer, error){}, now: a.Platform.Clock.Now}
	p.more = sync.NewCond(&p.mu)
	return &fixture{Fixture: a, post: p, health: &records{}, to: to}
}

// engine returns a new engine, as of another process.
func (f *fixture) engine() *delivery.Engine {
	senders, health := map[delivery.Kind]delivery.Sender{}, map[delivery.Kind]delivery.HealthRecorder{}
	for _, k := range []delivery.Kind{delivery.Channel, delivery.Webhook, delivery.Email, delivery.Integration} {
		senders[k], health[k] = f.post, f.health
	}
	return delivery.NewEngine(delivery.Parts{
		Table: f.Table, Clock: f.Platform.Clock, Log: slog.New(slog.DiscardHandler), Sealer: f.Sealer,
		Matchers: []delivery.Matcher{f.to}, Senders: senders, Health: health,
	})
}

// happen adds n events of one key to the outbox, each in its own row, and returns the rows.
func (f *fixture) happen(key string, n int) []table.Item {
	f.Helper()
	out := make([]table.Item, n)
	for i := range out {
		e := event.Event{
			Key: key, ScopeType: "org", At: f.Platform.Clock.Now(), Subject: strconv.Itoa(i),
			Data: []byte("{}"),
		}
		w, err := event.Put(org, fmt.Sprintf("%s %d %d", key, i, f.Platform.Clock.Now().UnixNano()), e.At, e)
		f.Must(err)
		f.Must(f.Table.Transact(f.In(org), w))
		out[i] = w.Item
	}
	return out
}

// deliver passes rows to an engine.
func (f *fixture) deliver(rows []table.Item) {
	f.Helper()
	for _, failed := range f.engine().Deliver(f.Context(), rows) {
		f.Errorf("%s: %v", failed.SK, failed.Err)
	}
}

// rounds runs a round every ten seconds until d has passed.
func (f *fixture) rounds(d time.Duration) {
	f.Helper()
	e := f.engine()
	for end := f.Clock.Now().Add(d); f.Clock.Now().Before(end); f.Clock.Advance(10 * time.Second) {
		f.Must(e.Round(f.Context()))
	}
}

// log returns the log, newest first.
func (f *fixture) log() []delivery.Record {
	f.Helper()
	l, err := delivery.NewStore(f.Table, f.Clock).List(f.In(org), org, delivery.Filter{},
		rest.Page{Page: 1, Limit: 10_000})
	f.Must(err)
	return l.Items
}

// only returns the only delivery.
func (f *fixture) only() delivery.Record {
	f.Helper()
	all := f.log()
	if len(all) != 1 {
		f.Fatalf("%d deliveries", len(all))
	}
	return all[0]
}

// due counts the due rows.
func (f *fixture) due() (n int) {
	f.Helper()
	for i := range 17 {
		pk := fmt.Sprintf("%s%02d", delivery.DuePrefix, i)
		if i == 16 {
			pk = delivery.DuePrefix + "NOW" + table.OutboxSuffix
		}
		n += len(apitest.Value(f.Table.Query(f.Anywhere(), table.Query{PK: pk, Limit: 1000}))(f).Items)
	}
	return n
}
