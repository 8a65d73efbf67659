package receiver

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/foundation/fault"
)

// alert is a request of the Events API v2 (PagerDuty developer documentation, "Send an Alert Event").
type alert struct {
	RoutingKey string   `json:"routing_key"`
	Action     string   `json:"event_action"` // trigger or resolve
	DedupKey   string   `json:"dedup_key"`    // at most 255 characters
	Client     string   `json:"client,omitempty"`
	Payload    *details `json:"payload,omitempty"` // for a trigger
}

// change is a request for an event that is no problem ("Send a Change Event").
type change struct {
	RoutingKey string  `json:"routing_key"`
	Payload    details `json:"payload"`
}

type details struct {
	Summary   string            `json:"summary"` // at most 1,024 characters
	Source    string            `json:"source"`
	Severity  string            `json:"severity,omitempty"` // for an alert: critical, error, warning, info
	Timestamp time.Time         `json:"timestamp"`
	Class     string            `json:"class,omitempty"` // for an alert
	Custom    map[string]string `json:"custom_details"`
}

const (
	client      = "Lamplighter"
	alertPath   = "/v2/enqueue"
	changePath  = "/v2/change/enqueue"
	eventsHost  = "https://events.pagerduty.com"
	eventsInEU  = "https://events.eu.pagerduty.com"
	actTrigger  = "trigger"
	actResolve  = "resolve"
	dedupPrefix = "lamplighter-"
)

// dedupKey returns the key shared by all alerts of a thread in an organization and integration. It is at most 255
// characters long for any thread.
func dedupKey(org, integrationID, thread string) string {
	sum := sha256.Sum256([]byte(org + "\n" + integrationID + "\n" + thread))
	return dedupPrefix + hex.EncodeToString(sum[:16])
}

func eventsAddress(c map[string]string, path string) string {
	base := eventsHost
	if c["region"] == "eu" {
		base = eventsInEU
	}
	return join(cmp.Or(c[EndpointURL], base), path)
}

func newDetails(m *delivery.Message, e *event.Event) details {
	out := details{
		Summary: titleOf(e), Source: client + " " + m.Org, Timestamp: e.At.UTC(),
		Custom: map[string]string{},
	}
	for _, f := range factsOf(e) {
		out.Custom[f.Name] = f.Text
	}
	if m.Text != "" {
		out.Custom["text"] = fault.CleanText(m.Text, maxFact)
	}
	return out
}

// sendPagerDuty sends each event separately: a problem triggers the alert of its thread, a started or stopped
// resource resolves it, and an override is a change event.
func (s *IntegrationServices) sendPagerDuty(ctx context.Context, m *delivery.Message,
	c map[string]string) (delivery.Answer,
	error,
) {
	var a delivery.Answer
	for i := range m.Events {
		path, body := pagerDutyRequest(m, &m.Events[i], c["routingKey"])
		x, err := s.ask(ctx, request{method: http.MethodPost, url: eventsAddress(c, path), body: body, config: c})
		if err != nil {
			return a, fault.Wrap("ask PagerDuty", err)
		}
		if a, err = answerOf("PagerDuty", x); err != nil {
			return a, err
		}
	}
	return a, nil
}

func pagerDutyRequest(m *delivery.Message, e *event.Event, key string) (path string, body any) {
	d := newDetails(m, e)
	dedup := dedupKey(m.Org, m.Target.ID, threadOf(e))
	switch e.Key {
	case event.ResourceStarted, event.ResourceStopped:
		return alertPath, alert{RoutingKey: key, Action: actResolve, DedupKey: dedup}
	case event.ResourceOverride:
		return changePath, change{key, d}
	}
	d.Severity, d.Class = severityOf(e.Key), e.Key
	return alertPath, alert{RoutingKey: key, Action: actTrigger, DedupKey: dedup, Client: client, Payload: &d}
}

// answerOf returns the delivery result of an exchange. Our requests are well-formed, so a refusal means a wrong
// configuration. It is retried because the configuration may be corrected; after the last try the integration is
// marked as failed and its owners are informed.
func answerOf(name string, x Exchange) (delivery.Answer, error) {
	a := delivery.Answer{Status: x.Status, Message: x.Message, RetryAfter: x.RetryAfter}
	if x.Status/100 == 2 {
		return a, nil
	}
	return a, fault.New(fault.Unavailable, "%s", fault.Message(refusal(name, x)))
}

// testPagerDuty resolves an alert that never existed: PagerDuty checks the routing key without waking a person.
func (s *IntegrationServices) testPagerDuty(ctx context.Context, i *Integration, c map[string]string) (string, error) {
	x, err := s.ask(ctx, request{
		method: http.MethodPost, url: eventsAddress(c, alertPath),
		body: alert{RoutingKey: c["routingKey"], Action: actResolve, DedupKey: dedupKey("", i.ID, "test")}, config: c,
	})
	if err != nil {
		return "", fault.Wrap("ask PagerDuty", err)
	}
	var said struct {
		Status string `json:"status"`
	}
	if x.Status != http.StatusAccepted || json.Unmarshal(x.Body, &said) != nil || said.Status != "success" {
		return "", refusal("PagerDuty", x)
	}
	return "PagerDuty accepts the integration key", nil
}
