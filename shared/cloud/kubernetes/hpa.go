package kubernetes

import (
	"context"
	"maps"
	"slices"

	"lamplighter.dev/shared/cloud"
)

// autoscalerLabel marks the HorizontalPodAutoscalers that were made here.
const (
	autoscalerLabel = "app.kubernetes.io/managed-by"
	autoscalerMaker = "lamplighter"
)

// hpaMemory gives the scaling of a workload back: its replicas, and its HorizontalPodAutoscaler; nil when it had none.
type hpaMemory struct {
	Replicas int64    `json:"replicas"`
	HPA      *hpaSpec `json:"hpa,omitempty"`
}

// hpaSpec is the part of a HorizontalPodAutoscaler that is changed here, as it was before.
type hpaSpec struct {
	Name        string         `json:"name"`
	MinReplicas *int64         `json:"minReplicas,omitempty"`
	MaxReplicas int64          `json:"maxReplicas"`
	Metrics     []any          `json:"metrics,omitempty"`
	Behavior    map[string]any `json:"behavior,omitempty"`
}

func specOf(h object) hpaSpec {
	return hpaSpec{h.Name, h.Spec.MinReplicas, h.Spec.MaxReplicas, h.Spec.Metrics, h.Spec.Behavior}
}

// specChange returns the change that gives a HorizontalPodAutoscaler the fields of the spec.
func (s hpaSpec) specChange() change {
	out := change{"minReplicas": nil, "maxReplicas": s.MaxReplicas, "metrics": nil, "behavior": nil}
	if s.MinReplicas != nil {
		out["minReplicas"] = *s.MinReplicas
	}
	if s.Metrics != nil {
		out["metrics"] = s.Metrics
	}
	if s.Behavior != nil {
		out["behavior"] = s.Behavior
	}
	return out
}

// scaledWorkload is a workload with the HorizontalPodAutoscalers that drive it.
type scaledWorkload struct {
	view
	hpas []object
}

func (c *cluster) readScaled(ctx context.Context, r apiResource, at ref) (scaledWorkload, error) {
	p := c.newPass([]ref{at})
	w, err := p.viewWorkload(ctx, r, at)
	if err != nil {
		return scaledWorkload{}, err
	}
	all, err := p.listIn(ctx, hpasOf, at.ns)
	return scaledWorkload{w, autoscalersOf(all, w.object)}, err
}

// autoscaling returns the scaling of the workload. A workload without an autoscaler has its replicas as minimum,
// maximum and desired size.
func (w scaledWorkload) autoscaling() cloud.Autoscaling {
	n := w.replicas()
	out, memory := cloud.Autoscaling{Min: n, Max: n, Desired: n}, hpaMemory{Replicas: n}
	if len(w.hpas) > 0 {
		s := specOf(w.hpas[0])
		memory.HPA, out.Min, out.Max = &s, s.minReplicas(), s.MaxReplicas
		out.TargetCPUPercent, out.CooldownSeconds = s.cpuTarget(), s.cooldownSeconds()
	}
	out.Native = encodeSnapshot(memory)
	return out
}

// minReplicas is the minimum; absence is one.
func (s hpaSpec) minReplicas() int64 {
	if s.MinReplicas == nil {
		return 1
	}
	return *s.MinReplicas
}

// cpuTarget returns the target of CPU use as a percentage of the pods' requests; nil when no metric has one.
func (s hpaSpec) cpuTarget() *int64 {
	i := slices.IndexFunc(s.Metrics, isCPU)
	if i < 0 {
		return nil
	}
	m, _ := s.Metrics[i].(map[string]any)
	n, ok := nestedValue(m, "resource", "target", "averageUtilization").(int64)
	if !ok {
		return nil
	}
	return &n
}

// isCPU reports whether a metric is the average utilization of the CPU.
func isCPU(metric any) bool {
	m, _ := metric.(map[string]any)
	return m["type"] == "Resource" && nestedValue(m, "resource", "name") == "cpu" &&
		nestedValue(m, "resource", "target", "type") == "Utilization"
}

// nestedValue returns the value at a path of names; nil when there is none.
func nestedValue(m map[string]any, path ...string) any {
	var v any = m
	for _, name := range path {
		inner, _ := v.(map[string]any)
		v = inner[name]
	}
	return v
}

// cooldownSeconds returns the seconds that it waits before it removes pods; nil if it does not set them.
func (s hpaSpec) cooldownSeconds() *int64 {
	n, ok := nestedValue(s.Behavior, "scaleDown", "stabilizationWindowSeconds").(int64)
	if !ok || s.cpuTarget() == nil {
		return nil
	}
	return &n
}

// withWanted returns the spec with the wanted numbers. All other metrics and behaviour stay.
func (s hpaSpec) withWanted(want cloud.Autoscaling) hpaSpec {
	s.MinReplicas, s.MaxReplicas = &want.Min, want.Max
	if want.TargetCPUPercent != nil {
		s.Metrics = withCPU(s.Metrics, *want.TargetCPUPercent)
	}
	if want.CooldownSeconds != nil {
		down, _ := nestedValue(s.Behavior, "scaleDown").(map[string]any)
		if down = maps.Clone(down); down == nil {
			down = map[string]any{}
		}
		if s.Behavior = maps.Clone(s.Behavior); s.Behavior == nil {
			s.Behavior = map[string]any{}
		}
		down["stabilizationWindowSeconds"], s.Behavior["scaleDown"] = *want.CooldownSeconds, down
	}
	return s
}

func withCPU(metrics []any, percent int64) []any {
	cpu := map[string]any{"type": "Resource", "resource": map[string]any{
		"name": "cpu", "target": map[string]any{"type": "Utilization", "averageUtilization": percent},
	}}
	out := slices.Clone(metrics)
	if i := slices.IndexFunc(out, isCPU); i >= 0 {
		out[i] = cpu
		return out
	}
	return append(out, cpu)
}

func (s hpaSpec) meetsWanted(want cloud.Autoscaling) bool {
	live := cloud.Autoscaling{
		Min: s.minReplicas(), Max: s.MaxReplicas, Desired: want.Desired,
		TargetCPUPercent: s.cpuTarget(),
		CooldownSeconds:  s.cooldownSeconds(),
	}
	return want.IsMetBy(live)
}

// newHPA makes a HorizontalPodAutoscaler of the spec for a workload. It has our label if it is ours.
func (s hpaSpec) newHPA(w object, ours bool) map[string]any {
	meta := map[string]any{"name": s.Name, "namespace": w.Namespace}
	if ours {
		meta["labels"] = map[string]any{autoscalerLabel: autoscalerMaker}
	}
	of := s.specChange()
	maps.DeleteFunc(of, func(_ string, v any) bool { return v == nil })
	of["scaleTargetRef"] = map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": w.Name}
	return map[string]any{
		"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": meta, "spec": of,
	}
}

// isOurs reports whether a HorizontalPodAutoscaler was made here.
func (o object) isOurs() bool {
	return o.Labels[autoscalerLabel] == autoscalerMaker && o.Name == hpaName(o.Spec.Target.Name)
}

// hpaName returns the name of the HorizontalPodAutoscaler that this package makes for a workload.
func hpaName(workload string) string {
	name := cloud.CPURule + "-" + workload
	return name[:min(len(name), 253)]
}
