package condition

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/shared/cloud"
)

// result evaluates a condition of an own rule on machines, with facts and metrics.
func (b *builtIn) result(t *testing.T, condition string, res map[string]any, m Fixed) Result {
	t.Helper()
	c, err := b.Compile(own("aws-ec2", condition, "{}"))
	if err != nil {
		t.Fatal(err)
	}
	s := b.subject(t, "aws-ec2")
	for name, v := range res {
		if !s.Facts.Set(name, v) {
			t.Fatalf("%s is no %T", name, v)
		}
	}
	s.Metrics.Reset(m)
	return s.Evaluate(c, c.Default())
}

func TestEvaluate_UnknownNamesWhatTheResultNeeds(t *testing.T) {
	all := rules(t)
	running := map[string]any{"state": "running"}
	busy := Fixed{"cpu_max_14d": {Value: 50}}
	few := Fixed{"cpu_max_14d": {Reason: TooFewPoints}, "mem_max_14d": {Reason: NeedsAgent, Detail: "CWAgent"}}
	for what, tt := range map[string]struct {
		condition string
		res       map[string]any
		m         Fixed
		want      Truth
		missing   []Missing
	}{
		"all known":                  {"res.state == 'running' && m.cpu_max_14d > 5", running, busy, True, nil},
		"a false part decides":       {"res.vcpu > 2 && res.state == 'stopped'", running, busy, False, nil},
		"a true alternative decides": {"res.vcpu > 2 || res.state == 'running'", running, busy, True, nil},
		"one is missing": {
			"res.state == 'running' && res.vcpu > 2", running, busy, Unknown,
			[]Missing{{"res.vcpu", NotReported, ""}},
		},
		"all that is missing is named": {
			"res.vcpu > 2 && m.cpu_max_14d < 5 && m.mem_max_14d < 9", running, few, Unknown,
			[]Missing{
				{"res.vcpu", NotReported, ""},
				{"m.cpu_max_14d", TooFewPoints, ""},
				{"m.mem_max_14d", NeedsAgent, "CWAgent"},
			},
		},
		"what an alternative makes irrelevant is not named": {
			"(res.vcpu > 2 || res.state == 'running') && res.memory_gib > 1 && res.gpu_count > 0", running, busy,
			Unknown,
			[]Missing{{"res.memory_gib", NotReported, ""}, {"res.gpu_count", NotReported, ""}},
		},
		"the negation of unknown is unknown": {
			"!(res.vcpu > 2)", running, busy, Unknown,
			[]Missing{{"res.vcpu", NotReported, ""}},
		},
		"a choice by an unknown value": {
			"(res.burstable ? m.cpu_max_14d : 0.0) < 5", running, busy, Unknown,
			[]Missing{{"res.burstable", NotReported, ""}},
		},
		"has of a measured metric": {"has(m.cpu_max_14d)", running, busy, True, nil},
		"has of a metric without points": {
			"has(m.mem_max_14d)", running, Fixed{"mem_max_14d": {Reason: NoPoints}}, False, nil,
		},
		"has of an unread metric": {
			"!has(m.mem_max_14d)", running, few, Unknown,
			[]Missing{{"m.mem_max_14d", NeedsAgent, "CWAgent"}},
		},
		"has of a known fact": {"has(res.state)", running, busy, True, nil},
		"has of an unknown fact": {
			"has(res.vcpu)", running, busy, Unknown,
			[]Missing{{"res.vcpu", NotReported, ""}},
		},
		"a time of known absence is never long ago": {
			"now - res.stopped_at > duration('1h')",
			map[string]any{"stopped_at": cloud.Never},
			busy, False, nil,
		},
		"an event of long ago": {
			"now - res.stopped_at > duration('1h')",
			map[string]any{"stopped_at": cloud.Epoch},
			busy, True, nil,
		},
		"a division by zero": {
			"res.memory_gib / res.vcpu > 4",
			map[string]any{"vcpu": 0.0, "memory_gib": 8.0},
			busy, Unknown,
			[]Missing{{"", Failed, "division by zero"}},
		},
		"a tag that is not there": {
			"res.tags['team'] == 'a'",
			map[string]any{"tags": map[string]string{}},
			busy, Unknown,
			[]Missing{{"", Failed, "no such key: team"}},
		},
		"a date that is none": {
			"timestamp(res.state) < now", running, busy, Unknown,
			[]Missing{{"", Failed, `invalid RFC 3339 timestamp "running"`}},
		},
		"a metric that is not a number": {
			"m.cpu_max_14d > 5", running,
			Fixed{"cpu_max_14d": {Value: nan}},
			Unknown,
			[]Missing{{"m.cpu_max_14d", Unreadable, "its value is not a number"}},
		},
		"a setting that is not set": {
			"res.region in org.allowed_regions",
			map[string]any{"region": "eu-west-1"},
			busy,
			Unknown,
			[]Missing{{"org.allowed_regions", NotReported, ""}},
		},
	} {
		got := all.result(t, tt.condition, tt.res, tt.m)
		if got.Truth != tt.want || !slices.Equal(got.Missing, tt.missing) {
			t.Errorf("%s: %s, missing %q; want %s, %q", what, got.Truth, got.Missing, tt.want, tt.missing)
		}
	}
}

func TestEvaluate_NumbersAreOneKind(t *testing.T) {
	all := rules(t)
	facts := map[string]any{"vcpu": 2.0, "tags": map[string]string{"a": "1"}, "name": "web"}
	for _, condition := range []string{
		"res.vcpu == 2", "res.vcpu == 2.0", "res.vcpu / 4 == 0.5", "-res.vcpu < 0", "size(res.tags) == 1",
		"size(res.name) * 2 == 6", "res.name.size() == 3", "res.vcpu in [1, 2.0, 3]", "[1, 2].exists(x, x == res.vcpu)",
		"[1, 2, 2].exists_one(x, x == 1)", "[1, 2].all(x, x > 0)", "size([1, 2, 3].filter(x, x > 1)) == 2",
		"['a', 'b'][1] == 'b'",
	} {
		if got := all.result(t, condition, facts, nil); got.Truth != True {
			t.Errorf("%s is %s %v; want true", condition, got.Truth, got.Missing)
		}
	}
}

// A rule for all types reads the common facts of each type.
func TestEvaluate_ARuleForAllTypesReadsTheFactsOfEach(t *testing.T) {
	all := rules(t)
	c, err := all.Compile(own("aws-*", "res.env == 'prod' && !res.has_schedule && res.name == 'web'", "{}"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"aws-ec2", "aws-ebs", "aws-sns", "azure-sql-database"} {
		s := all.subject(t, kind)
		for name, v := range map[string]any{"env": "prod", "has_schedule": false, "name": "web"} {
			s.Facts.Set(name, v)
		}
		if got := s.Evaluate(c, c.Default()); got.Truth != True {
			t.Errorf("%s: %s %v", kind, got.Truth, got.Missing)
		}
	}
}

func TestEvaluate_ManyGoroutinesShareTheConditions(t *testing.T) {
	all := rules(t)
	conditions := all.byType["aws-ec2"]
	evaluate := func() string {
		var out strings.Builder
		s := all.subject(t, "aws-ec2")
		for n := range 20 {
			fill(t, s, machine(n), n)
			for _, c := range conditions {
				got := s.Evaluate(c, c.Default())
				out.WriteString(got.Truth.String())
				for _, m := range got.Missing {
					out.WriteString(m.Name)
				}
			}
		}
		return out.String()
	}
	results := make([]string, 8)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() { results[i] = evaluate() })
	}
	wg.Wait()
	for _, r := range results {
		if r != results[0] {
			t.Fatal("two goroutines have different results")
		}
	}
}

// An evaluation allocates little; the bar of the service is 200 bytes.
func TestEvaluate_AllocatesLittle(t *testing.T) {
	all := rules(t)
	r := testing.Benchmark(func(b *testing.B) {
		b.Helper()
		s, conditions := all.subject(b, "aws-ec2"), all.byType["aws-ec2"]
		records := [][]byte{machine(0), machine(1), machine(2), machine(3)}
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			fill(b, s, records[n%len(records)], n)
			for _, c := range conditions {
				s.Evaluate(c, c.Default())
			}
		}
	})
	each := r.AllocedBytesPerOp() / int64(len(all.byType["aws-ec2"]))
	t.Logf("%d bytes an evaluation, with the facts read", each)
	if each > 200 {
		t.Errorf("%d bytes an evaluation; want 200 at most", each)
	}
}
