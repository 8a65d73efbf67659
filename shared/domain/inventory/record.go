package inventory

import (
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
)

// newRow makes the row of a record.
func newRow(s *index.Symbols, r Resource) index.Entry {
	id, _ := parseID(r.ID) // ids of records are ours
	out := index.Entry{UID: r.UID, Name: r.Name, ID: id, Tags: s.InternTags(r.Tags), Capacity: amountsOf(s, r)}
	for i, v := range [index.RefCount]string{
		r.Type, r.Provider, r.CloudAccountID, r.Region, string(r.Status), r.Zone, r.InstanceType, r.ParentUID,
		r.Unschedulable,
	} {
		out.Refs[i] = s.Intern(v)
	}
	out.Times[index.ContentTime], out.Times[index.SeenTime] = microsOf(r.LastSeenAt), microsOf(r.LastSeenAt)
	out.Times[index.StatusTime], out.Times[index.CreatedTime] = r.StatusAt, microsOf(r.CreatedAt)
	return out
}

// inputPrefix begins the name of the amount that holds the sum of the facts instead of a capacity. The rest of the
// name is the price inputs.
const inputPrefix = "$"

// amountsOf returns the amounts of a record: the sum of its facts, if it has any, and then its capacity. The name of
// the sum is empty, or holds the price inputs. Programs from before there were facts can read these amounts, too.
func amountsOf(s *index.Symbols, r Resource) []index.Amount {
	amounts := s.InternCapacity(r.Capacity)
	if r.FactsSum == 0 {
		return amounts
	}
	sum := index.Amount{Value: r.FactsSum}
	if r.PriceInputs != "" {
		sum.Name = s.Intern(inputPrefix + r.PriceInputs)
	}
	return append([]index.Amount{sum}, amounts...)
}

// splitAmounts returns the capacity of a row, the sum of its facts, and its price inputs.
func splitAmounts(s *index.Symbols, r index.Row) (capacity index.Amounts, factsSum int64, inputs string) {
	capacity = r.Capacity()
	if capacity.Len() == 0 {
		return capacity, 0, ""
	}
	first := capacity.At(0)
	if first.Name == 0 {
		return capacity.From(1), first.Value, ""
	}
	if name, ok := strings.CutPrefix(s.Name(first.Name), inputPrefix); ok {
		return capacity.From(1), first.Value, name
	}
	return capacity, 0, ""
}

// recordOf returns the record of a row. Its LastSeenAt includes later scans that found the resource unchanged. It
// needs the read lock.
func recordOf(st *index.State, r index.Row) Resource {
	out := recordOfRow(st.Symbols, r)
	out.LastSeenAt = timeOfMicros(st.LastSeen(r))
	return out
}

// recordOfRow returns the record of a row, limited to the fields in the row. DiscoveredAt comes from its id.
func recordOfRow(s *index.Symbols, r index.Row) Resource {
	out := Resource{
		ID: formatID(r.ID()), UID: r.UID(), Name: r.Name(),
		Type: r.Word(index.KindRef), Provider: r.Word(index.ProviderRef), CloudAccountID: r.Word(index.AccountRef),
		Region: r.Word(index.RegionRef), Zone: r.Word(index.ZoneRef), Status: cloud.Status(r.Word(index.StatusRef)),
		InstanceType: r.Word(index.InstanceRef), ParentUID: r.Word(index.ParentRef),
		Unschedulable: r.Word(index.WhyRef),
		StatusAt:      r.Time(index.StatusTime), DiscoveredAt: ulid.Time(r.ID().Time()).UTC(),
		LastSeenAt: timeOfMicros(r.Time(index.SeenTime)), CreatedAt: timeOfMicros(r.Time(index.CreatedTime)),
	}
	if tags := r.Tags(); len(tags) > 0 {
		out.Tags = make(map[string]string, len(tags))
	}
	for _, n := range r.Tags() {
		key, value := s.Tag(n)
		out.Tags[key] = value
	}
	capacity, sum, inputs := splitAmounts(s, r)
	out.FactsSum, out.PriceInputs = sum, inputs
	out.Capacity = newCapacity(s, capacity)
	return out
}

// newCapacity returns amounts by their names; nil when there are none.
func newCapacity(s *index.Symbols, amounts index.Amounts) map[string]int64 {
	if amounts.Len() == 0 {
		return nil
	}
	out := make(map[string]int64, amounts.Len())
	for i := range amounts.Len() {
		a := amounts.At(i)
		out[s.Name(a.Name)] = a.Value
	}
	return out
}

// sameResource reports whether a listed resource equals the row of an index, apart from its status.
func sameResource(s *index.Symbols, r index.Row, p Partition, found cloud.Resource) bool {
	if r.Vanished() || r.Name() != found.Name || r.Time(index.CreatedTime) != microsOf(found.CreatedAt) {
		return false
	}
	for ref, want := range [index.RefCount]string{
		index.KindRef: found.Type, index.AccountRef: p.AccountID, index.ProviderRef: p.Provider,
		index.RegionRef: found.Region, index.ZoneRef: found.Zone,
		index.InstanceRef: found.InstanceType, index.ParentRef: found.ParentUID, index.WhyRef: found.Unschedulable,
	} {
		if ref != index.StatusRef && r.Word(ref) != want {
			return false
		}
	}
	return sameTags(s, r, found.Tags) && sameAmounts(s, r, found)
}

func sameTags(s *index.Symbols, r index.Row, tags map[string]string) bool {
	if len(r.Tags()) != len(tags) {
		return false
	}
	for _, n := range r.Tags() {
		key, value := s.Tag(n)
		if v, ok := tags[key]; !ok || v != value {
			return false
		}
	}
	return true
}

func sameAmounts(s *index.Symbols, r index.Row, found cloud.Resource) bool {
	amounts, sum, inputs := splitAmounts(s, r)
	if amounts.Len() != len(found.Capacity) || sum != found.Facts.Sum() ||
		inputs != IndexedFacts(found.Type, found.Facts) {
		return false
	}
	for i := range amounts.Len() {
		a := amounts.At(i)
		if v, ok := found.Capacity[s.Name(a.Name)]; !ok || v != a.Value {
			return false
		}
	}
	return true
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
