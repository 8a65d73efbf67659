package recommender

import (
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/sizing"
	"lamplighter.dev/shared/engine/table"
)

// BenchmarkEvaluateInstances evaluates all rules of EC2 instances, with facts read and metrics rolled up, without the
// store. One iteration is one instance: a busy one without findings, or one that idles outside office hours and has
// findings that are new, so that they are also evaluated as of the day before.
func BenchmarkEvaluateInstances(b *testing.B) {
	busy := func(time.Time, cloud.Measure) float64 { return 60 }
	b.Run("busy", func(b *testing.B) { benchmarkInstance(b, machineLoad("aws-ec2", 14, busy)) })
	b.Run("idle at night", func(b *testing.B) { benchmarkInstance(b, machineLoad("aws-ec2", 14, weekdayLoad)) })
}

func benchmarkInstance(b *testing.B, history measurement.History) {
	b.Helper()
	f := newFixture(b)
	s := newSubject(b)
	s.price("0.01")
	w := newWorker(f.Platform, nil)
	s.inputs.end, s.now = patternEnd, patternEnd
	s.tables = &priceTables{ctx: f.In(org), prices: w.prices}
	s.sizes = &sizeLists{
		ctx: f.In(org), store: sizing.NewStore(f.Platform), org: org,
		at: func(l *sizing.List) bool { return l.Stale(s.now) },
	}
	settling, err := w.rows.Begin(f.In(org), org, recommendation.Pass{ID: "p", At: s.now})
	f.Must(err)
	e := &evaluation{
		worker: w, org: org, in: s.inputs, rules: &orgRules{compiler: w.compiler}, settling: settling,
		evaluators: map[string]*evaluator{},
		counts:     map[countKey]*recommendation.RuleCount{},
		usage:      func(string) measurement.Use { return measurement.Use{History: history} },
		candidates: map[string][]measurement.Candidate{},
	}
	r := f.instance("i-1")
	it := apitestItem(f, inventory.Resource{
		ID: "res_01k0000000000000000000000a", UID: "i-1", Name: "web", Type: "aws-ec2", Provider: "aws",
		CloudAccountID: "ca_1", Region: "eu-west-1", Status: cloud.Running, InstanceType: "m5.large", Facts: r.Facts,
		Tags:         map[string]string{"env": "prod", "team": "shop", "Name": "web"},
		DiscoveredAt: s.now.AddDate(0, 0, -100), CreatedAt: s.now.AddDate(0, 0, -100),
	})
	b.ReportAllocs()
	n, cpu := 0, processorTime(b)
	for b.Loop() {
		e.findings = e.findings[:0]
		f.Must(e.evaluateItem(it))
		n++
	}
	b.ReportMetric(float64((processorTime(b)-cpu).Nanoseconds())/1e3/float64(n), "cpu-us/op")
	b.ReportMetric(float64(len(e.evaluators["aws-ec2"].rules)), "rules")
	b.ReportMetric(float64(len(e.findings)), "findings")
}

func apitestItem(f *fixture, r inventory.Resource) table.Item {
	f.Helper()
	it, err := table.NewItem(inventory.ResourceKey(org, r.UID), r)
	f.Must(err)
	return it
}
