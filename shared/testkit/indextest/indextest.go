// Package indextest fills the index of an organization with as many resources as a test of memory or units needs,
// without their records: writing half a million of those takes minutes.
package indextest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// Account is the cloud account of all resources.
const Account = "ca_1"

// batch is the number of resources in one write.
const batch = 8192

// Fill writes n resources into the index of an organization, as discovery leaves it: every fourth resource was found
// after the others were put in order.
func Fill(tb testing.TB, t table.Store, org string, n int) {
	tb.Helper()
	c := clock.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	s, ctx := index.NewStore(t, c), table.WithOrg(context.Background(), org)
	check := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	note := func(from, to int) {
		for ; from < to; from += batch {
			g := index.NewSegment()
			for i := from; i < min(to, from+batch); i++ {
				g.Rows = append(g.Rows, Entry(g.Symbols, c.Now(), i))
			}
			check(s.Note(ctx, org, g))
			c.Advance(time.Second)
		}
	}
	note(0, n-n/4)
	check(s.Rewrite(ctx, org))
	note(n-n/4, n)
	check(s.Fold(ctx, org))
}

// NoteUntilDue writes statuses of resources until the index is almost due for compaction.
func NoteUntilDue(tb testing.TB, t table.Store, org string) {
	tb.Helper()
	s, ctx := index.NewStore(t, clock.System{}), table.WithOrg(context.Background(), org)
	for size := 0; size < 190_000; {
		g := index.NewSegment()
		for n := range 1000 {
			g.AddStatus(UID(size+n), "stopping", int64(n))
		}
		ctx, meter := table.WithMeter(ctx)
		if err := s.Note(ctx, org, g); err != nil {
			tb.Fatal(err)
		}
		size += 1024 * int(meter.Usage().WriteUnits)
	}
}

// UID returns the native id of the n-th machine.
func UID(n int) string { return fmt.Sprintf("i-%017x", uint64(n)*0x9e3779b97f4a7c15) }

// Entry returns the n-th machine of a cloud as seen at a time. Its individual values are as long as in real clouds,
// and so are the tags that name it, its owner and its team.
func Entry(s *index.Symbols, at time.Time, n int) index.Entry {
	hash := uint64(n) * 0x9e3779b97f4a7c15
	name := fmt.Sprintf("Web-%06d", n*7919%1_000_003)
	id := ulid.ULID{}
	_ = id.SetTime(ulid.Timestamp(at)) // this millennium
	for i := range 8 {
		id[8+i] = byte(hash >> (8 * i))
	}
	e := index.Entry{
		UID: UID(n), Name: name, ID: id,
		Tags: s.InternTags(map[string]string{
			"Name": name, "env": []string{"prod", "staging", "dev"}[n%3], "team": fmt.Sprintf("team-%02d", n%40),
			"owner": fmt.Sprintf("person-%d", n%500),
		}),
		Capacity: s.InternCapacity(map[string]int64{"vCPU": int64(n%8 + 1), "memoryMiB": int64(n%8+1) * 4096}),
	}
	for ref, text := range [index.RefCount]string{
		index.KindRef: "aws-ec2", index.ProviderRef: "aws", index.AccountRef: Account, index.RegionRef: "eu-west-1",
		index.StatusRef: []string{"running", "stopped"}[n%2], index.ZoneRef: "eu-west-1" + string(rune('a'+n%3)),
		index.InstanceRef: []string{"t3.micro", "m7g.large", "c7i.xlarge"}[n%3],
	} {
		e.Refs[ref] = s.Intern(text)
	}
	e.Times = [...]int64{
		index.ContentTime: at.UnixMicro(), index.SeenTime: at.UnixMicro(), index.StatusTime: at.UnixMicro(),
		index.CreatedTime: at.Add(-time.Duration(n) * time.Minute).UnixMicro(),
	}
	return e
}
