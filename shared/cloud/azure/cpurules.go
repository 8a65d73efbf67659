package azure

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
)

// cpuMetric is how Azure Monitor names the average CPU of a scale set.
const cpuMetric = "Percentage CPU"

// cpuRules returns the rules of a profile that grow ("Increase") or shrink ("Decrease") the set by its CPU. They are
// the profile's own: a change of one changes the profile.
func cpuRules(profile map[string]any, direction string) []map[string]any {
	all, _ := profile["rules"].([]any)
	var out []map[string]any
	for _, one := range all {
		rule, ok := one.(map[string]any)
		if ok && textOf(partOf(rule, "metricTrigger")["metricName"]) == cpuMetric &&
			textOf(partOf(rule, "scaleAction")["direction"]) == direction {
			out = append(out, rule)
		}
	}
	return out
}

// setCPURules sets the CPU percentage at which a profile grows, and adds a rule to grow if there is none. It adds a
// rule to shrink at half of it, unless the profile has a lower one: the gap keeps the set from growing and shrinking
// in turns.
func setCPURules(profile map[string]any, set string, percent int64, cooldown *int64) {
	changeRules(profile, "Increase", func(rule map[string]any) {
		partOf(rule, "metricTrigger")["threshold"] = percent
	}, cooldown)
	changeRules(profile, "Decrease", func(rule map[string]any) {
		t := partOf(rule, "metricTrigger")
		if at, err := strconv.ParseFloat(textOf(t["threshold"]), 64); err != nil || at >= float64(percent) {
			t["threshold"] = percent / 2
		}
	}, cooldown)
	all, _ := profile["rules"].([]any)
	if len(cpuRules(profile, "Increase")) == 0 {
		all = append(all, newRule(set, "Increase", "GreaterThan", percent, cooldown))
	}
	if len(cpuRules(profile, "Decrease")) == 0 {
		all = append(all, newRule(set, "Decrease", "LessThan", percent/2, cooldown))
	}
	profile["rules"] = all
}

func changeRules(profile map[string]any, direction string, change func(rule map[string]any), cooldown *int64) {
	for _, rule := range cpuRules(profile, direction) {
		if change(rule); cooldown == nil {
			continue
		}
		action := partOf(rule, "scaleAction")
		if now, ok := secondsOf(textOf(action["cooldown"])); !ok || now != *cooldown { // PT5M stays PT5M
			action["cooldown"] = durationOf(*cooldown)
		}
	}
}

// newRule is a rule that adds or takes one instance by the average CPU of five minutes.
func newRule(set, direction, operator string, percent int64, cooldown *int64) map[string]any {
	wait := int64(300)
	if cooldown != nil {
		wait = *cooldown
	}
	return map[string]any{
		"metricTrigger": map[string]any{
			"metricName": cpuMetric, "metricResourceUri": set, "timeGrain": "PT1M", "statistic": "Average",
			"timeWindow":      "PT5M",
			"timeAggregation": "Average", "operator": operator, "threshold": percent,
		},
		"scaleAction": map[string]any{
			"direction": direction, "type": "ChangeCount", "value": "1",
			"cooldown": durationOf(wait),
		},
	}
}

func durationOf(seconds int64) string { return fmt.Sprintf("PT%dS", seconds) }

// durations matches the durations of ISO 8601 that Azure writes: PT5M, PT1H30M, P1D.
var durations = regexp.MustCompile(`^P(?:(\d{1,4})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?$`)

// secondsOf reads a duration; false when it is none.
func secondsOf(text string) (int64, bool) {
	m := durations.FindStringSubmatch(text)
	if m == nil || text == "P" {
		return 0, false
	}
	sum := int64(0)
	for i, unit := range []int64{86_400, 3600, 60, 1} {
		n, _ := strconv.ParseInt(m[i+1], 10, 64) // digits, or none for 0
		sum += n * unit
	}
	return sum, true
}

// textOf returns the text form of a text or a number.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return ""
}
