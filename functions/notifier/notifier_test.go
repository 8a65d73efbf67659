package notifier

import (
	"context"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

const org = apitest.Org

// answering is a receiver of all events that always gives the same answer.
type answering struct {
	delivery.Answer
	err error
}

func (answering) Match(_ context.Context, _ string, events []event.Event) ([][]delivery.Target, error) {
	return slices.Repeat([][]delivery.Target{{{Kind: delivery.Channel, ID: "chan_1"}}}, len(events)), nil
}

func (a answering) Send(context.Context, delivery.Message) (delivery.Answer, error) {
	return a.Answer, a.err
}

// TestDeclaration_SufficesForAllThatTheEngineDoes checks that each result of a delivery needs only the declared
// access, which the table's fence and IAM enforce.
func TestDeclaration_SufficesForAllThatTheEngineDoes(t *testing.T) {
	for name, tt := range map[string]struct {
		answering
		status delivery.Status
		mails  int
	}{
		"a receiver that takes it": {answering{delivery.Answer{Status: 200}, nil}, delivery.Delivered, 0},
		"one that is gone": {answering{
			delivery.Answer{Status: 410, Gone: true},
			fault.New(fault.Invalid, "gone"),
		}, delivery.Parked, 1},
		"one that stays down": {
			answering{delivery.Answer{}, fault.New(fault.Unavailable, "down")},
			delivery.Parked, 1,
		},
		"one that is there no longer": {answering{delivery.Answer{}, fault.New(fault.NotFound, "deleted")}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := apitest.New(t)
			f.User("ada")
			f.Join(org, "ada", "owner")
			p := f.Clone()
			p.Own(Declaration)
			e := New(p, Receivers{
				Matchers: []delivery.Matcher{tt}, Senders: map[delivery.Kind]delivery.Sender{delivery.Channel: tt},
			})
			w, err := event.Put(org, "x", f.Clock.Now(),
				event.Event{Key: event.ResourceFailed, ScopeType: "org", At: f.Clock.Now(), Data: []byte("{}")})
			f.Must(err)
			f.Must(f.Table.Transact(f.In(org), w))
			feed := apitest.Value(f.Table.Feed(table.Within(t.Context(), table.OutboxSuffix), "", 10))(f)
			if failed := e.Deliver(t.Context(), feed.Items); len(failed) != 0 {
				t.Fatalf("%+v", failed)
			}
			for range 500 {
				f.Must(e.Round(t.Context()))
				f.Clock.Advance(time.Minute)
			}
			all, err := delivery.NewStore(f.Table, f.Clock).List(f.In(org), org, delivery.Filter{},
				rest.Page{Page: 1, Limit: 10})
			f.Must(err)
			if n := len(all.Items); n > 1 || n == 1 && all.Items[0].Status != tt.status || n == 0 && tt.status != "" {
				t.Errorf("%+v", all.Items)
			}
			f.Equal("mails", len(f.Mails()), tt.mails)
		})
	}
}

// TestDeclaration_SufficesForEventsThatAreToldLater: after the matching of receivers failed once, the notifier reads
// the rows of events again, which the function must declare.
func TestDeclaration_SufficesForEventsThatAreToldLater(t *testing.T) {
	f := apitest.New(t)
	p := f.Clone()
	p.Own(Declaration)
	m := &failingOnce{answering: answering{delivery.Answer{Status: 200}, nil}}
	e := New(p, Receivers{
		Matchers: []delivery.Matcher{m}, Senders: map[delivery.Kind]delivery.Sender{delivery.Channel: m},
	})
	w, err := event.Put(org, "x", f.Clock.Now(),
		event.Event{Key: event.ResourceFailed, ScopeType: "org", At: f.Clock.Now(), Data: []byte("{}")})
	f.Must(err)
	f.Must(f.Table.Transact(f.In(org), w))
	if failed := e.Deliver(t.Context(), []table.Item{w.Item}); len(failed) != 0 {
		t.Fatalf("%+v", failed)
	}
	f.Clock.Advance(2 * time.Minute)
	f.Must(e.Round(t.Context()))
	if m.sent != 1 {
		t.Errorf("sent %d", m.sent)
	}
}

// failingOnce fails its first call of Match.
type failingOnce struct {
	answering
	asked, sent int
}

func (f *failingOnce) Match(ctx context.Context, of string, events []event.Event) ([][]delivery.Target, error) {
	if f.asked++; f.asked == 1 {
		return nil, table.ErrThrottled
	}
	return f.answering.Match(ctx, of, events)
}

func (f *failingOnce) Send(ctx context.Context, m delivery.Message) (delivery.Answer, error) {
	f.sent++
	return f.answering.Send(ctx, m)
}
