package cloud

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"lamplighter.dev/shared/foundation/packedfile"
)

// useTable is the metrics that sizes are chosen by, in the form of metrics.csv. No rule reads them, and no night
// collects them: a confirmation asks for them in points of 5 minutes, of the few resources that may get another size.
//
//go:embed usemetrics.csv.gz
var useTable []byte

// The names of the metrics of use. Those of a type without network disks lack the second and the third.
const (
	UseCPU     = "use_cpu_p995"  // a share of all vCPUs
	UseAverage = "use_cpu_avg"   // the same
	UseIOPS    = "use_iops_p99"  // operations a second of all network disks
	UseMiBps   = "use_mibps_p99" // MiB a second of all network disks
	UseMbps    = "use_mbps_p99"  // Mbit/s of the network, in both directions
)

// UseMetricsOf lists the metrics of use of a type; none for a type whose size is not chosen. Callers must not change
// the list.
func UseMetricsOf(kind string) []Metric { return readUseMetrics()[kind] }

// FineMetricsOf lists the metrics of a type that a confirmation may ask for.
func FineMetricsOf(kind string) []Metric { return slices.Concat(MetricsOf(kind), UseMetricsOf(kind)) }

// readUseMetrics reads the table when it is first needed.
var readUseMetrics = sync.OnceValue(func() map[string][]Metric { return parseMetrics(useTable) })

// parseMetrics reads a table of metrics.
func parseMetrics(packed []byte) map[string][]Metric {
	out := map[string][]Metric{}
	_, lines, _ := strings.Cut(string(packedfile.Read(packed)), "\n") // behind the header
	for line := range strings.Lines(lines) {
		m := parseMetric(strings.Split(strings.TrimSuffix(line, "\n"), ";"))
		out[m.Type] = append(out[m.Type], m)
	}
	return out
}
