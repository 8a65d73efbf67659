package webhooks

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
)

// Webhook is a webhook as clients see it.
type Webhook struct {
	ID              string     `json:"id" example:"whk_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Name            string     `json:"name"`
	URL             string     `json:"url" doc:"Its host and its last four characters, for who may not change it and in lists"`
	EventTypes      []string   `json:"eventTypes" doc:"[] is all"`
	ScopeType       string     `json:"scopeType" enum:"org,cloud_account,resource_group,resource,team"`
	ScopeID         string     `json:"scopeID"`
	Enabled         bool       `json:"enabled"`
	Status          string     `json:"status" enum:"active,disabled,failing,gone,paused" doc:"paused: see pausedReason; failing: all tries of a delivery have failed, and nothing has reached it since; gone: the receiver answered with 410, which disabled it"`
	SecretRotatedAt *time.Time `json:"secretRotatedAt" doc:"When its secret was made anew; null when never"`
	GoneAt          *time.Time `json:"goneAt"`
	PausedAt        *time.Time `json:"pausedAt" doc:"Since when it is paused: its maker has left, or may read none of its events; null while it is not"`
	PausedReason    *string    `json:"pausedReason" doc:"Why it is paused"`
	CreatedBy       string     `json:"createdBy"`
	CreatedAt       time.Time  `json:"createdAt"`
	UpdatedAt       time.Time  `json:"updatedAt"`
}

func newWebhook(w receiver.Webhook) Webhook {
	return Webhook{
		ID: w.ID, Name: w.Name, URL: w.Address, EventTypes: append([]string{}, w.EventTypes...), ScopeType: w.ScopeType,
		ScopeID: w.ScopeID, Enabled: w.Enabled,
		Status: w.Status(), SecretRotatedAt: rest.Optional(w.RotatedAt), GoneAt: rest.Optional(w.GoneAt),
		PausedAt: rest.Optional(w.PausedAt), PausedReason: rest.Optional(w.PausedWhy), CreatedBy: w.CreatedBy,
		CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
	}
}

// IssuedWebhook is a webhook with its secret.
type IssuedWebhook struct {
	Webhook
	Secret string `json:"secret" doc:"The secret that signs each delivery; it is shown only this once" example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
}

// NewWebhook is the body of POST /webhooks.
type NewWebhook struct {
	Name       string   `json:"name" minLength:"1" maxLength:"100"`
	URL        string   `json:"url" minLength:"1" maxLength:"2048" example:"https://hooks.example.com/lamplighter"`
	EventTypes []string `json:"eventTypes,omitempty" maxItems:"50" doc:"Left out or []: all"`
	ScopeType  string   `json:"scopeType,omitempty" enum:"org,cloud_account,resource_group,resource,team" default:"org"`
	ScopeID    string   `json:"scopeID,omitempty" maxLength:"1024"`
	Enabled    *bool    `json:"enabled,omitempty" default:"true"`
}

func (s *service) create(ctx context.Context, in *struct{ Body NewWebhook }) (IssuedWebhook, error) {
	now, b := s.p.Clock.Now(), in.Body
	w := receiver.Webhook{Row: receiver.Row{
		ID: id.New(receiver.WebhookPrefix, now), Name: b.Name,
		Filter:  receiver.Filter{EventTypes: b.EventTypes, ScopeType: b.ScopeType, ScopeID: b.ScopeID},
		Enabled: b.Enabled == nil || *b.Enabled, CreatedBy: identity.CallerFrom(ctx).Email, CreatedAt: now,
		UpdatedAt: now,
	}}
	w.TakeOver(identity.CallerFrom(ctx), w.EventTypes, now)
	secrets := receiver.WebhookSecrets{URL: b.URL, Key: receiver.NewWebhookKey()}
	holds, err := s.prepare(ctx, &w, b.URL)
	if err != nil {
		return IssuedWebhook{}, err
	}
	if err = s.store.Seal(ctx, identity.CallerOrg(ctx), &w, &secrets); err != nil {
		return IssuedWebhook{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: w.ID, After: newWebhook(w)})
	if err = s.store.Create(ctx, identity.CallerOrg(ctx), &w, holds...); err != nil {
		return IssuedWebhook{}, err
	}
	return issued(w, &secrets), nil
}

func issued(w receiver.Webhook, secrets *receiver.WebhookSecrets) IssuedWebhook {
	out := IssuedWebhook{newWebhook(w), secrets.Key}
	out.URL = secrets.URL
	return out
}

// prepare normalizes and validates a webhook. It returns conditions that fail if its scope does not exist.
func (s *service) prepare(ctx context.Context, w *receiver.Webhook, address string) ([]table.Write, error) {
	if err := w.Check(); err != nil {
		return nil, err
	}
	if err := receiver.CheckAddress(s.policy, "url", address); err != nil {
		return nil, err
	}
	return w.Holds(ctx, s.inventory, identity.CallerOrg(ctx))
}

type listInput struct {
	rest.Page
	rest.Sort[receiver.Webhook, orders]
}

func (s *service) list(ctx context.Context, in *listInput) (rest.List[Webhook], error) {
	all, err := s.store.List(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return rest.List[Webhook]{}, err
	}
	in.Apply(all)
	return rest.MapItems(rest.PageOf(all, in.Page), newWebhook), nil
}

func (s *service) get(ctx context.Context, in *WebhookInput) (Webhook, error) {
	w, err := s.store.Read(ctx, identity.CallerOrg(ctx), in.WebhookID)
	if err != nil {
		return Webhook{}, err
	}
	out := newWebhook(w)
	if !identity.Allows(identity.CallerFrom(ctx), writing) {
		return out, nil
	}
	secrets, err := s.store.Open(ctx, identity.CallerOrg(ctx), &w)
	out.URL = secrets.URL
	return out, err
}

// ChangedWebhook is the body of PUT /webhooks/{webhookID}.
type ChangedWebhook struct {
	Name       rest.Patch[string]   `json:"name,omitzero" minLength:"1" maxLength:"100"`
	URL        rest.Patch[string]   `json:"url,omitzero" minLength:"1" maxLength:"2048"`
	EventTypes rest.Patch[[]string] `json:"eventTypes,omitzero" maxItems:"50" doc:"null or []: all"`
	ScopeType  rest.Patch[string]   `json:"scopeType,omitzero" enum:"org,cloud_account,resource_group,resource,team" doc:"null: org"`
	ScopeID    rest.Patch[string]   `json:"scopeID,omitzero" maxLength:"1024"`
	Enabled    rest.Patch[bool]     `json:"enabled,omitzero"`
}

type updateInput struct {
	WebhookInput
	Body ChangedWebhook
}

func (s *service) update(ctx context.Context, in *updateInput) (Webhook, error) {
	org := identity.CallerOrg(ctx)
	old, err := s.store.Read(ctx, org, in.WebhookID)
	if err != nil {
		return Webhook{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: old.ID, Before: newWebhook(old)})
	secrets, err := s.store.Open(ctx, org, &old)
	if err != nil {
		return Webhook{}, err
	}
	next, was := old, secrets.URL
	if err = in.Body.apply(&next, &secrets); err != nil {
		return Webhook{}, err
	}
	next.UpdatedAt = s.p.Clock.Now()
	if in.Body.takesOver() {
		next.TakeOver(identity.CallerFrom(ctx), next.EventTypes, next.UpdatedAt)
	}
	holds, err := s.prepare(ctx, &next, secrets.URL)
	if err != nil {
		return Webhook{}, err
	}
	if next.ScopeType == old.ScopeType && next.ScopeID == old.ScopeID {
		holds = nil // it may be deleted by now, which is no reason to refuse the change
	}
	if secrets.URL != was {
		if err = s.store.Seal(ctx, org, &next, &secrets); err != nil {
			return Webhook{}, err
		}
	}
	if err = s.store.Update(ctx, org, &old, &next, holds...); err != nil {
		return Webhook{}, err
	}
	audit.NoteChange(ctx, audit.Change{After: newWebhook(next)})
	out := newWebhook(next)
	out.URL = secrets.URL
	return out, nil
}

// takesOver reports whether the change makes the caller the maker of the webhook: a change of its address, its event
// types or its scope, or one that enables it.
func (c *ChangedWebhook) takesOver() bool {
	return c.URL.Sent || c.EventTypes.Sent || c.ScopeType.Sent || c.ScopeID.Sent || c.Enabled.Sent && c.Enabled.Value
}

// apply sets the fields that were sent.
func (c *ChangedWebhook) apply(to *receiver.Webhook, secrets *receiver.WebhookSecrets) error {
	if err := rest.RefuseNull(map[string]bool{
		"name": c.Name.Null, "url": c.URL.Null, "enabled": c.Enabled.Null,
	}); err != nil {
		return err
	}
	c.Name.Apply(&to.Name)
	c.URL.Apply(&secrets.URL)
	c.EventTypes.Apply(&to.EventTypes)
	c.ScopeType.Apply(&to.ScopeType)
	c.ScopeID.Apply(&to.ScopeID)
	c.Enabled.Apply(&to.Enabled)
	if to.Enabled {
		to.GoneAt = time.Time{}
	}
	if c.Enabled.Set() || c.URL.Set() {
		to.FailingAt, to.FailingWhy = time.Time{}, ""
	}
	return nil
}

func (s *service) remove(ctx context.Context, in *WebhookInput) (rest.Deleted, error) {
	w, err := s.store.Read(ctx, identity.CallerOrg(ctx), in.WebhookID)
	if err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: w.ID, Before: newWebhook(w)})
	return rest.Deleted{ID: w.ID}, s.store.Delete(ctx, identity.CallerOrg(ctx), &w)
}

func (s *service) rotate(ctx context.Context, in *WebhookInput) (IssuedWebhook, error) {
	org := identity.CallerOrg(ctx)
	old, err := s.store.Read(ctx, org, in.WebhookID)
	if err != nil {
		return IssuedWebhook{}, err
	}
	secrets, err := s.store.Open(ctx, org, &old)
	if err != nil {
		return IssuedWebhook{}, err
	}
	next, now := old, s.p.Clock.Now()
	secrets.Rotate(now)
	next.RotatedAt, next.UpdatedAt = now, now
	if err = s.store.Seal(ctx, org, &next, &secrets); err != nil {
		return IssuedWebhook{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: next.ID, Before: newWebhook(old), After: newWebhook(next)})
	if err = s.store.Update(ctx, org, &old, &next); err != nil {
		return IssuedWebhook{}, err
	}
	return issued(next, &secrets), nil
}
