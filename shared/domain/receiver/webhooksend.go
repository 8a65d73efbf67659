package receiver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

// WebhookSender sends webhooks.
type WebhookSender struct {
	store  *WebhookStore
	clock  clock.Clock
	policy ssrfguard.Policy
	client *http.Client

	audience *Audience
}

// NewWebhookSender returns a sender for the webhooks of s to addresses that p allows. a decides which events their
// makers may read.
func NewWebhookSender(s *WebhookStore, c clock.Clock, p ssrfguard.Policy, a *Audience) *WebhookSender {
	return &WebhookSender{s, c, p, p.HTTPClient(), a}
}

// WebhookPayload is the body of a webhook.
type WebhookPayload struct {
	Type      string      `json:"type"`      // the key of the event
	Timestamp time.Time   `json:"timestamp"` // of the event
	Data      WebhookData `json:"data"`
}

// WebhookData is the event in a WebhookPayload.
type WebhookData struct {
	EventID        string          `json:"eventID"`
	OrganisationID string          `json:"organisationID"`
	ScopeType      string          `json:"scopeType"`
	ScopeID        string          `json:"scopeID"`
	Subject        string          `json:"subject"`
	Within         []event.Scope   `json:"within"`
	Text           string          `json:"text"`    // an additional text written by a person
	Details        json.RawMessage `json:"details"` // depends on the type
}

// Send posts the message's event to its webhook. Any result other than 2xx within ten seconds is an error. A webhook
// that answers 410 is disabled at once. Send returns fault.Invalid when the webhook is disabled or its maker may not
// read the event now, and fault.NotFound when it was deleted. It takes two round trips, and one more for a 410.
func (s *WebhookSender) Send(ctx context.Context,
	m delivery.Message, //nolint:gocritic // as delivery.Sender
) (delivery.Answer, error) {
	ctx = table.WithOrg(ctx, m.Org)
	w, err := s.store.Read(ctx, m.Org, m.Target.ID)
	if err != nil {
		return delivery.Answer{}, err
	}
	if !w.Enabled {
		return delivery.Answer{}, fault.New(fault.Invalid, "the webhook is %s", w.Status())
	}
	if m.Events, err = s.audience.Readable(ctx, m.Org, &w.Made, m.Events); err != nil {
		return delivery.Answer{}, err
	}
	secrets, err := s.store.Open(ctx, m.Org, &w)
	if err != nil {
		return delivery.Answer{}, err
	}
	r, err := s.request(ctx, &secrets, &m)
	if err != nil {
		return delivery.Answer{}, err
	}
	x, err := Do(s.client, s.clock, r)
	if err != nil {
		return delivery.Answer{}, err
	}
	a, err := x.Answer()
	if !a.Gone {
		return a, err
	}
	return a, s.markGone(ctx, m.Org, w, err)
}

// request returns the signed request (Standard Webhooks, "Signature scheme").
func (s *WebhookSender) request(ctx context.Context, secrets *WebhookSecrets, m *delivery.Message) (*http.Request,
	error,
) {
	if err := CheckAddress(s.policy, "url", secrets.URL); err != nil {
		return nil, err
	}
	body, err := encode(m)
	if err != nil {
		return nil, err
	}
	now := s.clock.Now()
	signature, err := sign(secrets.keys(now), m.ID, now, body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, secrets.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fault.NewWithCause(fault.Invalid, err, "the address cannot be called")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Lamplighter-Webhooks/1")
	r.Header.Set(standard.HeaderWebhookID, m.ID)
	r.Header.Set(standard.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(standard.HeaderWebhookSignature, signature)
	return r, nil
}

// encode returns the body with the only event of the message. Webhooks get no digests.
func encode(m *delivery.Message) ([]byte, error) {
	if len(m.Events) != 1 {
		return nil, fault.New(
			fault.Internal, "delivery %s has %d events, where a webhook takes one", m.ID, len(m.Events))
	}
	e := m.Events[0]
	p := WebhookPayload{Type: e.Key, Timestamp: e.At.UTC(), Data: WebhookData{
		EventID: e.ID, OrganisationID: m.Org, ScopeType: e.ScopeType, ScopeID: e.ScopeID, Subject: e.Subject,
		Within: append([]event.Scope{}, e.Within...), Text: m.Text, Details: e.Data,
	}}
	if len(p.Data.Details) == 0 {
		p.Data.Details = json.RawMessage("{}")
	}
	b, err := json.Marshal(p)
	return b, fault.Wrap("encode delivery "+m.ID, err)
}

// sign returns a signature per key, separated by spaces.
func sign(keys []string, messageID string, now time.Time, body []byte) (string, error) {
	out := make([]string, len(keys))
	for i, k := range keys {
		w, err := standard.NewWebhook(k)
		if err == nil {
			out[i], err = w.Sign(messageID, now, body)
		}
		if err != nil {
			return "", fmt.Errorf("sign delivery %s: %w", messageID, err)
		}
	}
	return strings.Join(out, " "), nil
}

// markGone disables the webhook and returns why. It does nothing when the webhook has changed since it was read.
func (s *WebhookSender) markGone(ctx context.Context, org string, w Webhook, why error) error {
	next := w
	next.Enabled, next.GoneAt = false, s.clock.Now()
	if err := s.store.Update(ctx, org, &w, &next); err != nil && !fault.Is(err, fault.Conflict) {
		return err
	}
	return why
}

var _ delivery.Sender = (*WebhookSender)(nil)
