// Package sizing knows machine types: how many vCPUs, how much memory and how many GPUs a type has, and which types
// have the same size with a later generation or another processor. With the limits that discoveries read, it chooses
// the cheapest type that holds a measured use. It knows no prices: callers give them.
package sizing

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"lamplighter.dev/shared/domain/pricing"
)

// sizeTable has a line for each machine type of AWS and Azure. Google's sizes follow from the names of its types.
//
//go:embed sizes.csv
var sizeTable string

// Size is what a machine of a type has.
type Size struct {
	VCPU   float64 // a machine with a shared core counts the vCPUs that its guest sees
	GiB    float64
	GPUs   float64
	Arm    bool // its processor is an arm64 one
	Shared bool // its vCPUs are a part of a core: the f1, g1 and e2 machines of Google
}

// FindSize returns the size of a machine type of a provider. It returns false for a type that is not in the catalogue.
// Types of databases and caches, such as db.m5.large and m5.large.search, have the size of their machine.
func FindSize(provider, class string) (Size, bool) {
	if provider == "gcp" {
		return googleSize(class)
	}
	m := readCatalogue().find(provider, class)
	if m == nil {
		return Size{}, false
	}
	return m.Size, true
}

// machine is a type of the catalogue. Machines of a series differ in size, generation and processor only.
type machine struct {
	Size
	name       string
	family     string // the letters of the family
	form       string // what types of a series have in common beside their family
	series     string // "" if no type can replace the machine
	label      string // the name of its size within the series: types of AWS with equal labels replace each other
	generation int
	processor  processor
	premium    bool // it takes disks of Azure's premium kind
	nvme       bool // it is of a version of Azure's sizes that attaches disks by NVMe only
}

// processor is the maker of a processor.
type processor int

const (
	intel processor = iota
	amd
	arm
)

// catalogue is the machines by provider and type, and by provider and series.
type catalogue struct {
	machines map[[2]string]*machine
	series   map[[2]string][]*machine
}

// find returns a machine by its type, without the affixes of databases, or nil.
func (c *catalogue) find(provider, class string) *machine {
	if provider == "aws" {
		_, class, _ = cutAffixes(class)
	}
	return c.machines[[2]string{provider, class}]
}

// readCatalogue reads the catalogue when it is first needed.
var readCatalogue = sync.OnceValue(func() *catalogue {
	c := &catalogue{map[[2]string]*machine{}, map[[2]string][]*machine{}}
	for line := range strings.Lines(sizeTable) {
		f := strings.Split(strings.TrimSpace(line), ";")
		if strings.HasPrefix(line, "#") || f[0] == "provider" {
			continue
		}
		m := &machine{name: f[1], Size: Size{
			VCPU: numberOf(f[2]), GiB: numberOf(f[3]), GPUs: numberOf(f[5]), Arm: f[4] == "arm",
		}}
		if f[0] == "aws" {
			m.placeAmazon()
		} else {
			m.placeAzure()
		}
		c.machines[[2]string{f[0], m.name}] = m
		if m.series != "" && m.GPUs == 0 {
			key := [2]string{f[0], m.series}
			c.series[key] = append(c.series[key], m)
		}
	}
	return c
})

// numberOf parses a number; that each is well-formed is for a test.
func numberOf(s string) float64 {
	n, _ := strconv.ParseFloat(s, 64)
	return n
}

// googleSize returns the size that a machine type of Google has by its name.
func googleSize(class string) (Size, bool) {
	switch class {
	case "f1-micro":
		return Size{VCPU: 1, GiB: 0.6, Shared: true}, true
	case "g1-small":
		return Size{VCPU: 1, GiB: 1.7, Shared: true}, true
	}
	shape, known := pricing.ShapeOf(class)
	if !known {
		return Size{}, false
	}
	s := Size{VCPU: shape.Cores.Float64(), GiB: shape.GiB.Float64(), Arm: isGoogleArm(shape.Family)}
	switch class {
	case "e2-micro", "e2-small", "e2-medium": // they are charged for a part of their two vCPUs
		s.VCPU, s.Shared = 2, true
	}
	return s, true
}

func isGoogleArm(family string) bool { return family == "t2a" || family == "c4a" }
