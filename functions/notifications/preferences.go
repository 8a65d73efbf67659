package notifications

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/foundation/fault"
)

// EventType describes the events of a key.
type EventType struct {
	Key      string `json:"key" example:"budget.exceeded"`
	Name     string `json:"name"`
	Category string `json:"category" enum:"resource,budget,cost_anomaly"`
}

func (*service) listEventTypes(context.Context, *struct{}) ([]EventType, error) {
	out := make([]EventType, len(event.Types))
	for i, t := range event.Types {
		out[i] = EventType(t)
	}
	return out, nil
}

// EmailPreference is whether the caller receives mails about the events of a key.
type EmailPreference struct {
	EventKey  string     `json:"eventKey" example:"budget.exceeded"`
	Enabled   bool       `json:"enabled"`
	UpdatedAt *time.Time `json:"updatedAt" doc:"null: it was never set"`
}

// PreferenceInput names the preference of a request.
type PreferenceInput struct {
	EventKey string `path:"eventKey" maxLength:"64"`
}

type setPreferenceInput struct {
	PreferenceInput
	Body ChangedEmailPreference
}

// ChangedEmailPreference is the body of PUT /notifications/email-preferences/{eventKey}.
type ChangedEmailPreference struct {
	Enabled bool `json:"enabled"`
}

func (in *PreferenceInput) check() error {
	if _, known := event.TypeOf(in.EventKey); !known {
		return fault.New(fault.NotFound, "there is no event type %.64q; GET /notifications/event-types lists them",
			in.EventKey)
	}
	return nil
}

func (s *service) getPreference(ctx context.Context, in *PreferenceInput) (EmailPreference, error) {
	if err := in.check(); err != nil {
		return EmailPreference{}, err
	}
	c := identity.CallerFrom(ctx)
	p, err := s.store.ReadPreference(ctx, c.Org, c.User, in.EventKey)
	return EmailPreference(p), err
}

func (s *service) setPreference(ctx context.Context, in *setPreferenceInput) (EmailPreference, error) {
	if err := in.check(); err != nil {
		return EmailPreference{}, err
	}
	now := s.p.Clock.Now()
	p := notification.Preference{EventKey: in.EventKey, Enabled: in.Body.Enabled, UpdatedAt: &now}
	audit.NoteChange(ctx, audit.Change{Target: in.EventKey, After: EmailPreference(p)})
	c := identity.CallerFrom(ctx)
	return EmailPreference(p), s.store.SetPreference(ctx, c.Org, c.User, p)
}
