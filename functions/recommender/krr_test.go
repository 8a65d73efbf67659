package recommender

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/testkit/seed"
)

// This file compares the requests of the rules with those of krr (https://github.com/robusta-dev/krr, MIT), strategy
// "simple": robusta_krr/strategies/simple.py of the main branch in November 2026, and the queries in
// robusta_krr/core/integrations/prometheus/metrics. The formula is written anew from what these files do.

// krrPods are the samples of a container's pods: the cores, or the bytes.
type krrPods map[string][]float64

// krrRequests are krr's requests of a container; NaN for none.
type krrRequests struct{ cores, bytes float64 }

// krrSimple computes the requests of the strategy "simple" with its defaults: for the CPU the 95th percentile of each
// pod, and the highest of them; for the memory the highest sample and 15 %. It needs 100 points of all pods together,
// and gives nothing for a resource that an autoscaler scales on.
func krrSimple(cores, bytes krrPods, scaledOn ...string) krrRequests {
	return krrRequests{krrCPU(cores, scaledOn), krrMemory(bytes, scaledOn)}
}

const krrPointsRequired = 100

func (p krrPods) points() (n int) {
	for _, samples := range p {
		n += len(samples)
	}
	return n
}

func krrCPU(p krrPods, scaledOn []string) float64 {
	if p.points() < krrPointsRequired || slices.Contains(scaledOn, "cpu") {
		return math.NaN()
	}
	highest := math.Inf(-1)
	for _, samples := range p {
		highest = max(highest, quantileOverTime(0.95, samples))
	}
	return highest
}

func krrMemory(p krrPods, scaledOn []string) float64 {
	if p.points() < krrPointsRequired || slices.Contains(scaledOn, "memory") {
		return math.NaN()
	}
	highest := math.Inf(-1)
	for _, samples := range p {
		highest = max(highest, slices.Max(samples))
	}
	return highest * 1.15
}

// quantileOverTime is Prometheus' function: linear between the ranks.
func quantileOverTime(q float64, samples []float64) float64 {
	sorted := slices.Sorted(slices.Values(samples))
	rank := q * float64(len(sorted)-1)
	low := int(math.Floor(rank))
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (sorted[high]-sorted[low])*(rank-math.Floor(rank))
}

// ourRequests returns the texts of the requests that the rules of a kind of workload set, from the same samples in
// points of 5 minutes; "" for unknown ones.
func ourRequests(t *testing.T, kind string, cores, bytes krrPods) (cpu, memory string) {
	t.Helper()
	until := savingsNow.Truncate(day)
	fine := &measurement.Fine{From: until.AddDate(0, 0, -14), To: until}
	values := map[string]float64{}
	for _, m := range cloud.MetricsOf(kind) {
		pods := map[string]krrPods{"cpu_p95_14d": cores, "mem_max_14d": bytes}[m.Name]
		if pods == nil {
			continue
		}
		fine.Add(m.Of[0], highestPod(pods, fine.From))
		if v, known := fine.Answer(m); known {
			values[m.Name] = v
		}
	}
	s := newSubjectOf(t, kind, "", cloud.Facts{})
	s.end, s.read, s.fine = until, true, true
	s.confirmation.Values = values
	return s.requestOf(kind + "-cpu-overrequested"), s.requestOf(kind + "-memory-overrequested")
}

// requestOf returns the setting that a rule makes, "" if it is unknown.
func (s *subject) requestOf(id string) string {
	r := rule.ByID(id)
	value, known := s.settingValue(r, r.Target.Settings[0])
	if !known {
		return ""
	}
	return value
}

// highestPod returns what the measures of workloads are: at each moment, the use of the highest pod.
func highestPod(pods krrPods, from time.Time) (p cloud.Points) {
	for i := range 14 * 288 {
		highest, sampled := 0.0, false
		for _, samples := range pods {
			if i < len(samples) {
				highest, sampled = max(highest, samples[i]), true
			}
		}
		if sampled {
			p.Times, p.Values = append(p.Times, from.Add(time.Duration(i)*5*time.Minute)), append(p.Values, highest)
		}
	}
	return p
}

// randomPods returns random samples of some pods, with peaks.
func randomPods(random *rand.Rand, pods int, level float64) krrPods {
	out := krrPods{}
	for n := range pods {
		samples := make([]float64, 14*288)
		for i := range samples {
			if samples[i] = level * (0.2 + random.Float64()); random.IntN(50) == 0 {
				samples[i] *= 1 + 5*random.Float64()
			}
		}
		out[fmt.Sprint("pod-", n)] = samples
	}
	return out
}

// number returns the number of a text, NaN for "".
func number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

const mebibyte, gibibyte = 1 << 20, 1 << 30

// The memory of Deployments is krr's, rounded up to a MiB. The CPU of one pod is krr's and 15 % (20 % of StatefulSets
// and DaemonSets), and that of several pods at least as much: at each moment the highest pod counts. The memory of
// StatefulSets and DaemonSets has 25 % in place of krr's 15 %.
func TestKRR_RequestsOfRandomWorkloadsDifferAsExplained(t *testing.T) {
	random := seed.Random(t)
	for range 60 {
		pods := 1 + random.IntN(4)
		cores := randomPods(random, pods, 0.02+random.Float64()*2)
		bytes := randomPods(random, pods, (0.05+random.Float64()*4)*gibibyte)
		krr := krrSimple(cores, bytes)
		for kind, more := range map[string][2]float64{
			cloud.KubernetesDeployment: {1.15, 1.15}, cloud.KubernetesStatefulSet: {1.2, 1.25},
			cloud.KubernetesDaemonSet: {1.2, 1.25},
		} {
			cpu, memory := ourRequests(t, kind, cores, bytes)
			want := math.Ceil(krr.bytes/1.15*more[1]/mebibyte-1e-6) / 1024
			if got := number(memory); math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: %s GiB for krr's %g MiB, want %g", kind, memory, krr.bytes/mebibyte, want)
			}
			// The nearest rank differs from Prometheus' quantile by less than a step between two samples.
			got, least := number(cpu), krr.cores*more[0]*0.97
			if got < least || pods == 1 && got > krr.cores*more[0]*1.03+0.001 {
				t.Errorf("%s with %d pods: %s cores for krr's %g, want %g of it", kind, pods, cpu, krr.cores, more[0])
			}
		}
	}
}

// The planted cases in which krr and the rules differ, each for a reason.
func TestKRR_DifferencesAreTheExplainedOnes(t *testing.T) {
	steady := func(v float64, points int) krrPods {
		return krrPods{"pod-0": slices.Repeat([]float64{v}, points)}
	}
	const whole = 14 * 288
	for name, tt := range map[string]struct {
		cores, bytes krrPods
		scaledOn     []string
		krrCPU       float64
		krrMiB       float64
		cpu, memory  string
	}{
		"a steady use: CPU has a headroom of 15 %, memory is the same": {
			steady(0.35, whole), steady(200*mebibyte, whole), nil, 0.35, 230, "0.403", "0.224609375",
		},
		"a use of almost nothing: the least requests are 10 millicores and 32 MiB": {
			steady(0.001, whole), steady(1*mebibyte, whole), nil, 0.001, 1.15, "0.01", "0.03125",
		},
		"100 points are enough for krr; the rules want 70 % of two weeks": {
			steady(0.35, 120), steady(200*mebibyte, 120), nil, 0.35, 230, "", "",
		},
		"fewer than 100 points are enough for nobody": {
			steady(0.35, 99), steady(200*mebibyte, 99), nil, math.NaN(), math.NaN(), "", "",
		},
		"two pods that are busy by turns: krr takes the percentile of each, the rules the highest at each moment": {
			krrPods{"pod-0": turns(0), "pod-1": turns(1)},
			steady(200*mebibyte, whole), nil, 0.1, 230, "1.15",
			"0.224609375",
		},
		"an autoscaler on the CPU: krr gives none, and the condition of the rule is false": {
			steady(0.35, whole), steady(200*mebibyte, whole), []string{"cpu"}, math.NaN(), 230, "0.403", "0.224609375",
		},
	} {
		t.Run(name, func(t *testing.T) {
			krr := krrSimple(tt.cores, tt.bytes, tt.scaledOn...)
			cpu, memory := ourRequests(t, cloud.KubernetesDeployment, tt.cores, tt.bytes)
			same := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 || math.IsNaN(a) && math.IsNaN(b) }
			if !same(krr.cores, tt.krrCPU) || !same(krr.bytes/mebibyte, tt.krrMiB) || cpu != tt.cpu ||
				memory != tt.memory {
				t.Errorf("krr: %g cores, %g MiB; rules: %q cores, %q GiB; want %g, %g, %q, %q", krr.cores,
					krr.bytes/mebibyte, cpu, memory, tt.krrCPU, tt.krrMiB, tt.cpu, tt.memory)
			}
		})
	}
}

// turns returns samples that are high for 4 % of the time: the first or the second part of each 25 samples.
func turns(part int) []float64 {
	out := make([]float64, 14*288)
	for i := range out {
		if out[i] = 0.1; i%25 == part {
			out[i] = 1
		}
	}
	return out
}
