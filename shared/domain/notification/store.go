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

// Secret is the kind of secret that addresses are sealed as.
const Secret = "channel"

// The partitions. Beside the channels lie the counts of what an organization has.
const (
	ChannelPartition      table.Partition = "ORG#*#CHANNEL"
	ChannelNamePartition  table.Partition = "ORG#*#CHANNELNAME"
	SubscriptionPartition table.Partition = "ORG#*#SUBSCRIPTION"
	LegacyPartition       table.Partition = "ORG#*#NOTIFYLEGACY"
	RecipientPartition    table.Partition = "ORG#*#RECIPIENT"
	PreferencePartition   table.Partition = "ORG#*#MAILPREF"
)

// Writing is what changes who is told.
var Writing = table.Access{Writes: []table.Partition{
	ChannelPartition, ChannelNamePartition, SubscriptionPartition, LegacyPartition, RecipientPartition,
	PreferencePartition,
}}

// Store keeps who asked to be told of what.
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

// RulesOf returns which addresses of chats an operator lets be reached.
func RulesOf(s *platform.Settings) Rules {
	return Rules{Hosts: s.ChatHosts, Private: s.PrivateAddresses, Guard: ssrfguard.Policy{Private: s.PrivateAddresses}}
}

// ChannelKey returns where a channel is stored.
func ChannelKey(org, channelID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "CHANNEL", SK: channelID}
}

func countsKey(org string) table.Key { return ChannelKey(org, "COUNTS") }

// names returns the names among which the name of a channel is unique: those of the organization's channels, or those
// of one user's personal channels. Names hold no line break, so a personal name never equals one of the organization.
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

// longestScope is how long an id of a scope stands in a key; a longer one, which only a native id can be, by its hash.
const longestScope = 512

// recipientsKey returns where the receivers of the events of a key and a scope are: an item whose members are named by
// channels and legacy configurations. It is also what keeps a second subscription of one combination out.
func recipientsKey(org, eventKey string, of event.Scope) table.Key {
	scope := of.ID
	if len(scope) > longestScope {
		sum := sha256.Sum256([]byte(scope))
		scope = "sha256:" + hex.EncodeToString(sum[:])
	}
	return table.Key{PK: table.OrgPK(org) + "RECIPIENT", SK: eventKey + "#" + of.Type + "#" + scope}
}

// mailedKey returns where the users are who have mail of an event switched on.
func mailedKey(org, eventKey string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "RECIPIENT", SK: eventKey + "#email"}
}

// step is a write of a transaction, with what is told when its condition does not hold.
type step struct {
	table.Write
	refused error
}

// transact makes the steps, all or none.
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

// counted moves a count of the organization, which may reach most.
func counted(org, field string, by, most int64) step {
	w := table.Update(countsKey(org), []table.Change{table.Add(field, by)})
	if by > 0 {
		w.If = []table.Cond{table.Any(table.Lacks(field), table.LessEqual(field, most-by))}
	}
	return step{w, fault.New(fault.Invalid, "the organization would have more than %d %s, which is the most; delete "+
		"some first", most, field)}
}

// listAll reads all rows of a partition whose keys begin with a prefix, in their order.
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
