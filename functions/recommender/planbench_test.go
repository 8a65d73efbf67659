package recommender

import (
	"fmt"
	"slices"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/testkit/apitest"
)

// BenchmarkPlanOfHundredRules plans 100 own rules of one type over 100,000 resources of it, with the backtest: each
// rule is evaluated for each resource. The bar is 15 s.
func BenchmarkPlanOfHundredRules(b *testing.B) {
	f := newFixture(b)
	const resources = 100_000
	var all []cloud.Resource
	for i := range resources {
		v := f.volume(fmt.Sprintf("vol-%06d", i), i%30)
		v.Facts["size_gb"] = float64(i % 200)
		all = append(all, v)
	}
	for some := range slices.Chunk(all, 1000) {
		f.discover("aws-ebs", some...)
	}
	var d rule.Document
	for i := range 100 {
		o := bigVolume()
		o.ID = fmt.Sprint("custom-rule-", i)
		o.Condition = "res.size_gb > p.gb && res.encrypted && res.volume_type != 'io1' && " +
			"now - res.created_at > duration('24h')"
		o.Params = map[string]any{"gb": float64(100 + i)}
		d.Rules = append(d.Rules, o)
	}
	f.Workflow = apitest.Idle{}
	s := recommendation.New(f.Platform)
	base := apitest.Value(s.ReadRules(f.In(org), org))(f)
	n, cpu := 0, processorTime(b)
	for b.Loop() {
		n++
		p := apitest.Value(s.StartRulePlan(f.In(org), f.Platform, org, base.ChangeTo(&d, false), "a"))(f)
		f.runTask("evaluate", recommendation.RefreshInput{Org: org, JobID: p.ID, Plan: true})
		p = apitest.Value(s.ReadRulePlan(f.In(org), org, p.ID))(f)
		if p.Totals.Resources != resources || p.Totals.Opened == 0 {
			b.Fatalf("%+v", p.Totals)
		}
	}
	b.ReportMetric(float64(len(d.Rules)), "rules")
	b.ReportMetric((processorTime(b)-cpu).Seconds()/float64(n), "cpu-s/op")
}
