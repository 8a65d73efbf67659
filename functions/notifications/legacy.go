package notifications

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// LegacyNotification is a configuration from before channels existed, as clients see it.
type LegacyNotification struct {
	ID               string            `json:"id" example:"ntf_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Channel          notification.Type `json:"channel" enum:"slack,teams,gchat,email"`
	WebhookURL       string            `json:"webhookURL"`
	NotifyOnStart    bool              `json:"notifyOnStart"`
	NotifyOnStop     bool              `json:"notifyOnStop"`
	NotifyOnFailure  bool              `json:"notifyOnFailure"`
	NotifyOnOverride bool              `json:"notifyOnOverride"`
	PausedAt         *time.Time        `json:"pausedAt" doc:"Since when it is paused: its maker has left, or may read no events; null while it is not"`
	PausedReason     *string           `json:"pausedReason" doc:"Why it is paused"`
	CreatedAt        time.Time         `json:"createdAt"`
	UpdatedAt        time.Time         `json:"updatedAt"`
}

func newLegacy(l *notification.Legacy, address string) LegacyNotification {
	return LegacyNotification{
		l.ID, l.Channel, address, l.OnStart, l.OnStop, l.OnFailure, l.OnOverride,
		rest.Optional(l.PausedAt), rest.Optional(l.PausedWhy), l.CreatedAt, l.UpdatedAt,
	}
}

// NewLegacyNotification is the body of POST /notifications.
type NewLegacyNotification struct {
	Channel          notification.Type `json:"channel" enum:"slack,teams,gchat,email"`
	WebhookURL       string            `json:"webhookURL" maxLength:"2048"`
	NotifyOnStart    bool              `json:"notifyOnStart,omitempty"`
	NotifyOnStop     bool              `json:"notifyOnStop,omitempty"`
	NotifyOnFailure  bool              `json:"notifyOnFailure,omitempty"`
	NotifyOnOverride bool              `json:"notifyOnOverride,omitempty"`
}

// ChangedLegacyNotification is the body of PUT /notifications/{notificationID}.
type ChangedLegacyNotification struct {
	Channel          rest.Patch[notification.Type] `json:"channel,omitzero" enum:"slack,teams,gchat,email"`
	WebhookURL       rest.Patch[string]            `json:"webhookURL,omitzero" maxLength:"2048"`
	NotifyOnStart    rest.Patch[bool]              `json:"notifyOnStart,omitzero"`
	NotifyOnStop     rest.Patch[bool]              `json:"notifyOnStop,omitzero"`
	NotifyOnFailure  rest.Patch[bool]              `json:"notifyOnFailure,omitzero"`
	NotifyOnOverride rest.Patch[bool]              `json:"notifyOnOverride,omitzero"`
}

// LegacyNotificationInput names the configuration of a request.
type LegacyNotificationInput struct {
	NotificationID string `path:"notificationID" maxLength:"64"`
}

type updateLegacyNotificationInput struct {
	LegacyNotificationInput
	Body ChangedLegacyNotification
}

func (s *service) listLegacy(ctx context.Context, _ *struct{}) ([]LegacyNotification, error) {
	all, err := s.store.ListLegacy(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return nil, err
	}
	writes := identity.Allows(identity.CallerFrom(ctx), writing)
	out := make([]LegacyNotification, len(all))
	for i := range all {
		address := all[i].Masked
		if writes {
			if address, err = s.store.LegacyAddress(ctx, identity.CallerOrg(ctx), &all[i]); err != nil {
				return nil, err
			}
		}
		out[i] = newLegacy(&all[i], address)
	}
	return out, nil
}

func (s *service) createLegacy(ctx context.Context, in *struct{ Body NewLegacyNotification }) (LegacyNotification,
	error,
) {
	now, b := s.p.Clock.Now(), in.Body
	l := notification.Legacy{
		ID: id.New("ntf", now), Channel: b.Channel, OnStart: b.NotifyOnStart, OnStop: b.NotifyOnStop,
		OnFailure:  b.NotifyOnFailure,
		OnOverride: b.NotifyOnOverride, CreatedAt: now, UpdatedAt: now,
	}
	l.TakeOver(identity.CallerFrom(ctx), l.Keys(), now)
	if err := s.store.PointLegacy(ctx, identity.CallerOrg(ctx), &l, b.WebhookURL); err != nil {
		return LegacyNotification{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: l.ID, After: newLegacy(&l, l.Masked)})
	return s.writeLegacy(ctx, notification.Legacy{}, l)
}

func (s *service) writeLegacy(ctx context.Context, old, next notification.Legacy) (LegacyNotification, error) {
	next, err := s.store.WriteLegacy(ctx, identity.CallerOrg(ctx), old, next)
	if err != nil {
		return LegacyNotification{}, err
	}
	address, err := s.store.LegacyAddress(ctx, identity.CallerOrg(ctx), &next)
	return newLegacy(&next, address), err
}

func (s *service) legacy(ctx context.Context, notificationID string) (notification.Legacy, error) {
	if !id.IsValid("ntf", notificationID) {
		return notification.Legacy{}, notification.MissingLegacy(notificationID)
	}
	return s.store.ReadLegacy(ctx, identity.CallerOrg(ctx), notificationID)
}

func (s *service) updateLegacy(ctx context.Context, in *updateLegacyNotificationInput) (LegacyNotification, error) {
	old, err := s.legacy(ctx, in.NotificationID)
	if err != nil {
		return LegacyNotification{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: old.ID, Before: newLegacy(&old, old.Masked)})
	next, b := old, &in.Body
	if b.Channel.Null || b.WebhookURL.Null {
		return LegacyNotification{},
			fault.New(fault.Invalid, "channel, webhookURL: they cannot be null; leave out what is to stay")
	}
	if b.Channel.Set() && b.Channel.Value != old.Channel && !b.WebhookURL.Set() {
		return LegacyNotification{},
			fault.New(fault.Invalid, "webhookURL: it is missing; another channel needs an address of its own")
	}
	b.Channel.Apply(&next.Channel)
	b.NotifyOnStart.Apply(&next.OnStart)
	b.NotifyOnStop.Apply(&next.OnStop)
	b.NotifyOnFailure.Apply(&next.OnFailure)
	b.NotifyOnOverride.Apply(&next.OnOverride)
	if b.WebhookURL.Set() {
		if err = s.store.PointLegacy(ctx, identity.CallerOrg(ctx), &next, b.WebhookURL.Value); err != nil {
			return LegacyNotification{}, err
		}
	}
	next.UpdatedAt = s.p.Clock.Now()
	next.TakeOver(identity.CallerFrom(ctx), next.Keys(), next.UpdatedAt)
	audit.NoteChange(ctx, audit.Change{After: newLegacy(&next, next.Masked)})
	return s.writeLegacy(ctx, old, next)
}

func (s *service) deleteLegacy(ctx context.Context, in *LegacyNotificationInput) (rest.Deleted, error) {
	l, err := s.legacy(ctx, in.NotificationID)
	if err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: l.ID, Before: newLegacy(&l, l.Masked)})
	return rest.Deleted{ID: l.ID}, s.store.DeleteLegacy(ctx, identity.CallerOrg(ctx), l)
}
