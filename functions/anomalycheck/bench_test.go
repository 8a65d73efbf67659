package anomalycheck

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/anomaly"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/money"
)

// BenchmarkJudge100kResources times one check of an organization with 100,000 resources, from the answer of the cost
// store to the findings with their contributors. The limit is 5 s.
func BenchmarkJudge100kResources(b *testing.B) {
	const resources = 100_000
	a := cost.Answer{Rows: make([]cost.Row, resources), Days: make([]money.Amount, anomaly.WindowDays)}
	for i := range a.Rows {
		days := make([]money.Amount, anomaly.WindowDays)
		for d := range days {
			days[d] = money.FromScaled(int64(1_000_000+(i*7919+d*104_729)%400_000), 5)
			if i%1000 == 0 && d == anomaly.WindowDays-3 {
				days[d] = days[d].MulInt(4)
			}
			a.Days[d] = a.Days[d].Add(days[d])
		}
		keys := []string{
			fmt.Sprint("i-", i), fmt.Sprint("ca_", i%20), fmt.Sprint("team_", i%50),
			fmt.Sprint("grp_", i%200), []string{"EC2", "S3", "RDS"}[i%3],
		}
		a.Rows[i] = cost.Row{Keys: keys, Days: money.SeriesOf(days...)}
	}
	from := day("2026-02-01")
	settled := map[string]time.Time{}
	for i := range 20 {
		settled[fmt.Sprint("ca_", i)] = from.AddDate(0, 0, anomaly.WindowDays-1)
	}
	rules := anomaly.Rules{Settings: anomaly.DefaultSettings(), MinUSD: money.FromInt(1), OrgDays: a.Days}
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		s := newScopes(a, from, settled)
		found := rules.Pass(s.series(), anomaly.WindowDays-anomaly.Rejudged)
		for i := range found {
			if _, err := s.contributors(&found[i]); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(found)), "findings")
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapSys)/1e6, "MB")
}
