package rule

import (
	"slices"
	"strings"

	"lamplighter.dev/shared/foundation/fault"
)

// SavingsForm tells which part of the bill falls when the remediation is carried out.
type SavingsForm string

// The forms of savings.
const (
	SavesNothing SavingsForm = "none"    // the rule is not about money
	SavesAll     SavingsForm = "all"     // every charge of the resource
	SavesCompute SavingsForm = "compute" // the charges that a stop ends (pricing.Component.Stops)
	SavesPart    SavingsForm = "part"    // part:<charge class>[+<charge class>]: see ChargeClass
	SavesTo      SavingsForm = "to"      // to:<fact>: the price now less the price with the target's settings
	SavesHours   SavingsForm = "hours"   // the price of the hours in which the resource would be stopped
	SavesRate    SavingsForm = "rate"    // the difference of two rates for the same hours
	SavesFact    SavingsForm = "fact"    // fact:<fact or metric>: USD of 30 days, or GB at the storage price
)

// Savings is the part of the bill that falls. Text has the grammar
//
//	savings = [ "bound:" ] form
//	form    = "none" | "all" | "compute" | "hours" | "rate"
//	        | "part:" class { "+" class } | "to:" fact | "fact:" name
//
// A bound is the most that can fall: it is shown and counts 0.
type Savings struct {
	Form  SavingsForm
	Names []string // charge classes of part; the fact of to; the fact or metric of fact
	Bound bool
}

// Counts reports whether the amount is part of the net savings.
func (s Savings) Counts() bool { return s.Form != SavesNothing && !s.Bound }

// NeedsCheaperTarget reports whether a row opens only if the target's price is known and lower than the present one.
func (s Savings) NeedsCheaperTarget() bool { return s.Form == SavesTo }

// String returns the text that ParseSavings reads.
func (s Savings) String() string {
	text := string(s.Form)
	if len(s.Names) > 0 {
		text += ":" + strings.Join(s.Names, "+")
	}
	if s.Bound {
		text = "bound:" + text
	}
	return text
}

// ChargeClass returns what the charges of a class are for, and whether part may name the class. Charges of disks,
// nodes, readers, load balancers and logs arise at resources of their own: the saving is counted there.
func ChargeClass(name string) (text string, ok bool) {
	text, ok = chargeClasses[name]
	return text, ok
}

var chargeClasses = map[string]string{
	"address":          "its public address",
	"backup":           "backups and their instance fee",
	"cache":            "the cache of a gateway stage",
	"control_plane":    "the fee of a cluster's control plane",
	"ddos":             "the protection of one address",
	"defender":         "security plans of a subscription",
	"disks":            "disks that belong to it (resources of their own)",
	"events":           "recorded events",
	"extended_support": "the surcharge for a version after its standard support",
	"fast_restore":     "fast restore of a snapshot, by zone and hour",
	"idle_instances":   "instances that are kept ready and serve no request",
	"indexes":          "secondary indexes: storage and throughput",
	"ingestion":        "ingested logs, by GB",
	"insights":         "performance insights after the free days",
	"key_versions":     "active versions of a key",
	"load_balancer":    "the load balancer of a service (a resource of its own)",
	"logs":             "its logs in their bucket (a resource of its own)",
	"monitoring":       "detailed monitoring",
	"nodes":            "its nodes (resources of their own)",
	"processing":       "processed traffic, by GB",
	"provisioned":      "concurrency that is kept ready",
	"queries":          "scanned bytes of queries",
	"readers":          "readers of a database cluster (resources of their own)",
	"requests":         "the share of the nodes that its requests hold (counted at the node pool)",
	"runtime":          "the integration runtime",
	"sftp":             "the SFTP endpoint, by hour",
	"storage":          "stored bytes",
	"suspended_memory": "the stored memory of a suspended machine",
	"transfer":         "transferred bytes",
	"unused":           "reserved capacity that nothing uses",
	"warm_pool":        "stopped or running machines of a warm pool",
}

// ParseSavings reads savings in machine form. It checks the grammar and the charge classes; Check knows the facts of a
// type. The kind of an error is Invalid.
func ParseSavings(text string) (Savings, error) {
	body, bound := strings.CutPrefix(text, "bound:")
	form, names, named := strings.Cut(body, ":")
	s := Savings{Form: SavingsForm(form), Bound: bound}
	if named {
		s.Names = strings.Split(names, "+")
	}
	if !s.isWellFormed() {
		return Savings{}, fault.New(fault.Invalid, "savings %q: give none, all, compute, hours, rate, part:<charge "+
			"class>, to:<fact>, fact:<name>, or bound: before one of them", fault.CleanText(text, 80))
	}
	return s, nil
}

// isWellFormed reports whether a form has the names that it needs.
func (s Savings) isWellFormed() bool {
	switch s.Form {
	case SavesNothing:
		return !s.Bound && len(s.Names) == 0
	case SavesAll, SavesCompute, SavesHours, SavesRate:
		return len(s.Names) == 0
	case SavesTo, SavesFact:
		return len(s.Names) == 1 && isName(s.Names[0])
	case SavesPart:
		return len(s.Names) > 0 && !slices.ContainsFunc(s.Names, func(name string) bool {
			return chargeClasses[name] == ""
		})
	}
	return false
}
