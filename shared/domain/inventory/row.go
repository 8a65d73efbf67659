package inventory

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/cloud"
)

// The fields of a row that repeat from row to row are numbers of symbols, in this order.
const (
	kindRef = iota
	providerRef
	accountRef
	regionRef
	statusRef
	zoneRef
	instanceRef
	parentRef
	whyRef // why it is unschedulable
	refCount
)

// The times of a row, in Unix microseconds; 0 is none.
const (
	contentTime = iota // of the observation behind everything but the status
	statusTime         // of the observation behind the status
	seenTime           // when it was last written as seen
	createdTime        // when the resource was made
	timeCount
)

// row is one resource in the index. Its content and its status are two registers that are merged apart: in each the
// newest observation wins, so it does not matter in which order, or how often, changes arrive.
type row struct {
	uid, name   string
	luid, lname string // in lower case, for search and order; the same bytes where nothing changes
	id          ulid.ULID
	refs        [refCount]uint32
	times       [timeCount]int64
	tags        []uint32 // numbers of pairs, ordered by key
	capacity    []amount // ordered by name
	vanished    bool     // a scan did not find it any more
	gone        bool     // dropped: kept for a while so that late news does not bring it back
}

// amount is one capacity: a symbol and its value.
type amount struct {
	name  uint32
	value int64
}

// symbols numbers the strings of an index. Symbol 0 is the empty string.
type symbols struct {
	names []string
	ids   map[string]uint32
	pairs []pair
	pids  map[[2]uint32]uint32
}

// pair is one tag; lower is "key=value" in lower case, for search.
type pair struct {
	key, value uint32
	lower      string
}

func newSymbols() *symbols {
	return &symbols{names: []string{""}, ids: map[string]uint32{"": 0}, pids: map[[2]uint32]uint32{}}
}

func (s *symbols) internName(name string) uint32 {
	if n, ok := s.ids[name]; ok {
		return n
	}
	n := uint32(len(s.names)) //nolint:gosec // far fewer than 2^32 fit into memory
	name = strings.Clone(name)
	s.names = append(s.names, name)
	s.ids[name] = n
	return n
}

func (s *symbols) internBytes(name []byte) uint32 {
	if n, ok := s.ids[string(name)]; ok { // needs no copy
		return n
	}
	return s.internName(string(name))
}

func (s *symbols) internPair(key, value uint32) uint32 {
	k := [2]uint32{key, value}
	if n, ok := s.pids[k]; ok {
		return n
	}
	n := uint32(len(s.pairs)) //nolint:gosec // far fewer than 2^32 fit into memory
	s.pairs = append(s.pairs, pair{key, value, strings.ToLower(s.names[key] + "=" + s.names[value])})
	s.pids[k] = n
	return n
}

func (s *symbols) internTags(tags map[string]string) []uint32 {
	out := make([]uint32, 0, len(tags))
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, s.internPair(s.internName(k), s.internName(tags[k])))
	}
	return out
}

func (s *symbols) internCapacity(capacity map[string]int64) []amount {
	out := make([]amount, 0, len(capacity))
	for _, k := range slices.Sorted(maps.Keys(capacity)) {
		out = append(out, amount{s.internName(k), capacity[k]})
	}
	return out
}

// rowOf makes the row of a record.
func (s *symbols) rowOf(r Resource) row {
	id, _ := parseID(r.ID) // ids of records are ours
	out := row{uid: r.UID, name: r.Name, id: id, tags: s.internTags(r.Tags), capacity: s.internCapacity(r.Capacity)}
	for i, v := range [refCount]string{
		r.Type, r.Provider, r.CloudAccountID, r.Region, string(r.Status), r.Zone, r.InstanceType, r.ParentUID, r.Unschedulable,
	} {
		out.refs[i] = s.internName(v)
	}
	out.times = [timeCount]int64{microsOf(r.LastSeenAt), r.StatusAt, microsOf(r.LastSeenAt), microsOf(r.CreatedAt)}
	return out
}

// resourceOf makes the record of a row, as far as the index knows it. DiscoveredAt is in its id.
func (s *symbols) resourceOf(r *row) Resource {
	out := Resource{
		ID: formatID(r.id), UID: r.uid, Name: r.name,
		Type: s.refName(r, kindRef), Provider: s.refName(r, providerRef), CloudAccountID: s.refName(r, accountRef),
		Region: s.refName(r, regionRef), Zone: s.refName(r, zoneRef), Status: cloud.Status(s.refName(r, statusRef)),
		InstanceType: s.refName(r, instanceRef), ParentUID: s.refName(r, parentRef), Unschedulable: s.refName(r, whyRef),
		StatusAt: r.times[statusTime], DiscoveredAt: ulid.Time(r.id.Time()).UTC(),
		LastSeenAt: timeOfMicros(r.times[seenTime]), CreatedAt: timeOfMicros(r.times[createdTime]),
	}
	if len(r.tags) > 0 {
		out.Tags = make(map[string]string, len(r.tags))
	}
	for _, p := range r.tags {
		out.Tags[s.names[s.pairs[p].key]] = s.names[s.pairs[p].value]
	}
	if len(r.capacity) > 0 {
		out.Capacity = make(map[string]int64, len(r.capacity))
	}
	for _, a := range r.capacity {
		out.Capacity[s.names[a.name]] = a.value
	}
	return out
}

func (s *symbols) refName(r *row, ref int) string { return s.names[r.refs[ref]] }

// sameAsFound reports whether the resource that a listing found is what the row says, but for its status.
func (s *symbols) sameAsFound(r *row, p Partition, found cloud.Resource) bool {
	if r.gone || r.vanished || r.name != found.Name || r.times[createdTime] != microsOf(found.CreatedAt) {
		return false
	}
	for ref, want := range [refCount]string{
		kindRef: found.Type, accountRef: p.AccountID, providerRef: p.Provider, regionRef: found.Region, zoneRef: found.Zone,
		instanceRef: found.InstanceType, parentRef: found.ParentUID, whyRef: found.Unschedulable,
	} {
		if ref != statusRef && s.refName(r, ref) != want {
			return false
		}
	}
	return s.sameTags(r, found.Tags) && s.sameCapacity(r, found.Capacity)
}

func (s *symbols) sameTags(r *row, tags map[string]string) bool {
	if len(r.tags) != len(tags) {
		return false
	}
	for _, n := range r.tags {
		p := s.pairs[n]
		if v, ok := tags[s.names[p.key]]; !ok || v != s.names[p.value] {
			return false
		}
	}
	return true
}

func (s *symbols) sameCapacity(r *row, capacity map[string]int64) bool {
	if len(r.capacity) != len(capacity) {
		return false
	}
	for _, a := range r.capacity {
		if v, ok := capacity[s.names[a.name]]; !ok || v != a.value {
			return false
		}
	}
	return true
}

// isNewer reports whether the content of r wins over that of old: the newer one; of two equally old ones the dropped
// one; of two that still differ the one whose writing is greater, so that every reader decides alike.
func (s *symbols) isNewer(r, old *row) bool {
	if c := cmp.Compare(r.times[contentTime], old.times[contentTime]); c != 0 {
		return c > 0
	}
	if r.gone != old.gone {
		return r.gone
	}
	return !equalContent(r, old) && bytes.Compare(s.canon(r), s.canon(old)) > 0
}

// equalContent reports whether two rows of one index have the same content.
func equalContent(a, b *row) bool {
	x, y := a.refs, b.refs
	x[statusRef], y[statusRef] = 0, 0
	return x == y && a.uid == b.uid && a.name == b.name && a.id == b.id && a.vanished == b.vanished &&
		a.times[seenTime] == b.times[seenTime] && a.times[createdTime] == b.times[createdTime] &&
		slices.Equal(a.tags, b.tags) && slices.Equal(a.capacity, b.capacity)
}

// canon writes the content of a row without the numbers that differ between indexes.
func (s *symbols) canon(r *row) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%q %q %s %v %d %d", r.uid, r.name, r.id, r.vanished, r.times[seenTime], r.times[createdTime])
	for i := range r.refs {
		if i != statusRef {
			fmt.Fprintf(&b, " %q", s.refName(r, i))
		}
	}
	for _, n := range r.tags {
		fmt.Fprintf(&b, " %q=%q", s.names[s.pairs[n].key], s.names[s.pairs[n].value])
	}
	for _, a := range r.capacity {
		fmt.Fprintf(&b, " %q:%d", s.names[a.name], a.value)
	}
	return b.Bytes()
}

const idPrefix = "res_"

// parseID reads the identifier of a resource; false when it cannot be one.
func parseID(id string) (ulid.ULID, bool) {
	tail, ok := strings.CutPrefix(id, idPrefix)
	if !ok {
		return ulid.ULID{}, false
	}
	u, err := ulid.ParseStrict(strings.ToUpper(tail))
	return u, err == nil && formatID(u) == id
}

func formatID(u ulid.ULID) string { return idPrefix + strings.ToLower(u.String()) }

func microsOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func timeOfMicros(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}
