package event_test

import (
	"errors"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestPut_TellsOfANameOnceAndThroughTheFeed(t *testing.T) {
	f := apitest.New(t)
	at := f.Clock.Now().AddDate(0, 0, -3)
	put := func(name string) error {
		w, err := event.Put(apitest.Org, name, at,
			event.Event{Key: "budget.warning", ScopeType: "org", At: f.Clock.Now(), Data: []byte(`{"threshold":80}`)})
		f.Must(err)
		return f.Table.Transact(f.In(apitest.Org), w)
	}
	f.Must(put("bud_1/80"))
	f.Must(put("bud_1/100"))
	if _, again := errors.AsType[*table.ConditionError](put("bud_1/80")); !again {
		t.Error("told of twice")
	}
	feed := apitest.Value(f.Table.Feed(table.Within(t.Context(), table.OutboxSuffix), "", 10))(f)
	if len(feed.Items) != 2 || feed.Items[0].PK != event.PK(apitest.Org) {
		t.Fatalf("the feed has %+v", feed.Items)
	}
	e := apitest.Value(table.Decode[event.Event](feed.Items[0]))(f)
	if e.ID != feed.Items[0].SK || e.Key != "budget.warning" || string(e.Data) != `{"threshold":80}` ||
		!feed.Items[0].Expires.Equal(f.Clock.Now().Add(event.Keep)) {
		t.Errorf("%+v", e)
	}
	f.Clock.Advance(event.Keep + time.Second)
	if rows := apitest.Rows[event.Event](f, event.PK(apitest.Org)); len(rows) != 0 {
		t.Errorf("%d are kept for ever", len(rows))
	}
}
