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

// Match returns each receiver of each event once, ordered by ID: receivers with a subscription whose maker may read the
// event now, and users who switched its mail on and may read it. Each event type and scope has one item of
// subscriptions. It takes one round trip for the items of a hundred event types and scopes, or one for each event type
// (see readLists). For each event with receivers it takes one more for the rights of makers and users, unless ctx
// remembers them, and for each further hundred of them, and one more when some have grants on single resources.
func (m *Matcher) Match(ctx context.Context, org string, events []event.Event) ([][]delivery.Target, error) {
	ctx = table.WithOrg(ctx, org)
	items, err := m.readLists(ctx, org, events)
	if err != nil {
		return nil, fmt.Errorf("find who is told of %d events: %w", len(events), err)
	}
	out := make([][]delivery.Target, len(events))
	return out, receiver.EachEvent(ctx, events, func(ctx context.Context, i int) error {
		var err error
		out[i], err = m.matchOne(ctx, org, items, &events[i])
		return err
	})
}

// matchOne returns the receivers of an event among the read items.
func (m *Matcher) matchOne(ctx context.Context, org string, items map[table.Key]table.Item,
	e *event.Event,
) ([]delivery.Target, error) {
	found, err := makersOf(items, listsOf(org, e))
	if err != nil {
		return nil, err
	}
	users, err := readRecipients(items[mailedKey(org, e.Key)])
	if err != nil || len(users)+len(found) == 0 {
		return nil, err
	}
	asked, makers := slices.Sorted(maps.Keys(users)), distinct(found)
	if err = m.audience.NoteUnclaimed(ctx, org, makers); err != nil {
		return nil, err
	}
	may, err := m.audience.WhoMayRead(ctx, org, e, append(makers, asked...)...)
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

// listsOf returns the keys of the subscriptions to an event: one for each of its scopes.
func listsOf(org string, e *event.Event) []table.Key {
	scopes := e.Scopes()
	out := make([]table.Key, len(scopes))
	for i, s := range scopes {
		out[i] = recipientsKey(org, e.Key, s)
	}
	return out
}

// fewLists is the number of items up to which all items of an event type are read together.
const fewLists = 20

// readLists returns the items of the receivers of events. Events of many resources have many keys, nearly all without
// an item: reading each key costs as much as reading the items of a type whose organization has few. So it first asks
// for all items of the type when there are more than fewLists keys, and reads single keys if there are more items.
func (m *Matcher) readLists(ctx context.Context, org string, events []event.Event) (map[table.Key]table.Item, error) {
	out := map[table.Key]table.Item{}
	var left []table.Key
	for key, wanted := range keysByType(org, events) {
		complete := false
		if len(wanted) > fewLists {
			var err error
			if complete, err = m.readType(ctx, org, key, out); err != nil {
				return nil, err
			}
		}
		if !complete {
			left = append(left, wanted...)
		}
	}
	if len(left) == 0 {
		return out, nil
	}
	got, err := m.table.BatchGet(ctx, left...)
	maps.Copy(out, got)
	return out, err
}

// keysByType returns the keys of the receivers of events by event type, each key once.
func keysByType(org string, events []event.Event) map[string][]table.Key {
	out, seen := map[string][]table.Key{}, map[table.Key]bool{}
	for i := range events {
		e := &events[i]
		for _, k := range append(listsOf(org, e), mailedKey(org, e.Key)) {
			if !seen[k] {
				seen[k] = true
				out[e.Key] = append(out[e.Key], k)
			}
		}
	}
	return out
}

// readType adds the items of an event type to out, and reports whether these are all.
func (m *Matcher) readType(ctx context.Context, org, eventKey string, out map[table.Key]table.Item) (bool, error) {
	page, err := m.table.Query(ctx,
		table.Query{PK: mailedKey(org, eventKey).PK, Prefix: eventKey + "#", Limit: fewLists})
	if err != nil {
		return false, err
	}
	for _, it := range page.Items {
		out[it.Key] = it
	}
	return page.Next == "", nil
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
