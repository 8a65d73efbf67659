package rule

import "slices"

// Verb is the kind of change that carries a remediation out.
type Verb string

// The verbs. The first three exist for schedules and actions; the executor carries out the next seven on the kinds that
// have them. The last three are for people: nothing is carried out.
const (
	VerbSchedule      Verb = "schedule"       // attach a schedule
	VerbStop          Verb = "stop"           // stop, or stop and start
	VerbScale         Verb = "scale"          // set a number of members, or its limits
	VerbChangeStorage Verb = "change-storage" // set type, size, IOPS or throughput of storage
	VerbResize        Verb = "resize"         // set class, size, tier, number or requests
	VerbDelete        Verb = "delete"         // delete in two phases, after a snapshot of our own where one is possible
	VerbRelease       Verb = "release"        // give an address back
	VerbSetLifecycle  Verb = "set-lifecycle"  // set retention, expiry or idle timeout
	VerbGuard         Verb = "guard"          // set protection, access, encryption or health checks
	VerbSetting       Verb = "setting"        // set another property
	VerbLicence       Verb = "licence"        // apply a licence that the organization holds
	VerbPurchase      Verb = "purchase"       // buy, renew, exchange or return a commitment
	VerbAdvice        Verb = "advice"         // a change that the service does not make
)

var verbs = []Verb{
	VerbSchedule, VerbStop, VerbScale, VerbChangeStorage, VerbResize, VerbDelete, VerbRelease, VerbSetLifecycle,
	VerbGuard, VerbSetting, VerbLicence, VerbPurchase, VerbAdvice,
}

// ForPeople reports whether the service never carries the verb out: it uses no licence, buys nothing, and leaves
// advice to its readers.
func (v Verb) ForPeople() bool { return v == VerbLicence || v == VerbPurchase || v == VerbAdvice }

// stepsOf lists the steps that a target of the verb may have. A verb that is not in it has settings.
var stepsOf = map[Verb][]string{
	VerbSchedule: {"self"},
	VerbStop:     {"copy", "self", "restart", "nodes", "runtime"},
	VerbRelease:  {"detach", "self"},
	VerbPurchase: {"buy", "renew", "exchange", "return"},
	VerbDelete: {
		"mark", "stop", "reroute", "copy", "detach", "self", "siblings", "snapshots", "addresses", "disks", "reader",
		"readers", "indexes", "untagged", "unused", "models",
	},
}

// allows reports whether a target of the verb may have a step.
func (v Verb) allows(step string) bool { return slices.Contains(stepsOf[v], step) }
