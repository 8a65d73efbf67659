package notifications

import (
	"net/http"
	"slices"
	"testing"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/testkit/apitest"
)

// deliver records a delivery of total events to a channel. It stores only the given events.
func (f *narrowFixture) deliver(to Channel, total int, events ...event.Event) string {
	f.Helper()
	m := delivery.Message{
		ID: delivery.NewID(f.Clock.Now()), Org: apitest.Org, Target: delivery.Target{Kind: delivery.Channel, ID: to.ID},
		Events: events, Total: total,
	}
	_, err := delivery.NewStore(f.Table, f.Clock).LogSent(f.In(apitest.Org), m, delivery.Answer{Status: http.StatusOK},
		nil)
	f.Must(err)
	return m.ID
}

// happened returns an event of a resource that belonged to scopes.
func happened(uid string, within ...event.Scope) event.Event {
	return event.Event{
		ID: "event_" + uid, Key: "resource.started", ScopeType: event.ScopeResource, ScopeID: uid,
		Within: within,
	}
}

func TestDeliveries_ANarrowGrantSeesThoseOfEventsInIt(t *testing.T) {
	f := newNarrowFixture(t)
	test := event.Event{Key: "test", ScopeType: event.ScopeOrg}
	inTeam := f.deliver(f.reached, 1, happened("gone", event.Scope{Type: event.ScopeTeam, ID: f.fixture.team}))
	first := f.deliver(f.reached, 1, happened("i-0"))
	second := f.deliver(f.reached, 1, happened("i-1"))
	mixed := f.deliver(f.reached, 2, happened("i-0"), happened("i-1"))
	digest := f.deliver(f.reached, 20, happened("i-0"))
	whole := f.deliver(f.own, 1, event.Event{ID: "event_org", Key: "budget.exceeded", ScopeType: event.ScopeOrg})
	ownTest, otherTest := f.deliver(f.own, 1, test), f.deliver(f.reached, 1, test)
	for _, c := range []struct {
		name, org, user, grants string
		want                    []string
	}{
		{
			"a grant on the team that owns i-0", apitest.Org, "tom", "viewer team:" + f.fixture.team,
			[]string{inTeam, first, ownTest},
		},
		{
			"a grant on i-1 of a user without channels", apitest.Org, "pia", "viewer resource:" + f.ids[1],
			[]string{second},
		},
		{
			"a grant on i-0 of a user without channels", apitest.Org, "pia", "notifications:read resource:" + f.ids[0],
			[]string{first},
		},
		{
			"a grant of another organization on the same team", apitest.OtherOrg, "tom",
			"viewer team:" + f.fixture.team,
			nil,
		},
		{
			"a grant on the organization", apitest.Org, "vic", "viewer",
			[]string{inTeam, first, second, mixed, digest, whole, ownTest, otherTest},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := apitest.Data[rest.List[NotificationDelivery]](f.Call(apitest.Caller(c.org, c.user, c.grants),
				"GET /notifications/deliveries"))
			var got []string
			for _, d := range list.Items {
				got = append(got, d.ID)
			}
			slices.Sort(got)
			slices.Sort(c.want)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
