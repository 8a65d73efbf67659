package webhooks

import (
	"context"
	"encoding/json"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// testType is the event type of a test delivery.
const testType = "webhook.test"

// WebhookDelivery is a delivery to a webhook as clients see it.
type WebhookDelivery struct {
	ID            string           `json:"id" doc:"Also its webhook-id" example:"dlv_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	WebhookID     string           `json:"webhookID"`
	EventID       string           `json:"eventID"`
	EventType     string           `json:"eventType" example:"budget.exceeded"`
	Status        string           `json:"status" enum:"pending,retrying,delivered,parked"`
	Attempts      []WebhookAttempt `json:"attempts" doc:"The last ones, oldest first"`
	NextAttemptAt *time.Time       `json:"nextAttemptAt" doc:"Null when it has ended"`
	CreatedAt     time.Time        `json:"createdAt"`
	DeliveredAt   *time.Time       `json:"deliveredAt"`
}

// WebhookAttempt is one attempt of a delivery.
type WebhookAttempt struct {
	At      time.Time `json:"at"`
	Status  int       `json:"status" doc:"Of HTTP; 0 when there was no answer"`
	Message string    `json:"message" doc:"Of the answer, or why there was none; at most 200 characters"`
}

func newDelivery(r delivery.Record) WebhookDelivery {
	out := WebhookDelivery{
		ID: r.ID, WebhookID: r.Target.ID, EventID: r.EventID, EventType: r.EventKey, Status: string(r.Status),
		Attempts:      make([]WebhookAttempt, len(r.Attempts)),
		NextAttemptAt: rest.Optional(r.NextAttemptAt), CreatedAt: r.CreatedAt,
		DeliveredAt: rest.Optional(r.DeliveredAt),
	}
	for i, a := range r.Attempts {
		out.Attempts[i] = WebhookAttempt(a)
	}
	return out
}

func (s *service) test(ctx context.Context, in *WebhookInput) (WebhookDelivery, error) {
	org, now := identity.CallerOrg(ctx), s.p.Clock.Now()
	w, err := s.store.Read(ctx, org, in.WebhookID)
	if err != nil {
		return WebhookDelivery{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: w.ID})
	if !w.Enabled {
		return WebhookDelivery{}, fault.New(fault.Conflict, "webhook %s is %s; enable it first", w.ID, w.Status())
	}
	m := delivery.Message{
		ID: delivery.NewID(now), Org: org, Target: delivery.Target{Kind: delivery.Webhook, ID: w.ID}, Total: 1,
		Events: []event.Event{{
			ID: id.New("event", now), Key: testType, ScopeType: event.ScopeOrg, At: now,
			Subject: w.ID, Data: json.RawMessage("{}"),
		}},
	}
	a, sent := s.sender.Send(ctx, m)
	if fault.Is(sent, fault.Internal) || fault.Is(sent, fault.NotFound) {
		return WebhookDelivery{}, sent
	}
	r, err := s.deliveries.LogSent(ctx, m, a, sent)
	return newDelivery(r), err
}

type deliveriesInput struct {
	WebhookInput
	rest.Page
	Status []string `query:"status" maxItems:"4" enum:"pending,retrying,delivered,parked" doc:"Only those in these states"`
}

func (s *service) listDeliveries(ctx context.Context, in *deliveriesInput) (rest.List[WebhookDelivery], error) {
	w, err := s.store.Read(ctx, identity.CallerOrg(ctx), in.WebhookID)
	if err != nil {
		return rest.List[WebhookDelivery]{}, err
	}
	of := delivery.Filter{
		Kinds: []delivery.Kind{delivery.Webhook}, TargetID: w.ID, Statuses: in.Status,
		From: w.CreatedAt,
	}
	found, err := s.deliveries.List(ctx, identity.CallerOrg(ctx), of, in.Page)
	return rest.MapItems(found, newDelivery), err
}

type redeliverInput struct {
	WebhookInput
	DeliveryID string `path:"deliveryID" maxLength:"64"`
}

func (s *service) redeliver(ctx context.Context, in *redeliverInput) (WebhookDelivery, error) {
	org := identity.CallerOrg(ctx)
	w, err := s.store.Read(ctx, org, in.WebhookID)
	if err != nil {
		return WebhookDelivery{}, err
	}
	r, err := s.deliveries.Get(ctx, org, in.DeliveryID)
	if err == nil && r.Target != (delivery.Target{Kind: delivery.Webhook, ID: w.ID}) {
		err = fault.New(fault.NotFound, "webhook %s has no delivery %.64q", w.ID, in.DeliveryID)
	}
	if err != nil {
		return WebhookDelivery{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: r.ID})
	if !w.Enabled {
		return WebhookDelivery{}, fault.New(fault.Conflict, "webhook %s is %s; enable it first", w.ID, w.Status())
	}
	r, err = s.deliveries.Redeliver(ctx, org, r.ID)
	return newDelivery(r), err
}
