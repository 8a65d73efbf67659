package audit

import (
	"hash/fnv"
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
)

// The partitions of the chains, of waiting entries, and of notes.
const (
	Partition              table.Partition = "ORG#*#AUDIT"
	SystemPartition        table.Partition = systemPrefix + "*"
	WaitingPartition       table.Partition = "ORG#*#AUDITIN#*"
	SystemWaitingPartition table.Partition = systemWaiting + "*"
	DuePartition           table.Partition = duePrefix + "*"
)

// Access are the partitions that a function must declare if its requests leave entries. It does not permit access to
// chains.
var Access = table.Access{Writes: []table.Partition{WaitingPartition, SystemWaitingPartition, DuePartition}}

// LinkAccess are the partitions that a function must declare if it links entries. A row and the chain's head are
// written in one transaction. No other write to a chain is permitted; only the eraser deletes one.
var LinkAccess = Access.With(table.Access{Appends: []table.Partition{
	Partition, SystemPartition,
	identity.MetaPartition,
}})

// The chains without an organization. There are several, because sign-ups and password guesses may come at any rate,
// and one chain can link some hundred rows per second.
const (
	systemPrefix  = "AUDIT#SYS#"
	systemWaiting = "AUDITIN#SYS#"
	systemChains  = 16
)

// waitingShards is the number of partitions for waiting entries of an organization. A partition has 1,000 write units
// per second, and an entry costs about seven until it is linked.
const waitingShards = 16

// Place is where a chain is stored: the partition of its rows, and the key of its head.
type Place struct {
	PK   string
	Head table.Key
}

// PlaceOf returns the place of an organization's chain.
func PlaceOf(org string) Place {
	return Place{table.OrgPK(org) + "AUDIT", table.Key{PK: table.OrgPK(org) + "META", SK: "AUDITHEAD"}}
}

// SystemPlaces returns the places of the installation's chains, for requests without an organization.
func SystemPlaces() []Place {
	out := make([]Place, systemChains)
	for i := range out {
		out[i] = systemPlace(uint32(i)) //nolint:gosec // 16 at most
	}
	return out
}

func systemPlace(i uint32) Place { return placeAt(shardOf(systemPrefix, i)) }

// shardOf returns the i-th partition with the prefix; i is less than 100.
func shardOf(prefix string, i uint32) string {
	return prefix + string([]byte{'0' + byte(i/10), '0' + byte(i%10)})
}

// placeOf returns the place of an organization's chain. If org is empty, it returns the place of the installation's
// chain for a network address.
func placeOf(org, ip string) Place {
	if org != "" {
		return PlaceOf(org)
	}
	return systemPlace(hashOf(ip) % systemChains)
}

// placeAt returns the place of the chain in the partition pk.
func placeAt(pk string) Place {
	if p := (Place{PK: pk}); p.isSystem() {
		return Place{pk, table.Key{PK: pk, SK: "HEAD"}}
	}
	return Place{pk, table.Key{PK: strings.TrimSuffix(pk, "AUDIT") + "META", SK: "AUDITHEAD"}}
}

func hashOf(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // a hash never fails
	return h.Sum32()
}

// waitingPKs returns the partitions of the chain's waiting entries.
func (p Place) waitingPKs() []string {
	if p.isSystem() {
		return []string{p.waitingKey("").PK}
	}
	return shardsOf(p.PK + "IN#")
}

func (p Place) isSystem() bool { return strings.HasPrefix(p.PK, systemPrefix) }

func shardsOf(prefix string) []string {
	out := make([]string, waitingShards)
	for i := range out {
		out[i] = shardOf(prefix, uint32(i)) //nolint:gosec // 16 at most
	}
	return out
}

// WaitingNames returns the names of an organization's partitions of waiting entries.
func WaitingNames() []string { return shardsOf("AUDITIN#") }

// waitingKey returns the key of a waiting entry.
func (p Place) waitingKey(entryID string) table.Key {
	if p.isSystem() {
		return table.Key{PK: systemWaiting + strings.TrimPrefix(p.PK, systemPrefix), SK: entryID}
	}
	return table.Key{PK: shardOf(p.PK+"IN#", hashOf(entryID)%waitingShards), SK: entryID}
}

// permitted returns the prefixes of all partition keys that linking uses.
func (p Place) permitted() []string {
	return append(p.waitingPKs(), p.PK, p.Head.PK, p.duePK())
}
