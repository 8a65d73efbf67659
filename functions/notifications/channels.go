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

// ChannelConfig is the destination of a channel.
type ChannelConfig struct {
	WebhookURL *string `json:"webhookURL" doc:"Of slack, teams and gchat: the address of the incoming webhook; null of email, and of channels of others for a grant on teams or resources"`
	Email      *string `json:"email" doc:"Of email: the address; null of the others, and of channels of others for a grant on teams or resources"`
}

// Channel is a channel as clients see it.
type Channel struct {
	ID           string            `json:"id" example:"chn_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Type         notification.Type `json:"type" enum:"slack,teams,gchat,email"`
	Name         string            `json:"name"`
	Config       ChannelConfig     `json:"config"`
	Status       string            `json:"status" enum:"ok,failing,broken,paused" doc:"paused: see pausedReason; failing: nothing reaches it, and it is tried on; broken: the receiver has said that the address takes nothing any more, and nothing is sent until config changes or a test succeeds"`
	StatusText   string            `json:"statusText" doc:"Why it is failing or broken"`
	PausedAt     *time.Time        `json:"pausedAt" doc:"Since when it is paused: its maker has left, or may read no events; null while it is not"`
	PausedReason *string           `json:"pausedReason" doc:"Why it is paused"`
	CreatedAt    time.Time         `json:"createdAt"`
	UpdatedAt    time.Time         `json:"updatedAt"`
}

// newChannel returns a channel as clients see it, with the given address: complete or masked.
func newChannel(c *notification.Channel, webhookURL string) Channel {
	out := Channel{
		ID: c.ID, Type: c.Type, Name: c.Name, Status: c.Status(), StatusText: c.BrokenWhy,
		PausedAt: rest.Optional(c.PausedAt), PausedReason: rest.Optional(c.PausedWhy), CreatedAt: c.CreatedAt,
		UpdatedAt: c.UpdatedAt,
	}
	if c.Type == notification.Email {
		out.Config.Email = &c.Email
		return out
	}
	out.Config.WebhookURL = &webhookURL
	return out
}

// NewChannelConfig is the destination of a new channel.
type NewChannelConfig struct {
	WebhookURL string `json:"webhookURL,omitempty" maxLength:"2048"`
	Email      string `json:"email,omitempty" maxLength:"1024"`
}

func (c NewChannelConfig) address() notification.Address {
	return notification.Address{WebhookURL: c.WebhookURL, Email: c.Email}
}

// NewChannel is the body of POST /notifications/channels.
type NewChannel struct {
	Type   notification.Type `json:"type" enum:"slack,teams,gchat,email"`
	Name   string            `json:"name" minLength:"1" maxLength:"128"`
	Config NewChannelConfig  `json:"config"`
}

// ChangedChannel is the body of PUT /notifications/channels/{channelID}.
type ChangedChannel struct {
	Name   rest.Patch[string]           `json:"name,omitzero" minLength:"1" maxLength:"128"`
	Config rest.Patch[NewChannelConfig] `json:"config,omitzero"`
}

// ChannelInput names the channel of a request.
type ChannelInput struct {
	ChannelID string `path:"channelID" maxLength:"64"`
}

type updateChannelInput struct {
	ChannelInput
	Body ChangedChannel
}

func (s *service) listChannels(ctx context.Context, _ *struct{}) ([]Channel, error) {
	all, err := s.store.ListChannels(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return nil, err
	}
	c := identity.CallerFrom(ctx)
	writes := identity.Allows(c, writing)
	if !writes && !c.Scopes(reading).All {
		return s.listNarrow(ctx, all)
	}
	out := make([]Channel, len(all))
	for i := range all {
		out[i] = newChannel(&all[i], all[i].Masked)
	}
	if !writes {
		return out, nil
	}
	open, err := s.store.Addresses(ctx, identity.CallerOrg(ctx), all...)
	for i := range open {
		out[i] = newChannel(&all[i], open[i].WebhookURL)
	}
	return out, err
}

// shown returns a channel as it is shown to a caller who may change it.
func (s *service) shown(ctx context.Context, c *notification.Channel) (Channel, error) {
	open, err := s.store.Addresses(ctx, identity.CallerOrg(ctx), *c)
	if err != nil {
		return Channel{}, err
	}
	return newChannel(c, open[0].WebhookURL), nil
}

func (s *service) createChannel(ctx context.Context, in *struct{ Body NewChannel }) (Channel, error) {
	now := s.p.Clock.Now()
	c := notification.Channel{ID: id.New("chn", now), Type: in.Body.Type, CreatedAt: now, UpdatedAt: now}
	caller := identity.CallerFrom(ctx)
	if c.TakeOver(caller, nil, now); !caller.Scopes(writing).All {
		c.Personal = caller.User
	}
	var err error
	if c.Name, err = notification.CleanName(in.Body.Name); err != nil {
		return Channel{}, err
	}
	if err = s.store.Point(ctx, identity.CallerOrg(ctx), &c, in.Body.Config.address()); err != nil {
		return Channel{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: c.ID, After: newChannel(&c, c.Masked)})
	if c, err = s.store.CreateChannel(ctx, identity.CallerOrg(ctx), c); err != nil {
		return Channel{}, err
	}
	return s.shown(ctx, &c)
}

func (s *service) updateChannel(ctx context.Context, in *updateChannelInput) (Channel, error) {
	old, err := s.changeable(ctx, in.ChannelID)
	if err != nil {
		return Channel{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: old.ID, Before: newChannel(&old, old.Masked)})
	next := old
	if next.UpdatedAt = s.p.Clock.Now(); in.Body.Name.Sent {
		if err = checkRename(ctx, &old); err != nil {
			return Channel{}, err
		}
		if next.Name, err = notification.CleanName(in.Body.Name.Value); err != nil {
			return Channel{}, err
		}
	}
	if in.Body.Config.Null {
		return Channel{}, fault.New(fault.Invalid, "config: it cannot be null; leave it out to keep it")
	}
	if in.Body.Config.Sent {
		next.TakeOver(identity.CallerFrom(ctx), nil, next.UpdatedAt)
		if err = s.store.Point(ctx, identity.CallerOrg(ctx), &next, in.Body.Config.Value.address()); err != nil {
			return Channel{}, err
		}
	}
	audit.NoteChange(ctx, audit.Change{After: newChannel(&next, next.Masked)})
	if next, err = s.store.UpdateChannel(ctx, identity.CallerOrg(ctx), old, next); err != nil {
		return Channel{}, err
	}
	return s.shown(ctx, &next)
}

// channel returns a channel, or an error if it does not exist. It does not read the table for a malformed ID.
func (s *service) channel(ctx context.Context, channelID string) (notification.Channel, error) {
	if !id.IsValid("chn", channelID) {
		return notification.Channel{}, notification.MissingChannel(channelID)
	}
	return s.store.ReadChannel(ctx, identity.CallerOrg(ctx), channelID)
}

func (s *service) deleteChannel(ctx context.Context, in *ChannelInput) (rest.Deleted, error) {
	audit.NoteChange(ctx, audit.Change{Target: in.ChannelID})
	old, err := s.changeable(ctx, in.ChannelID)
	switch {
	case err == nil:
		audit.NoteChange(ctx, audit.Change{Before: newChannel(&old, old.Masked)})
	// A caller who may write everywhere may repeat an interrupted deletion, after which the channel is not found.
	case !identity.CallerFrom(ctx).Scopes(writing).All || !fault.Is(err, fault.NotFound) ||
		!id.IsValid("chn", in.ChannelID):
		return rest.Deleted{}, err
	}
	return rest.Deleted{ID: in.ChannelID}, s.store.DeleteChannel(ctx, identity.CallerOrg(ctx), in.ChannelID)
}
