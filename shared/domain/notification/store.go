package notification

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/seal"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

// Secret is the secret kind of sealed addresses.
const Secret = "channel"

// The partitions. ChannelPartition also holds the item of an organization's counts.
const (
	ChannelPartition      table.Partition = "ORG#*#CHANNEL"
	ChannelNamePartition  table.Partition = "ORG#*#CHANNELNAME"
	SubscriptionPartition table.Partition = "ORG#*#SUBSCRIPTION"
	LegacyPartition       table.Partition = "ORG#*#NOTIFYLEGACY"
	RecipientPartition    table.Partition = "ORG#*#RECIPIENT"
	PreferencePartition   table.Partition = "ORG#*#MAILPREF"
)

// Writing is the access needed to change channels, subscriptions, configurations and preferences.
var Writing = table.Access{Writes: []table.Partition{
	ChannelPartition, ChannelNamePartition, SubscriptionPartition, LegacyPartition, RecipientPartition,
	PreferencePartition,
}}

// Store stores channels, subscriptions, legacy configurations and mail preferences.
type Store struct {
	table  table.Store
	sealer seal.Sealer
	clock  clock.Clock
	rules  Rules
	pepper []byte
}

// NewStore returns the Store on p.
func NewStore(p *platform.Platform) *Store {
	return &Store{p.Table, p.Sealer, p.Clock, RulesOf(&p.Settings), p.Settings.Pepper}
}

// RulesOf returns the rules for chat addresses from the operator's settings.
func RulesOf(s *platform.Settings) Rules {
	return Rules{Hosts: s.ChatHosts, Private: s.PrivateAddresses, Guard: ssrfguard.Policy{Private: s.PrivateAddresses}}
}

// ChannelKey returns the key of a channel.
func ChannelKey(org, channelID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "CHANNEL", SK: channelID}
}

func countsKey(org string) table.Key { return ChannelKey(org, "COUNTS") }

// names returns the set of names within which the channel's name is unique: those of the organization's channels, or
// those of one user's personal channels. Names contain no line break, so a personal name never equals an
// organization's.
func (c *Channel) names(org string) table.UniqueNames {
	names := table.UniqueNames{PK: table.OrgPK(org) + ChannelNamePartition.Name(), Noun: "channel"}
	if c.Personal != "" {
		names.Prefix = c.Personal + "\n"
	}
	return names
}

func subscriptionKey(org, subID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "SUBSCRIPTION", SK: subID}
}

func legacyKey(org, id string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "NOTIFYLEGACY", SK: id}
}

func preferenceKey(org, user, eventKey string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "MAILPREF", SK: user + "#" + eventKey}
}

// longestScope is the longest scope ID stored in a key, in bytes. Longer ones are native IDs; their hash is stored.
const longestScope = 512

// recipientsKey returns the key of the receivers of events with a key and a scope. The item has one field per channel
// or legacy configuration, so it also prevents a second subscription of one combination.
func recipientsKey(org, eventKey string, of event.Scope) table.Key {
	scope := of.ID
	if len(scope) > longestScope {
		sum := sha256.Sum256([]byte(scope))
		scope = "sha256:" + hex.EncodeToString(sum[:])
	}
	return table.Key{PK: table.OrgPK(org) + "RECIPIENT", SK: eventKey + "#" + of.Type + "#" + scope}
}

// mailedKey returns the key of the users who have mail of an event switched on.
func mailedKey(org, eventKey string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "RECIPIENT", SK: eventKey + "#email"}
}

// step is a write of a transaction and the error that is returned when its condition fails.
type step struct {
	table.Write
	refused error
}

// transact makes all steps in one transaction. When a condition fails, it returns the error of that step.
func (s *Store) transact(ctx context.Context, op string, steps ...step) error {
	if len(steps) == 0 {
		return nil
	}
	ws := make([]table.Write, len(steps))
	for i := range steps {
		ws[i] = steps[i].Write
	}
	err := s.table.Transact(ctx, ws...)
	if lost, ok := errors.AsType[*table.ConditionError](err); ok && len(lost.Failed) > 0 {
		if why := steps[lost.Failed[0].Index].refused; why != nil {
			return why
		}
	}
	return fault.Wrap(op, err)
}

// counted returns the step that adds by to a count of the organization, up to most.
func counted(org, field string, by, most int64) step {
	w := table.Update(countsKey(org), []table.Change{table.Add(field, by)})
	if by > 0 {
		w.If = []table.Cond{table.Any(table.Lacks(field), table.LessEqual(field, most-by))}
	}
	return step{w, fault.New(fault.Invalid, "the organization would have more than %d %s, which is the most; delete "+
		"some first", most, field)}
}

// listAll returns all rows of a partition whose sort keys begin with a prefix, in key order.
func listAll[T any](ctx context.Context, s table.Store, pk, prefix string) ([]T, error) {
	var out []T
	for q := (table.Query{PK: pk, Prefix: prefix, Limit: table.MaxPage}); ; {
		page, next, err := table.ReadPage[T](ctx, s, q)
		if err != nil {
			return nil, err
		}
		out = append(out, page...)
		if q.Cursor = next; next == "" {
			return out, nil
		}
	}
}
