package webhooks

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

func TestWebhooks_FromCreationToEnd(t *testing.T) {
	f := newFixture(t)
	made := f.hook(map[string]any{"eventTypes": []string{"budget.warning", "budget.exceeded", "budget.warning"}})
	if !id.IsValid("whk", made.ID) || !strings.HasPrefix(made.Secret, "whsec_") || made.Status != "active" ||
		!made.Enabled || fmt.Sprint(made.EventTypes) != "[budget.exceeded budget.warning]" || made.ScopeType != "org" {
		t.Errorf("%+v", made)
	}
	path := "/webhooks/" + made.ID
	answer := f.Call(ada, "GET "+path).AtMost(1).Want(http.StatusOK, made.URL)
	if strings.Contains(answer.Body, made.Secret) || strings.Contains(answer.Body, `"secret"`) {
		t.Errorf("the secret is told again: %s", answer.Body)
	}
	f.Call(ada, "POST /webhooks", map[string]any{"name": "oPS", "url": f.URL}).Want(http.StatusConflict, "oPS")
	f.Clock.Advance(time.Second)
	got := apitest.Data[Webhook](f.Call(ada, "PUT "+path, `{"name":"All","eventTypes":null,"enabled":false}`))
	if got.Name != "All" || len(got.EventTypes) != 0 || got.Enabled || got.Status != "disabled" ||
		got.URL != made.URL || !got.UpdatedAt.After(made.UpdatedAt) {
		t.Errorf("%+v", got)
	}
	f.Equal("audited", f.LastAudited(apitest.Org).Target, made.ID)
	f.hook(nil) // the name is available again
	for _, request := range []string{"GET ", "DELETE ", "PUT "} {
		f.Call(eve, request+path, map[bool]string{true: "{}"}[request == "PUT "]).Want(http.StatusNotFound, made.ID)
	}
	f.Equal("of another organization", apitest.Data[rest.List[Webhook]](f.Call(eve, "GET /webhooks")).Total, 0)
	f.Equal("deleted", apitest.Data[rest.Deleted](f.Call(ada, "DELETE "+path)).ID, made.ID)
	f.Call(ada, "GET "+path).Want(http.StatusNotFound, made.ID)
	f.Equal("left", apitest.Data[rest.List[Webhook]](f.Call(ada, "GET /webhooks").AtMost(1)).Total, 1)
}

func TestWebhooks_TheAddressIsMaskedAndSealed(t *testing.T) {
	f := newFixture(t)
	made := f.hook(nil)
	for who, answer := range map[string]apitest.Answer{
		"a viewer": f.Call(vera, "GET /webhooks/"+made.ID), "a list of a viewer's": f.Call(vera, "GET /webhooks"),
		"a list": f.Call(ada, "GET /webhooks"),
	} {
		if strings.Contains(answer.Body, "abcdefgh") || !strings.Contains(answer.Body, "/…1234") {
			t.Errorf("%s is told %s", who, answer.Body)
		}
	}
	for _, it := range apitest.Value(f.Table.Query(f.In(apitest.Org),
		table.Query{PK: table.OrgPK(apitest.Org) + "WEBHOOK", Limit: 10}))(f).Items {
		if strings.Contains(string(it.Data), "abcdefgh") || strings.Contains(string(it.Data), made.Secret[6:]) {
			t.Errorf("the store has %s", it.Data)
		}
	}
	for _, row := range f.Audited(apitest.Org) {
		if text := apitest.JSON(row); strings.Contains(text, "abcdefgh") || strings.Contains(text, made.Secret[6:]) {
			t.Errorf("the audit log has %s", text)
		}
	}
	f.Call(vera, "POST /webhooks", map[string]any{"name": "x", "url": f.URL}).Want(http.StatusForbidden)
	f.Call(vera, "POST /webhooks/"+made.ID+"/rotate-secret").Want(http.StatusForbidden)
	f.Call(vera, "POST /webhooks/"+made.ID+"/test").Want(http.StatusForbidden)
}

func TestWebhooks_BadInputIsRefusedByFieldAndValue(t *testing.T) {
	f := newFixture(t)
	theirs := inventorytest.Team(f.Fixture, apitest.OtherOrg, "Theirs")
	for name, c := range map[string]struct {
		body  map[string]any
		words []string
	}{
		"a blank name": {map[string]any{"name": " "}, []string{"name", "blank"}},
		"no address":   {map[string]any{"url": ""}, []string{"url"}},
		"metadata":     {map[string]any{"url": "http://169.254.169.254/latest"}, []string{"url", "metadata"}},
		"a user in it": {map[string]any{"url": "https://user:hush@example.com/"}, []string{"url", "user"}},
		"an unknown type": {
			map[string]any{"eventTypes": []string{"budget.lost"}},
			[]string{"eventTypes", "budget.lost"},
		},
		"a scope without id":  {map[string]any{"scopeType": "team"}, []string{"scopeID", "team"}},
		"an id without scope": {map[string]any{"scopeID": "x"}, []string{"scopeID", "x"}},
		"an unknown scope":    {map[string]any{"scopeType": "tag", "scopeID": "x"}, []string{"scopeType"}},
		"another one's team":  {map[string]any{"scopeType": "team", "scopeID": theirs}, []string{"scopeID", theirs}},
		"an unknown account": {
			map[string]any{"scopeType": "cloud_account", "scopeID": "ca_1"},
			[]string{"scopeID", "ca_1"},
		},
		"an unknown group": {
			map[string]any{"scopeType": "resource_group", "scopeID": id.New("grp", f.Clock.Now())},
			[]string{"scopeID"},
		},
		"an unknown resource": {
			map[string]any{"scopeType": "resource", "scopeID": "i-404"},
			[]string{"scopeID", "i-404"},
		},
		"too long an address": {
			map[string]any{"url": "https://example.com/" + strings.Repeat("x", 2048)},
			[]string{"url"},
		},
		"an address of a file": {map[string]any{"url": "file:///etc/passwd"}, []string{"url"}},
	} {
		t.Run(name, func(t *testing.T) {
			body := map[string]any{"name": "Ops", "url": f.URL}
			maps.Copy(body, c.body)
			got := f.Call(ada, "POST /webhooks", body).Want(http.StatusBadRequest, c.words...)
			if strings.Contains(got.Body, "hush") {
				t.Errorf("a password is repeated: %s", got.Body)
			}
		})
	}
	made := f.hook(nil)
	for body, word := range map[string]string{
		`{"url":null}`: "url", `{"enabled":null}`: "enabled",
		`{"name":null}`: "name", `{"url":"http://169.254.169.254/"}`: "metadata",
		`{"scopeType":"team","scopeID":"team_1"}`: "team_1",
	} {
		f.Call(ada, "PUT /webhooks/"+made.ID, body).Want(http.StatusBadRequest, word)
	}
	for i := range receiver.Most - 1 {
		f.Call(ada, "POST /webhooks", map[string]any{"name": "n" + strconv.Itoa(i), "url": f.URL}).Want(http.StatusOK)
	}
	f.Call(ada, "POST /webhooks", map[string]any{"name": "one more", "url": f.URL}).Want(http.StatusConflict, "50")
}

func TestWebhooks_ATestIsSignedAndLogged(t *testing.T) {
	f := newFixture(t)
	made := f.hook(nil)
	got := apitest.Data[WebhookDelivery](f.Call(ada, "POST /webhooks/"+made.ID+"/test"))
	came := f.last()
	if got.Status != "delivered" || got.EventType != "webhook.test" || len(got.Attempts) != 1 ||
		got.Attempts[0].Status != http.StatusOK || got.DeliveredAt == nil {
		t.Errorf("%+v", got)
	}
	if !verify(t, made.Secret, came) || came.Get("Webhook-Id") != got.ID ||
		came.Get("Webhook-Timestamp") != strconv.FormatInt(f.Clock.Now().Unix(), 10) ||
		came.Get("Content-Type") != "application/json" {
		t.Errorf("%+v", came)
	}
	if !strings.HasPrefix(came.body, `{"type":"webhook.test","timestamp":"2026-03-10T09:30:30Z","data":{`) ||
		!strings.Contains(came.body, apitest.Org) {
		t.Error(came.body)
	}
	if verify(t, receiver.NewWebhookKey(), came) {
		t.Error("any secret verifies it")
	}
	came.body += " "
	if verify(t, made.Secret, came) {
		t.Error("what was changed is verified")
	}
	for name, c := range map[string]struct {
		status  int
		headers []string
		word    string
	}{
		"a failure":              {500, nil, "500"},
		"a redirect to metadata": {302, []string{"Location", "http://169.254.169.254/"}, "redirects are not followed"},
	} {
		f.answers(c.status, c.headers...)
		before := len(f.came)
		got = apitest.Data[WebhookDelivery](f.Call(ada, "POST /webhooks/"+made.ID+"/test"))
		if got.Status != "parked" || got.Attempts[0].Status != c.status ||
			!strings.Contains(got.Attempts[0].Message, c.word) || len(f.came) != before+1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	f.answer = func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = fmt.Fprint(w, "http://", r.Host, r.URL, " ", r.URL, "\x1b[2J", strings.Repeat("x", 1000))
	}
	got = apitest.Data[WebhookDelivery](f.Call(ada, "POST /webhooks/"+made.ID+"/test"))
	if said := got.Attempts[0].Message; strings.Contains(said, "abcdefgh") || strings.Contains(said, "\x1b") ||
		len([]rune(said)) > 201 {
		t.Errorf("an echo: %q", said)
	}
	listed := apitest.Data[rest.List[WebhookDelivery]](f.Call(vera,
		"GET /webhooks/"+made.ID+"/deliveries?status=parked"))
	f.Equal("parked", listed.Total, 3)
	f.Call(eve, "GET /webhooks/"+made.ID+"/deliveries").Want(http.StatusNotFound)
	f.Call(eve, "POST /webhooks/"+made.ID+"/test").Want(http.StatusNotFound)
	f.Close()
	got = apitest.Data[WebhookDelivery](f.Call(ada, "POST /webhooks/"+made.ID+"/test"))
	if got.Status != "parked" || got.Attempts[0].Status != 0 ||
		!strings.Contains(got.Attempts[0].Message, "nobody answers") ||
		strings.Contains(got.Attempts[0].Message, "abcdefgh") {
		t.Errorf("of nobody: %+v", got)
	}
}

func TestWebhooks_TheSecretBeforeSignsForADay(t *testing.T) {
	f := newFixture(t)
	made := f.hook(nil)
	path := "/webhooks/" + made.ID
	second := apitest.Data[IssuedWebhook](f.Call(ada, "POST "+path+"/rotate-secret"))
	if second.Secret == made.Secret || second.SecretRotatedAt == nil || second.URL != made.URL {
		t.Fatalf("%+v", second)
	}
	signs := func(secrets ...string) []bool {
		t.Helper()
		f.Call(ada, "POST "+path+"/test").Want(http.StatusOK)
		came := f.last()
		out := make([]bool, len(secrets))
		for i, s := range secrets {
			out[i] = verify(t, s, came)
		}
		return out
	}
	f.Clock.Advance(receiver.KeyOverlap - time.Second)
	f.Equal("within the day", signs(made.Secret, second.Secret), []bool{true, true})
	if n := len(strings.Fields(f.last().Get("Webhook-Signature"))); n != 2 {
		t.Errorf("%d signatures", n)
	}
	f.Clock.Advance(2 * time.Second)
	f.Equal("after it", signs(made.Secret, second.Secret), []bool{false, true})
	third := apitest.Data[IssuedWebhook](f.Call(ada, "POST "+path+"/rotate-secret"))
	fourth := apitest.Data[IssuedWebhook](f.Call(ada, "POST "+path+"/rotate-secret"))
	f.Equal("of two rotations", signs(second.Secret, third.Secret, fourth.Secret), []bool{false, true, true})
	f.Call(eve, "POST "+path+"/rotate-secret").Want(http.StatusNotFound)
}

func TestWebhooks_AReceiverThatIsGoneIsDisabledAtOnce(t *testing.T) {
	f := newFixture(t)
	made := f.hook(nil)
	path := "/webhooks/" + made.ID
	f.answers(http.StatusGone)
	got := apitest.Data[WebhookDelivery](f.Call(ada, "POST "+path+"/test"))
	f.Equal("the delivery", got.Status, "parked")
	now := apitest.Data[Webhook](f.Call(ada, "GET "+path))
	if now.Status != "gone" || now.Enabled || now.GoneAt == nil {
		t.Errorf("%+v", now)
	}
	f.Call(ada, "POST "+path+"/test").Want(http.StatusConflict, "gone")
	f.Call(ada, "POST "+path+"/deliveries/"+got.ID+"/redeliver").Want(http.StatusConflict, "gone")
	f.answers(http.StatusNoContent)
	now = apitest.Data[Webhook](f.Call(ada, "PUT "+path, `{"enabled":true}`))
	if now.Status != "active" || now.GoneAt != nil {
		t.Errorf("%+v", now)
	}
	f.Equal("afterwards", apitest.Data[WebhookDelivery](f.Call(ada, "POST "+path+"/test")).Status, "delivered")
}

func TestWebhooks_ADeliveryIsBegunAgain(t *testing.T) {
	f := newFixture(t)
	made := f.hook(nil)
	other := f.hook(map[string]any{"name": "Other"})
	f.answers(http.StatusInternalServerError)
	sent := apitest.Data[WebhookDelivery](f.Call(ada, "POST /webhooks/"+made.ID+"/test"))
	again := "/deliveries/" + sent.ID + "/redeliver"
	f.Call(ada, "POST /webhooks/"+other.ID+again).Want(http.StatusNotFound, sent.ID)
	f.Call(eve, "POST /webhooks/"+made.ID+again).Want(http.StatusNotFound)
	f.Call(vera, "POST /webhooks/"+made.ID+again).Want(http.StatusForbidden)
	got := apitest.Data[WebhookDelivery](f.Call(ada, "POST /webhooks/"+made.ID+again))
	if got.ID != sent.ID || got.Status != "pending" || got.NextAttemptAt == nil {
		t.Errorf("%+v", got)
	}
	f.Call(ada, "POST /webhooks/"+made.ID+again).Want(http.StatusConflict, "pending")
	// a later attempt by the notifier has the same ID
	f.answers(http.StatusOK)
	r := apitest.Value(delivery.NewStore(f.Table, f.Clock).Get(f.In(apitest.Org), apitest.Org, sent.ID))(f)
	_, err := newService(f.Platform).sender.Send(f.In(apitest.Org), r.Message(apitest.Org))
	f.Must(err)
	f.Equal("webhook-id", f.last().Get("Webhook-Id"), sent.ID)
}

func TestMatch_FindsWhoIsToBeTold(t *testing.T) {
	f := newFixture(t)
	team := inventorytest.Team(f.Fixture, apitest.Org, "Shop")
	names := map[string]string{}
	for name, more := range map[string]map[string]any{
		"all": nil, "budgets": {"eventTypes": []string{"budget.exceeded"}},
		"a team": {"scopeType": "team", "scopeID": team}, "none": {"enabled": false},
	} {
		body := map[string]any{"name": name}
		maps.Copy(body, more)
		names[f.hook(body).ID] = name
	}
	for name, c := range map[string]struct {
		e    event.Event
		want string
	}{
		"a budget": {event.Event{Key: "budget.exceeded", ScopeType: "org"}, "all budgets"},
		"a team's resource": {event.Event{
			Key: event.ResourceStarted, ScopeType: "resource", ScopeID: "i-1",
			Within: []event.Scope{{Type: "team", ID: team}},
		}, "a team all"},
		"a resource of nobody's": {
			event.Event{Key: event.ResourceStarted, ScopeType: "resource", ScopeID: "i-1"},
			"all",
		},
		"a budget of another team": {
			event.Event{Key: "budget.exceeded", ScopeType: "team", ScopeID: "team_2"},
			"all budgets",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var found []delivery.Target
			usage := f.Meter(func(ctx context.Context) {
				found = apitest.Value(receiver.NewWebhookMatcher(f.store,
					receiver.NewAudience(f.Platform)).Match(table.WithOrg(ctx, apitest.Org), apitest.Org,
					[]event.Event{c.e}))(t)[0]
			})
			var got []string
			for _, to := range found {
				got = append(got, names[to.ID])
			}
			slices.Sort(got)
			if strings.Join(got, " ") != c.want || usage.RoundTrips > 2 {
				t.Errorf("got %v in %d trips, want %s", got, usage.RoundTrips, c.want)
			}
		})
	}
}

// TestWebhooks_SeveralAtOnceAreNoMoreThanTheMost: concurrent requests that count the webhooks at the same moment add
// only as many as the limit permits.
func TestWebhooks_SeveralAtOnceAreNoMoreThanTheMost(t *testing.T) {
	f := newFixture(t)
	for i := range receiver.Most - 1 {
		f.Call(ada, "POST /webhooks", map[string]any{"name": "n" + strconv.Itoa(i), "url": f.URL}).Want(http.StatusOK)
	}
	const makers = 4
	store := receiver.NewWebhookStore(apitest.Meet(f.Table, table.OrgPK(apitest.Org)+receiver.WebhookPartition.Name(),
		makers),
		f.Sealer)
	var wg sync.WaitGroup
	errs := make([]error, makers)
	for i := range errs {
		wg.Go(func() {
			w := receiver.Webhook{Row: receiver.Row{
				ID:   id.New(receiver.WebhookPrefix, f.Clock.Now()),
				Name: "late " + strconv.Itoa(i),
			}}
			errs[i] = store.Create(f.In(apitest.Org), apitest.Org, &w)
		})
	}
	wg.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
		} else if !strings.Contains(err.Error(), "has 50 webhooks, which is the most") {
			t.Errorf("%v", err)
		}
	}
	all := apitest.Value(store.List(f.In(apitest.Org), apitest.Org))(f)
	if made != 1 || len(all) != receiver.Most {
		t.Errorf("%d are made, and there are %d", made, len(all))
	}
}
