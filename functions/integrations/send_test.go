package integrations

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

// send delivers an event. Each call is another delivery unless name is given.
func (f *fixture) send(to string, e event.Event, name ...string) (delivery.Answer, error) {
	f.Helper()
	f.Clock.Advance(time.Second)
	e.At = f.Clock.Now()
	m := delivery.Message{
		ID: delivery.NewID(e.At), Org: apitest.Org,
		Target: delivery.Target{Kind: delivery.Integration, ID: to}, Events: []event.Event{e}, Total: 1,
	}
	if len(name) > 0 {
		m.ID = name[0]
	}
	// like the notifier, without an organization in the context
	return receiver.NewIntegrationSender(f.services, receiver.NewAudience(f.Platform)).Send(f.Context(), m)
}

func (f *fixture) sent(to string, e event.Event) delivery.Answer {
	f.Helper()
	a, err := f.send(to, e)
	f.Must(err)
	return a
}

func of(key, scope, scopeID, subject string) event.Event {
	return event.Event{
		ID: "event_1", Key: key, ScopeType: scope, ScopeID: scopeID, Subject: subject,
		Data: []byte(`{"resourceName":"web <b>","reason":"quota\nexceeded"}`),
	}
}

func TestPagerDuty_AnAlertForEachThread(t *testing.T) {
	f := newFixture(t)
	to := f.connect("pagerduty", nil).ID
	for _, e := range []event.Event{
		of(event.ResourceFailed, "resource", "i-1", "act_1"),
		of(event.ResourceRetryExhausted, "resource", "i-1", "act_1"),
		of(event.ResourceFailed, "resource", "i-2", "act_2"),
		of(event.ResourceStarted, "resource", "i-1", "act_3"), of("budget.warning", "org", "", "bud_1"),
		of("budget.exceeded", "org", "", "bud_1"),
		of("cost.anomaly.emergency", "org", "", "anom_1"), of(event.ResourceOverride, "resource", "i-1", "ovr_1"),
	} {
		f.Equal("status of "+e.Key, f.sent(to, e).Status, http.StatusAccepted)
	}
	names := map[any]string{}
	var got []string
	for _, a := range f.alerts {
		if names[a["key"]] == "" {
			names[a["key"]] = fmt.Sprint("alert", len(names)+1)
		}
		got = append(got, fmt.Sprint(a["action"], " ", names[a["key"]], " ", a["severity"]))
	}
	f.Equal("alerts", strings.Join(got, ", "),
		"trigger alert1 error, trigger alert1 error, trigger alert2 error, resolve alert1 , trigger alert3 warning, "+
			"trigger alert3 error, trigger alert4 critical")
	f.Equal("changes", len(f.changes), 1)
	f.Equal("title", f.alerts[0]["summary"], "Start or stop failed: web <b>")
	other := apitest.Data[IssuedIntegration](f.Call(ada, "POST /integrations",
		map[string]any{"kind": "pagerduty", "name": "other", "config": f.good("pagerduty")}))
	f.sent(other.ID, of(event.ResourceFailed, "resource", "i-1", "act_1"))
	if names[f.alerts[len(f.alerts)-1]["key"]] != "" {
		t.Error("two integrations share an alert")
	}
}

func TestPagerDuty_WhatWillPassIsTriedAgain(t *testing.T) {
	f := newFixture(t)
	to := f.connect("pagerduty", nil).ID
	f.fails, f.status, f.after = 1, http.StatusTooManyRequests, "90"
	a, err := f.send(to, of(event.ResourceFailed, "resource", "i-1", "act_1"))
	if !fault.Is(err, fault.Unavailable) || a.RetryAfter != 90*time.Second || a.Status != http.StatusTooManyRequests {
		t.Errorf("%+v, %v", a, err)
	}
	f.fails, f.status, f.after = 1, http.StatusServiceUnavailable, "Wed, 11 Mar 2026 09:30:30 GMT"
	if a, err = f.send(to, of(event.ResourceFailed, "resource", "i-1", "act_1")); !fault.Is(err, fault.Unavailable) ||
		a.RetryAfter != time.Hour {
		t.Errorf("%+v, %v", a, err)
	}
	bad := apitest.Data[IssuedIntegration](f.Call(ada, "POST /integrations",
		map[string]any{
			"kind": "pagerduty", "name": "bad",
			"config": map[string]string{"routingKey": strings.Repeat("y", 32), "endpointURL": f.URL},
		}))
	if a, err = f.send(bad.ID, of(event.ResourceFailed, "resource", "i-1", "act_1")); !fault.Is(err,
		fault.Unavailable) || !strings.Contains(a.Message, "routing_key") {
		t.Errorf("%+v, %v", a, err)
	}
	f.Call(ada, "PUT /integrations/"+to, `{"enabled":false}`).Want(http.StatusOK)
	if _, err = f.send(to, of(event.ResourceFailed, "resource", "i-1", "act_1")); !fault.Is(err, fault.Invalid) {
		t.Errorf("one that is disabled: %v", err)
	}
	if _, err = f.send(id.New("int", f.Clock.Now()),
		of(event.ResourceFailed, "resource", "i-1", "act_1")); !fault.Is(err, fault.NotFound) {
		t.Errorf("one that is gone: %v", err)
	}
	if _, err = f.send(f.connect("github", nil).ID,
		of(event.ResourceFailed, "resource", "i-1", "act_1")); !fault.Is(err, fault.Invalid) {
		t.Errorf("one that takes none: %v", err)
	}
}

func TestJira_AnIssueForEachThreadAndThenComments(t *testing.T) {
	f := newFixture(t)
	to := f.connect("jira", nil).ID
	f.Equal("first", f.sent(to, of("budget.warning", "org", "", "bud_1")).Message, "created OPS-1")
	f.Equal("second", f.sent(to, of("budget.exceeded", "org", "", "bud_1")).Message, "told in OPS-1")
	f.Equal("another budget", f.sent(to, of("budget.warning", "org", "", "bud_2")).Message, "created OPS-2")
	f.Equal("a resource", f.sent(to, of(event.ResourceFailed, "resource", "i-1", "act_1")).Message, "created OPS-3")
	f.Equal("and again", f.sent(to, of(event.ResourceFailed, "resource", "i-1", "act_2")).Message, "told in OPS-3")
	f.Equal("issues", len(f.issues), 3)
	f.Equal("comments", len(f.comments["OPS-1"])+len(f.comments["OPS-3"]), 2)
	if text := f.issues["OPS-3"].Text; !strings.Contains(text, "web <b>") ||
		!strings.Contains(text, "reason: quotaexceeded") {
		t.Errorf("%q", text) // as plain text: no markup, no extra line
	}
	delete(f.issues, "OPS-1")
	f.Equal("one that was deleted", f.sent(to, of("budget.exceeded", "org", "", "bud_1")).Message[:7], "created")
}

func TestJira_ADeliveryThatIsTriedAgainTellsNothingTwice(t *testing.T) {
	f := newFixture(t)
	to, e := f.connect("jira", nil).ID, of("budget.warning", "org", "", "bud_1")
	f.lost = true
	if _, err := f.send(to, e, "dlv_1"); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("whose answer was lost: %v", err)
	}
	a, err := f.send(to, e, "dlv_1")
	if !fault.Is(err, fault.Unavailable) || a.RetryAfter == 0 || f.countIssues() != 1 {
		t.Errorf("while another may be creating it: %+v, %v", a, err)
	}
	f.Clock.Advance(2 * time.Minute)
	a, err = f.send(to, e, "dlv_1")
	if err != nil || f.countIssues() != 1 || a.Message != "told in OPS-1" {
		t.Errorf("%+v, %v, %d issues", a, err, f.countIssues())
	}
	if _, err = f.send(to, e, "dlv_1"); err != nil || f.countComments("OPS-1") != 1 {
		t.Errorf("%v, %d comments", err, f.countComments("OPS-1"))
	}
}

func TestJira_WhatIsRefusedIsSaid(t *testing.T) {
	f := newFixture(t)
	to := f.connect("jira", map[string]string{"project": "NONE"}).ID
	a, err := f.send(to, of("budget.warning", "org", "", "bud_1"))
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(a.Message, "valid project is required") {
		t.Errorf("%+v, %v", a, err)
	}
	f.Call(ada, "PUT /integrations/"+to, `{"config":{"project":"OPS"}}`).Want(http.StatusOK)
	f.Equal("once it is mended", f.sent(to, of("budget.warning", "org", "", "bud_1")).Message, "created OPS-1")
}

func TestJira_ADigestIsOneIssue(t *testing.T) {
	f := newFixture(t)
	to := f.connect("jira", nil).ID
	m := delivery.Message{
		ID: "dlv_1", Org: apitest.Org, Target: delivery.Target{Kind: delivery.Integration, ID: to},
		Total: 37, Text: "a word\nmore",
	}
	for i := range 10 {
		m.Events = append(m.Events, of(event.ResourceStarted, "resource", fmt.Sprint("i-", i), "act_1"))
	}
	a := apitest.Value(receiver.NewIntegrationSender(f.services,
		receiver.NewAudience(f.Platform)).Send(f.In(apitest.Org),
		m))(f)
	if d := f.issues["OPS-1"]; a.Message != "created OPS-1" ||
		!strings.HasPrefix(d.Summary, "37 events: Resource started") || !strings.Contains(d.Text, "and 27 more") ||
		strings.Count(d.Text, "i-") != 10 {
		t.Errorf("%+v %+v", a, d)
	}
}

func TestMatch_OnlyKindsThatTakeEvents(t *testing.T) {
	f := newFixture(t)
	for _, kind := range []string{"github", "jira", "pagerduty", "acr"} {
		f.connect(kind, nil)
	}
	store := receiver.NewIntegrationStore(f.Table, f.Sealer)
	e := of("budget.warning", "org", "", "bud_1")
	usage := f.Meter(func(ctx context.Context) {
		m := receiver.NewIntegrationMatcher(store, receiver.NewAudience(f.Platform))
		told := apitest.Value(m.Match(table.WithOrg(ctx, apitest.Org), apitest.Org, []event.Event{e}))(f)
		f.Equal("told", len(told[0]), 2)
	})
	f.Equal("trips", usage.RoundTrips, 2)
}

func TestHealth_IsOnTheIntegrationUntilSomethingReachesIt(t *testing.T) {
	f := newFixture(t)
	made := f.connect("jira", nil)
	store, to := receiver.NewIntegrationStore(f.Table, f.Sealer),
		delivery.Target{Kind: delivery.Integration, ID: made.ID}
	for _, h := range []delivery.Health{
		{Failing: true, Why: "no more", At: f.Clock.Now()},
		{Failing: true, Why: "later", At: f.Clock.Now()},
	} {
		f.Equal("name", apitest.Value(store.RecordHealth(f.In(apitest.Org), apitest.Org, to, h))(f), "jira")
	}
	f.Call(ada, "GET /integrations/"+made.ID).Want(http.StatusOK, `"status":"failed"`, `"message":"no more"`)
	apitest.Value(store.RecordHealth(f.In(apitest.Org), apitest.Org, to, delivery.Health{At: f.Clock.Now()}))(f)
	f.Call(ada, "GET /integrations/"+made.ID).Want(http.StatusOK, `"status":"untested"`)
	to.ID = id.New("int", f.Clock.Now())
	if _, err := store.RecordHealth(f.In(apitest.Org), apitest.Org, to, delivery.Health{Failing: true}); !fault.Is(err,
		fault.NotFound) {
		t.Errorf("of one that is gone: %v", err)
	}
}
