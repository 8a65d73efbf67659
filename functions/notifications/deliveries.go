package notifications

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/foundation/fault"
)

// NotificationAttempt is one attempt to deliver, with the receiver's answer.
type NotificationAttempt struct {
	At      time.Time `json:"at"`
	Status  int       `json:"status" doc:"Of HTTP; 0 when there was no answer"`
	Message string    `json:"message"`
}

// NotificationDelivery is a delivery as clients see it.
type NotificationDelivery struct {
	ID            string                `json:"id" example:"dlv_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Kind          delivery.Kind         `json:"kind" enum:"channel,legacy,email,integration"`
	TargetID      string                `json:"targetID" doc:"Of the channel, legacy configuration, user or integration"`
	EventID       string                `json:"eventID" doc:"The id of the first event; empty for a message that a person sent"`
	EventKey      string                `json:"eventKey"`
	Events        int                   `json:"events" doc:"How many it tells of"`
	Status        delivery.Status       `json:"status" enum:"pending,delivered,retrying,parked"`
	Attempts      []NotificationAttempt `json:"attempts" doc:"The last ones, oldest first"`
	NextAttemptAt *time.Time            `json:"nextAttemptAt"`
	CreatedAt     time.Time             `json:"createdAt"`
	DeliveredAt   *time.Time            `json:"deliveredAt"`
}

func newDelivery(r delivery.Record) NotificationDelivery {
	out := NotificationDelivery{
		ID: r.ID, Kind: r.Target.Kind, TargetID: r.Target.ID, EventID: r.EventID, EventKey: r.EventKey, Events: r.Total,
		Status:   r.Status,
		Attempts: make([]NotificationAttempt, len(r.Attempts)), NextAttemptAt: rest.Optional(r.NextAttemptAt),
		CreatedAt: r.CreatedAt, DeliveredAt: rest.Optional(r.DeliveredAt),
	}
	for i, a := range r.Attempts {
		out.Attempts[i] = NotificationAttempt(a)
	}
	return out
}

type listDeliveriesInput struct {
	rest.Page
	Kind     []string  `query:"kind" maxItems:"4" enum:"channel,legacy,email,integration" doc:"Only those to these kinds of receivers"`
	TargetID string    `query:"target_id" maxLength:"64" doc:"Only those to this receiver"`
	EventKey string    `query:"event_key" maxLength:"64" doc:"Only those of events of this key"`
	Status   []string  `query:"status" maxItems:"4" enum:"pending,delivered,retrying,parked" doc:"Only those that stand so"`
	From     rest.Time `query:"from" doc:"Only those made at or after this moment"`
	To       rest.Time `query:"to" doc:"Only those made before this moment"`
}

// kinds are the receivers whose deliveries are listed here. The deliveries of a webhook are listed with the webhook.
var kinds = []delivery.Kind{delivery.Channel, delivery.Legacy, delivery.Email, delivery.Integration}

func (s *service) listDeliveries(ctx context.Context, in *listDeliveriesInput) (rest.List[NotificationDelivery],
	error,
) {
	if !in.From.IsZero() && !in.To.IsZero() && in.From.After(in.To.Time) {
		return rest.List[NotificationDelivery]{}, fault.New(fault.Invalid, "from: it is after to")
	}
	f := delivery.Filter{
		Kinds: kinds, TargetID: in.TargetID, Statuses: in.Status, EventKey: in.EventKey,
		From: in.From.Time, To: in.To.Time,
	}
	if len(in.Kind) > 0 {
		f.Kinds = nil
		for _, k := range in.Kind {
			f.Kinds = append(f.Kinds, delivery.Kind(k))
		}
	}
	var err error
	if f.Sees, err = s.deliverySight(ctx); err != nil {
		return rest.List[NotificationDelivery]{}, err
	}
	found, err := s.log.List(ctx, identity.CallerOrg(ctx), f, in.Page)
	return rest.MapItems(found, newDelivery), err
}
