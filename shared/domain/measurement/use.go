package measurement

import (
	"math/bits"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
)

// Use is the known use of a resource: its confirmed metrics and its measurements. The measurements of a resource of a
// Shard stay in the shard, and are valid until it is read anew.
type Use struct {
	Confirmed Confirmed
	History   History // of a resource that was read alone

	shard *Shard
	first int32 // the first of its measures in the shard, or none
}

// Shard is the known use of resources of a shard. It holds a few large slices: a map for each resource, measure and day
// would take several times the memory and the time. It is reused: Store.ReadShard removes the former resources. One
// goroutine uses it.
type Shard struct {
	resources map[string]*resource // the wanted ones, by native id
	measures  []cloud.Measure
	series    []series
	days      []seriesDay
	names     []string // of the days
	dates     []time.Time
	values    [][]float32 // of the days of an item, which are one after another
	block     block       // the present item
	owners    []*resource // by the number of a name in the present block; nil for another name
}

// none ends a list of numbers.
const none = -1

// resource is a wanted resource of a shard: its first measure, and its newest confirmation.
type resource struct {
	first     int32
	confirmed Confirmed
}

// series is a measure of a resource: the list of its days, and the next measure of the resource.
type series struct {
	measure           int
	first, last, next int32
}

// seriesDay is a day of a series. The numbers refer to the slices of the shard.
type seriesDay struct {
	next  int32
	item  int32
	at    uint32 // of the first value among those of the item
	there uint32 // bit n: hour n has a value
}

// reset removes all measurements, and keeps their memory for those of the given resources.
func (s *Shard) reset(uids []string) {
	s.series, s.days, s.names, s.dates = s.series[:0], s.days[:0], s.names[:0], s.dates[:0]
	s.resources = make(map[string]*resource, len(uids))
	all := make([]resource, len(uids))
	for i, uid := range uids {
		all[i].first = none
		s.resources[uid] = &all[i]
	}
}

// Of returns the known use of a resource.
func (s *Shard) Of(uid string) Use {
	r := s.resources[uid]
	if r == nil {
		return Use{first: none}
	}
	return Use{Confirmed: r.confirmed, shard: s, first: r.first}
}

// addConfirmed adds the confirmations of an item. Items come in the order of their days.
func (s *Shard) addConfirmed(it table.Item) error {
	c, err := table.Decode[confirmations](it)
	for _, one := range c.All {
		if r := s.resources[one.UID]; r != nil {
			r.confirmed = one
		}
	}
	return err
}

// addDay adds the series of the wanted resources in the block, which are of a day. A later block of the same day wins.
func (s *Shard) addDay(day string) {
	b := &s.block
	date, _ := time.Parse(time.DateOnly, day) // another name is long ago
	item := int32(len(s.names))               //nolint:gosec // items of one shard
	s.names, s.dates = append(s.names, day), append(s.dates, date)
	s.findOwners(b)
	values := s.takeValues(int(item), s.countWanted(b))
	for i := range b.series {
		one := &b.series[i]
		if r := s.owners[one.uid]; r != nil {
			d := seriesDay{none, item, uint32(len(values)), one.there} //nolint:gosec // fewer than maxDecoded
			values = b.values(one, values)
			s.append(s.seriesOf(r, one, b), d)
		}
	}
	s.values[item] = values
}

// takeValues returns an empty slice for the values of an item: that of an item before the last reset if it is large
// enough.
func (s *Shard) takeValues(item, size int) []float32 {
	if item == len(s.values) {
		s.values = append(s.values, nil)
	}
	if had := s.values[item]; cap(had) >= size {
		return had[:0]
	}
	return make([]float32, 0, size)
}

// findOwners looks the names of a block up among the native ids of the wanted resources.
func (s *Shard) findOwners(b *block) {
	s.owners = s.owners[:0]
	for _, name := range b.names {
		s.owners = append(s.owners, s.resources[string(name)])
	}
}

// countWanted returns the number of values of the wanted resources in a block.
func (s *Shard) countWanted(b *block) (n int) {
	for i := range b.series {
		if one := &b.series[i]; s.owners[one.uid] != nil {
			n += bits.OnesCount32(one.there)
		}
	}
	return n
}

// append appends a day to a series.
func (s *Shard) append(of *series, d seriesDay) {
	at := int32(len(s.days)) //nolint:gosec // of the resources of one shard
	s.days = append(s.days, d)
	if of.first == none {
		of.first = at
	} else {
		s.days[of.last].next = at
	}
	of.last = at
}

// seriesOf returns the series of a resource for a measure of a block. It begins one if there is none.
func (s *Shard) seriesOf(r *resource, one *blockSeries, b *block) *series {
	at := &r.first
	for *at != none {
		of := &s.series[*at]
		if b.isOf(one, s.measures[of.measure]) {
			return of
		}
		at = &of.next
	}
	*at = int32(len(s.series)) //nolint:gosec // of the resources of one shard
	s.series = append(s.series, series{s.measureOf(one, b), none, none, none})
	return &s.series[len(s.series)-1]
}

// measureOf returns the number of the measure of a series.
func (s *Shard) measureOf(one *blockSeries, b *block) int {
	for n := range s.measures {
		if b.isOf(one, s.measures[n]) {
			return n
		}
	}
	s.measures = append(s.measures, b.measure(one))
	return len(s.measures) - 1
}

// AddTo adds the measurements to those of r. DateOf returns the first moment of a day by its name.
func (u *Use) AddTo(r *Recent, dateOf func(name string) time.Time) {
	for m, days := range u.History {
		r.AddDays(m, days, dateOf)
	}
	s := u.shard
	for at := u.first; s != nil && at != none; at = s.series[at].next {
		of := r.rowOf(s.measures[s.series[at].measure])
		for n := s.series[at].first; n != none; n = s.days[n].next {
			d := &s.days[n]
			if ago := r.daysAgo(s.dates[d.item]); ago >= 1 && ago <= maxDays {
				of.days |= 1 << ago
				expand(&of.hours[ago-1], d.there, s.values[d.item][d.at:])
			}
		}
	}
}

// FirstDay returns the name of the first measured day, or "" if there is none.
func (u *Use) FirstDay() (first string) {
	for _, days := range u.History {
		for day := range days {
			first = earlier(first, day)
		}
	}
	s := u.shard
	for at := u.first; s != nil && at != none; at = s.series[at].next {
		for n := s.series[at].first; n != none; n = s.days[n].next {
			first = earlier(first, s.names[s.days[n].item])
		}
	}
	return first
}

// earlier returns the earlier of two days. The first one may be "".
func earlier(a, b string) string {
	if a == "" || b < a {
		return b
	}
	return a
}
