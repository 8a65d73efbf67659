package index

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/oklog/ulid/v2"
)

// The fields with values that repeat between resources are numbers of symbols, in this order.
const (
	KindRef = iota
	ProviderRef
	AccountRef
	RegionRef
	StatusRef
	ZoneRef
	InstanceRef
	ParentRef
	WhyRef // why it is unschedulable
	RefCount
)

// The times of a resource, in Unix microseconds; 0 means none.
const (
	ContentTime = iota // time of the observation behind all fields but the status
	StatusTime         // time of the observation behind the status
	SeenTime           // when it was last written as seen
	CreatedTime        // when the resource was made
	timeCount
)

// Entry is one resource in a segment. Its content and its status are two registers that are merged separately. In each
// register the newest observation wins, so changes may arrive in any order, and more than once.
type Entry struct {
	UID, Name string
	ID        ulid.ULID
	Refs      [RefCount]uint32 // numbers of symbols, by KindRef and so on
	Times     [timeCount]int64 // by ContentTime and so on
	Tags      []uint32         // for Symbols.Tag, ordered by key
	Capacity  []Amount         // ordered by name
	Vanished  bool             // a scan no longer found it
	Gone      bool             // dropped: kept for a while so that late news does not bring it back
}

// Amount is one capacity: a symbol and its value.
type Amount struct {
	Name  uint32
	Value int64
}

// sighting is an observed status without the resource.
type sighting struct {
	uid    string
	status uint32
	at     int64
}

func (e *Entry) sighting() sighting { return sighting{e.UID, e.Refs[StatusRef], e.Times[StatusTime]} }

// newest returns the newer of two statuses. If they have the same time, it returns the one that is greater as a
// string.
func newest(syms *Symbols, a, b sighting) sighting {
	if a.at > b.at || a.at == b.at && syms.Name(a.status) > syms.Name(b.status) {
		return a
	}
	return b
}

// prevails reports whether the content of e wins over that of old, which has the same time. A dropped entry wins.
// Between two other entries the one with the greater encoding wins, so that every reader decides alike.
func (s *Symbols) prevails(e, old *Entry) bool {
	if e.Gone != old.Gone {
		return e.Gone
	}
	return !equalContent(e, old) && bytes.Compare(s.canon(e), s.canon(old)) > 0
}

// equalContent reports whether two entries of the same symbols have the same content.
func equalContent(a, b *Entry) bool {
	x, y := a.Refs, b.Refs
	x[StatusRef], y[StatusRef] = 0, 0
	return x == y && a.UID == b.UID && a.Name == b.Name && a.ID == b.ID && a.Vanished == b.Vanished &&
		a.Times[SeenTime] == b.Times[SeenTime] && a.Times[CreatedTime] == b.Times[CreatedTime] &&
		slices.Equal(a.Tags, b.Tags) && slices.Equal(a.Capacity, b.Capacity)
}

// canon writes the content of an entry without the numbers that differ between indexes.
func (s *Symbols) canon(e *Entry) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%q %q %s %v %d %d", e.UID, e.Name, e.ID, e.Vanished, e.Times[SeenTime], e.Times[CreatedTime])
	for i, n := range e.Refs {
		if i != StatusRef {
			fmt.Fprintf(&b, " %q", s.Name(n))
		}
	}
	for _, n := range e.Tags {
		key, value := s.Tag(n)
		fmt.Fprintf(&b, " %q=%q", key, value)
	}
	for _, a := range e.Capacity {
		fmt.Fprintf(&b, " %q:%d", s.Name(a.Name), a.Value)
	}
	return b.Bytes()
}
