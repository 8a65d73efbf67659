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
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/engine/table"
)

// Matcher finds the channels, legacy configurations and users that receive an event.
type Matcher struct {
	table    table.Store
	audience *receiver.Audience
}

// NewMatcher returns the Matcher on p.
func NewMatcher(p *platform.Platform) *Matcher { return &Matcher{p.Table, receiver.NewAudience(p)} }

// Match returns each receiver once, ordered by ID: receivers with a subscription whose maker may read the event now,
// and users who switched its mail on and may read it. It takes one round trip, because each event type and scope has
// one item of subscriptions. It takes one more for the rights of makers and users, unless ctx remembers them, and for
// each further hundred of them, and one more when some have grants on single resources.
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
	found, err := makersOf(items, keys[1:])
	if err != nil {
		return nil, err
	}
	users, err := readRecipients(items[mailed])
	if err != nil || len(users)+len(found) == 0 {
		return nil, err
	}
	asked, makers := slices.Sorted(maps.Keys(users)), distinct(found)
	if err = m.audience.NoteUnclaimed(ctx, org, makers); err != nil {
		return nil, err
	}
	may, err := m.audience.WhoMayRead(ctx, org, &e, append(makers, asked...)...)
	if err != nil {
		return nil, err
	}
	out := targets(readableBy(found, may))
	for _, user := range asked {
		if may[user] {
			out = append(out, delivery.Target{Kind: delivery.Email, ID: user})
		}
	}
	return out, nil
}

// makersOf returns the channels and legacy configurations in lists, each with the makers of its enabled
// subscriptions.
func makersOf(items map[table.Key]table.Item, lists []table.Key) (map[string][]string, error) {
	found := map[string][]string{}
	for _, k := range lists {
		listed, err := readRecipients(items[k])
		if err != nil {
			return nil, err
		}
		for id, how := range listed {
			l := parseListed(how)
			if l.enabled && !slices.Contains(found[id], l.maker) {
				found[id] = append(found[id], l.maker)
			}
		}
	}
	return found, nil
}

// distinct returns the makers of all receivers without duplicates.
func distinct(found map[string][]string) []string {
	seen := map[string]bool{}
	for _, makers := range found {
		for _, maker := range makers {
			seen[maker] = true
		}
	}
	return slices.Collect(maps.Keys(seen))
}

// readableBy returns the receivers with at least one maker who may read the event, ordered by ID.
func readableBy(found map[string][]string, may map[string]bool) []string {
	out := make([]string, 0, len(found))
	for id, makers := range found {
		if slices.ContainsFunc(makers, func(maker string) bool { return may[maker] }) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// targets returns the targets of receivers: channels or legacy configurations, by the prefix of their IDs.
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
