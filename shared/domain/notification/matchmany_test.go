package notification_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/testkit/apitest"
)

// bulkEvents returns the events of a bulk action on n resources: one for each resource, and of the two types by turns.
func bulkEvents(f *apitest.Fixture, n int) []event.Event {
	out := make([]event.Event, n)
	for i := range out {
		scopes := scopesOf(i)
		out[i] = event.Event{
			ID: fmt.Sprint("event_", i), Key: event.ResourceStarted, ScopeType: event.ScopeResource,
			ScopeID: scopes[4].ID, At: f.Clock.Now(), Within: scopes[1:4],
		}
		if i%2 == 1 {
			out[i].Key = event.ResourceFailed
		}
	}
	return out
}

// subscribe makes a subscription of a channel for each scope.
func subscribe(f *apitest.Fixture, channelID string, scopes ...event.Scope) {
	f.Helper()
	f.Join(org, "maker", "viewer")
	var all []notification.Subscription
	for _, scope := range scopes {
		ws, _ := receiver.HoldScope(org, scope)
		for _, w := range ws {
			f.Put(w.Item.Key, map[string]int{"holds": 0})
		}
		all = append(all, notification.Subscription{
			ID: id.New("sub", f.Clock.Now()), ChannelID: channelID, EventType: event.ResourceStarted,
			ScopeType: scope.Type, ScopeID: scope.ID, Enabled: true, Made: receiver.Made{Maker: "usr_maker"},
		})
	}
	if len(all) > 0 {
		_, err := notification.NewStore(f.Platform).UpsertSubscriptions(f.In(org), org, all)
		f.Must(err)
	}
}

// The receivers of many events are those of each event, whether their organization has few or many subscriptions.
func TestMatch_FindsForManyEventsWhatItFindsForEach(t *testing.T) {
	for _, subscribed := range []int{0, 1, 19, 20, 21, 60} {
		t.Run(fmt.Sprint(subscribed, " resources with subscriptions"), func(t *testing.T) {
			f := apitest.New(t)
			scopes := make([]event.Scope, subscribed)
			for i := range scopes {
				scopes[i] = scopesOf(3 * i)[4]
			}
			subscribe(f, channels(f, 1)[0], scopes...)
			m, events, told := notification.NewMatcher(f.Platform), bulkEvents(f, 100), 0
			many := apitest.Value(m.Match(f.Context(), org, events))(f)
			for i := range events {
				one := apitest.Value(matchOne(f.Context(), m, events[i]))(f)
				if told += len(one); !reflect.DeepEqual(one, many[i]) {
					t.Errorf("%s: %v, alone %v", events[i].ScopeID, many[i], one)
				}
			}
			want := 0 // every third resource is subscribed to, every second event is of the type
			for i := 0; i < 100 && i/3 < subscribed; i += 6 {
				want++
			}
			f.Equal("told", told, want)
		})
	}
}

// A bulk action on 50 resources took 50 round trips and 250 read units before.
func TestMatch_ReadsOnceWhatManyEventsHaveInCommon(t *testing.T) {
	f := apitest.New(t)
	m, events := notification.NewMatcher(f.Platform), bulkEvents(f, 50)
	u := f.Meter(func(ctx context.Context) { apitest.Value(m.Match(ctx, org, events))(f) })
	if u.RoundTrips != 2 || u.ReadUnits != 2 { // one of each type
		t.Errorf("without subscriptions: %+v, want 2 trips of a unit", u)
	}
	subscribe(f, channels(f, 1)[0], scopesOf(0)...)
	u = f.Meter(func(ctx context.Context) {
		apitest.Value(m.Match(membership.RememberCallers(ctx), org, events))(f)
	})
	if u.RoundTrips > 10 || u.ReadUnits > 20 { // and the rights of the maker
		t.Errorf("with subscriptions to some scopes: %+v", u)
	}
}
