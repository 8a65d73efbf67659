package notification

import (
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

// Reading is what finding and reaching receivers reads.
var Reading = table.Access{Reads: []table.Partition{
	ChannelPartition, LegacyPartition, RecipientPartition, PreferencePartition,
	identity.MetaPartition, identity.MemberPartition, identity.UserPartition, inventory.IndexPartition, inventory.ChunkPartition,
}}

// audience knows which members may see an event.
type audience struct {
	table     table.Store
	inventory *inventory.Store
}

func newAudience(p *platform.Platform) *audience { return &audience{p.Table, inventory.New(p)} }

// whoSee keeps the users who are members, not locked out, and may see what the event is about.
func (a *audience) whoSee(ctx context.Context, org string, users []string, e *event.Event) ([]string, error) {
	keys := []table.Key{identity.AccessKey(org)}
	for _, u := range users {
		keys = append(keys, identity.MemberKey(org, u))
	}
	items, err := a.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read who may see %s: %w", e.ID, err)
	}
	scopes := make([]grant.Scopes, len(users))
	for i, u := range users {
		if scopes[i], err = scopesOf(items[keys[0]], items[identity.MemberKey(org, u)], policyOf(e.Key)); err != nil {
			return nil, err
		}
	}
	sees, err := a.see(ctx, org, scopes, e)
	if err != nil {
		return nil, err
	}
	var out []string
	for i, u := range users {
		if sees[i] {
			out = append(out, u)
		}
	}
	return out, nil
}

// scopesOf returns where a member, as stored, may do what a policy names: nowhere who is none, or is locked out.
func scopesOf(access, member table.Item, policy string) (grant.Scopes, error) {
	if access.Data == nil || member.Data == nil {
		return grant.Scopes{}, nil
	}
	org, err := table.Decode[identity.Access](access)
	if err != nil {
		return grant.Scopes{}, err
	}
	m, err := table.Decode[identity.Member](member)
	if err != nil || m.Disabled || org.Ended {
		return grant.Scopes{}, err
	}
	return grant.ScopesOf(org.ResolveGrants(m.Grants), policy), nil
}

// policyOf returns what who is told of events of a key must be allowed.
func policyOf(key string) string {
	t, _ := event.TypeOf(key)
	switch t.Category {
	case "budget":
		return "budgets:read"
	case "cost_anomaly":
		return "reports:read"
	}
	return "resources:read"
}

// see tells for each of scopes whether the event lies in it: in all, in a team that it belongs to, or on one of the resources.
func (a *audience) see(ctx context.Context, org string, scopes []grant.Scopes, e *event.Event) ([]bool, error) {
	teams, uids := idsOf(e, event.ScopeTeam), idsOf(e, event.ScopeResource)
	out := make([]bool, len(scopes))
	var open []int
	var own []grant.Scopes
	for i, s := range scopes {
		out[i] = s.All || slices.ContainsFunc(teams, func(id string) bool { return slices.Contains(s.Teams, id) })
		if !out[i] && len(s.Resources) > 0 {
			open, own = append(open, i), append(own, grant.Scopes{Resources: s.Resources})
		}
	}
	if len(open) == 0 || len(uids) == 0 {
		return out, nil
	}
	sets, err := a.inventory.ResourceSets(ctx, org, own...)
	if err != nil {
		return nil, err
	}
	for n, i := range open {
		out[i] = slices.ContainsFunc(uids, sets[n].HasUID)
	}
	return out, nil
}

// idsOf returns the ids of the scopes of a type that the event belongs to.
func idsOf(e *event.Event, scopeType string) []string {
	var out []string
	for _, s := range e.Scopes() {
		if s.Type == scopeType {
			out = append(out, s.ID)
		}
	}
	return out
}
