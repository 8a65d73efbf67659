package notifications

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

var (
	ada = apitest.Caller(apitest.Org, "ada", "owner")
	vic = apitest.Caller(apitest.Org, "vic", "viewer")
	eve = apitest.Caller(apitest.OtherOrg, "eve", "owner")
)

// fixture is an organization with a chat and two instances; i-0 belongs to a team and a group.
type fixture struct {
	*apitest.Fixture
	chat                 *chat
	team, group, account string
	ids                  []string
}

// chat is a server that accepts messages as Slack does, unless a test sets another answer.
type chat struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	status int
	said   string
}

func (c *chat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies = append(c.bodies, string(b))
	w.WriteHeader(c.status)
	io.WriteString(w, c.said)
}

func (c *chat) answer(status int, said string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status, c.said = status, said
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Fixture: apitest.New(t, Operations), chat: &chat{status: http.StatusOK, said: "ok"}}
	f.Join(apitest.Org, "ada", "owner") // a receiver gets only events that its maker may read
	f.chat.Server = httptest.NewServer(f.chat)
	t.Cleanup(f.chat.Close)
	f.ids = inventorytest.Discover(f.Fixture, apitest.Org, "aws-ec2", inventorytest.Instances(2)...)
	f.account = id.New("ca", f.Clock.Now())
	inventorytest.Connect(f.Fixture, apitest.Org, f.account)
	f.team = inventorytest.Team(f.Fixture, apitest.Org, "Shop", f.ids[0])
	f.group = id.New("grp", f.Clock.Now())
	_, err := inventory.New(f.Platform).CreateGroup(f.In(apitest.Org), apitest.Org,
		inventory.Group{ID: f.group, Name: "First"},
		[]inventory.GroupPlacement{{ResourceID: f.ids[0], Tier: 1, Order: 1}})
	f.Must(err)
	return f
}

// channel creates a Slack channel that leads to the chat.
func (f *fixture) channel(name string) Channel {
	f.Helper()
	return apitest.Data[Channel](f.Call(ada, "POST /notifications/channels", map[string]any{
		"type": "slack", "name": name,
		"config": map[string]string{"webhookURL": f.chat.URL + "/services/T000/B000/secret-of-" +
			strings.ReplaceAll(name, " ", "-")},
	}))
}

func (f *fixture) subscribe(channelID, eventType, scopeType, scopeID string) Subscription {
	f.Helper()
	return apitest.Data[Subscription](f.Call(ada, "POST /notifications/subscriptions",
		item(channelID, eventType, scopeType, scopeID)))
}

func item(channelID, eventType, scopeType, scopeID string) map[string]any {
	return map[string]any{"channelID": channelID, "eventType": eventType, "scopeType": scopeType, "scopeID": scopeID}
}

// told returns the receivers of an event of a key that belongs to scopes.
func (f *fixture) told(key string, within ...event.Scope) string {
	f.Helper()
	e := event.Event{
		ID: "event_1", Key: key, ScopeType: event.ScopeResource, ScopeID: "i-0", At: f.Clock.Now(),
		Within: within,
	}
	got, err := notification.NewMatcher(f.Platform).Match(f.In(apitest.Org), apitest.Org, []event.Event{e})
	f.Must(err)
	var out []string
	for _, t := range got[0] {
		out = append(out, string(t.Kind)+" "+t.ID)
	}
	return strings.Join(out, ", ")
}

func TestChannels_FromCreationToEnd(t *testing.T) {
	f := newFixture(t)
	made := f.channel("Ops")
	if !id.IsValid("chn", made.ID) || made.Type != "slack" || made.Status != "ok" ||
		!strings.HasSuffix(*made.Config.WebhookURL, "secret-of-Ops") || made.Config.Email != nil {
		t.Errorf("%+v", made)
	}
	path := "/notifications/channels/" + made.ID
	f.Equal("listed", apitest.JSON(apitest.Data[[]Channel](f.Call(ada, "GET /notifications/channels").AtMost(1))),
		apitest.JSON([]Channel{made}))
	f.Call(ada, "POST /notifications/channels",
		map[string]any{
			"type": "email", "name": "OPS",
			"config": map[string]string{"email": "a@example.com"},
		}).Want(http.StatusConflict, "OPS")
	f.Clock.Advance(time.Second)
	got := apitest.Data[Channel](f.Call(ada, "PUT "+path, `{"name":"Operations"}`))
	if got.Name != "Operations" || *got.Config.WebhookURL != *made.Config.WebhookURL ||
		!got.UpdatedAt.After(made.UpdatedAt) {
		t.Errorf("%+v", got)
	}
	f.Equal("audited", f.LastAudited(apitest.Org).Target, made.ID)
	got = apitest.Data[Channel](f.Call(ada, "PUT "+path,
		map[string]any{"config": map[string]string{"webhookURL": f.chat.URL + "/another/one/of/them"}}))
	if got.Name != "Operations" || *got.Config.WebhookURL != f.chat.URL+"/another/one/of/them" {
		t.Errorf("%+v", got)
	}
	f.channel("Ops") // the name is available again
	for _, request := range []string{"PUT " + path + ` {"name":"x"}`, "DELETE " + path, "POST " + path + "/test"} {
		f.Call(eve, request).Want(http.StatusNotFound, made.ID)
	}
	f.Equal("of another organization", len(apitest.Data[[]Channel](f.Call(eve, "GET /notifications/channels"))), 0)
	f.Equal("deleted", apitest.Data[rest.Deleted](f.Call(ada, "DELETE "+path)).ID, made.ID)
	f.Call(ada, "DELETE "+path).Want(http.StatusNotFound, made.ID)
	f.Equal("left", len(apitest.Data[[]Channel](f.Call(ada, "GET /notifications/channels"))), 1)
}

func TestChannels_AnAddressIsSealedAndMasked(t *testing.T) {
	f := newFixture(t)
	f.channel("Ops")
	f.Call(ada, "POST /notifications",
		map[string]any{
			"channel": "teams", "webhookURL": f.chat.URL + "/services/secret-of-before",
			"notifyOnStart": true,
		})
	for _, path := range []string{"/notifications/channels", "/notifications"} {
		if got := f.Call(vic, "GET "+path).Want(http.StatusOK,
			strings.TrimPrefix(f.chat.URL, "http://")); strings.Contains(got.Body, "secret") {
			t.Errorf("a viewer sees the address: %s", got.Body)
		}
	}
	for _, pk := range []string{"CHANNEL", "NOTIFYLEGACY"} {
		for _, row := range apitest.Rows[map[string]any](f.Fixture, table.OrgPK(apitest.Org)+pk) {
			if strings.Contains(fmt.Sprint(row), "secret-of") {
				t.Errorf("stored readable: %v", row)
			}
		}
	}
	for _, row := range f.Audited(apitest.Org) {
		if strings.Contains(apitest.JSON(row), "secret-of") {
			t.Errorf("on record: %s", apitest.JSON(row))
		}
	}
}

func TestChannels_BadInputIsRefusedByFieldAndValue(t *testing.T) {
	f := newFixture(t)
	const slack = `"config":{"webhookURL":"https://hooks.slack.com/services/T/B/x"}`
	for _, c := range []struct{ body, field, value string }{
		{`{"type":"pager","name":"x",` + slack + `}`, "type", "slack"},
		{`{"type":"slack","name":" ",` + slack + `}`, "name", ""},
		{`{"type":"slack","name":"` + strings.Repeat("n", 129) + `",` + slack + `}`, "name", "128"},
		{`{"type":"slack",` + slack + `}`, "name", ""},
		{`{"type":"slack","name":"x"}`, "config", ""},
		{`{"type":"slack","name":"x","config":{}}`, "config.webhookURL", "missing"},
		{`{"type":"slack","name":"x","config":{"email":"a@example.com"}}`, "config.email", "slack"},
		{
			`{"type":"email","name":"x","config":{"webhookURL":"https://hooks.slack.com/x"}}`, "config.webhookURL",
			"email",
		},
		{`{"type":"email","name":"x","config":{"email":"nobody"}}`, "config.email", "name@example.com"},
		{
			`{"type":"email","name":"x","config":{"email":"a@example.com\r\nBcc: b@example.com"}}`, "config.email",
			"name@example.com",
		},
		{`{"type":"teams","name":"x",` + slack + `}`, "config.webhookURL", "hooks.slack.com"},
		{
			`{"type":"gchat","name":"x","config":{"webhookURL":"https://chat.googleapis.com.evil.example/x"}}`,
			"config.webhookURL", "evil.example",
		},
		{
			`{"type":"slack","name":"x","config":{"webhookURL":"https://xhooks.slack.com/x"}}`, "config.webhookURL",
			"xhooks.slack.com",
		},
		{
			`{"type":"slack","name":"x","config":{"webhookURL":"http://hooks.slack.com/x"}}`, "config.webhookURL",
			"https",
		},
		{
			`{"type":"slack","name":"x","config":{"webhookURL":"https://hooks.slack.com:8443/x"}}`, "config.webhookURL",
			"port 8443",
		},
		{
			`{"type":"slack","name":"x","config":{"webhookURL":"https://hooks.slack.com:443/x"}}`, "config.webhookURL",
			"leave it out",
		},
		{
			`{"type":"slack","name":"x","config":{"webhookURL":"https://hooks.slack.com/…abcd"}}`, "config.webhookURL",
			"characters",
		},
	} {
		f.Call(ada, "POST /notifications/channels", c.body).Want(http.StatusBadRequest, c.field, c.value)
	}
	made := f.channel("Ops")
	for _, body := range []string{
		`{"config":null}`, `{"name":null}`, `{"config":{"email":"a@example.com"}}`,
		`{"config":{}}`,
	} {
		f.Call(ada, "PUT /notifications/channels/"+made.ID, body).Want(http.StatusBadRequest)
	}
	f.Call(vic, "POST /notifications/channels", `{"type":"slack","name":"x",`+slack+`}`).Want(http.StatusForbidden)
	f.Call(ada, "PUT /notifications/channels/nonsense", `{"name":"x"}`).Want(http.StatusNotFound, "nonsense")
	f.Call(ada, "DELETE /notifications/channels/nonsense").Want(http.StatusNotFound, "nonsense")
}

func TestChannels_TheAddressesOfTheVendorsAreTaken(t *testing.T) {
	f := newFixture(t)
	f.Settings.PrivateAddresses, f.Settings.ChatHosts = false, []string{"chat.example.com", ".chats.example.com"}
	f.Mount(Operations)
	for address, of := range map[string]string{
		"https://hooks.slack.com/services/T/B/x": "slack", "https://hooks.slack-gov.com/services/T/B/x": "slack",
		"https://prod-1.westeurope.logic.azure.com/workflows/x?sig=y":    "teams",
		"https://x.environment.api.powerplatform.com/y":                  "teams",
		"https://x.webhook.office.com/y":                                 "teams",
		"https://chat.googleapis.com/v1/spaces/x/messages?key=k&token=t": "gchat",
		"https://chat.example.com/hooks/x":                               "slack",
		"https://a.chats.example.com/hooks/x":                            "gchat",
	} {
		f.Call(ada, "POST /notifications/channels",
			map[string]any{
				"type": of, "name": address,
				"config": map[string]string{"webhookURL": address},
			}).Want(http.StatusOK)
	}
	f.Call(ada, "POST /notifications/channels",
		map[string]any{
			"type": "slack", "name": "l",
			"config": map[string]string{"webhookURL": f.chat.URL},
		}).Want(http.StatusBadRequest, "config.webhookURL")
}

func TestSubscriptions_FromCreationToEnd(t *testing.T) {
	f := newFixture(t)
	c := f.channel("Ops")
	made := f.subscribe(c.ID, "resource.started", "team", f.team)
	if !id.IsValid("sub", made.ID) || !made.Enabled || made.ScopeID != f.team || made.ChannelID != c.ID {
		t.Errorf("%+v", made)
	}
	team := event.Scope{Type: event.ScopeTeam, ID: f.team}
	f.Equal("told", f.told("resource.started", team), "channel "+c.ID)
	f.Equal("told of what is no team's", f.told("resource.started"), "")
	f.Equal("told of another key", f.told("resource.stopped", team), "")
	f.Call(ada, "POST /notifications/subscriptions",
		item(c.ID, "resource.started", "team", f.team)).Want(http.StatusConflict, c.ID)

	path := "/notifications/subscriptions/" + made.ID
	f.Clock.Advance(time.Second)
	got := apitest.Data[Subscription](f.Call(ada, "PUT "+path, `{"enabled":false}`))
	if got.Enabled || got.EventType != made.EventType || !got.UpdatedAt.After(made.UpdatedAt) ||
		!got.CreatedAt.Equal(made.CreatedAt) {
		t.Errorf("%+v", got)
	}
	f.Equal("told when it is off", f.told("resource.started", team), "")
	f.Call(ada, "POST /notifications/subscriptions",
		item(c.ID, "resource.started", "team", f.team)).Want(http.StatusConflict)
	f.Call(ada, "PUT "+path,
		`{"enabled":true,"eventType":"resource.stopped","scopeType":"org","scopeID":null}`).Want(http.StatusOK,
		"resource.stopped")
	f.Equal("told of what it was for", f.told("resource.started", team), "")
	f.Equal("told of what it is for", f.told("resource.stopped"), "channel "+c.ID)
	other := f.subscribe(c.ID, "resource.started", "team", f.team) // available again
	f.Call(ada, "PUT /notifications/subscriptions/"+other.ID,
		`{"eventType":"resource.stopped","scopeType":"org","scopeID":""}`).Want(http.StatusConflict)
	second := f.channel("Second")
	f.Call(ada, "PUT /notifications/subscriptions/"+other.ID,
		map[string]string{"channelID": second.ID}).Want(http.StatusOK, second.ID)
	f.Equal("told when it has moved", f.told("resource.started", team), "channel "+second.ID)

	for _, request := range []string{"PUT " + path + ` {"enabled":true}`, "DELETE " + path} {
		f.Call(eve, request).Want(http.StatusNotFound, made.ID)
	}
	f.Equal("deleted", apitest.Data[rest.Deleted](f.Call(ada, "DELETE "+path)).ID, made.ID)
	f.Call(ada, "DELETE "+path).Want(http.StatusNotFound, made.ID)
	f.Equal("told when it is gone", f.told("resource.stopped"), "")
	f.Equal("listed", len(apitest.Data[[]Subscription](f.Call(ada, "GET /notifications/subscriptions").AtMost(1))), 1)
}

func TestSubscriptions_EachScopeMatchesItsEvents(t *testing.T) {
	f := newFixture(t)
	scopes := []event.Scope{
		{Type: "org"},
		{Type: "cloud_account", ID: f.account},
		{Type: "resource_group", ID: f.group},
		{Type: "resource", ID: "i-0"},
		{Type: "team", ID: f.team},
	}
	var channels []string
	for i, s := range scopes {
		c := f.channel(fmt.Sprint("of ", s.Type))
		f.subscribe(c.ID, "resource.failed", s.Type, s.ID)
		channels = append(channels, "channel "+c.ID)
		_ = i
	}
	all := slices.Sorted(slices.Values(channels))
	f.Equal("of everything", f.told("resource.failed", scopes...), strings.Join(all, ", "))
	f.Equal("of the resource alone", f.told("resource.failed"),
		strings.Join(slices.Sorted(slices.Values([]string{channels[0], channels[3]})), ", "))
	f.Equal("of another account", f.told("resource.failed", event.Scope{Type: "cloud_account", ID: "ca_x"}),
		strings.Join(slices.Sorted(slices.Values([]string{channels[0], channels[3]})), ", "))
	one := f.channel("all at once")
	for _, s := range scopes {
		f.subscribe(one.ID, "resource.stopped", s.Type, s.ID)
	}
	f.Equal("once however many match", f.told("resource.stopped", scopes...), "channel "+one.ID)
}

func TestSubscriptions_BadInputIsRefusedByFieldAndValue(t *testing.T) {
	f := newFixture(t)
	c := f.channel("Ops")
	const nowhere = "01k6v0e4y0c2b7m9q8r5t3w1xz"
	for _, tt := range []struct {
		channel, key, scope, id string
		want                    []string
	}{
		{"chn_" + nowhere, "resource.started", "org", "", []string{"channelID", nowhere}},
		{"nonsense", "resource.started", "org", "", []string{"channelID", "nonsense"}},
		{c.ID, "resource.paused", "org", "", []string{"eventType", "resource.paused", "event-types"}},
		{c.ID, "resource.started", "planet", "", []string{"scopeType", "cloud_account"}},
		{c.ID, "resource.started", "tag", "a=b", []string{"scopeType"}},
		{c.ID, "resource.started", "org", "x", []string{"scopeID", "x"}},
		{c.ID, "resource.started", "team", "", []string{"scopeID", "team"}},
		{c.ID, "resource.started", "team", "team_" + nowhere, []string{"scopeID", nowhere, "team"}},
		{c.ID, "resource.started", "resource_group", "grp_" + nowhere, []string{"scopeID", nowhere}},
		{c.ID, "resource.started", "cloud_account", "ca_" + nowhere, []string{"scopeID", nowhere}},
		{c.ID, "resource.started", "cloud_account", f.team, []string{"scopeID", f.team}},
		{c.ID, "resource.started", "resource", "i-77", []string{"scopeID", "i-77"}},
	} {
		body := item(tt.channel, tt.key, tt.scope, tt.id)
		f.Call(ada, "POST /notifications/subscriptions", body).Want(http.StatusBadRequest, tt.want...)
		good := item(c.ID, "resource.started", "org", "")
		got := f.Call(ada, "POST /notifications/subscriptions/bulk",
			map[string]any{"subscriptions": []any{good, body}}).Want(http.StatusBadRequest, tt.want...)
		if !strings.Contains(got.Body, "subscriptions[1].") {
			t.Errorf("it does not say which: %s", got.Body)
		}
	}
	f.Equal("none was made", len(apitest.Data[[]Subscription](f.Call(ada, "GET /notifications/subscriptions"))), 0)
	// another organization's channels and teams do not exist for the caller
	theirs := apitest.Data[Channel](f.Call(eve, "POST /notifications/channels",
		map[string]any{"type": "email", "name": "x", "config": map[string]string{"email": "a@example.com"}}))
	f.Call(ada, "POST /notifications/subscriptions",
		item(theirs.ID, "resource.started", "org", "")).Want(http.StatusBadRequest, theirs.ID)
	f.Call(eve, "POST /notifications/subscriptions",
		item(theirs.ID, "resource.started", "team", f.team)).Want(http.StatusBadRequest, f.team)
	made := f.subscribe(c.ID, "resource.started", "org", "")
	for _, body := range []string{
		`{"enabled":null}`, `{"scopeType":"team"}`, `{"eventType":"x"}`, `{"channelID":"x"}`,
		`{"scopeID":"x"}`,
	} {
		f.Call(ada, "PUT /notifications/subscriptions/"+made.ID, body).Want(http.StatusBadRequest)
	}
	f.Call(vic, "POST /notifications/subscriptions",
		item(c.ID, "resource.started", "org", "")).Want(http.StatusForbidden)
}
