package measurement

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"lamplighter.dev/shared/engine/table"
)

func TestReadShard_ReturnsTheSameHistoriesAsRead(t *testing.T) {
	s, ctx := newStore(t)
	for d := range 20 {
		day := midnight.AddDate(0, 0, d-20)
		var all []Series
		for i := range 200 {
			all = append(all, NewSeries(fmt.Sprint("i-", i), cpu, day, points(day, func(h int) float64 {
				return float64(i + h + d)
			})))
		}
		if err := s.WriteDay(ctx, org, account, Day{day, 0}, all); err != nil {
			t.Fatal(err)
		}
	}
	from, until := midnight.AddDate(0, 0, -14), midnight.AddDate(0, 0, -1)
	if err := s.NoteCollection(ctx, org, account, Collection{Day: DayOf(until)}); err != nil {
		t.Fatal(err)
	}
	shard := table.ShardOf("i-7", Shards)
	var uids []string
	for i := range 200 {
		if i%5 != 0 { // the others are not wanted
			uids = append(uids, fmt.Sprint("i-", i))
		}
	}
	var got Shard
	for _, some := range [][]string{{"i-0", "i-5"}, uids} { // the memory of the first is used again
		if err := s.ReadShard(ctx, org, ShardDays{
			Shard: shard, From: from, Until: until, UIDs: some,
		}, &got); err != nil {
			t.Fatal(err)
		}
	}
	if len(got.days) == 0 {
		t.Fatal("no resource is measured")
	}
	for i := range 200 {
		uid := fmt.Sprint("i-", i)
		want, err := s.Read(ctx, Of{org, account, uid}, from, until)
		if err != nil {
			t.Fatal(err)
		}
		if table.ShardOf(uid, Shards) != shard || i%5 == 0 {
			want = History{}
		}
		use := got.Of(uid)
		if h := historyOf(&use); !reflect.DeepEqual(h, want) {
			t.Errorf("%s: %d days; want %d", uid, len(h[cpu]), len(want[cpu]))
		}
	}
}

// historyOf returns the measurements of a resource that a shard holds.
func historyOf(u *Use) History {
	h := History{}
	for at := u.first; at != none; at = u.shard.series[at].next {
		days := map[string][hours]float32{}
		for n := u.shard.series[at].first; n != none; n = u.shard.days[n].next {
			var values [hours]float32
			d := &u.shard.days[n]
			expand(&values, d.there, u.shard.values[d.item][d.at:])
			days[u.shard.names[d.item]] = values
		}
		h[u.shard.measures[u.shard.series[at].measure]] = days
	}
	return h
}

func TestBlock_ReadsEachFormOfAnItem(t *testing.T) {
	want := NewSeries("i-1", cpu, midnight, points(midnight, func(h int) float64 { return float64(h) }))
	z, err := json.Marshal(encode([]Series{want}))
	if err != nil {
		t.Fatal(err)
	}
	var b block
	for name, data := range map[string]string{
		"as the product writes it": `{"z":` + string(z) + `}`,
		"with white space":         `{ "z": ` + string(z) + ` }`,
		"with another member":      `{"z":` + string(z) + `,"a":"b"}`,
		"with an escape":           `{"z":"` + fmt.Sprintf(`\u%04x`, z[1]) + string(z[2:]) + `}`,
	} {
		err := b.read(table.Item{Data: []byte(data)})
		if err != nil || len(b.series) != 1 || !b.isOf(&b.series[0], cpu) {
			t.Errorf("%s: %d series, %v", name, len(b.series), err)
		}
	}
	for name, data := range map[string]string{"no base64": `{"z":"?"}`, "cut off": `{"z":` + string(z)} {
		var damage *table.DamageError
		if err := b.read(table.Item{Data: []byte(data)}); !errors.As(err, &damage) {
			t.Errorf("%s: %v; want that the item is damaged", name, err)
		}
	}
}
