package sizing

import (
	"fmt"
	"math"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// The shapes of Cloud SQL's custom tiers: an even number of vCPUs or 1, memory in steps of 256 MiB, from 0.9 to 6.5 GiB
// for each vCPU and 3.75 GiB at least. See "Instance settings" of Cloud SQL.
const (
	tierStep, leastTier   = 0.25, 3.75
	leastOfCore, mostCore = 0.9, 6.5
)

// NewTiers returns the tiers of Cloud SQL that may replace one: custom tiers with fewer vCPUs, less memory or both.
// They run on the series N1, so they have the limits of its machines.
func NewTiers(class string) *Catalogue {
	c := &Catalogue{provider: "gcp", types: map[string]*offer{}, kin: map[kinship][]*offer{}}
	name, is := strings.CutPrefix(class, "db-")
	present, known := googleSize(name)
	if !is || !known || present.Shared {
		return c
	}
	c.addTier(class, present.VCPU, present.GiB)
	for cores := 1.0; cores <= present.VCPU; cores = math.Floor(cores/2)*2 + 2 {
		for _, share := range []float64{1, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25} {
			gib := max(math.Ceil(present.GiB*share/tierStep)*tierStep, leastTier,
				math.Ceil(cores*leastOfCore/tierStep)*tierStep)
			if gib <= cores*mostCore {
				c.addTier(fmt.Sprintf("db-custom-%d-%d", int(cores), int(gib*1024)), cores, gib)
			}
		}
	}
	return c
}

// addTier adds a tier, once.
func (c *Catalogue) addTier(class string, vcpu, gib float64) {
	if c.types[class] != nil {
		return
	}
	o := &offer{MachineSize: cloud.MachineSize{
		Name: class, VCPU: vcpu, GiB: gib, Mbps: min(vcpu*googlePerVCPU, googleMost),
	}}
	o.IOPS, o.MiBps = persistentLimits(vcpu)
	o.name, o.kinship, o.Size = class, kinship{form: "cloudsql"}, Size{VCPU: vcpu, GiB: gib}
	c.types[class] = o
	c.kin[o.kinship] = append(c.kin[o.kinship], o)
}
