package notifications

import (
	"net/http"
	"strings"
	"testing"

	"lamplighter.dev/shared/testkit/apitest"
)

// mailbox creates a channel that leads to the mailbox of a user.
func (f *fixture) mailbox(name, user string) Channel {
	f.Helper()
	return apitest.Data[Channel](f.Call(ada, "POST /notifications/channels", map[string]any{
		"type": "email", "name": name, "config": map[string]string{"email": apitest.Email(user)},
	}))
}

// owned creates a channel while the user may write everywhere, like a user who receives a more limited grant later.
func (f *fixture) owned(name, user string) Channel {
	f.Helper()
	return apitest.Data[Channel](f.Call(apitest.Caller(apitest.Org, user, "editor"), "POST /notifications/channels",
		map[string]any{
			"type": "slack", "name": name,
			"config": map[string]string{"webhookURL": f.chat.URL + "/services/T000/B000/secret-of-" + name},
		}))
}

// narrowFixture has one channel for each case that a limited grant distinguishes. Tom has a grant on the team, Pia on
// a resource without an owner.
type narrowFixture struct {
	*fixture
	hidden, reached, colleague, own, mail Channel
	team, other                           Subscription
}

func newNarrowFixture(t *testing.T) *narrowFixture {
	t.Helper()
	f := &narrowFixture{fixture: newFixture(t)}
	f.hidden, f.reached, f.colleague = f.channel("Hidden-Board"), f.channel("Reached"), f.mailbox("Colleague", "cyd")
	f.own, f.mail = f.owned("Own", "tom"), f.mailbox("Tom", "tom")
	f.team = f.subscribe(f.reached.ID, "resource.started", "team", f.fixture.team)
	f.subscribe(f.colleague.ID, "resource.started", "resource", "i-0")
	f.other = f.subscribe(f.hidden.ID, "resource.started", "resource", "i-1")
	return f
}

func TestChannels_ANarrowGrantSeesNoAddressOfOthers(t *testing.T) {
	f := newNarrowFixture(t)
	tom := apitest.Caller(apitest.Org, "tom", "editor team:"+f.fixture.team)
	got := f.Call(tom, "GET /notifications/channels").Want(http.StatusOK)
	for _, secret := range []string{f.hidden.ID, "Hidden-Board", apitest.Email("cyd"), "secret"} {
		if strings.Contains(got.Body, secret) {
			t.Errorf("the list of a narrow grant has %q: %s", secret, got.Body)
		}
	}
	addresses := map[string]bool{}
	for _, c := range apitest.Data[[]Channel](got) {
		addresses[c.ID] = c.Config.WebhookURL != nil || c.Config.Email != nil
	}
	want := map[string]bool{f.reached.ID: false, f.colleague.ID: false, f.own.ID: true, f.mail.ID: true}
	for id, address := range want {
		if has, listed := addresses[id]; !listed || has != address {
			t.Errorf("channel %s: listed %v, with an address %v, want listed with an address %v", id, listed, has,
				address)
		}
	}
	if len(addresses) != len(want) {
		t.Errorf("%d channels are listed, want %d: %s", len(addresses), len(want), got.Body)
	}
}

func TestChannels_OfAnotherScopeAndOrganizationAreNotListed(t *testing.T) {
	f := newNarrowFixture(t)
	pia := apitest.Caller(apitest.Org, "pia", "viewer resource:"+f.ids[1])
	got := apitest.Data[[]Channel](f.Call(pia, "GET /notifications/channels"))
	if len(got) != 1 || got[0].ID != f.hidden.ID || got[0].Config != (ChannelConfig{}) {
		t.Errorf("a grant on i-1 lists %+v, want the channel of its subscription without an address", got)
	}
	far := apitest.Caller(apitest.OtherOrg, "tom", "viewer team:"+f.fixture.team)
	if got := apitest.Data[[]Channel](f.Call(far, "GET /notifications/channels")); len(got) != 0 {
		t.Errorf("another organization lists %+v", got)
	}
	if got := apitest.Data[[]Channel](f.Call(vic, "GET /notifications/channels")); len(got) != 5 {
		t.Errorf("a viewer of the organization lists %d channels, want all 5", len(got))
	}
}

func TestSubscriptions_ANarrowGrantSubscribesOnlyOwnChannels(t *testing.T) {
	f := newNarrowFixture(t)
	tom := apitest.Caller(apitest.Org, "tom", "editor team:"+f.fixture.team)
	const path = "POST /notifications/subscriptions"
	on := func(c Channel) map[string]any { return item(c.ID, "resource.failed", "resource", "i-0") }
	many := func(cs ...Channel) map[string]any {
		var all []any
		for _, c := range cs {
			all = append(all, on(c))
		}
		return map[string]any{"subscriptions": all}
	}
	f.Call(tom, path, on(f.hidden)).Want(http.StatusBadRequest, "channelID", f.hidden.ID, "there is no such channel")
	f.Call(tom, path, on(f.reached)).Want(http.StatusForbidden, f.reached.ID)
	f.Call(tom, path, on(f.colleague)).Want(http.StatusForbidden, f.colleague.ID)
	f.Call(tom, path+"/bulk", many(f.own, f.hidden)).Want(http.StatusBadRequest, "subscriptions[1].channelID")
	f.Call(tom, path+"/bulk", many(f.own, f.reached)).Want(http.StatusForbidden, "subscriptions[1].channelID")
	mine := apitest.Data[Subscription](f.Call(tom, path, on(f.own)).Want(http.StatusOK))
	f.Call(tom, path, on(f.mail)).Want(http.StatusOK)
	f.Call(tom, "PUT /notifications/subscriptions/"+mine.ID,
		map[string]string{"channelID": f.reached.ID}).Want(http.StatusForbidden)
	f.Call(tom, "PUT /notifications/subscriptions/"+f.team.ID, `{"enabled":false}`).Want(http.StatusOK)
	f.Call(tom, "PUT /notifications/subscriptions/"+f.team.ID, `{"enabled":true}`).Want(http.StatusForbidden)
	f.Call(tom, "PUT /notifications/subscriptions/"+f.team.ID,
		`{"eventType":"resource.failed"}`).Want(http.StatusForbidden)
	reader := apitest.Caller(apitest.Org, "tom", "viewer", "editor team:"+f.fixture.team)
	f.Call(reader, path, on(f.hidden)).Want(http.StatusForbidden, f.hidden.ID)
	f.Call(apitest.Caller(apitest.Org, "wes", "editor"), path, on(f.hidden)).Want(http.StatusOK)
}
