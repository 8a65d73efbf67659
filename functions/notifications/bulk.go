package notifications

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/teams"
)

// NewSubscriptions is the body of POST /notifications/subscriptions/bulk.
type NewSubscriptions struct {
	Subscriptions []NewSubscription `json:"subscriptions" minItems:"1" maxItems:"500"`
}

// UpsertedSubscriptions is the result of a bulk request.
type UpsertedSubscriptions struct {
	Created int `json:"created" doc:"How many subscriptions are new"`
	Updated int `json:"updated" doc:"How many were there"`
}

func (s *service) upsertSubscriptions(ctx context.Context, in *struct{ Body NewSubscriptions }) (UpsertedSubscriptions,
	error,
) {
	now := s.p.Clock.Now()
	all := make([]notification.Subscription, len(in.Body.Subscriptions))
	for i, n := range in.Body.Subscriptions {
		all[i] = n.subscription(identity.CallerFrom(ctx), now)
	}
	if err := s.check(ctx, many, all...); err != nil {
		return UpsertedSubscriptions{}, err
	}
	done, err := s.store.UpsertSubscriptions(ctx, identity.CallerOrg(ctx), all)
	audit.NoteChange(ctx, audit.Change{After: UpsertedSubscriptions(done)})
	return UpsertedSubscriptions(done), err
}

// one and many return the prefix that identifies subscription n in an error: empty for the only one of a request.
func one(int) string    { return "" }
func many(n int) string { return fmt.Sprintf("subscriptions[%d].", n) }

// check validates subscriptions. It returns an error if one is malformed, if its channel or scope does not exist, or
// if the caller may not see its scope. It takes two round trips, one more for each further hundred of channels and
// scopes, and one more if the caller's grants are limited.
func (s *service) check(ctx context.Context, which func(int) string, all ...notification.Subscription) error {
	for i := range all {
		if err := all[i].Check(); err != nil {
			return fault.New(fault.Invalid, "%s%s", which(i), fault.Message(err))
		}
	}
	sees, err := s.sight(ctx, writing)
	if err != nil {
		return err
	}
	there, err := s.existing(ctx, all)
	if err != nil {
		return err
	}
	for i := range all {
		sub := &all[i]
		switch { // before the channel, whose existence the caller may not know
		case sub.ScopeType == event.ScopeOrg && !sees(sub):
			return fault.New(fault.Denied,
				"your grants are on teams or resources: subscribe to these, and not to the whole organization")
		case there.channels[sub.ChannelID] == nil:
			return noChannel(which(i)+"channelID", sub.ChannelID)
		}
		if err := s.checkOwner(ctx, which(i)+"channelID", there.channels[sub.ChannelID]); err != nil {
			return err
		}
		if !there.scopes[sub.Scope()] || !sees(sub) {
			return fault.New(fault.Invalid, "%sscopeID: %.64q: there is no such %s; send the id of one that exists",
				which(i), sub.ScopeID, sub.ScopeType)
		}
	}
	return nil
}

// existing holds the existing channels and scopes among those that subscriptions name.
type existing struct {
	channels map[string]*notification.Channel
	scopes   map[event.Scope]bool
}

func (s *service) existing(ctx context.Context, all []notification.Subscription) (existing, error) {
	org := identity.CallerOrg(ctx)
	out := existing{map[string]*notification.Channel{}, map[event.Scope]bool{{Type: event.ScopeOrg}: true}}
	var keys []table.Key
	var uids []string
	for i := range all {
		sub := &all[i]
		if id.IsValid("chn", sub.ChannelID) {
			keys = append(keys, notification.ChannelKey(org, sub.ChannelID))
		}
		if k, ok := scopeKey(org, sub.Scope()); ok {
			keys = append(keys, k)
		}
		if sub.ScopeType == event.ScopeResource {
			uids = append(uids, sub.ScopeID)
		}
	}
	items, err := s.p.Table.BatchGet(ctx, keys...)
	if err != nil {
		return out, fault.Wrap("find what is subscribed to", err)
	}
	for i := range all {
		sub := &all[i]
		if c, there := notification.DecodeChannel(items[notification.ChannelKey(org, sub.ChannelID)]); there {
			out.channels[sub.ChannelID] = &c
		}
		if k, ok := scopeKey(org, sub.Scope()); ok {
			out.scopes[sub.Scope()] = items[k].Data != nil
		}
	}
	if len(uids) == 0 {
		return out, nil
	}
	found, err := s.inventory.ByUIDs(ctx, identity.CallerOrg(ctx), uids, inventory.SeeEverything())
	for i := range found {
		out.scopes[event.Scope{Type: event.ScopeResource, ID: found[i].UID}] = true
	}
	return out, err
}

// scopeKey returns the table key of a scope's row. It returns false if the scope type has no rows or the ID is
// malformed.
func scopeKey(org string, of event.Scope) (table.Key, bool) {
	switch of.Type {
	case event.ScopeAccount:
		return inventory.AccountKey(org, of.ID), id.IsValid("ca", of.ID)
	case event.ScopeGroup:
		return inventory.GroupKey(org, of.ID), id.IsValid("grp", of.ID)
	case event.ScopeTeam:
		return teams.Key(org, of.ID), id.IsValid("team", of.ID)
	}
	return table.Key{}, false
}
