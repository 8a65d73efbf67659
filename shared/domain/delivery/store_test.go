package delivery_test

import (
	"errors"
	"fmt"
	"strings"
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

// sent logs a delivery of an event to a target. The delivery failed if err is not nil.
func sent(f *apitest.Fixture, to delivery.Target, key string, err error) delivery.Record {
	f.Helper()
	f.Clock.Advance(time.Second)
	m := delivery.Message{
		ID: delivery.NewID(f.Clock.Now()), Org: org, Target: to,
		Events: []event.Event{{ID: "event_1", Key: key, Data: []byte("{}")}}, Total: 1,
	}
	return apitest.Value(delivery.NewStore(f.Table, f.Clock).LogSent(f.In(org), m, delivery.Answer{Status: 200},
		err))(f)
}

func TestList_FiltersTheNewestFirst(t *testing.T) {
	f := apitest.New(t)
	chat, hook := delivery.Target{Kind: delivery.Channel, ID: "chan_1"},
		delivery.Target{Kind: delivery.Webhook, ID: "wh_1"}
	var ids []string
	for i := range 6 {
		to, key, err := chat, event.ResourceStarted, error(nil)
		if i%2 == 1 {
			to, key = hook, event.ResourceStopped
		}
		if i%3 == 2 {
			err = errors.New("refused")
		}
		ids = append(ids, sent(f, to, key, err).ID)
	}
	names := map[string]int{}
	for i, dlv := range ids {
		names[dlv] = i
	}
	s := delivery.NewStore(f.Table, f.Clock)
	for name, tt := range map[string]struct {
		of    delivery.Filter
		page  rest.Page
		want  string
		total int
	}{
		"all":             {page: rest.Page{Page: 1, Limit: 4}, want: "[5 4 3 2]", total: 6},
		"the second page": {page: rest.Page{Page: 2, Limit: 4}, want: "[1 0]", total: 6},
		"behind the last": {page: rest.Page{Page: 9, Limit: 4}, want: "[]", total: 6},
		"of a kind": {
			of:   delivery.Filter{Kinds: []delivery.Kind{delivery.Webhook, delivery.Legacy}},
			want: "[5 3 1]", total: 3,
		},
		"of a target": {of: delivery.Filter{TargetID: "chan_1"}, want: "[4 2 0]", total: 3},
		"of a status": {of: delivery.Filter{Statuses: []string{"parked"}}, want: "[5 2]", total: 2},
		"of a key":    {of: delivery.Filter{EventKey: event.ResourceStopped}, want: "[5 3 1]", total: 3},
		"of a status and a target": {
			of: delivery.Filter{Statuses: []string{"parked"}, TargetID: "wh_1"}, want: "[5]",
			total: 1,
		},
		"of a time": {of: delivery.Filter{
			From: apitest.Start.Add(2 * time.Second),
			To:   apitest.Start.Add(4 * time.Second),
		}, want: "[2 1]", total: 2},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.page.Page == 0 {
				tt.page = rest.Page{Page: 1, Limit: 20}
			}
			got, err := s.List(f.In(org), org, tt.of, tt.page)
			f.Must(err)
			listed := []int{}
			for _, r := range got.Items {
				listed = append(listed, names[r.ID])
			}
			if fmt.Sprint(listed) != tt.want || got.Total != tt.total {
				t.Errorf("got %v of %d, want %s of %d", listed, got.Total, tt.want, tt.total)
			}
		})
	}
}

func TestRedeliver_BeginsAgainWhatHasEnded(t *testing.T) {
	for name, failed := range map[string]error{"what was delivered": nil, "what is parked": errors.New("refused")} {
		t.Run(name, func(t *testing.T) {
			f := apitest.New(t)
			s := delivery.NewStore(f.Table, f.Clock)
			r := sent(f, delivery.Target{Kind: delivery.Webhook, ID: "wh_1"}, event.ResourceFailed, failed)
			f.Clock.Advance(time.Hour)
			next := apitest.Value(s.Redeliver(f.In(org), org, r.ID))(f)
			if got := apitest.Value(s.Get(f.In(org), org, r.ID))(f); got.Status != delivery.Pending ||
				!got.NextAttemptAt.Equal(f.Clock.Now()) || len(got.Attempts) != 1 || got.Change != next.Change {
				t.Errorf("%+v", got)
			}
			feed := apitest.Value(f.Table.Feed(table.Within(t.Context(), table.OutboxSuffix), "", 10))(f)
			if len(feed.Items) != 1 || !delivery.DuePartition.Matches(feed.Items[0].PK) {
				t.Errorf("the feed has %+v", feed.Items)
			}
			if _, err := s.Redeliver(f.In(org), org, r.ID); !fault.Is(err, fault.Conflict) ||
				!strings.Contains(fault.Message(err), "pending") {
				t.Errorf("what is under way: %v", err)
			}
		})
	}
}

func TestRedeliver_OfTwoAtOnceOneBegins(t *testing.T) {
	f := apitest.New(t)
	r := sent(f, delivery.Target{Kind: delivery.Webhook, ID: "wh_1"}, event.ResourceFailed, nil)
	whole := f.Table
	other := delivery.NewStore(whole, f.Clock)
	f.Table = between{whole, func() { apitest.Value(other.Redeliver(f.In(org), org, r.ID))(f) }}
	if _, err := delivery.NewStore(f.Table, f.Clock).Redeliver(f.In(org), org, r.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("%v", err)
	}
}

func TestGet_WhatIsNotThere(t *testing.T) {
	f := apitest.New(t)
	r := sent(f, delivery.Target{Kind: delivery.Channel, ID: "chan_1"}, event.ResourceFailed, nil)
	s := delivery.NewStore(f.Table, f.Clock)
	for name, dlv := range map[string]string{
		"no id": "x", "of nothing": delivery.NewID(f.Clock.Now()),
		"another organization's": r.ID,
	} {
		of := org
		if dlv == r.ID {
			of = "org_other"
		}
		if _, err := s.Get(f.In(of), of, dlv); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.Clock.Advance(delivery.Keep + time.Minute)
	if _, err := s.Get(f.In(org), org, r.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("kept for ever: %v", err)
	}
}
