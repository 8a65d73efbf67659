package notifications

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

func TestBulk_UpdatesWhatIsThereAndCreatesTheRest(t *testing.T) {
	f := newFixture(t)
	c := f.channel("Ops")
	old := f.subscribe(c.ID, "resource.started", "org", "")
	f.Clock.Advance(time.Second)
	off := item(c.ID, "resource.started", "org", "")
	off["enabled"] = false
	twice, last := item(c.ID, "resource.stopped", "team", f.team), item(c.ID, "resource.stopped", "team", f.team)
	last["enabled"] = false
	all := []any{off, twice, item(c.ID, "resource.failed", "resource", "i-1"), last}
	got := f.Call(ada, "POST /notifications/subscriptions/bulk", map[string]any{"subscriptions": all})
	f.Equal("done", apitest.Data[UpsertedSubscriptions](got), UpsertedSubscriptions{Created: 2, Updated: 1})
	rows := map[string]Subscription{}
	for _, s := range apitest.Data[[]Subscription](f.Call(ada, "GET /notifications/subscriptions")) {
		rows[s.EventType] = s
	}
	if len(rows) != 3 || rows["resource.started"].ID != old.ID || rows["resource.started"].Enabled ||
		rows["resource.stopped"].Enabled || !rows["resource.failed"].Enabled {
		t.Errorf("%+v", rows)
	}
	again := f.Call(ada, "POST /notifications/subscriptions/bulk", map[string]any{"subscriptions": all})
	f.Equal("again", apitest.Data[UpsertedSubscriptions](again), UpsertedSubscriptions{Updated: 3})
	f.Call(ada, "POST /notifications/subscriptions/bulk", `{"subscriptions":[]}`).Want(http.StatusBadRequest,
		"subscriptions")
	f.Call(ada, "POST /notifications/subscriptions/bulk", `{}`).Want(http.StatusBadRequest, "subscriptions")
}

// every returns n subscriptions of a channel, each with another key or scope.
func (f *fixture) every(channelID string, n int) []any {
	f.Helper()
	var out []any
	inventorytest.DiscoverIn(f.Fixture,
		inventory.Partition{AccountID: inventorytest.Account, Region: "eu-west-1", Kind: "aws-ec2"}, apitest.Org,
		inventorytest.Instances((n+len(event.Types)-1)/len(event.Types))...)
	for i := range n {
		out = append(out,
			item(channelID, event.Types[i%len(event.Types)].Key, "resource", fmt.Sprint("i-", i/len(event.Types))))
	}
	return out
}

func TestBulk_TakesFiveHundredAndNoMore(t *testing.T) {
	f := newFixture(t)
	c := f.channel("Ops")
	all := f.every(c.ID, 501)
	f.Call(ada, "POST /notifications/subscriptions/bulk",
		map[string]any{"subscriptions": all}).Want(http.StatusBadRequest, "500")
	got := f.Call(ada, "POST /notifications/subscriptions/bulk", map[string]any{"subscriptions": all[:500]}).AtMost(40)
	f.Equal("done", apitest.Data[UpsertedSubscriptions](got).Created, 500)
	f.Equal("a page",
		len(apitest.Data[[]Subscription](f.Call(ada, "GET /notifications/subscriptions?limit=200&page=3"))), 100)
	f.Equal("all", len(apitest.Data[[]Subscription](f.Call(ada, "GET /notifications/subscriptions"))), 500)
	f.Equal("of a key",
		len(apitest.Data[[]Subscription](f.Call(ada,
			"GET /notifications/subscriptions?event_type=budget.warning&limit=10&page=2"))), 10)
}

// dying is a store that fails from a given transaction on, as if the process had died.
type dying struct {
	table.Store
	left int64
}

func (d *dying) Transact(ctx context.Context, ws ...table.Write) error {
	if atomic.AddInt64(&d.left, -1) < 0 {
		return table.ErrDown
	}
	return d.Store.Transact(ctx, ws...)
}

func TestChannels_ADeletionTakesAllSubscriptionsAndIsResumed(t *testing.T) {
	f := newFixture(t)
	gone, stays := f.channel("Gone"), f.channel("Stays")
	all := f.every(gone.ID, 450)
	f.Call(ada, "POST /notifications/subscriptions/bulk", map[string]any{"subscriptions": all}).Want(http.StatusOK)
	left := f.subscribe(stays.ID, "resource.started", "resource", "i-0")
	whole := f.Table
	f.Table = &dying{Store: whole, left: 4}
	f.Mount(Operations)
	f.Call(ada, "DELETE /notifications/channels/"+gone.ID).Want(http.StatusInternalServerError)
	f.Table = whole
	f.Mount(Operations)
	if got := f.Call(ada, "GET /notifications/channels").Want(http.StatusOK); strings.Contains(got.Body, gone.ID) {
		t.Errorf("it is listed: %s", got.Body)
	}
	f.Call(ada, "PUT /notifications/channels/"+gone.ID, `{"name":"x"}`).Want(http.StatusNotFound)
	f.Call(ada, "POST /notifications/subscriptions",
		item(gone.ID, "budget.warning", "org", "")).Want(http.StatusBadRequest, gone.ID)
	f.Call(ada, "DELETE /notifications/channels/"+gone.ID).Want(http.StatusOK)
	got := apitest.Data[[]Subscription](f.Call(ada, "GET /notifications/subscriptions"))
	if len(got) != 1 || got[0].ID != left.ID {
		t.Errorf("%d subscriptions are left", len(got))
	}
	f.Equal("told", f.told("resource.started"), "channel "+stays.ID)
	counts := apitest.Read[map[string]int](f.Fixture, table.Key{PK: table.OrgPK(apitest.Org) + "CHANNEL", SK: "COUNTS"})
	f.Equal("counted", counts, map[string]int{"channels": 1, "subscriptions": 1})
	f.channel("Gone")
}

func TestSubscriptions_AreBounded(t *testing.T) {
	f := newFixture(t)
	c := f.channel("Ops")
	f.Change(table.Key{PK: table.OrgPK(apitest.Org) + "CHANNEL", SK: "COUNTS"},
		table.Set("subscriptions", notification.MaxSubscriptions-1), table.Set("channels", notification.MaxChannels))
	f.subscribe(c.ID, "resource.started", "org", "")
	f.Call(ada, "POST /notifications/subscriptions",
		item(c.ID, "resource.stopped", "org", "")).Want(http.StatusBadRequest, "100000")
	f.Call(ada, "POST /notifications/channels",
		`{"type":"email","name":"x","config":{"email":"a@example.com"}}`).Want(http.StatusBadRequest, "1000")
}

func TestSubscriptions_AScopedCallerSeesAndMakesTheirs(t *testing.T) {
	f := newFixture(t)
	c := f.mailbox("Tom", "tom") // a narrow grant subscribes only channels of its own
	all, team, other := f.subscribe(c.ID, "resource.started", "org", ""),
		f.subscribe(c.ID, "resource.started", "team", f.team), f.subscribe(c.ID, "resource.started", "resource", "i-1")
	tom := apitest.Caller(apitest.Org, "tom", "editor team:"+f.team)
	got := apitest.Data[[]Subscription](f.Call(tom, "GET /notifications/subscriptions"))
	if len(got) != 1 || got[0].ID != team.ID {
		t.Errorf("%+v", got)
	}
	for _, s := range []Subscription{all, other} {
		f.Call(tom, "PUT /notifications/subscriptions/"+s.ID, `{"enabled":false}`).Want(http.StatusNotFound, s.ID)
		f.Call(tom, "DELETE /notifications/subscriptions/"+s.ID).Want(http.StatusNotFound, s.ID)
	}
	// the team owns it
	f.Call(tom, "POST /notifications/subscriptions",
		item(c.ID, "resource.failed", "resource", "i-0")).Want(http.StatusOK)
	f.Call(tom, "POST /notifications/subscriptions",
		item(c.ID, "resource.failed", "resource", "i-1")).Want(http.StatusBadRequest, "scopeID", "i-1")
	f.Call(tom, "POST /notifications/subscriptions",
		item(c.ID, "resource.failed", "org", "")).Want(http.StatusForbidden)
	f.Call(tom, "PUT /notifications/subscriptions/"+team.ID,
		`{"scopeType":"resource","scopeID":"i-1"}`).Want(http.StatusBadRequest, "i-1")
	f.Call(tom, "PUT /notifications/subscriptions/"+team.ID, `{"enabled":false}`).Want(http.StatusOK)
	f.Call(tom, "POST /notifications/subscriptions/bulk",
		map[string]any{"subscriptions": []any{item(c.ID, "resource.failed", "resource",
			"i-1")}}).Want(http.StatusBadRequest, "i-1")
	if got := f.Call(tom, "GET /notifications/channels").Want(http.StatusOK, c.ID); strings.Contains(got.Body,
		"secret") {
		t.Errorf("a narrow grant shows an address: %s", got.Body)
	}
	f.Call(tom, "DELETE /notifications/channels/"+c.ID).Want(http.StatusForbidden)
}
