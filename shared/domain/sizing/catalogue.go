package sizing

import (
	"cmp"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/pricing"
)

// Catalogue is the machine types of a provider in a region with their limits, in groups whose members replace each
// other.
type Catalogue struct {
	provider string
	types    map[string]*offer
	kin      map[kinship][]*offer
}

// offer is a machine type of a Catalogue.
type offer struct {
	cloud.MachineSize
	machine
	kinship kinship
}

// kinship is what machines that replace each other have in common beside their architecture and drivers. The zero value
// is that of a machine which nothing replaces.
type kinship struct{ form, processor string }

// general are the families for any purpose, which replace each other: they differ in memory for each vCPU.
var general = map[string]map[string]bool{
	"aws": {"m": true, "c": true, "r": true, "t": true}, "azure": {"D": true, "E": true, "F": true, "B": true},
}

// NewCatalogue returns the catalogue of machine types. It keeps no reference to them.
func NewCatalogue(provider string, all []cloud.MachineSize) *Catalogue {
	c := &Catalogue{provider, make(map[string]*offer, len(all)), map[kinship][]*offer{}}
	for _, s := range all {
		complete(provider, &s)
		o := &offer{MachineSize: s, machine: machine{name: s.Name, Size: Size{VCPU: s.VCPU, GiB: s.GiB, Arm: s.Arm}}}
		o.kinship = o.kinshipIn(provider)
		c.types[s.Name] = o
		if o.kinship != (kinship{}) {
			c.kin[o.kinship] = append(c.kin[o.kinship], o)
		}
	}
	for _, some := range c.kin {
		slices.SortFunc(some, func(a, b *offer) int { return cmp.Compare(a.name, b.name) })
	}
	return c
}

// Find returns a machine type with its limits. Types of databases and caches are those of their machine.
func (c *Catalogue) Find(class string) (cloud.MachineSize, bool) {
	if o := c.find(class); o != nil {
		return o.MachineSize, true
	}
	return cloud.MachineSize{}, false
}

func (c *Catalogue) find(class string) *offer {
	if c.provider == "aws" {
		_, class, _ = cutAffixes(class)
	}
	if o := c.types[class]; o != nil || c.provider != "gcp" {
		return o
	}
	return customOffer(class)
}

// customOffer returns a custom machine of Google, which no list has, or nil.
func customOffer(class string) *offer {
	size, known := googleSize(class)
	if shape, _ := pricing.ShapeOf(class); !known || !shape.Custom {
		return nil
	}
	o := &offer{
		MachineSize: cloud.MachineSize{Name: class, VCPU: size.VCPU, GiB: size.GiB, Arm: size.Arm},
		machine:     machine{name: class, Size: size},
	}
	complete("gcp", &o.MachineSize)
	o.kinship = o.kinshipIn("gcp")
	return o
}

// kinshipIn returns what a type has in common with those that replace it. What is on local disks is lost, and
// accelerators differ with each type.
func (o *offer) kinshipIn(provider string) kinship {
	if o.GPU || o.LocalDisk {
		return kinship{}
	}
	switch provider {
	case "aws":
		o.placeAmazon()
	case "azure":
		o.placeAzure()
	case "gcp":
		shape, _ := pricing.ShapeOf(o.name)
		o.family, o.series = shape.Family, o.name[:max(strings.LastIndexByte(o.name, '-'), 0)]
		return kinship{form: shape.Family}
	}
	if o.series == "" {
		return kinship{}
	}
	k := kinship{form: o.series, processor: []string{"intel", "amd", "arm"}[o.processor]}
	if general[provider][o.family] {
		k.form = "general/" + o.form
	}
	return k
}

// runsAs reports whether a machine runs what another runs: the same architecture and hypervisor, and no driver that
// the other does not need as well.
func (o *offer) runsAs(present *offer) bool {
	for _, d := range o.Drivers {
		if !slices.Contains(present.Drivers, d) {
			return false
		}
	}
	return o.Arm == present.Arm && o.Hypervisor == present.Hypervisor &&
		(o.premium || !present.premium) && (!o.nvme || present.nvme)
}
