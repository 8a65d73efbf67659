package condition

import (
	"math"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// Measured is the statistic of a metric. Without a reason it is known.
type Measured struct {
	Value  float64
	Reason Reason // "" for a known value
	Detail string // with a reason; may be empty
}

// Source computes the statistic of a metric of the present resource, by its name: "cpu_max_14d".
type Source interface {
	Statistic(name string) Measured
}

// Metrics are the metrics of one resource. Each is computed when a condition first reads it. They are reused: Reset
// begins another resource.
type Metrics struct {
	group
	measured []Measured
	asked    []bool
	source   Source
}

func newMetrics(l *layout) *Metrics {
	n := len(l.fields)
	return &Metrics{
		group: group{layout: l, values: make([]ref.Val, n)}, measured: make([]Measured, n), asked: make([]bool, n),
		source: Fixed(nil),
	}
}

// Reset forgets all values; from now on they come from a source.
func (m *Metrics) Reset(from Source) {
	clear(m.values)
	clear(m.asked)
	m.source = from
}

// Value returns the statistic of a metric, and computes it if no condition has read it.
func (m *Metrics) Value(name string) Measured {
	at, declared := m.number[name]
	if !declared {
		return Measured{Reason: NotCollected}
	}
	m.ask(at)
	return m.measured[at]
}

// ask computes a metric once.
func (m *Metrics) ask(at int) {
	if m.asked[at] {
		return
	}
	m.asked[at] = true
	one := m.source.Statistic(m.fields[at].Name)
	if one.Reason == "" && (math.IsNaN(one.Value) || math.IsInf(one.Value, 0)) {
		one = Measured{Reason: Unreadable, Detail: "its value is not a number"}
	}
	m.measured[at] = one
	if one.Reason == "" {
		m.values[at] = types.Double(one.Value)
	}
}

// read returns a metric.
func (m *Metrics) read(at int) ref.Val {
	m.ask(at)
	if v := m.values[at]; v != nil {
		return v
	}
	return m.miss(at)
}

// has reports whether a metric is measured. It is false only for a metric that was queried and has no points.
func (m *Metrics) has(at int) ref.Val {
	m.ask(at)
	switch {
	case m.values[at] != nil:
		return types.True
	case m.measured[at].Reason == NoPoints:
		return types.False
	}
	return m.miss(at)
}

// why returns why a metric is missing.
func (m *Metrics) why(at int) Missing {
	return Missing{m.full[at], m.measured[at].Reason, m.measured[at].Detail}
}

// Fixed is a Source of known metrics. Metrics that it does not hold are not collected.
type Fixed map[string]Measured

// Statistic returns a metric.
func (f Fixed) Statistic(name string) Measured {
	if m, ok := f[name]; ok {
		return m
	}
	return Measured{Reason: NotCollected}
}
