package recommender

import (
	"math"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/domain/sizing"
)

// measuredUse returns the use of the subject's machine. CPU is the highest of the confirmed percentile and those that
// the rules read.
func (s *subject) measuredUse(types *sizing.Catalogue, class string) sizing.Use {
	size, _ := types.Find(class)
	return sizing.Use{
		CPU:     max(s.use(cloud.UseCPU), s.highestCPU()),
		Average: s.use(cloud.UseAverage), GiB: s.usedMemory(size.GiB),
		IOPS: s.use(cloud.UseIOPS), MiBps: s.use(cloud.UseMiBps), Mbps: s.use(cloud.UseMbps),
	}
}

// use returns a confirmed metric of use, 0 if it is unknown.
func (s *subject) use(name string) float64 {
	if !s.fine {
		return 0
	}
	return s.confirmation.Values[name]
}

// cpuMetrics are the percentiles of CPU that conditions read. One of the rules' own is at hand where the 99.5th is not.
var cpuMetrics = []string{"cpu_p995_14d", "cpu_p99_14d", "cpu_p95_14d"}

// highestCPU returns the highest known percentile of CPU as a share of all vCPUs, 0 if none is known.
func (s *subject) highestCPU() (most float64) {
	for _, name := range cpuMetrics {
		if v, known := s.known(name); known {
			most = max(most, v*shareUnit(s.Type, name))
		}
	}
	return most
}

// known returns a metric of the subject's type, if its value is known.
func (s *subject) known(name string) (float64, bool) {
	if _, declared := rule.MetricOf(s.Type, name); !declared {
		return 0, false
	}
	m := s.Statistic(name)
	return m.Value, m.Reason == ""
}

// shareUnit returns the factor that turns a metric in % into a share.
func shareUnit(kind, name string) float64 {
	if m, _ := rule.MetricOf(kind, name); m.Unit == "%" {
		return 0.01
	}
	return 1
}

// memoryMetrics say how the most used memory follows from a metric: a used share, a free share, or the free GiB.
var memoryMetrics = []struct {
	name string
	used func(v, gib float64) float64
}{
	{"mem_max_14d", func(v, gib float64) float64 { return v * gib }},
	{"mem_used_max_14d", func(v, gib float64) float64 { return v * gib }},
	{"mem_available_pct_min_14d", func(v, gib float64) float64 { return gib * (1 - v) }},
	{"mem_available_min_14d", func(v, gib float64) float64 { return gib - v }},
	{"free_mem_min_14d", func(v, gib float64) float64 { return gib - v }},
}

// usedMemory returns the most memory that was used of a machine with some GiB, 0 if it is unknown.
func (s *subject) usedMemory(gib float64) float64 {
	for _, m := range memoryMetrics {
		if v, known := s.known(m.name); known {
			return math.Max(m.used(v*shareUnit(s.Type, m.name), gib), 0)
		}
	}
	return 0
}
