package condition

import (
	"encoding/json"
	"fmt"
	"syscall"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/testkit/seed"
)

// machines is the number of machines of a pass.
const machines = 100_000

// processorTime returns the processor time of this process, in nanoseconds: other processes do not disturb it.
func processorTime(t testing.TB) int64 {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func BenchmarkCompile_AllRules(b *testing.B) {
	rules(b)
	b.ReportAllocs()
	n, cpu := 0, processorTime(b)
	defer func() { b.ReportMetric(float64(processorTime(b)-cpu)/float64(n), "cpu-ns/op") }()
	for b.Loop() {
		n++
		c := NewCatalogue()
		for i := range rule.All() {
			if _, err := c.Compile(&rule.All()[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// machine is the record of the n-th machine, as the inventory stores it.
func machine(n int) []byte {
	return fmt.Appendf(nil, `{"id":"res_%d","uid":"arn:aws:ec2:eu-west-1:111122223333:instance/i-%d","name":"web-%d",`+
		`"type":"aws-ec2","provider":"aws","cloudAccountID":"ca_1","region":"eu-west-1","zone":"eu-west-1a",`+
		`"status":"running","instanceType":"m5.large","capacity":{"vcpu":2},"tags":{"team":"t%d","env":"prod"},`+
		`"statusAt":1774900000000000,"facts":{"architecture":"x86_64","asg_name":"","imds_tokens":"required",`+
		`"launched_at":"2026-0%d-11T08:00:00Z","monitoring":"disabled","platform":"Linux/UNIX","public_ip":"",`+
		`"state":"running","stopped_at":"9999-12-31T00:00:00Z","tenancy":"default","vcpu":%d,"memory_gib":8,`+
		`"burstable":false,"gpu_count":0,"unread":["image_exists: ec2:DescribeImages: AccessDenied"]},`+
		`"discoveredAt":"2026-01-02T03:04:05Z","lastSeenAt":"2026-03-31T03:04:05Z"}`,
		n, n, n, n%40, 1+n%3, 2<<(n%4))
}

// level is the use of a machine.
type level float64

func (l level) Statistic(name string) Measured {
	if name == "mem_max_14d" || name == "gpu_util_max_14d" {
		return Measured{Reason: NoPoints}
	}
	return Measured{Value: float64(l)}
}

// fill reads the n-th machine into a subject.
func fill(b testing.TB, s *Subject, record []byte, n int) {
	b.Helper()
	if err := s.Facts.ReadRecord(record); err != nil {
		b.Fatal(err)
	}
	s.Facts.Set("env", "prod")
	s.Facts.Set("has_schedule", false)
	s.Facts.Set("managed_by", "")
	s.Metrics.Reset(level(n % 100))
}

func BenchmarkEvaluate_AllRulesOfAMachine(b *testing.B) {
	all := rules(b)
	s, conditions := all.subject(b, "aws-ec2"), all.byType["aws-ec2"]
	records := make([][]byte, 1000)
	for i := range records {
		records[i] = machine(i)
	}
	b.ReportAllocs()
	n, results, cpu := 0, [3]int{}, processorTime(b)
	for b.Loop() {
		fill(b, s, records[n%len(records)], n)
		n++
		for _, c := range conditions {
			results[s.Evaluate(c, c.Default()).Truth]++
		}
	}
	b.ReportMetric(float64(processorTime(b)-cpu)/float64(n*len(conditions)), "cpu-ns/evaluation")
	b.ReportMetric(float64(results[Unknown])/float64(n), "unknown/op")
	b.ReportMetric(float64(results[True])/float64(n), "true/op")
}

func BenchmarkEvaluate_OneCondition(b *testing.B) {
	all := rules(b)
	s := all.subject(b, "aws-ec2")
	fill(b, s, machine(1), 1)
	for _, c := range all.byType["aws-ec2"] {
		b.Run(c.ID, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Evaluate(c, c.Default())
			}
		})
	}
}

func BenchmarkFacts_ReadRecord(b *testing.B) {
	s := rules(b).subject(b, "aws-ec2")
	record := machine(7)
	b.ReportAllocs()
	n, cpu := 0, processorTime(b)
	defer func() { b.ReportMetric(float64(processorTime(b)-cpu)/float64(n), "cpu-ns/op") }()
	for b.Loop() {
		n++
		if err := s.Facts.ReadRecord(record); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFacts_ByEncodingJSON is what the reader replaces: it shows how fast this machine is now.
func BenchmarkFacts_ByEncodingJSON(b *testing.B) {
	record := machine(7)
	b.ReportAllocs()
	n, cpu := 0, processorTime(b)
	defer func() { b.ReportMetric(float64(processorTime(b)-cpu)/float64(n), "cpu-ns/op") }()
	for b.Loop() {
		n++
		var r inventory.Resource
		if err := json.Unmarshal(record, &r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEvaluate_AMachineWithItsMeasurements does all that a nightly pass does for one machine: it reads the facts,
// takes a fortnight of six measures, rolls up what conditions read, and evaluates all rules. The pass of 100,000
// machines has a bar of 5 s of one processor.
func BenchmarkEvaluate_AMachineWithItsMeasurements(b *testing.B) {
	all := rules(b)
	s, conditions := all.subject(b, "aws-ec2"), all.byType["aws-ec2"]
	source, series := &Rollups{Kind: "aws-ec2"}, fortnight(b)
	records := make([][]byte, 1000)
	for i := range records {
		records[i] = machine(i)
	}
	b.ReportAllocs()
	n, cpu := 0, processorTime(b)
	for b.Loop() {
		fill(b, s, records[n%len(records)], n)
		source.Recent.Reset(day)
		for ago, ofDay := range series {
			for _, one := range ofDay {
				source.Recent.Add(day.AddDate(0, 0, -1-ago), one)
			}
		}
		s.Metrics.Reset(source)
		for _, c := range conditions {
			s.Evaluate(c, c.Default())
		}
		n++
	}
	each := float64(processorTime(b)-cpu) / float64(n)
	b.ReportMetric(each/float64(len(conditions)), "cpu-ns/evaluation")
	b.ReportMetric(each*machines/1e9, "cpu-s/100000-machines")
}

// fortnight returns the series of all measures of a machine, by day.
func fortnight(b testing.TB) [][]measurement.Series {
	b.Helper()
	r := seed.Fixed(b, 22, 30)
	out := make([][]measurement.Series, 14)
	for ago := range out {
		for _, m := range cloud.MeasuresOf("aws-ec2") {
			one := measurement.Series{UID: "i-1", Measure: m}
			for hour := range one.Hours {
				one.Hours[hour] = float32(r.Float64() * 60)
			}
			out[ago] = append(out[ago], one)
		}
	}
	return out
}
