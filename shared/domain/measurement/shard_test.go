package measurement

import (
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
	got, err := s.ReadShard(ctx, org, ShardDays{Shard: shard, From: from, Until: until})
	if err != nil || len(got.Histories) == 0 {
		t.Fatalf("%d histories, %v", len(got.Histories), err)
	}
	for i := range 200 {
		uid := fmt.Sprint("i-", i)
		want, err := s.Read(ctx, Of{org, account, uid}, from, until)
		if err != nil {
			t.Fatal(err)
		}
		if table.ShardOf(uid, Shards) != shard {
			want = nil
		}
		if !reflect.DeepEqual(got.Histories[uid], want) {
			t.Errorf("%s: %d days; want %d", uid, len(got.Histories[uid][cpu]), len(want[cpu]))
		}
	}
}
