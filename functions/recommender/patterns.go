package recommender

import (
	"math"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/measurement"
)

// The lengths of the windows of patterns, in days, and the minimum share of their points.
const (
	patternDays  = 14
	weekDays     = 7
	enoughPoints = 0.7
)

// The limits of an idle hour and of a day of low use, from the definitions of the metrics in metrics.csv.
const (
	idleBytesPerSecond = 1000
	lowDayCPU          = 10
	lowDayBytes        = 5e6
)

// load names the measures of the use of a machine, with the factors that make them percent and bytes per second.
type load struct {
	cpu            cloud.Measure
	percent        float64
	network        []cloud.Measure
	bytesPerSecond float64
}

// loads are the measures of the types with patterns. Discovery collects all of them for other metrics of the types.
var loads = map[string]load{
	"aws-ec2": {
		cpu: cloud.Measure{Namespace: "AWS/EC2", Metric: "CPUUtilization", Statistic: "Average"}, percent: 1,
		network: measuresOf("AWS/EC2", "Sum", "NetworkIn", "NetworkOut"), bytesPerSecond: 1.0 / 3600,
	},
	"azure-vm": {
		cpu: cloud.Measure{
			Namespace: "Microsoft.Compute/virtualMachines", Metric: "Percentage CPU", Statistic: "Average",
		},
		percent: 1,
		network: measuresOf("Microsoft.Compute/virtualMachines", "Total", "Network In Total", "Network Out Total"),

		bytesPerSecond: 1.0 / 3600,
	},
	"gcp-compute": {
		cpu: cloud.Measure{
			Namespace: "compute.googleapis.com", Metric: "instance/cpu/utilization", Statistic: "ALIGN_MEAN",
		},
		percent: 100,
		network: measuresOf("compute.googleapis.com", "ALIGN_RATE", "instance/network/received_bytes_count",
			"instance/network/sent_bytes_count"),
		bytesPerSecond: 1,
	},
}

func measuresOf(namespace, statistic string, metrics ...string) []cloud.Measure {
	out := make([]cloud.Measure, len(metrics))
	for i, m := range metrics {
		out[i] = cloud.Measure{Namespace: namespace, Metric: m, Statistic: statistic}
	}
	return out
}

// hourlyLoad is the use of a machine in an hour: its processor in percent and its network in bytes per second.
type hourlyLoad struct {
	At           time.Time
	CPU, Network float64
}

// readLoads returns the hours of the window in which both measures are known and the machine was on. It returns false
// if these are less than 70 % of the hours in which it was on, or if the machine is younger than the window.
func readLoads(kind string, h measurement.History, w measurement.Window) ([]hourlyLoad, bool) {
	of, known := loads[kind]
	start := w.End.AddDate(0, 0, -patternDays)
	if !known || w.Since.After(start) {
		return nil, false
	}
	out := make([]hourlyLoad, 0, patternDays*24)
	expected := 0
	for ; start.Before(w.End); start = start.AddDate(0, 0, 1) {
		name := measurement.DayOf(start)
		for hour := range 24 {
			at := start.Add(time.Duration(hour) * time.Hour)
			if isOff(w, at) {
				continue
			}
			expected++
			if one, ok := of.at(h, name, at); ok {
				out = append(out, one)
			}
		}
	}
	return out, len(out) > 0 && float64(len(out)) >= enoughPoints*float64(expected)
}

// at returns the load of an hour of a day, or false if a measure has no value for it.
func (l *load) at(h measurement.History, day string, at time.Time) (hourlyLoad, bool) {
	cpu, known := measuredAt(h[l.cpu], l.cpu, day, at.Hour())
	out := hourlyLoad{At: at, CPU: cpu * l.percent}
	for _, m := range l.network {
		v, ok := measuredAt(h[m], m, day, at.Hour())
		known = known && ok
		out.Network += v * l.bytesPerSecond
	}
	return out, known
}

// measuredAt returns the value of a measure in an hour. A count without a point on a collected day is 0.
func measuredAt(days map[string][24]float32, m cloud.Measure, day string, hour int) (float64, bool) {
	values, collected := days[day]
	v := float64(values[hour])
	switch {
	case !collected, math.IsNaN(v) && !m.IsCount():
		return 0, false
	case math.IsNaN(v):
		return 0, true
	}
	return v, true
}

func isOff(w measurement.Window, at time.Time) bool {
	return slices.ContainsFunc(w.Off, func(i measurement.Interval) bool {
		return !at.Before(i.From) && at.Before(i.To)
	})
}

// countLowDays returns on how many days of the window a machine used at most 10 % of its processors on average and
// moved at most 5 MB.
func countLowDays(kind string, h measurement.History, w measurement.Window) (float64, bool) {
	hours, known := readLoads(kind, h, w)
	if !known {
		return 0, false
	}
	days := 0
	for len(hours) > 0 {
		n := slices.IndexFunc(hours, func(l hourlyLoad) bool { return l.At.YearDay() != hours[0].At.YearDay() })
		if n < 0 {
			n = len(hours)
		}
		cpu, bytes := sumLoads(hours[:n])
		if cpu <= lowDayCPU*float64(n) && bytes <= lowDayBytes {
			days++
		}
		hours = hours[n:]
	}
	return float64(days), true
}

// sumLoads returns the sum of the percentages and the bytes of hours.
func sumLoads(hours []hourlyLoad) (cpu, bytes float64) {
	for _, l := range hours {
		cpu, bytes = cpu+l.CPU, bytes+l.Network*3600
	}
	return cpu, bytes
}

// idlePercent is the use of the processors, in percent, below which an hour is idle.
const idlePercent = 5

// countIdleHours returns how many of the 168 hours of a week are idle in every week of the window. An hour of the week
// without any value is not counted.
func countIdleHours(kind string, h measurement.History, w measurement.Window) (float64, bool) {
	hours, known := readLoads(kind, h, w)
	if !known {
		return 0, false
	}
	var busy, measured [weekDays * 24]bool
	for _, l := range hours {
		n := int(l.At.Weekday())*24 + l.At.Hour()
		measured[n] = true
		busy[n] = busy[n] || l.CPU >= idlePercent || l.Network >= idleBytesPerSecond
	}
	idle := 0
	for n := range measured {
		if measured[n] && !busy[n] {
			idle++
		}
	}
	return float64(idle), true
}

// countRunningHours returns in how many hours of the seven days before end a resource of a type ran: the hours with a
// value of a gauge. It returns false for a type without a gauge, and if fewer than five of the days were collected;
// the hours of collected days stand for the others.
func countRunningHours(kind string, h measurement.History, end time.Time) (float64, bool) {
	running, days := 0, 0
	for day := end.AddDate(0, 0, -weekDays); day.Before(end); day = day.AddDate(0, 0, 1) {
		if n, collected := gaugeHours(kind, h, measurement.DayOf(day)); collected {
			running, days = running+n, days+1
		}
	}
	if float64(days) < enoughPoints*weekDays {
		return 0, false
	}
	return float64(running) * weekDays / float64(days), true
}

// countStoppedDays returns on how many of the 30 days before end a gauge of the type has no value. It returns false if
// fewer than 70 % of the days were collected.
func countStoppedDays(kind string, h measurement.History, end time.Time) (float64, bool) {
	stopped, days := 0, 0
	for n := 1; n <= measuredDays; n++ {
		hours, collected := gaugeHours(kind, h, measurement.DayOf(end.AddDate(0, 0, -n)))
		if !collected {
			continue
		}
		if days++; hours == 0 {
			stopped++
		}
	}
	return float64(stopped), float64(days) >= enoughPoints*measuredDays
}

// gaugeHours returns the most hours of a day that a gauge of the type has values for, and whether any was collected.
func gaugeHours(kind string, h measurement.History, day string) (most int, collected bool) {
	for _, m := range cloud.MeasuresOf(kind) {
		values, asked := h[m][day]
		if m.IsCount() || !asked {
			continue
		}
		n := 0
		for _, v := range values {
			if !math.IsNaN(float64(v)) {
				n++
			}
		}
		most, collected = max(most, n), true
	}
	return most, collected
}

// coresP97 returns the 97th percentile of the cores in use, hour by hour.
func coresP97(kind string, h measurement.History, w measurement.Window, cores float64) (float64, bool) {
	hours, known := readLoads(kind, h, w)
	if !known {
		return 0, false
	}
	values := make([]float64, len(hours))
	for i, l := range hours {
		values[i] = l.CPU / 100 * cores
	}
	slices.Sort(values)
	return values[max(int(math.Ceil(0.97*float64(len(values))))-1, 0)], true
}

// databaseCPU is a gauge that a serverless database of Azure has in the hours in which it is billed for cores: a paused
// one reports none.
var databaseCPU = cloud.Measure{
	Namespace: "Microsoft.Sql/servers/databases", Metric: "cpu_percent", Statistic: "Average",
}

// countActiveHours returns in how many hours of a day a gauge has values, on average over the collected days of the
// window. It returns false if fewer than 70 % of the days were collected, or if the resource is younger.
func countActiveHours(m cloud.Measure, h measurement.History, w measurement.Window) (float64, bool) {
	hours, days := 0, 0
	start := w.End.AddDate(0, 0, -patternDays)
	if w.Since.After(start) {
		return 0, false
	}
	for ; start.Before(w.End); start = start.AddDate(0, 0, 1) {
		values, collected := h[m][measurement.DayOf(start)]
		if !collected {
			continue
		}
		days++
		for _, v := range values {
			if !math.IsNaN(float64(v)) {
				hours++
			}
		}
	}
	if days == 0 || float64(days) < enoughPoints*patternDays {
		return 0, false
	}
	return float64(hours) / float64(days), true
}
