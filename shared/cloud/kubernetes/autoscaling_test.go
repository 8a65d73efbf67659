package kubernetes_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

// scaled is a Deployment of the namespace scaled, with a HorizontalPodAutoscaler of the spec unless that is nil.
func (f *fixture) scaled(name string, spec fields) cloudtest.Autoscaled {
	at := f.Add("deployments", kubernetestwin.Named("scaled", name, 2))
	if spec != nil {
		f.Add("horizontalpodautoscalers", kubernetestwin.Targeting("scaled", name, spec))
	}
	return cloudtest.Autoscaled{
		Kind: deployment, Region: "cluster", UID: uid("deployments", at), Missing: uid("deployments", "scaled/nothing"),
		Unscaled: statefulSet, Fixed: spec == nil,
		Other: func(*testing.T) {
			f.Change("deployments", at, func(o fields) {
				o["spec"].(fields)["replicas"] = kubernetestwin.Replicas(o) + 1
			})
		},
		Mutations: func() int {
			return len(f.Calls("patch")) + len(f.Calls("delete")) + len(f.Calls("create horizontalpodautoscalers"))
		},
		Custom: func(t *testing.T) string {
			t.Helper()
			return others(t, f.Get("horizontalpodautoscalers", at))
		},
	}
}

// others returns the settings of an autoscaler other than sizes, CPU and cooldown, as JSON.
func others(t *testing.T, hpa fields) string {
	t.Helper()
	spec := at(hpa, "spec")
	metrics, _ := spec["metrics"].([]any)
	metrics = slices.DeleteFunc(metrics, func(m any) bool { return at(m.(fields), "resource")["name"] == "cpu" })
	b, err := json.Marshal([]any{
		metrics, at(spec, "behavior")["scaleUp"],
		at(spec, "behavior", "scaleDown")["policies"],
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func resourceMetric(name, kind string, value fields) fields {
	value["type"] = kind
	return fields{"type": "Resource", "resource": fields{"name": name, "target": value}}
}

// richHPA scales by memory and by the CPU, with a speed limit.
func richHPA() fields {
	return fields{
		"minReplicas": 1, "maxReplicas": 9,
		"metrics": []any{
			resourceMetric("memory", "AverageValue", fields{"averageValue": "500Mi"}),
			resourceMetric("cpu", "Utilization", fields{"averageUtilization": 65}),
		},
		"behavior": fields{
			"scaleUp": fields{"policies": []any{fields{"type": "Pods", "value": 4, "periodSeconds": 60}}},
			"scaleDown": fields{
				"stabilizationWindowSeconds": 600,
				"policies":                   []any{fields{"type": "Percent", "value": 10, "periodSeconds": 60}},
			},
		},
	}
}

func TestAutoscaling_OverTheTwinKeepsTheContract(t *testing.T) {
	f := newFixture(t)
	f.Add("namespaces", fields{"metadata": fields{"name": "scaled"}})
	cloudtest.Run(t, f.provider, cloudtest.Fixture{
		Account: f.account(kubernetestwin.Token), NativeID: kubernetestwin.UID, Settle: f.Settle,
		Autoscaled: []cloudtest.Autoscaled{
			f.scaled("bare", nil), f.scaled("plain", fields{"maxReplicas": 9}), f.scaled("rich", richHPA()),
			f.scaled("memory",
				fields{
					"minReplicas": 1, "maxReplicas": 9,
					"metrics": []any{resourceMetric("memory", "AverageValue", fields{"averageValue": "500Mi"})},
				}),
		},
	})
	for _, o := range []string{"scaled/lamplighter-cpu-bare", "scaled/lamplighter-cpu-plain"} {
		if f.Get("horizontalpodautoscalers", o) != nil {
			t.Errorf("%s is left", o)
		}
	}
}

func (f *fixture) setScaling(name string, want cloud.Autoscaling) error {
	return f.conn.(cloud.Autoscaler).SetAutoscaling(f.Context(), deployment, "cluster",
		uid("deployments", "scaled/"+name), want)
}

func (f *fixture) readScaling(name string) cloud.Autoscaling {
	f.Helper()
	got, err := f.conn.(cloud.Autoscaler).ReadAutoscaling(f.Context(), deployment, "cluster",
		uid("deployments", "scaled/"+name))
	f.must(err)
	return got
}

func TestAutoscaling_WhoComesSecondReadsAgain(t *testing.T) {
	f := newFixture(t)
	f.scaled("rich", richHPA())
	f.Between("patch horizontalpodautoscalers.autoscaling", func() {
		f.ChangeLocked("horizontalpodautoscalers", "scaled/rich", func(o fields) {
			metrics := at(o, "spec")["metrics"].([]any)
			at(o, "spec")["metrics"] = append(metrics,
				resourceMetric("ephemeral-storage", "AverageValue", fields{"averageValue": "1Gi"}))
		})
	})
	percent := int64(50)
	f.must(f.setScaling("rich", cloud.Autoscaling{Min: 2, Max: 4, Desired: 3, TargetCPUPercent: &percent}))
	if got := others(t, f.Get("horizontalpodautoscalers", "scaled/rich")); !strings.Contains(got,
		"ephemeral-storage") || !strings.Contains(got, "memory") {
		t.Errorf("%s; want what somebody else added meanwhile", got)
	}
	if calls := f.Calls("patch horizontalpodautoscalers"); len(calls) != 2 || calls[0].Code != 409 {
		t.Errorf("%+v; want a conflict, and one change", calls)
	}
}

func TestAutoscaling_LeavesAloneWhatIsNotOurs(t *testing.T) {
	f := newFixture(t)
	f.scaled("bare", nil)
	found := f.readScaling("bare")
	f.Add("horizontalpodautoscalers",
		kubernetestwin.Targeting("scaled", "bare", fields{"minReplicas": 1, "maxReplicas": 5}))
	f.must(f.setScaling("bare", found))
	if f.Get("horizontalpodautoscalers", "scaled/bare") == nil {
		t.Error("the customer's own autoscaler, which came since, is gone")
	}
	f.scaled("driven", nil)
	f.Add("scaledobjects", kubernetestwin.Targeting("scaled", "driven", fields{}))
	f.wantClass("what KEDA scales", f.setScaling("driven", cloud.Autoscaling{Min: 1, Max: 2, Desired: 2}),
		cloud.Unsupported)
	f.scaled("twice", fields{"maxReplicas": 5})
	second := kubernetestwin.Targeting("scaled", "twice", fields{"maxReplicas": 6})
	second["metadata"].(fields)["name"] = "second"
	f.Add("horizontalpodautoscalers", second)
	f.wantClass("what two autoscalers scale", f.setScaling("twice", cloud.Autoscaling{Min: 1, Max: 2, Desired: 2}),
		cloud.Unsupported)
	f.wantClass("a minimum of 0", f.setScaling("bare", cloud.Autoscaling{Min: 0, Max: 2, Desired: 2}), cloud.Invalid)
}

func TestAutoscaling_OneThatWentComesBackAsItWas(t *testing.T) {
	f := newFixture(t)
	f.scaled("rich", richHPA())
	found := f.readScaling("rich")
	f.Remove("horizontalpodautoscalers", "scaled/rich")
	f.must(f.setScaling("rich", found))
	if got := f.readScaling("rich"); string(got.Native) != string(found.Native) {
		t.Errorf("%s; want %s", got.Native, found.Native)
	}
}
