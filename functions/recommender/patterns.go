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

// The limits of an idle hour and of a day of low use, from the definitions of the metrics in metrics.csv. Use of the
// processors is in percent.
const (
	idlePercent        = 5
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
func eachLoad(kind string, r *measurement.Recent, w measurement.Window, do func(*hourlyLoad)) bool {
	of, known := loads[kind]
	start := w.End.AddDate(0, 0, -patternDays)
	if !known || w.Since.After(start) {
		return false
	}
	measured := of.measured(r)
	expected, found := 0, 0
	var one hourlyLoad
	for one.Day = range patternDays {
		day := start.AddDate(0, 0, one.Day)
		values, collected := measured.day(patternDays - one.Day)
		one.Weekday = int(day.Weekday())
		for one.Hour = range 24 {
			if len(w.Off) > 0 && isOff(w, day.Add(time.Duration(one.Hour)*time.Hour)) {
				continue
			}
			expected++
			if collected && values.readHour(&one) {
				found++
				do(&one)
			}
		}
	}
	return found > 0 && float64(found) >= enoughPoints*float64(expected)
}

// measuredLoad holds the measures of a load: the processor first, then the network.
type measuredLoad struct {
	*load
	days    [3]measurement.Days
	isCount [3]bool
}

func (l *load) measured(r *measurement.Recent) measuredLoad {
	out := measuredLoad{load: l}
	for i, m := range []cloud.Measure{l.cpu, l.network[0], l.network[1]} {
		out.days[i], out.isCount[i] = r.Days(m), m.IsCount()
	}
	return out
}

// dayLoad holds the hours of the measures of a load on one day.
type dayLoad struct {
	*measuredLoad
	values [3]*[24]float32
}

// day returns a day, and whether all measures were collected.
func (m *measuredLoad) day(ago int) (out dayLoad, collected bool) {
	out.measuredLoad, collected = m, true
	for i, days := range m.days {
		out.values[i] = days.Hours(ago)
		collected = collected && out.values[i] != nil
	}
	return out, collected
}

// readHour sets the load of an hour. It returns false if a measure has no value for it.
func (d *dayLoad) readHour(one *hourlyLoad) bool {
	var v [3]float64
	for i := range v {
		v[i] = float64(d.values[i][one.Hour])
		if math.IsNaN(v[i]) {
			if v[i] = 0; !d.isCount[i] { // a count without a point is 0
				return false
			}
		}
	}
	one.CPU, one.Network = v[0]*d.percent, (v[1]+v[2])*d.bytesPerSecond
	return true
}

func isOff(w measurement.Window, at time.Time) bool {
	return slices.ContainsFunc(w.Off, func(i measurement.Interval) bool {
		return !at.Before(i.From) && at.Before(i.To)
	})
}

// patterns are counts of hours and days of a machine's load in the window.
type patterns struct {
	idleHours int // of the 168 hours of a week, those that are idle in every week; hours without any value are not
	lowDays   int // days with at most 10 % of the processors in use on average, and at most 5 MB moved
	known     bool
}

// countPatterns counts the idle hours and the days of low use of a machine.
func countPatterns(kind string, r *measurement.Recent, w measurement.Window) (p patterns) {
	var busy, measured [weekDays * 24]bool
	var day dailyUse
	p.known = eachLoad(kind, r, w, func(l *hourlyLoad) {
		n := l.Weekday*24 + l.Hour
		measured[n] = true
		busy[n] = busy[n] || l.CPU >= idlePercent || l.Network >= idleBytesPerSecond
		if l.Day != day.number {
			p.lowDays += day.low()
			day = dailyUse{number: l.Day}
		}
		day.add(l)
	})
	p.lowDays += day.low()
	for n := range measured {
		if measured[n] && !busy[n] {
			p.idleHours++
		}
	}
	return p
}

// dailyUse is the use of a machine on a day: the sum of the percentages and of the bytes of its known hours.
type dailyUse struct {
	number, hours int
	cpu, bytes    float64
}

func (d *dailyUse) add(l *hourlyLoad) {
	d.hours++
	d.cpu, d.bytes = d.cpu+l.CPU, d.bytes+l.Network*3600
}

// low returns 1 for a day of low use, and 0 for another day or one without a known hour.
func (d *dailyUse) low() int {
	if d.hours > 0 && d.cpu <= lowDayCPU*float64(d.hours) && d.bytes <= lowDayBytes {
		return 1
	}
	return 0
}

// countRunningHours returns in how many hours of the seven days before the end a resource of a type ran: the hours with
// a value of a gauge. It returns false for a type without a gauge, and if fewer than five of the days were collected;
// the hours of collected days stand for the others.
func countRunningHours(kind string, r *measurement.Recent) (float64, bool) {
	running, days := 0, 0
	gauges := gaugesOf(kind, r)
	for ago := 1; ago <= weekDays; ago++ {
		if n, collected := gaugeHours(gauges, ago); collected {
			running, days = running+n, days+1
		}
	}
	if float64(days) < enoughPoints*weekDays {
		return 0, false
	}
	return float64(running) * weekDays / float64(days), true
}

// countStoppedDays returns on how many of the 30 days before the end a gauge of the type has no value. It returns false
// if fewer than 70 % of the days were collected.
func countStoppedDays(kind string, r *measurement.Recent) (float64, bool) {
	stopped, days := 0, 0
	gauges := gaugesOf(kind, r)
	for ago := 1; ago <= measuredDays; ago++ {
		hours, collected := gaugeHours(gauges, ago)
		if !collected {
			continue
		}
		if days++; hours == 0 {
			stopped++
		}
	}
	return float64(stopped), float64(days) >= enoughPoints*measuredDays
}

// gaugesOf returns the measures of a type that have no value while it is stopped.
func gaugesOf(kind string, r *measurement.Recent) (out []measurement.Days) {
	for _, m := range cloud.MeasuresOf(kind) {
		if !m.IsCount() {
			out = append(out, r.Days(m))
		}
	}
	return out
}

// gaugeHours returns the most hours of a day that one of some gauges has values for, and whether any was collected.
func gaugeHours(gauges []measurement.Days, ago int) (most int, collected bool) {
	for _, days := range gauges {
		if values := days.Hours(ago); values != nil {
			most, collected = max(most, countValues(values)), true
		}
	}
	return most, collected
}

// countValues counts the hours that have a value.
func countValues(hours *[24]float32) (n int) {
	for _, v := range hours {
		if !math.IsNaN(float64(v)) {
			n++
		}
	}
	return n
}

// coresP97 returns the 97th percentile of the cores in use, hour by hour.
func coresP97(kind string, r *measurement.Recent, w measurement.Window, cores float64) (float64, bool) {
	values := make([]float64, 0, patternDays*24)
	if !eachLoad(kind, r, w, func(l *hourlyLoad) { values = append(values, l.CPU/100*cores) }) {
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
func countActiveHours(m cloud.Measure, r *measurement.Recent, w measurement.Window) (float64, bool) {
	if w.Since.After(w.End.AddDate(0, 0, -patternDays)) {
		return 0, false
	}
	hours, collected := 0, 0
	days := r.Days(m)
	for ago := 1; ago <= patternDays; ago++ {
		if values := days.Hours(ago); values != nil {
			hours, collected = hours+countValues(values), collected+1
		}
	}
	if collected == 0 || float64(collected) < enoughPoints*patternDays {
		return 0, false
	}
	return float64(hours) / float64(collected), true
}
