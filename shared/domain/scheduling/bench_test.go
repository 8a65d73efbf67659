package scheduling

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/testkit/seed"
)

// passTables makes n schedules with different zones and minutes and one calendar each.
func passTables(b *testing.B, n int) []*Timetable {
	b.Helper()
	r := seed.Fixed(b, 7, 8)
	out := make([]*Timetable, n)
	for i := range out {
		out[i] = timetable(b, newSchedule(fmt.Sprint("sch_", i), oracleZones[i%len(oracleZones)],
			fmt.Sprintf("start %d %d * * 1-5", r.IntN(60), 6+r.IntN(4)),
			fmt.Sprintf("stop %d %d * * 1-5", r.IntN(60), 17+r.IntN(4))),
			Calendar{
				ID: "cal_1", Effect: StayStopped,
				Entries: []Entry{{From: "2020-12-24", To: "2020-12-26", Yearly: true}},
			})
	}
	return out
}

// evaluate does one evaluation pass for a minute: it lists the firings, decides them, and computes the wanted state
// of each attachment. Each resource has two attachments. It returns the number of firings that act.
func evaluate(tables []*Timetable, attachments int, minute time.Time) (acts, wants int) {
	var subject Subject
	attached := make([]*Timetable, 2)
	firings := make([]Firing, 0, 4)
	for i := 0; i < attachments; i += len(attached) {
		firings = firings[:0]
		for j := range attached {
			attached[j] = tables[(i+j)%len(tables)]
			for f := range attached[j].Firings(Span{minute, minute.Add(time.Minute)}) {
				firings = append(firings, f)
			}
		}
		for _, skip := range Decide(&subject, firings, time.Time{}) {
			if skip.Reason == Acts {
				acts++
			}
		}
		if _, ok := Wanted(minute, attached); ok {
			wants++
		}
	}
	return acts, wants
}

// BenchmarkEvaluate measures a pass over attachments on one core. Each attachment reads its own schedule: the
// resources of one schedule share nothing, though an evaluator may share. Bars: 100,000 in 1 s, 1,000,000 in 10 s.
func BenchmarkEvaluate(b *testing.B) {
	for _, attachments := range []int{100_000, 1_000_000} {
		b.Run(strconv.Itoa(attachments), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			tables := passTables(b, 10_000)
			minute := time.Date(2026, 11, 23, 16, 0, 0, 0, time.UTC)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for b.Loop() {
				if _, wants := evaluate(tables, attachments, minute); wants < attachments/4 {
					b.Fatalf("%d are wanted something of", wants)
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			runtime.KeepAlive(tables)
			b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/1e6, "MB-kept")
		})
	}
}

// BenchmarkPreview previews 92 days of a schedule of 1,000 resources. Each resource has a second schedule. Bar: 500
// ms.
func BenchmarkPreview(b *testing.B) {
	tables := passTables(b, 20)
	targets := make([]Target, 1000)
	for i := range targets {
		targets[i] = Target{
			Member:   inventory.Member{ResourceID: fmt.Sprint("res_", i)},
			Attached: []*Timetable{tables[0], tables[1+i%19]},
		}
	}
	span := Span{year.From, year.From.AddDate(0, 0, 92)}
	for b.Loop() {
		if out, err := Preview(tables[0], targets, span, 5000); err != nil || len(out) < 100 {
			b.Fatalf("%d, %v", len(out), err)
		}
	}
}
