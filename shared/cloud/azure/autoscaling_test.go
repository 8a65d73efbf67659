package azure_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/azure"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
)

func cpuRule(direction string, threshold float64, cooldown string) any {
	return map[string]any{
		"metricTrigger": map[string]any{
			"metricName": "Percentage CPU", "threshold": threshold,
			"operator": "GreaterThan",
		},
		"scaleAction": map[string]any{
			"direction": direction, "type": "ChangeCount", "value": "2",
			"cooldown": cooldown,
		},
	}
}

func queueRule() any {
	return map[string]any{
		"metricTrigger": map[string]any{
			"metricName": "ApproximateMessageCount", "threshold": 100.5,
			"operator": "GreaterThan",
		},
		"scaleAction": map[string]any{
			"direction": "Increase", "type": "ChangeCount", "value": "1",
			"cooldown": "PT1M",
		},
	}
}

// profilesOf returns the profiles of a setting.
func profilesOf(s *azuretwin.Resource) []map[string]any {
	var out []map[string]any
	for _, p := range s.Properties()["profiles"].([]any) {
		out = append(out, p.(map[string]any))
	}
	return out
}

// scaledSet is a scale set, with a setting of these rules in both of its profiles unless rules is nil.
func scaledSet(tw *azuretwin.Cloud, name string, rules []any) cloudtest.Autoscaled {
	set := tw.AddScaleSet(name, region, 2, nil)
	if rules != nil {
		s := tw.AddSetting(set, region, 1, 5)
		for _, p := range profilesOf(s) {
			p["rules"] = rules
		}
	}
	return cloudtest.Autoscaled{
		Kind: vmss, Region: region, UID: set.UID(), Missing: set.UID() + "-nothing", Unscaled: "azure-vm",
		Fixed: rules == nil,
		Other: func(*testing.T) {
			tw.ChangeLocked(func() {
				sku := set.Body["sku"].(map[string]any)
				sku["capacity"] = sku["capacity"].(float64) + 1
			})
		},
		Mutations: func() int {
			return len(slices.DeleteFunc(tw.Calls(""), func(k azuretwin.Call) bool {
				return !slices.Contains([]string{http.MethodPut, http.MethodPatch, http.MethodDelete}, k.Method)
			}))
		},
	}
}

func TestAutoscaling_OverTheTwinKeepsTheContract(t *testing.T) {
	tw := &azuretwin.Cloud{Page: 2}
	cloudtest.Run(t, azure.New(options(tw)), cloudtest.Fixture{
		Account: principal(azuretwin.Secret), NativeID: azuretwin.Subscription, Settle: tw.SettleAll,
		Autoscaled: []cloudtest.Autoscaled{
			scaledSet(tw, "bare", nil), scaledSet(tw, "plain", []any{}), scaledSet(tw, "queue", []any{queueRule()}),
			scaledSet(tw, "busy",
				[]any{queueRule(), cpuRule("Increase", 75.5, "PT5M"), cpuRule("Decrease", 60, "PT1H")}),
		},
	})
}

// Any profile may become active later, so each gets the sizes and the rule. Its other rules stay.
func TestAutoscaling_SetsEveryProfileAndLeavesOtherRules(t *testing.T) {
	tw, c := connect(t)
	set := tw.AddScaleSet("web", region, 2, nil)
	s := tw.AddSetting(set, region, 1, 5)
	profilesOf(s)[1]["capacity"] = map[string]any{"minimum": "0", "maximum": "2", "default": "1"}
	profilesOf(s)[1]["recurrence"] = map[string]any{"frequency": "Week"}
	profilesOf(s)[1]["rules"] = []any{queueRule(), cpuRule("Decrease", 90, "PT5M")}
	a := c.(cloud.Autoscaler)
	found, err := a.ReadAutoscaling(t.Context(), vmss, region, set.UID())
	if err != nil || found.Min != 0 || found.Max != 5 {
		t.Fatalf("%+v, %v; want what all profiles allow together", found, err)
	}
	percent := int64(60)
	if err := a.SetAutoscaling(t.Context(), vmss, region, set.UID(),
		cloud.Autoscaling{Min: 4, Max: 9, Desired: 6, TargetCPUPercent: &percent}); err != nil {
		t.Fatal(err)
	}
	for i, p := range profilesOf(s) {
		got, _ := json.Marshal(p["capacity"])
		if string(got) != `{"default":"6","maximum":"9","minimum":"4"}` {
			t.Errorf("profile %d has the capacity %s", i, got)
		}
	}
	night := profilesOf(s)[1]
	if rules := night["rules"].([]any); len(rules) != 3 || night["recurrence"] == nil {
		t.Errorf("rules %v; want the queue's, and two for the CPU", rules)
	}
	shrinks := night["rules"].([]any)[1].(map[string]any)["metricTrigger"].(map[string]any)["threshold"]
	if shrinks != 30.0 {
		t.Errorf("it shrinks below %v %%, and grows above 60: it would go to and fro", shrinks)
	}
}

func TestAutoscaling_ADisabledSettingIsNotWokenUp(t *testing.T) {
	tw, c := connect(t)
	set := tw.AddScaleSet("web", region, 2, nil)
	tw.AddSetting(set, region, 1, 5).Properties()["enabled"] = false
	percent := int64(60)
	err := c.(cloud.Autoscaler).SetAutoscaling(t.Context(), vmss, region, set.UID(),
		cloud.Autoscaling{Min: 2, Max: 4, Desired: 3, TargetCPUPercent: &percent})
	wantClass(t, "a disabled setting", err, cloud.Unsupported)
	short := int64(30)
	err = c.(cloud.Autoscaler).SetAutoscaling(t.Context(), vmss, region, set.UID(),
		cloud.Autoscaling{Min: 2, Max: 4, Desired: 3, TargetCPUPercent: &percent, CooldownSeconds: &short})
	wantClass(t, "a cooldown that Azure does not take", err, cloud.Invalid)
}
