package notifications

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/foundation/id"
)

// Subscription is a subscription as clients see it.
type Subscription struct {
	ID           string     `json:"id" example:"sub_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	ChannelID    string     `json:"channelID"`
	EventType    string     `json:"eventType" example:"budget.exceeded"`
	ScopeType    string     `json:"scopeType" enum:"org,cloud_account,resource_group,resource,team"`
	ScopeID      string     `json:"scopeID"`
	Enabled      bool       `json:"enabled"`
	PausedAt     *time.Time `json:"pausedAt" doc:"Since when it is paused: its maker has left, or may read no its events; null while it is not"`
	PausedReason *string    `json:"pausedReason" doc:"Why it is paused"`
	CreatedAt    time.Time  `json:"createdAt"`
	UpdatedAt    time.Time  `json:"updatedAt"`
}

func newSubscription(s *notification.Subscription) Subscription {
	return Subscription{
		s.ID, s.ChannelID, s.EventType, s.ScopeType, s.ScopeID, s.Enabled, rest.Optional(s.PausedAt),
		rest.Optional(s.PausedWhy), s.CreatedAt, s.UpdatedAt,
	}
}

// NewSubscription is the body of POST /notifications/subscriptions, and an item of …/bulk.
type NewSubscription struct {
	ChannelID string `json:"channelID" maxLength:"64"`
	EventType string `json:"eventType" maxLength:"64"`
	ScopeType string `json:"scopeType" enum:"org,cloud_account,resource_group,resource,team"`
	ScopeID   string `json:"scopeID,omitempty" maxLength:"1024"`
	Enabled   *bool  `json:"enabled,omitempty" doc:"Left out: true"`
}

func (n NewSubscription) subscription(c identity.Caller, now time.Time) notification.Subscription {
	out := notification.Subscription{
		ID: id.New("sub", now), ChannelID: n.ChannelID, EventType: n.EventType, ScopeType: n.ScopeType,
		ScopeID: n.ScopeID,
		Enabled: n.Enabled == nil || *n.Enabled, CreatedAt: now, UpdatedAt: now,
	}
	out.TakeOver(c, []string{n.EventType}, now)
	return out
}

// ChangedSubscription is the body of PUT /notifications/subscriptions/{subID}.
type ChangedSubscription struct {
	ChannelID rest.Patch[string] `json:"channelID,omitzero" maxLength:"64"`
	EventType rest.Patch[string] `json:"eventType,omitzero" maxLength:"64"`
	ScopeType rest.Patch[string] `json:"scopeType,omitzero" enum:"org,cloud_account,resource_group,resource,team"`
	ScopeID   rest.Patch[string] `json:"scopeID,omitzero" maxLength:"1024" doc:"null: empty"`
	Enabled   rest.Patch[bool]   `json:"enabled,omitzero"`
}

// moves reports whether the change sets the channel, the event type or the scope.
func (c ChangedSubscription) moves() bool {
	return c.ChannelID.Sent || c.EventType.Sent || c.ScopeType.Sent || c.ScopeID.Sent
}

// apply sets the fields that were sent.
func (c ChangedSubscription) apply(to *notification.Subscription) error {
	if err := rest.RefuseNull(map[string]bool{
		"channelID": c.ChannelID.Null, "eventType": c.EventType.Null,
		"scopeType": c.ScopeType.Null, "enabled": c.Enabled.Null,
	}); err != nil {
		return err
	}
	c.ChannelID.Apply(&to.ChannelID)
	c.EventType.Apply(&to.EventType)
	c.ScopeType.Apply(&to.ScopeType)
	c.ScopeID.Apply(&to.ScopeID)
	c.Enabled.Apply(&to.Enabled)
	return nil
}

// SubscriptionInput names the subscription of a request.
type SubscriptionInput struct {
	SubID string `path:"subID" maxLength:"64"`
}

type updateSubscriptionInput struct {
	SubscriptionInput
	Body ChangedSubscription
}

// mostListed is the most subscriptions on a page: 3 MB.
const mostListed = 10_000

type listSubscriptionsInput struct {
	Page      int      `query:"page" minimum:"1" maximum:"999999" default:"1" doc:"Which page, from 1"`
	Limit     int      `query:"limit" minimum:"1" default:"10000" doc:"Items a page; more than 10000 counts as 10000"`
	ChannelID []string `query:"channel_id" maxItems:"100" doc:"Only those of these channels"`
	EventType []string `query:"event_type" maxItems:"22" doc:"Only those to these types of events"`
	ScopeType []string `query:"scope_type" maxItems:"5" enum:"org,cloud_account,resource_group,resource,team" doc:"Only those of these kinds of scopes"`
	ScopeID   string   `query:"scope_id" maxLength:"1024" doc:"Only those of this scope"`
}

func (in *listSubscriptionsInput) wants(sub *notification.Subscription) bool {
	return rest.Among(in.ChannelID, sub.ChannelID) && rest.Among(in.EventType, sub.EventType) &&
		rest.Among(in.ScopeType, sub.ScopeType) &&
		(in.ScopeID == "" || in.ScopeID == sub.ScopeID)
}

func (in *listSubscriptionsInput) filters() bool {
	return len(in.ChannelID)+len(in.EventType)+len(in.ScopeType)+len(in.ScopeID) > 0
}

func (s *service) listSubscriptions(ctx context.Context, in *listSubscriptionsInput) ([]Subscription, error) {
	limit := min(in.Limit, mostListed)
	skip := (in.Page - 1) * limit
	if skip >= notification.MaxSubscriptions {
		return []Subscription{}, nil
	}
	sees, err := s.sight(ctx, reading)
	if err != nil {
		return nil, err
	}
	out := []Subscription{}
	if c := identity.CallerFrom(ctx); !in.filters() && c.Scopes(reading).All {
		found, err := s.store.ListSubscriptions(ctx, c.Org, skip, limit)
		for i := range found {
			out = append(out, newSubscription(&found[i]))
		}
		return out, err
	}
	err = s.store.EachSubscription(ctx, identity.CallerOrg(ctx), func(sub *notification.Subscription) {
		if len(out) >= limit || !in.wants(sub) || !sees(sub) {
			return
		}
		if skip--; skip < 0 {
			out = append(out, newSubscription(sub))
		}
	})
	return out, err
}

// sight returns a function that reports whether a subscription lies in the caller's scope for a policy.
func (s *service) sight(ctx context.Context, policy string) (func(*notification.Subscription) bool, error) {
	c := identity.CallerFrom(ctx)
	sets, err := s.inventory.ResourceSets(ctx, c.Org, c.Scopes(policy))
	if err != nil {
		return nil, err
	}
	return func(sub *notification.Subscription) bool { return sub.SeenIn(c.Scopes(policy), sets[0]) }, nil
}

func (s *service) createSubscription(ctx context.Context, in *struct{ Body NewSubscription }) (Subscription, error) {
	sub := in.Body.subscription(identity.CallerFrom(ctx), s.p.Clock.Now())
	audit.NoteChange(ctx, audit.Change{Target: sub.ID, After: newSubscription(&sub)})
	if err := s.check(ctx, one, sub); err != nil {
		return Subscription{}, err
	}
	sub, err := s.store.CreateSubscription(ctx, identity.CallerOrg(ctx), sub)
	return newSubscription(&sub), err
}

// subscription returns a subscription that the caller may change.
func (s *service) subscription(ctx context.Context, subID string) (notification.Subscription, error) {
	if !id.IsValid("sub", subID) {
		return notification.Subscription{}, notification.MissingSubscription(subID)
	}
	sees, err := s.sight(ctx, writing)
	if err != nil {
		return notification.Subscription{}, err
	}
	sub, err := s.store.ReadSubscription(ctx, identity.CallerOrg(ctx), subID)
	if err == nil && !sees(&sub) {
		err = notification.MissingSubscription(subID)
	}
	return sub, err
}

func (s *service) updateSubscription(ctx context.Context, in *updateSubscriptionInput) (Subscription, error) {
	old, err := s.subscription(ctx, in.SubID)
	if err != nil {
		return Subscription{}, err
	}
	next := old
	if err = in.Body.apply(&next); err != nil {
		return Subscription{}, err
	}
	next.UpdatedAt = s.p.Clock.Now()
	enables := in.Body.Enabled.Sent && in.Body.Enabled.Value
	if in.Body.moves() || enables {
		next.TakeOver(identity.CallerFrom(ctx), []string{next.EventType}, next.UpdatedAt)
	}
	audit.NoteChange(ctx, audit.Change{Target: old.ID, Before: newSubscription(&old), After: newSubscription(&next)})
	narrow := !identity.CallerFrom(ctx).Scopes(writing).All
	if in.Body.moves() || enables && narrow {
		if err = s.check(ctx, one, next); err != nil {
			return Subscription{}, err
		}
	}
	next, err = s.store.UpdateSubscription(ctx, identity.CallerOrg(ctx), old, next)
	return newSubscription(&next), err
}

func (s *service) deleteSubscription(ctx context.Context, in *SubscriptionInput) (rest.Deleted, error) {
	sub, err := s.subscription(ctx, in.SubID)
	if err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: sub.ID, Before: newSubscription(&sub)})
	return rest.Deleted{ID: sub.ID}, s.store.DeleteSubscription(ctx, identity.CallerOrg(ctx), sub)
}
