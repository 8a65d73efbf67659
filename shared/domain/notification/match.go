package notification

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/table"
)

// Matcher finds the channels, legacy configurations and users who are told of an event.
type Matcher struct {
	table    table.Store
	audience *audience
}

// NewMatcher returns the Matcher on p.
func NewMatcher(p *platform.Platform) *Matcher { return &Matcher{p.Table, newAudience(p)} }

// Match returns each receiver once, in the order of their ids, however many subscriptions it has. One round trip: what is subscribed lies in one
// item of each event type and scope. One more where users have mail of the event switched on, and for each further hundred of them; and one when
// the grants of some are on resources.
func (m *Matcher) Match(ctx context.Context, org string, e event.Event) ([]delivery.Target, error) {
	ctx = table.WithOrg(ctx, org)
	mailed := mailedKey(org, e.Key)
	keys := []table.Key{mailed}
	for _, s := range e.Scopes() {
		keys = append(keys, recipientsKey(org, e.Key, s))
	}
	items, err := m.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("find who is told of %s: %w", e.ID, err)
	}
	found := map[string]bool{}
	for _, k := range keys[1:] {
		listed, err := readRecipients(items[k])
		if err != nil {
			return nil, err
		}
		for id, how := range listed {
			if !strings.HasPrefix(how, off) {
				found[id] = true
			}
		}
	}
	out := targets(slices.Sorted(maps.Keys(found)))
	users, err := readRecipients(items[mailed])
	if err != nil || len(users) == 0 {
		return out, err
	}
	see, err := m.audience.whoSee(ctx, org, slices.Sorted(maps.Keys(users)), &e)
	for _, user := range see {
		out = append(out, delivery.Target{Kind: delivery.Email, ID: user})
	}
	return out, err
}

// targets tells channels from legacy configurations.
func targets(ids []string) []delivery.Target {
	out := make([]delivery.Target, len(ids))
	for i, id := range ids {
		out[i] = delivery.Target{Kind: delivery.Channel, ID: id}
		if strings.HasPrefix(id, "ntf_") {
			out[i].Kind = delivery.Legacy
		}
	}
	return out
}

var _ delivery.Matcher = (*Matcher)(nil)
