package notifications

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

func TestEventTypes_AreThoseOfTheSpecification(t *testing.T) {
	f := newFixture(t)
	got := apitest.Data[[]EventType](f.Call(vic, "GET /notifications/event-types").AtMost(0))
	if len(got) != 22 || got[0] != (EventType{"resource.started", "Resource started", "resource"}) ||
		got[21].Category != "cost_anomaly" {
		t.Errorf("%+v", got)
	}
}

func TestEmailPreferences_AreOfTheCaller(t *testing.T) {
	f := newFixture(t)
	const path = "/notifications/email-preferences/budget.exceeded"
	never := apitest.Data[EmailPreference](f.Call(vic, "GET "+path).AtMost(1))
	f.Equal("never set", never, EmailPreference{EventKey: "budget.exceeded"})
	got := apitest.Data[EmailPreference](f.Call(vic, "PUT "+path, `{"enabled":true}`))
	if !got.Enabled || got.EventKey != "budget.exceeded" || !got.UpdatedAt.Equal(f.Clock.Now()) {
		t.Errorf("%+v", got)
	}
	f.Equal("kept", apitest.Data[EmailPreference](f.Call(vic, "GET "+path)).Enabled, true)
	f.Equal("of another", apitest.Data[EmailPreference](f.Call(ada, "GET "+path)).Enabled, false)
	f.Equal("of another key",
		apitest.Data[EmailPreference](f.Call(vic, "GET /notifications/email-preferences/budget.warning")).Enabled,
		false)
	f.Equal("off", apitest.Data[EmailPreference](f.Call(vic, "PUT "+path, `{"enabled":false}`)).Enabled, false)
	for _, request := range []string{
		"GET /notifications/email-preferences/nonsense",
		`PUT /notifications/email-preferences/nonsense {"enabled":true}`,
	} {
		f.Call(vic, request).Want(http.StatusNotFound, "nonsense")
	}
	f.Call(vic, "PUT "+path, `{}`).Want(http.StatusBadRequest, "enabled")
	f.Call(vic, "PUT "+path, `{"enabled":null}`).Want(http.StatusBadRequest, "enabled")
}

func TestLegacy_FromCreationToEndAndStillDelivered(t *testing.T) {
	f := newFixture(t)
	address := f.chat.URL + "/services/secret-of-before"
	made := apitest.Data[LegacyNotification](f.Call(ada, "POST /notifications",
		map[string]any{"channel": "slack", "webhookURL": address, "notifyOnStart": true, "notifyOnFailure": true}))
	if !id.IsValid("ntf", made.ID) || made.WebhookURL != address || !made.NotifyOnStart || made.NotifyOnStop ||
		!made.NotifyOnFailure || made.NotifyOnOverride {
		t.Errorf("%+v", made)
	}
	f.Equal("listed", apitest.JSON(apitest.Data[[]LegacyNotification](f.Call(ada, "GET /notifications"))),
		apitest.JSON([]LegacyNotification{made}))
	for key, want := range map[string]bool{
		"resource.started": true, "resource.stopped": false, "resource.failed": true, "resource.retry_exhausted": true,
		"resource.override": false, "budget.exceeded": false,
	} {
		f.Equal(key, f.told(key) == "legacy "+made.ID, want)
	}
	path := "/notifications/" + made.ID
	f.Clock.Advance(time.Second)
	got := apitest.Data[LegacyNotification](f.Call(ada, "PUT "+path,
		`{"notifyOnStart":false,"notifyOnStop":true,"notifyOnOverride":true}`))
	if got.NotifyOnStart || !got.NotifyOnStop || !got.NotifyOnFailure || !got.NotifyOnOverride ||
		got.WebhookURL != address || !got.UpdatedAt.After(made.UpdatedAt) {
		t.Errorf("%+v", got)
	}
	f.Equal("told",
		[]bool{f.told("resource.started") == "", f.told("resource.stopped") != "", f.told("resource.override") != ""},
		[]bool{true, true, true})
	f.Call(eve, "PUT "+path, `{"notifyOnStart":true}`).Want(http.StatusNotFound, made.ID)
	f.Call(eve, "DELETE "+path).Want(http.StatusNotFound, made.ID)
	f.Call(ada, "PUT "+path, `{"channel":"email"}`).Want(http.StatusBadRequest, "webhookURL")
	f.Call(ada, "PUT "+path, `{"channel":"email","webhookURL":"ops@example.com"}`).Want(http.StatusOK,
		"ops@example.com")
	f.Call(ada, "PUT "+path, `{"webhookURL":null}`).Want(http.StatusBadRequest, "webhookURL")
	for _, body := range []string{
		`{"channel":"pager","webhookURL":"x"}`,
		`{"channel":"slack","webhookURL":"https://evil.example/"}`, `{"channel":"email","webhookURL":"x"}`,
		`{"channel":"slack"}`,
	} {
		f.Call(ada, "POST /notifications", body).Want(http.StatusBadRequest)
	}
	f.Equal("deleted", apitest.Data[rest.Deleted](f.Call(ada, "DELETE "+path)).ID, made.ID)
	f.Call(ada, "DELETE "+path).Want(http.StatusNotFound, made.ID)
	f.Equal("told when it is gone", f.told("resource.stopped")+f.told("resource.failed"), "")
}

func TestLegacy_IsDeprecatedInTheDescription(t *testing.T) {
	f := newFixture(t)
	for _, op := range Operations(f.Platform).Ops() {
		if old := op.Path == "/notifications" || op.Path == "/notifications/{notificationID}"; op.Deprecated != old {
			t.Errorf("%s: deprecated is %v", op.ID, op.Deprecated)
		}
	}
}

func TestChannelTest_AnswersWhatTheReceiverSays(t *testing.T) {
	f := newFixture(t)
	c := f.channel("Ops")
	test := "POST /notifications/channels/" + c.ID + "/test"
	got := apitest.Data[TestedChannel](f.Call(ada, test))
	if !got.Delivered || got.Status != 200 || got.Message != "ok" || len(f.chat.bodies) != 1 ||
		!strings.Contains(f.chat.bodies[0], "Test message") {
		t.Errorf("%+v, %q", got, f.chat.bodies)
	}
	f.Clock.Advance(time.Second)
	f.chat.answer(http.StatusNotFound, "no_service")
	got = apitest.Data[TestedChannel](f.Call(ada, test))
	if got.Delivered || got.Status != 404 || !strings.Contains(got.Message, "no_service") {
		t.Errorf("%+v", got)
	}
	broken := apitest.Data[[]Channel](f.Call(ada, "GET /notifications/channels"))[0]
	if broken.Status != "broken" || !strings.Contains(broken.StatusText, "no_service") {
		t.Errorf("%+v", broken)
	}
	f.Clock.Advance(time.Second)
	f.chat.answer(http.StatusOK, "ok")
	f.Call(ada, test).Want(http.StatusOK, `"delivered":true`)
	f.Equal("whole again", apitest.Data[[]Channel](f.Call(ada, "GET /notifications/channels"))[0].Status, "ok")
	log := apitest.Data[rest.List[NotificationDelivery]](f.Call(ada, "GET /notifications/deliveries"))
	if log.Total != 3 || log.Items[0].Status != delivery.Delivered ||
		log.Items[0].EventKey != notification.TestMessage ||
		log.Items[0].TargetID != c.ID {
		t.Errorf("%+v", log)
	}
	f.Equal("parked",
		apitest.Data[rest.List[NotificationDelivery]](f.Call(ada,
			"GET /notifications/deliveries?status=parked&kind=channel&target_id="+c.ID)).Total, 1)
	f.Equal("of another organization",
		apitest.Data[rest.List[NotificationDelivery]](f.Call(eve, "GET /notifications/deliveries")).Total, 0)
	f.Call(ada, "GET /notifications/deliveries?from=2026-03-11&to=2026-03-10").Want(http.StatusBadRequest, "from")
	f.Call(vic, test).Want(http.StatusForbidden)
	mailed := apitest.Data[Channel](f.Call(ada, "POST /notifications/channels",
		`{"type":"email","name":"M","config":{"email":"Ops@Example.com"}}`))
	f.Equal("normalized", *mailed.Config.Email, "ops@example.com")
	f.Call(ada, "POST /notifications/channels/"+mailed.ID+"/test").Want(http.StatusOK, `"delivered":true`, "queued")
	if m := f.Mails(); len(m) != 1 || m[0].To != "ops@example.com" || m[0].Letter == nil ||
		!strings.Contains(m[0].Letter.HTML, "Test message") {
		t.Errorf("%+v", m)
	}
}

// recommend stores an open recommendation for the fixture's first instance that saves 12.50 USD, and returns its id.
func (f *fixture) recommend() string {
	f.Helper()
	one := recommendation.Finding{
		RuleID: "aws-ec2-oversized", RuleVersion: 1, Outcome: recommendation.True, Category: "rightsizing",
		Severity: recommendation.Medium, Effort: "low", Risk: "low", Title: "Make it smaller", Reason: "CPU is idle",
		Resource: recommendation.Resource{
			ResourceID: f.ids[0], ResourceUID: "i-0", ResourceName: "web-0", ResourceType: "aws-ec2", Provider: "aws",
			CloudAccountID: inventorytest.Account, Region: "eu-west-1",
		},
		Savings: recommendation.Savings{
			Gross: money.MustParse("12.5"), Net: money.MustParse("12.5"), Strength: recommendation.BySize,
		},
	}
	p := recommendation.Pass{ID: "pass", At: f.Clock.Now()}
	_, err := recommendation.New(f.Platform).Settle(f.In(apitest.Org), apitest.Org, 0, p, []recommendation.Finding{one})
	f.Must(err)
	return recommendation.IDOf(f.ids[0], "i-0", one.RuleID)
}

func TestShare_CountsByChannel(t *testing.T) {
	f := newFixture(t)
	rec := f.recommend()
	path := "POST /notifications/share/recommendation/" + rec
	good, dead := f.channel("Good"), f.channel("Dead")
	body := map[string]any{"channelIDs": []string{good.ID, dead.ID, good.ID}, "message": "Shall we? <!channel>"}
	f.Call(ada, "POST /notifications/share/recommendation/rec_01k6v0e4y0c2b7m9q8r5t3w1xz",
		body).Want(http.StatusNotFound, "rec_01k6v0e4y0c2b7m9q8r5t3w1xz")
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	f.Call(ada, "PUT /notifications/channels/"+dead.ID,
		map[string]any{"config": map[string]string{"webhookURL": closed.URL}}).Want(http.StatusOK)
	f.Equal("shared", apitest.Data[SharedRecommendation](f.Call(ada, path, body)),
		SharedRecommendation{Sent: 1, Failed: 1})
	if len(f.chat.bodies) != 1 || !strings.Contains(f.chat.bodies[0], "Make it smaller") ||
		!strings.Contains(f.chat.bodies[0], "Shall we? &lt;!channel&gt;") ||
		!strings.Contains(f.chat.bodies[0], "12.50 USD") {
		t.Errorf("%q", f.chat.bodies)
	}
	f.Equal("on record",
		apitest.Data[rest.List[NotificationDelivery]](f.Call(ada,
			"GET /notifications/deliveries?event_key=recommendation.shared")).Total, 2)
	f.Call(ada, path, `{"channelIDs":["chn_x"]}`).Want(http.StatusBadRequest, "channelIDs", "chn_x")
	f.Call(ada, path, `{"channelIDs":[]}`).Want(http.StatusBadRequest, "channelIDs")
	f.Call(ada, path,
		map[string]any{
			"channelIDs": []string{good.ID},
			"message":    strings.Repeat("m", 2001),
		}).Want(http.StatusBadRequest, "message")
	f.Call(eve, path, body).Want(http.StatusNotFound)
	f.Call(vic, path, body).Want(http.StatusForbidden)
	for i, status := range []int{http.StatusOK, http.StatusNotFound} { // who shares sees the recommendation
		narrow := apitest.Caller(apitest.Org, "nan", "notifications:write", "recommendations:read resource:"+f.ids[i])
		f.Call(narrow, path, body).Want(status)
	}
}

func TestUnsubscribe_EndsTheMailsThatTheLinkIsOf(t *testing.T) {
	f := newFixture(t)
	const preference = "/notifications/email-preferences/resource.failed"
	f.Join(apitest.Org, "vic", "viewer")
	f.Call(vic, "PUT "+preference, `{"enabled":true}`).Want(http.StatusOK)
	f.Call(vic, "PUT /notifications/email-preferences/resource.started", `{"enabled":true}`).Want(http.StatusOK)
	f.Equal("told", f.told("resource.failed"), "email usr_vic")
	e := event.Event{
		ID: "event_1", Key: "resource.failed", ScopeType: "resource", ScopeID: "i-0", At: f.Clock.Now(),
		Data: []byte("{}"),
	}
	m := delivery.Message{
		ID: delivery.NewID(e.At), Org: apitest.Org,
		Target: delivery.Target{Kind: delivery.Email, ID: "usr_vic"}, Events: []event.Event{e}, Total: 1,
	}
	apitest.Value(notification.NewSenders(f.Platform)[delivery.Email].Send(f.Context(), m))(f)
	mails := f.Mails()
	if len(mails) != 1 || mails[0].To != "vic@example.com" || mails[0].Letter.Unsubscribe == "" {
		t.Fatalf("%+v", mails)
	}
	path := strings.TrimPrefix(mails[0].Letter.Unsubscribe, f.Settings.BaseURL)
	nobody := apitest.Caller("", "")
	nobody.User = ""
	f.Call(nobody, "GET "+path).Want(http.StatusOK, "Switch these mails off", "Start or stop failed")
	f.Equal("a look changes nothing", apitest.Data[EmailPreference](f.Call(vic, "GET "+preference)).Enabled, true)
	for _, wrong := range []string{
		path[:len(path)-2], path[:20] + string(path[20]^1) + path[21:], "/unsubscribe/x",
		"/unsubscribe/" + strings.Repeat("A", 100),
	} {
		f.Call(nobody, "POST "+wrong).Want(http.StatusNotFound, "not one of ours")
	}
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader("List-Unsubscribe=One-Click"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	f.Serve(nobody, r).Want(http.StatusOK, "switched off")
	f.Call(nobody, "POST "+path).Want(http.StatusOK) // again
	f.Equal("off", apitest.Data[EmailPreference](f.Call(vic, "GET "+preference)).Enabled, false)
	f.Equal("told", f.told("resource.failed"), "")
	f.Equal("another key", f.told("resource.started"), "email usr_vic")
	if _, err := notification.NewSenders(f.Platform)[delivery.Email].Send(f.Context(), m); !fault.Is(err,
		fault.NotFound) {
		t.Errorf("what was under way: %v", err)
	}
	for range 60 {
		f.Call(nobody, "GET "+path)
	}
	f.Call(nobody, "GET "+path).Want(http.StatusTooManyRequests)
}
