package rule

import (
	"math"
	"strconv"
)

// grain is the unit in which a setting is given, as a part of 1, and the least number of them.
type grain struct{ perOne, least float64 }

// grains are the units of settings that are no whole numbers, or have a least one: AWS takes 100 IOPS of volumes io1
// and io2. Requests of Kubernetes are millicores and MiB; less than 10 millicores or 32 MiB starve a container that
// starts.
var grains = map[string]grain{
	"iops": {1, 100}, "cpu_request_cores": {1000, 10}, "cpu_limit_cores": {1000, 10}, "mem_request_gib": {1024, 32},
	"mem_limit_gib": {1024, 32},
}

// SettingText returns the text of a setting, rounded up to its unit: less than the use would not hold it. A number
// that misses a unit by the error of its calculation is that unit. Recommendations and plans of changes both use it, so
// that the plan sets what the recommendation shows.
func SettingText(name string, n float64) string {
	g, known := grains[name]
	if !known {
		g = grain{perOne: 1}
	}
	units := max(math.Ceil(n*g.perOne-1e-6), g.least)
	return strconv.FormatFloat(units/g.perOne, 'f', -1, 64)
}
