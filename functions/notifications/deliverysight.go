package notifications

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/notification"
)

// deliverySight returns a function that reports whether the caller may see a delivery, or nil if the caller may see
// all. A limited grant costs one more wave of concurrent round trips: one reads the channels, the other the resources
// of the scopes.
func (s *service) deliverySight(ctx context.Context) (func(*delivery.Record) bool, error) {
	c := identity.CallerFrom(ctx)
	scopes := c.Scopes(reading)
	if scopes.All {
		return nil, nil
	}
	var sets []inventory.ResourceSet
	var channels []notification.Channel
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		sets, err = s.inventory.ResourceSets(ctx, c.Org, scopes)
		return err
	})
	g.Go(func() (err error) {
		channels, err = s.store.ListChannels(ctx, c.Org)
		return err
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	own := ownChannels(c, channels)
	return func(r *delivery.Record) bool {
		if r.EventID == "" {
			return r.Target.Kind == delivery.Channel && own[r.Target.ID]
		}
		return liesIn(r, scopes, sets[0])
	}, nil
}

// ownChannels returns the IDs of the caller's own channels.
func ownChannels(c identity.Caller, all []notification.Channel) map[string]bool {
	out := map[string]bool{}
	for i := range all {
		out[all[i].ID] = owns(c, &all[i])
	}
	return out
}

// liesIn reports whether every event of a delivery belongs to a team of the scopes or to a resource in them. It
// returns false for a digest that does not contain all of its events, because the scopes of the others are unknown.
func liesIn(r *delivery.Record, scopes grant.Scopes, resources inventory.ResourceSet) bool {
	outside := func(e event.Event) bool {
		return !slices.ContainsFunc(e.Scopes(), func(s event.Scope) bool {
			return s.Type == event.ScopeTeam && slices.Contains(scopes.Teams, s.ID) ||
				s.Type == event.ScopeResource && resources.HasUID(s.ID)
		})
	}
	return len(r.Events) > 0 && r.Total <= len(r.Events) && !slices.ContainsFunc(r.Events, outside)
}
