package notifier

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

// TestEverybody_TellsWebhooks follows an event from its row to a webhook, which is retried, and to a webhook that is
// gone.
func TestEverybody_TellsWebhooks(t *testing.T) {
	f := apitest.New(t)
	var status, asked atomic.Int64
	ids := make(chan string, 20)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		ids <- r.Header.Get("Webhook-Id")
		w.WriteHeader(int(status.Load()))
	}))
	t.Cleanup(srv.Close)
	store, org := receiver.NewWebhookStore(f.Table, f.Sealer), apitest.Org
	w := receiver.Webhook{Row: receiver.Row{
		ID: id.New(receiver.WebhookPrefix, f.Clock.Now()), Name: "Ops", Enabled: true,
		Filter: receiver.Filter{ScopeType: event.ScopeOrg},
	}}
	f.Must(store.Seal(f.In(org), org, &w, &receiver.WebhookSecrets{URL: srv.URL, Key: receiver.NewWebhookKey()}))
	f.Must(store.Create(f.In(org), org, &w))
	engine := New(f.Platform, Everybody(f.Platform))
	cursor := ""
	tell := func(name string) {
		t.Helper()
		put := apitest.Value(event.Put(org, name, f.Clock.Now(),
			event.Event{
				Key: "budget.exceeded", ScopeType: event.ScopeOrg, At: f.Clock.Now(), Subject: "bud_1",
				Data: []byte("{}"),
			}))(t)
		f.Must(f.Table.Transact(f.In(org), put))
		feed := apitest.Value(f.Table.Feed(table.Within(t.Context(), table.OutboxSuffix), cursor, 100))(f)
		cursor = feed.Next
		if failed := engine.Deliver(t.Context(), feed.Items); len(failed) > 0 {
			t.Fatalf("%+v", failed)
		}
	}
	status.Store(http.StatusInternalServerError)
	tell("first")
	status.Store(http.StatusOK)
	f.Clock.Advance(time.Minute)
	f.Must(engine.Round(t.Context()))
	first, again := <-ids, <-ids
	if asked.Load() != 2 || first != again {
		t.Errorf("asked %d times, or under two ids", asked.Load())
	}
	of := delivery.Filter{TargetID: w.ID}
	list := func() []delivery.Record {
		got, err := delivery.NewStore(f.Table, f.Clock).List(f.In(org), org, of, rest.Page{Page: 1, Limit: 10})
		f.Must(err)
		return got.Items
	}
	if got := list(); len(got) != 1 || got[0].Status != delivery.Delivered || len(got[0].Attempts) != 2 {
		t.Errorf("%+v", got)
	}
	status.Store(http.StatusGone)
	tell("second")
	now := apitest.Value(store.Read(f.In(org), org, w.ID))(f)
	if got := list(); now.Status() != receiver.WebhookGone || len(got) != 2 || got[0].Status != delivery.Parked {
		t.Errorf("%s, %+v", now.Status(), got)
	}
	tell("third")
	if asked.Load() != 3 {
		t.Errorf("one that is gone was asked: %d requests", asked.Load())
	}
}
