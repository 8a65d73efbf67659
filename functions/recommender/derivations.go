package recommender

import (
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/rule/condition"
)

// derivation computes a fact that no provider returns from records, schedules, settings and bills.
type derivation struct {
	fact   string
	types  []string // none: of every type
	derive func(*subject) (any, condition.Reason)
}

// factDerivations are the derived facts. A fact of the provider under the same name wins.
var factDerivations = []derivation{
	{"env", nil, (*subject).environment},
	{"tags", nil, (*subject).allTagged},
	{"has_schedule", nil, func(s *subject) (any, condition.Reason) { return s.scheduled[s.UID], "" }},
	{"managed_by", nil, func(s *subject) (any, condition.Reason) { return inventory.ControllerOf(s.allTags()), "" }},
	{"cost_30d", nil, (*subject).cost30d},
	{"stopped_at", []string{"aws-rds", "azure-vm", "gcp-cloudsql", "aws-lightsail"}, (*subject).stoppedAt},
	{"vm_stopped_at", []string{"azure-disk"}, (*subject).parentStoppedAt},
	{"instance_stopped_at", []string{"aws-eip", "gcp-address"}, (*subject).parentStoppedAt},
	{"instance_has_schedule", []string{"aws-eip", "gcp-address"}, func(s *subject) (any, condition.Reason) {
		return s.scheduled[s.ParentUID], ""
	}},
	{"stopped_days_30d", []string{"aws-rds"}, (*subject).stoppedDays},
	{"class", nil, func(s *subject) (any, condition.Reason) { return s.InstanceType, "" }},
	{"attached_gb", []string{"aws-ec2"}, func(s *subject) (any, condition.Reason) { return s.parts[s.UID].gib, "" }},
	{"disk_cost_30d", []string{"azure-vm", "gcp-compute"}, (*subject).diskCost30d},
	{"object_count", []string{"kubernetes-namespace"}, func(s *subject) (any, condition.Reason) {
		return float64(s.parts[s.UID].count), ""
	}},
	{"cluster_count", []string{"gcp-bigtable"}, func(s *subject) (any, condition.Reason) {
		if n := s.parts[s.UID].clusters; n > 0 {
			return float64(n), ""
		}
		return nil, unknownValue // each instance has a cluster: they are not listed
	}},
	{"source_exists", []string{"gcp-snapshot"}, (*subject).sourceExists},
	{"resource_count", []string{"azure-resource-group"}, (*subject).resourceCount},
	{"runtime_deprecated_at", []string{"aws-lambda"}, (*subject).runtimeDeprecatedAt},
	{
		"standard_support_end",
		[]string{"aws-elasticache", "aws-opensearch", "azure-postgresql-flexible"},
		(*subject).standardSupportEnd,
	},
	{"extended_support_start", []string{"gcp-cloudsql"}, (*subject).extendedSupportStart},
}

// metricDerivation computes a metric from measures that are collected for other metrics.
type metricDerivation struct {
	metric string
	types  []string // none: of every type
	derive func(*subject) (float64, condition.Reason)
}

// metricDerivations are the derived metrics.
var metricDerivations = []metricDerivation{
	{"running_hours_7d", nil, (*subject).runningHours},
	{"low_days_14d", []string{"aws-ec2"}, func(s *subject) (float64, condition.Reason) {
		p := s.patterns()
		return enoughOf(float64(p.lowDays), p.known)
	}},
	{"idle_hours_week_14d", []string{"aws-ec2", "azure-vm", "gcp-compute"}, (*subject).idleHours},
	{"cpu_p97_14d", []string{"gcp-compute"}, (*subject).usedCores},
	{"replica_conn_max_14d", []string{"aws-rds"}, func(s *subject) (float64, condition.Reason) {
		m := s.collected("conn_max_14d") // the resource is the replica
		return m.Value, m.Reason
	}},
	{"gb_day_avg_14d", []string{"aws-nat"}, (*subject).gatewayTraffic},
	{"active_hours_day_14d", []string{"azure-sql-database"}, func(s *subject) (float64, condition.Reason) {
		return enoughOf(countActiveHours(databaseCPU, s.measurements(), s.window()))
	}},
	{"total_cost_30d", []string{"aws-aurora"}, func(s *subject) (float64, condition.Reason) {
		v, why := s.cost30d()
		usd, _ := v.(float64)
		return usd, why
	}},
}

// allDerivations are the derivations of all groups.
var allDerivations = slices.Concat(factDerivations, sizeDerivations, accountDerivations)

// derivationOf returns how a fact of a type is derived, or nil.
func derivationOf(kind, fact string) *derivation {
	for i := range allDerivations {
		if d := &allDerivations[i]; d.fact == fact && appliesTo(d.types, kind) {
			return d
		}
	}
	return nil
}

// metricDerivationOf returns how a metric of a type is derived, or nil.
func metricDerivationOf(kind, metric string) *metricDerivation {
	for i := range metricDerivations {
		if d := &metricDerivations[i]; d.metric == metric && appliesTo(d.types, kind) {
			return d
		}
	}
	return nil
}

// appliesTo reports whether a type is one of types, or all are meant.
func appliesTo(types []string, kind string) bool {
	return len(types) == 0 || slices.Contains(types, kind)
}

// enoughOf returns a metric, or the reason that too few points are known.
func enoughOf(v float64, known bool) (float64, condition.Reason) {
	if !known {
		return 0, condition.TooFewPoints
	}
	return v, ""
}

// environment returns prod or nonprod: as the tags name it, or else as the account is set. It is unknown if neither
// does.
func (s *subject) environment() (any, condition.Reason) {
	if env := environmentOf(s.allTags()); env != "" {
		return env, ""
	}
	if env := s.accounts[s.CloudAccountID].Environment; env != "" {
		return env, ""
	}
	return nil, untagged
}

// cost30d returns the effective cost of the last 30 settled days, in USD.
func (s *subject) cost30d() (any, condition.Reason) {
	usd, billed := s.bills.last30Days(s.CloudAccountID, s.UID)
	if !billed {
		return nil, unbilled
	}
	return usd.Float64(), ""
}

// diskCost30d returns the cost of the disks of a machine.
func (s *subject) diskCost30d() (any, condition.Reason) {
	sum := 0.0
	for _, disk := range s.parts[s.UID].disks {
		usd, billed := s.bills.last30Days(s.CloudAccountID, disk.uid)
		if !billed {
			return nil, unbilled
		}
		sum += usd.Float64()
	}
	return sum, ""
}

// stoppedAt returns since when the resource has been seen stopped, or cloud.Never if it is not stopped.
func (s *subject) stoppedAt() (any, condition.Reason) {
	if s.Status == cloud.Unknown {
		return nil, unknownValue
	}
	if s.Status == cloud.Stopped {
		return s.statusSince(), ""
	}
	return cloud.Never, ""
}

// parentStoppedAt returns since when the machine of a disk has been seen stopped.
func (s *subject) parentStoppedAt() (any, condition.Reason) {
	machine, known := s.machines[s.ParentUID]
	switch {
	case s.ParentUID == "":
		return cloud.Never, ""
	case !known || machine.status == cloud.Unknown:
		return nil, unknownValue
	case machine.status != cloud.Stopped:
		return cloud.Never, ""
	}
	return machine.since, ""
}

// stoppedDays returns on how many of the last 30 days the resource was stopped: those without a point of a gauge.
func (s *subject) stoppedDays() (any, condition.Reason) {
	days, known := countStoppedDays(s.Type, s.measurements())
	if !known {
		return nil, condition.TooFewPoints
	}
	return days, ""
}

// runningHours returns in how many of the last 168 hours the resource ran: the hours with a point of a gauge, or else
// all or none of them, if the state has been the same in all that time.
func (s *subject) runningHours() (float64, condition.Reason) {
	if hours, known := countRunningHours(s.Type, s.measurements()); known {
		return hours, ""
	}
	if s.statusSince().After(s.end.AddDate(0, 0, -weekDays)) {
		return 0, condition.TooFewPoints
	}
	if s.Status == cloud.Running {
		return weekDays * 24, ""
	}
	if s.Status == cloud.Stopped {
		return 0, ""
	}
	return 0, condition.TooFewPoints
}

// idleHours returns the hours of the week that are idle in every week.
func (s *subject) idleHours() (float64, condition.Reason) {
	p := s.patterns()
	return enoughOf(float64(p.idleHours), p.known)
}

// patterns returns the patterns of the load. They are counted once.
func (s *subject) patterns() patterns {
	if s.counted == nil {
		p := countPatterns(s.Type, s.measurements(), s.window())
		s.counted = &p
	}
	return *s.counted
}

// usedCores returns the 97th percentile of the cores in use.
func (s *subject) usedCores() (float64, condition.Reason) {
	shape, known := pricing.ShapeOf(s.InstanceType)
	if !known || shape.Cores.IsZero() {
		return 0, unknownValue
	}
	return enoughOf(coresP97(s.Type, s.measurements(), s.window(), shape.Cores.Float64()))
}

// gatewayTraffic returns the GB that a NAT gateway processes in a day: what it sends to the internet and receives from
// there is what AWS charges for.
func (s *subject) gatewayTraffic() (float64, condition.Reason) {
	m := s.collected("bytes_sum_14d")
	return m.Value / patternDays / 1e9, m.Reason
}

// runtimeDeprecatedAt returns the date on which the runtime of a function is deprecated.
func (s *subject) runtimeDeprecatedAt() (any, condition.Reason) {
	runtime, read := s.facts.Value("runtime").(string)
	if !read {
		return nil, condition.NotReported
	}
	if runtime == "" { // an image brings its own
		return cloud.Never, ""
	}
	return supportEnd("aws-lambda", runtime, s.now)
}

// extendedSupportStart returns the date from which a database pays for extended support.
func (s *subject) extendedSupportStart() (any, condition.Reason) {
	engine, read := s.facts.Value("engine").(string)
	if !read {
		return nil, condition.NotReported
	}
	if strings.HasPrefix(engine, "SQLSERVER") { // Cloud SQL charges no extended support for it
		return cloud.Never, ""
	}
	return supportEnd("gcp-cloudsql", engine, s.now)
}
