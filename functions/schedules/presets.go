package schedules

import (
	"context"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/fault"
)

// Preset is a ready-made schedule.
type Preset struct {
	Preset      string       `json:"preset" example:"office-hours"`
	Description string       `json:"description"`
	Crons       []PresetCron `json:"crons"`
}

// PresetCron is a cron of a preset.
type PresetCron struct {
	CronExpression string     `json:"cronExpression" example:"0 8 * * 1-5"`
	Action         cloud.Verb `json:"action" enum:"start,stop"`
}

// presets are the ready-made schedules.
var presets = []Preset{
	{
		"office-hours", "Runs from 8:00 to 19:00, Monday to Friday",
		[]PresetCron{{"0 8 * * 1-5", cloud.Start}, {"0 19 * * 1-5", cloud.Stop}},
	},
	{
		"weekend", "Is stopped from Friday 20:00 to Monday 6:00",
		[]PresetCron{{"0 20 * * 5", cloud.Stop}, {"0 6 * * 1", cloud.Start}},
	},
	{
		"night", "Is stopped from 20:00 to 6:00, every day",
		[]PresetCron{{"0 20 * * *", cloud.Stop}, {"0 6 * * *", cloud.Start}},
	},
}

func (s *service) listPresets(context.Context, *struct{}) ([]Preset, error) { return presets, nil }

// findPreset returns the preset with a name. The error is fault.Invalid if there is none.
func findPreset(name string) (Preset, error) {
	var names []string
	for _, p := range presets {
		if p.Preset == name {
			return p, nil
		}
		names = append(names, p.Preset)
	}
	return Preset{}, fault.New(fault.Invalid, "preset: %.64q is not one of %s", name, strings.Join(names, ", "))
}

// cronLines returns the crons of a preset, without ids.
func (p Preset) cronLines() []scheduling.CronLine {
	out := make([]scheduling.CronLine, len(p.Crons))
	for i, c := range p.Crons {
		out[i] = scheduling.CronLine{Expression: c.CronExpression, Action: c.Action}
	}
	return out
}
