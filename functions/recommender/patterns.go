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
	network        [2]cloud.Measure
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

func measuresOf(namespace, statistic, received, sent string) [2]cloud.Measure {
	return [2]cloud.Measure{
		{Namespace: namespace, Metric: received, Statistic: statistic},
		{Namespace: namespace, Metric: sent, Statistic: statistic},
	}
}

// hourlyLoad is the use of a machine in an hour: its processor in percent and its network in bytes per second.
type hourlyLoad struct {
	Day, Hour    int // the day of the window, from 0, and the hour of the day
	Weekday      int // from Sunday, 0
	CPU, Network float64
}

// eachLoad calls do with each hour of the window in which all measures are known and the machine was on. It returns
// false if these are less than 70 % of the hours in which it was on, or if the machine is younger than the window; what
// do has computed then means nothing.
func eachLoad(kind string, h measurement.History, w measurement.Window, do func(hourlyLoad)) bool {
	of, known := loads[kind]
	start := w.End.AddDate(0, 0, -patternDays)
	if !known || w.Since.After(start) {
		return false
	}
	measured := of.measured(h)
	expected, found := 0, 0
	for n := 0; start.Before(w.End); n, start = n+1, start.AddDate(0, 0, 1) {
		day, weekday := measured.day(start), int(start.Weekday())
		for hour := range 24 {
			if len(w.Off) > 0 && isOff(w, start.Add(time.Duration(hour)*time.Hour)) {
				continue
			}
			expected++
			if one, ok := day.at(hour); ok {
				found++
				one.Day, one.Weekday, one.Hour = n, weekday, hour
				do(one)
			}
		}
	}
	return found > 0 && float64(found) >= enoughPoints*float64(expected)
}

// measuredLoad holds the days of the measures of a load: the processor first, then the network.
type measuredLoad struct {
	*load
	days [3]map[string][24]float32
}

func (l *load) measured(h measurement.History) measuredLoad {
	return measuredLoad{l, [3]map[string][24]float32{h[l.cpu], h[l.network[0]], h[l.network[1]]}}
}

// dayLoad holds the hours of the measures of a load on one day.
type dayLoad struct {
	*load
	values    [3][24]float32
	collected bool // all of them
}

func (m *measuredLoad) day(at time.Time) dayLoad {
	out := dayLoad{load: m.load, collected: true}
	var name [len(time.DateOnly)]byte
	day := at.UTC().AppendFormat(name[:0], time.DateOnly)
	for i := range m.days {
		values, collected := m.days[i][string(day)]
		out.values[i], out.collected = values, out.collected && collected
	}
	return out
}

// at returns the load of an hour, or false if a measure has no value for it.
func (d *dayLoad) at(hour int) (out hourlyLoad, known bool) {
	cpu, known := valueOf(d.values[0][hour], d.cpu)
	out.CPU = cpu * d.percent
	for i, m := range d.network {
		v, ok := valueOf(d.values[i+1][hour], m)
		known = known && ok
		out.Network += v * d.bytesPerSecond
	}
	return out, known && d.collected
}

// valueOf returns the value of a measure in an hour of a collected day. A count without a point is 0.
func valueOf(v float32, m cloud.Measure) (float64, bool) {
	if math.IsNaN(float64(v)) {
		return 0, m.IsCount()
	}
	return float64(v), true
}

func isOff(w measurement.Window, at time.Time) bool {
	return slices.ContainsFunc(w.Off, func(i measurement.Interval) bool {
		return !at.Before(i.From) && at.Before(i.To)
	})
}

// countLowDays returns on how many days of the window a machine used at most 10 % of its processors on average and
// moved at most 5 MB.
func countLowDays(kind string, h measurement.History, w measurement.Window) (float64, bool) {
	days := 0
	var day dailyUse
	known := eachLoad(kind, h, w, func(l hourlyLoad) {
		if l.Day != day.number {
			days += day.low()
			day = dailyUse{number: l.Day}
		}
		day.hours++
		day.cpu, day.bytes = day.cpu+l.CPU, day.bytes+l.Network*3600
	})
	return float64(days + day.low()), known
}

// dailyUse is the use of a machine on a day: the sum of the percentages and of the bytes of its known hours.
type dailyUse struct {
	number, hours int
	cpu, bytes    float64
}

// low returns 1 for a day of low use, and 0 for another day or one without a known hour.
func (d *dailyUse) low() int {
	if d.hours > 0 && d.cpu <= lowDayCPU*float64(d.hours) && d.bytes <= lowDayBytes {
		return 1
	}
	return 0
}

// idlePercent is the use of the processors, in percent, below which an hour is idle.
const idlePercent = 5

// countIdleHours returns how many of the 168 hours of a week are idle in every week of the window. An hour of the week
// without any value is not counted.
func countIdleHours(kind string, h measurement.History, w measurement.Window) (float64, bool) {
	var busy, measured [weekDays * 24]bool
	known := eachLoad(kind, h, w, func(l hourlyLoad) {
		n := l.Weekday*24 + l.Hour
		measured[n] = true
		busy[n] = busy[n] || l.CPU >= idlePercent || l.Network >= idleBytesPerSecond
	})
	idle := 0
	for n := range measured {
		if measured[n] && !busy[n] {
			idle++
		}
	}
	return float64(idle), known
}

// countRunningHours returns in how many hours of the seven days before end a resource of a type ran: the hours with a
// value of a gauge. It returns false for a type without a gauge, and if fewer than five of the days were collected;
// the hours of collected days stand for the others.
func countRunningHours(kind string, h measurement.History, end time.Time) (float64, bool) {
	running, days := 0, 0
	for day := end.AddDate(0, 0, -weekDays); day.Before(end); day = day.AddDate(0, 0, 1) {
		if n, collected := gaugeHours(kind, h, day); collected {
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
		hours, collected := gaugeHours(kind, h, end.AddDate(0, 0, -n))
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
func gaugeHours(kind string, h measurement.History, day time.Time) (most int, collected bool) {
	for _, m := range cloud.MeasuresOf(kind) {
		values, asked := measurement.HoursOf(h[m], day)
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
	values := make([]float64, 0, patternDays*24)
	if !eachLoad(kind, h, w, func(l hourlyLoad) { values = append(values, l.CPU/100*cores) }) {
		return 0, false
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
