package audit

import (
	"hash/fnv"
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
)

// The partitions of the chains, of the entries that wait to be linked into them, and of the notes that lead to those.
const (
	Partition              table.Partition = "ORG#*#AUDIT"
	SystemPartition        table.Partition = systemPrefix + "*"
	WaitingPartition       table.Partition = "ORG#*#AUDITIN#*"
	SystemWaitingPartition table.Partition = systemWaiting + "*"
	DuePartition           table.Partition = duePrefix + "*"
)

// Access is what a function must declare whose requests leave entries. It cannot touch a chain.
var Access = table.Access{Writes: []table.Partition{WaitingPartition, SystemWaitingPartition, DuePartition}}

// LinkAccess is what a function must declare that links entries into every chain. A row, and the item that tells where its
// chain ends, are put in one transaction, and nothing but that may be done to a chain; the eraser alone deletes one.
var LinkAccess = Access.With(table.Access{Appends: []table.Partition{Partition, SystemPartition,
	identity.MetaPartition}})

// The chains that belong to no organization, and how many there are: sign-ups and guesses at passwords come at any rate,
// and one chain takes some hundred rows a second.
const (
	systemPrefix  = "AUDIT#SYS#"
	systemWaiting = "AUDITIN#SYS#"
	systemChains  = 16
)

// waitingShards is over how many partitions the entries of an organization are spread. One takes 1,000 write units a second,
// and an entry costs about seven until it is linked.
const waitingShards = 16

// Place is where a chain is kept: the partition of its rows and the item that tells where it ends.
type Place struct {
	PK   string
	Head table.Key
}

// PlaceOf returns where the chain of an organization is kept.
func PlaceOf(org string) Place {
	return Place{table.OrgPK(org) + "AUDIT", table.Key{PK: table.OrgPK(org) + "META", SK: "AUDITHEAD"}}
}

// SystemPlaces returns where the chains of the installation are kept: of requests that belong to no organization.
func SystemPlaces() []Place {
	out := make([]Place, systemChains)
	for i := range out {
		out[i] = systemPlace(uint32(i)) //nolint:gosec // 16 at most
	}
	return out
}

func systemPlace(i uint32) Place { return placeAt(shardOf(systemPrefix, i)) }

// shardOf returns the i-th of at most a hundred partitions that begin with prefix.
func shardOf(prefix string, i uint32) string {
	return prefix + string([]byte{'0' + byte(i/10), '0' + byte(i%10)})
}

// placeOf returns where the chain of an organization is kept; without one, that of the installation for an address.
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
	_, _ = h.Write([]byte(s)) // never fails
	return h.Sum32()
}

// waitingPKs returns the partitions in which entries of the chain wait.
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

// WaitingNames returns the names of an organization's partitions in which entries wait.
func WaitingNames() []string { return shardsOf("AUDITIN#") }

// waitingKey returns where the entry of an id waits.
func (p Place) waitingKey(entryID string) table.Key {
	if p.isSystem() {
		return table.Key{PK: systemWaiting + strings.TrimPrefix(p.PK, systemPrefix), SK: entryID}
	}
	return table.Key{PK: shardOf(p.PK+"IN#", hashOf(entryID)%waitingShards), SK: entryID}
}

// permitted returns the beginnings of all partition keys that linking touches.
func (p Place) permitted() []string {
	return append(p.waitingPKs(), p.PK, p.Head.PK, p.duePK())
}
