package recommendation

import (
	"context"
	"fmt"
	"syscall"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// benchResources times benchRules is the number of recommendations of the benchmarks.
const (
	benchResources = 20_000
	benchRules     = 5
)

// huge is an organization with 100,000 open recommendations, whose rows and chunks are in the store.
func huge(b *testing.B) *fixture {
	b.Helper()
	f := &fixture{Fixture: apitest.New(b)}
	inventorytest.Connect(f.Fixture, org, inventorytest.Account)
	for from := 0; from < benchResources; from += 1000 {
		some := make([]cloud.Resource, 1000)
		for i := range some {
			some[i] = cloud.Resource{
				UID:    fmt.Sprint("i-", from+i),
				Name:   fmt.Sprint("web-", from+i),
				Status: cloud.Running,
			}
		}
		for i, id := range inventorytest.Discover(f.Fixture, org, "aws-ec2", some...) {
			f.resources = append(f.resources, Resource{
				ResourceID: id, ResourceUID: some[i].UID, ResourceName: some[i].Name, ResourceType: "aws-ec2",
				Provider: "aws", CloudAccountID: inventorytest.Account, Region: "eu-west-1",
			})
		}
	}
	f.fill()
	return f
}

// fill writes the rows and the chunks as Settle and Fold do, without the many transactions.
func (f *fixture) fill() {
	f.Helper()
	p := f.pass("one")
	seg := newSegment()
	var rows []table.Write
	for i, resource := range f.resources {
		for n := range benchRules {
			one := change(idle(), saving(int64((i*benchRules+n*7919)%10_000)), func(f *Finding) {
				f.RuleID, f.Resource, f.Savings.Strength = fmt.Sprint("aws-ec2-rule-", n), resource, Strength(n+1)
			})
			row, _ := Advance(Row{}, one, p)
			w, err := putRow(org, &Row{}, &row)
			f.Must(err)
			w.If = nil
			rows = append(rows, w)
			seg.entries = append(seg.entries, newEntry(seg.names, &row))
		}
	}
	f.Must(f.Table.BatchWrite(f.In(org), rows...))
	for n := range Shards {
		seg.confirmed[n] = p.At.UnixMilli()
	}
	all := &fold{org: org, next: head{Gen: 1, Base: len(seg.entries)}, whole: true}
	all.encode(newColumns(org).with(seg).segment(func(*entry) bool { return true }), f.Clock.Now())
	f.Must(f.store().commit(f.In(org), all))
}

func BenchmarkList_OfHundredThousand(b *testing.B) {
	f := huge(b)
	for name, l := range map[string]List{
		"page 1":     {By: SavingsOrder, Descending: true, Limit: 100},
		"page 1,000": {By: SavingsOrder, Descending: true, Limit: 100, Skip: 99_900},
		"filter and sort by severity": {
			By: SeverityOrder, Severities: []string{"high"}, Categories: []string{"idle"}, Limit: 100,
		},
		"filter, sort by time, page 5": {
			By: UpdatedOrder, Statuses: []string{"open"}, Providers: []string{"aws"}, Limit: 100, Skip: 400,
		},
		"search of all":  {By: SavingsOrder, Search: "no such resource", Limit: 100},
		"search of some": {By: SavingsOrder, Search: "web-1999", Limit: 100},
	} {
		l.Scopes = everything
		b.Run(name, func(b *testing.B) { f.benchList(b, l) })
	}
	b.Run("cold", func(b *testing.B) {
		defer reportProcessor(b)()
		for b.Loop() {
			p := f.Clone()
			if _, err := New(p).Open(f.In(org), org); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("sums", func(b *testing.B) {
		defer reportProcessor(b)()
		for b.Loop() {
			v, err := f.store().View(f.In(org), org, everything, false)
			if err != nil {
				b.Fatal(err)
			}
			v.Sums()
		}
	})
	b.Run("a pass that changes nothing", func(b *testing.B) { f.benchPass(b) })
}

// reportProcessor reports allocations, and the processor time of the process for each operation: unlike the wall time,
// it is the same on a busy machine.
func reportProcessor(b *testing.B) (report func()) {
	b.Helper()
	b.ReportAllocs()
	used := func() float64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return float64(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	return func() { b.ReportMetric((used()-before)/1e6/float64(b.N), "cpu-ms/op") }
}

func (f *fixture) benchList(b *testing.B, l List) {
	b.Helper()
	defer reportProcessor(b)()
	trips, units := 0, 0.0
	for b.Loop() {
		ctx, m := table.WithMeter(f.In(org))
		items, total, err := f.store().List(ctx, org, l)
		if err != nil || l.Search == "" && (total < benchResources || len(items) != 100) {
			b.Fatal(len(items), total, err)
		}
		trips, units = m.Usage().RoundTrips, m.Usage().ReadUnits
	}
	b.ReportMetric(float64(trips), "trips")
	b.ReportMetric(units, "units")
}

func (f *fixture) benchPass(b *testing.B) {
	b.Helper()
	defer reportProcessor(b)()
	ctx := context.WithoutCancel(f.In(org))
	for b.Loop() {
		t, err := f.store().Begin(ctx, org, f.pass("two"))
		if err != nil {
			b.Fatal(err)
		}
		for i, r := range f.resources {
			for n := range benchRules {
				one := change(idle(), saving(int64((i*benchRules+n*7919)%10_000)), func(f *Finding) {
					f.RuleID, f.Resource, f.Savings.Strength = fmt.Sprint("aws-ec2-rule-", n), r, Strength(n+1)
				})
				got, err := t.Settle(ctx, []Finding{*one})
				if err != nil || got.Unchanged != 1 {
					b.Fatalf("%+v, %v", got, err)
				}
			}
		}
	}
}
