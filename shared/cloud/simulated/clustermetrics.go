package simulated

import (
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

// clusterValue returns a measure of an object in a cluster, as its Prometheus would have it. Workloads use a part of
// their requests, by their load; those with planted waste a fifth of their memory. It returns false for a measure that
// the object does not have: nothing restarts, and there are no accelerators and autoscalers.
func (s *settings) clusterValue(n node, m cloud.Measure, load float64, period time.Duration) (float64, bool) {
	has := func(word string) bool { return strings.Contains(m.Metric, word) }
	switch {
	case m.Statistic == "count":
		return max(period.Minutes()/5, 1), true
	case has("container_cpu_usage"), has("working_set"):
		return s.usedOf(n, has("working_set"), load), true
	case has("network") && load <= 0.03: // health checks alone
		return 100, true
	case has("network"):
		return load * 1e6, true
	case has("throttled"):
		return 0, true
	case has("volume_stats"):
		return load, true
	case has("resource_requests") && !has("gpu"):
		return s.requestedOf(n), true
	}
	return 0, false
}

// usedOf returns the memory of an object in bytes, or the cores that it uses.
func (s *settings) usedOf(n node, memory bool, load float64) float64 {
	cores, gibibytes := s.podRequests(n)
	switch {
	case memory && s.drawnOf(n).unused:
		return gibibytes * (1 << 30) * (0.15 + 0.05*load)
	case memory:
		return gibibytes * (1 << 30) * (0.6 + 0.3*load)
	case kinds[n.kind].Type == cloud.KubernetesNamespace:
		return namespaceCores * load
	}
	return cores * load
}

// namespaceCores are the cores that the pods of a namespace request.
const namespaceCores = 5

// requestedOf returns the requests on a node as a share of it, or the cores that the pods of a namespace request.
func (s *settings) requestedOf(n node) float64 {
	if kinds[n.kind].Type == cloud.KubernetesNamespace {
		return namespaceCores
	}
	return 0.5 + 0.4*float64(s.drawProperty(n, asSpeed)>>11)/(1<<53)
}
