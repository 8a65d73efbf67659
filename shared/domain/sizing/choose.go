package sizing

import (
	"math"
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/foundation/money"
)

// The headroom of a target over the measured use.
const (
	// mostCPU is the share of its vCPUs that a target may use at the 99.5th percentile.
	mostCPU = 0.8
	// moreMemory is how much memory a target has for each GiB of the measured maximum.
	moreMemory = 1.25
	// mostUsed is the share of a limit of the present machine above which nothing is lowered.
	mostUsed = 0.9
)

// Use is the measured use of a machine in the window. A value of 0 is unknown: no machine uses nothing.
type Use struct {
	CPU     float64 // the highest of the collected percentiles, as a share of all vCPUs
	Average float64 // of the same
	GiB     float64 // the most memory
	IOPS    float64 // the 99th percentile, of its network disks together
	MiBps   float64 // of the same
	Mbps    float64 // the 99th percentile of its network, in Mbit/s
}

// Need is what a target must have. A value of 0 of a limit is one that must not fall below the present machine's.
type Need struct{ VCPU, GiB, IOPS, MiBps, Mbps float64 }

// Question asks for the cheapest machine type that holds the use of a machine.
type Question struct {
	Class    string // the present type: "m5.large", "db.m5.large"
	Zone     string // of the machine; "" if it may be in any
	Use      Use
	OneStep  bool    // a target has half of the present size at least: in production, and if the environment is unknown
	Disks    float64 // how many disks it has
	DiskFree bool    // its service has no network disks that the machine limits
	// Price returns the price of an hour with a type, or false if the region does not offer it.
	Price func(class string) (money.Amount, bool)
}

// Reason says why there is no target.
type Reason string

// The reasons. All but Known mean that there is no target; Unlisted and Unlimited mean that nobody knows it.
const (
	Known     Reason = ""
	Settled   Reason = "settled"   // no cheaper type holds the use, or none replaces the machine
	Unlisted  Reason = "unlisted"  // the list does not have the present type
	Unlimited Reason = "unlimited" // cheaper types would hold processor and memory, but their limits are unknown
)

// Choice is the target that Choose found. Size has its limits.
type Choice struct {
	Class string
	Need  Need
	Size  cloud.MachineSize
	USD   money.Amount // of an hour
	Why   Reason
}

// Choose returns the cheapest type that holds the use of a machine with headroom, within the limits of its disks and
// its network, and costs less: at least 1 USD and 5 % of the price a month.
func (c *Catalogue) Choose(q Question) Choice {
	present := c.find(q.Class)
	if present == nil {
		return Choice{Why: Unlisted}
	}
	now, priced := q.Price(q.Class)
	out := Choice{Need: q.needOf(present), Why: Settled}
	if priced && q.Use.CPU > 0 && present.kinship != (kinship{}) && !present.isBusy(&q.Use) {
		c.choose(&q, present, now, &out)
	}
	return out
}

// choose looks for the cheapest type among those that replace the present one, which costs now.
func (c *Catalogue) choose(q *Question, present *offer, now money.Amount, out *Choice) {
	least, prefix, suffix := dearest(now), "", ""
	if c.provider == "aws" {
		prefix, _, suffix = cutAffixes(q.Class)
	}
	for _, o := range c.kin[present.kinship] {
		if !q.isCandidate(c.provider, o, present) || !out.Need.holdsMachine(o) {
			continue
		}
		usd, offered := q.Price(prefix + o.name + suffix)
		if !offered || usd.Cmp(least) > 0 || usd.Cmp(least) == 0 && out.Class != "" {
			continue
		}
		switch limits := q.limitsHold(o, present); {
		case limits == unknown && out.Why == Settled:
			out.Why = Unlimited
		case limits == held:
			out.Class, out.Size, out.USD, out.Why, least = prefix+o.name+suffix, o.MachineSize, usd, Known, usd
		}
	}
}

// isCandidate reports whether a type can run what runs on the present one.
func (q *Question) isCandidate(provider string, o, present *offer) bool {
	return o != present && o.runsAs(present) && q.isOpen(provider, o, present)
}

// twentieth is the divisor of a price that gives 5 % of it.
const twentieth = 20

// dearest returns the highest price of an hour that is worth a change.
func dearest(now money.Amount) money.Amount {
	usd, share := money.FromInt(1).DivInt(pricing.HoursPerMonth), now.DivInt(twentieth)
	if share.Cmp(usd) > 0 {
		usd = share
	}
	return now.Sub(usd)
}

// needOf returns what a target must have.
func (q *Question) needOf(present *offer) Need {
	n := Need{
		VCPU: present.VCPU * q.Use.CPU / mostCPU, GiB: q.Use.GiB * moreMemory, Mbps: q.Use.Mbps,
	}
	if q.Use.GiB == 0 {
		n.GiB = present.GiB
	}
	if !q.DiskFree {
		n.IOPS, n.MiBps = q.Use.IOPS, q.Use.MiBps
	}
	return n
}

// isBusy reports whether the use comes near a limit of the present machine.
func (o *offer) isBusy(u *Use) bool {
	near := func(use, limit float64) bool { return limit > 0 && use >= limit*mostUsed }
	return u.CPU >= mostUsed || near(u.GiB, o.GiB) || near(u.IOPS, o.IOPS) || near(u.MiBps, o.MiBps) ||
		near(u.Mbps, o.Mbps)
}

// isOpen reports whether a type may replace the present one: it is offered in the zone, is no older one, takes as many
// disks and interfaces, is not too far below, and holds the average all the time.
func (q *Question) isOpen(provider string, o, present *offer) bool {
	switch {
	case q.Zone != "" && len(o.Zones) > 0 && !slices.Contains(o.Zones, q.Zone),
		o.Old && !present.Old, o.family == present.family && o.generation < present.generation,
		o.Disks > 0 && o.Disks < q.Disks, o.NICs > 0 && o.NICs < min(present.NICs, 2):
		return false
	case q.OneStep && (o.VCPU < present.VCPU/2 || o.GiB < present.GiB/2):
		return false
	}
	return !o.Burstable || q.holdsAverage(provider, o, present)
}

// holdsAverage reports whether a burstable type holds the average use all the time.
func (q *Question) holdsAverage(provider string, o, present *offer) bool {
	share, known := baselineOf(provider, o.name)
	average := q.Use.Average * present.VCPU / o.VCPU
	return known && q.Use.Average > 0 && average < share
}

// holdsMachine reports whether a type has the processors and the memory.
func (n *Need) holdsMachine(o *offer) bool {
	return o.VCPU >= n.VCPU && o.GiB >= n.GiB
}

// verdict says whether a limit holds the use.
type verdict int

const (
	held verdict = iota
	unknown
	exceeded
)

// limitsHold reports whether the limits of a type hold the use of disks and network.
func (q *Question) limitsHold(o, present *offer) verdict {
	out := limitHolds(q.Use.Mbps, o.Mbps, present.Mbps)
	if !q.DiskFree {
		out = max(out, limitHolds(q.Use.IOPS, o.IOPS, present.IOPS), limitHolds(q.Use.MiBps, o.MiBps, present.MiBps))
	}
	return out
}

// limitHolds reports whether a limit holds a use. If the use is unknown, the limit must not be lower than the present
// one.
func limitHolds(use, limit, present float64) verdict {
	switch {
	case limit == 0, use == 0 && present == 0:
		return unknown
	case use > 0 && limit >= use, use == 0 && limit >= present:
		return held
	}
	return exceeded
}

// Larger returns the next larger type of the same series, "" if there is none or the type is unknown.
func (c *Catalogue) Larger(class string) string {
	present := c.find(class)
	if present == nil {
		return ""
	}
	best, least := "", math.Inf(1)
	for _, o := range c.kin[present.kinship] {
		same := o.series == present.series && o.generation == present.generation && o.runsAs(present)
		if same && o.VCPU > present.VCPU && o.GiB >= present.GiB &&
			o.VCPU < least {
			best, least = o.name, o.VCPU
		}
	}
	prefix, suffix := "", ""
	if best != "" && c.provider == "aws" {
		prefix, _, suffix = cutAffixes(class)
	}
	return prefix + best + suffix
}
