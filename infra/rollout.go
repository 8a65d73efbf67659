package main

import (
	"github.com/aws/jsii-runtime-go"
)

// guards are the alarms of template.yaml that roll a deployment back. Each of them ends with its cause. An alarm on a
// queue that waits
// to be read would stop the next deployment from beginning.
var guards = []string{"ErrorsAlarm", "RefusedAlarm"}

// shiftSlowly sends a tenth of the calls of each function and machine to its new version for five minutes, and all
// calls after that. If one of the guards is raised, every alias returns to the version before, and so does the stack.
func (v *service) shiftSlowly() {
	var names []*string
	for _, g := range guards {
		names = append(names, v.template.GetResource(jsii.String(g)).Ref()) // its name
	}
	for _, f := range v.functions {
		f.AddPropertyOverride(jsii.String("DeploymentPreference"),
			map[string]any{"Type": "Canary10Percent5Minutes", "Alarms": names})
	}
	for _, m := range v.machines {
		m.AddPropertyOverride(jsii.String("DeploymentPreference"), map[string]any{
			"Type": "CANARY", "Percentage": 10, "Interval": 5, "Alarms": names,
		})
	}
}
