package azure

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// sizesNeed is the permission of the list of sizes.
const sizesNeed = "Microsoft.Compute/skus/read"

const (
	sizesPath    = "/providers/Microsoft.Compute/skus"
	sizesVersion = "2021-07-01"
)

var _ cloud.Sizer = (*conn)(nil)

// offer is an item of the list of sizes, which also has disks and snapshots.
type offer struct {
	Type         string `json:"resourceType"`
	Name         string `json:"name"`
	Capabilities []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"capabilities"`
	Locations []struct {
		Location string   `json:"location"`
		Zones    []string `json:"zones"`
	} `json:"locationInfo"`
	Restrictions []restriction `json:"restrictions"`
}

// restriction is a part of a region in which the subscription may not use a size.
type restriction struct {
	Type string `json:"type"` // Location or Zone
	Info struct {
		Locations []string `json:"locations"`
		Zones     []string `json:"zones"`
	} `json:"restrictionInfo"`
}

// Sizes lists the sizes of machines that the subscription may use in a region. Azure states no bandwidth of networks.
func (c *conn) Sizes(ctx context.Context, region string) ([]cloud.MachineSize, error) {
	if !regionName.MatchString(region) {
		return nil, cloud.ErrInvalid("%.64q is not the name of an Azure region", region)
	}
	id, err := c.subscriptionID(ctx)
	if err != nil {
		return nil, err
	}
	all, err := listSelected[offer](ctx, c.client, subscriptionsPath+"/"+id+sizesPath, sizesVersion,
		url.Values{"$filter": {"location eq '" + region + "'"}})
	if err != nil {
		return nil, err
	}
	var out []cloud.MachineSize
	for i := range all {
		if s, usable := all[i].machineSize(region); usable && len(out) < cloud.MaxSizes {
			out = append(out, s)
		}
	}
	return out, nil
}

// machineSize returns the size of a machine. It returns false for other items, and for one that the subscription may
// not use in the region.
func (s *offer) machineSize(region string) (cloud.MachineSize, bool) {
	zones, usable := s.zonesIn(region)
	if s.Type != "virtualMachines" || !usable {
		return cloud.MachineSize{}, false
	}
	m := cloud.MachineSize{
		Name: s.Name, VCPU: s.number("vCPUs"), GiB: s.number("MemoryGB"), Arm: s.is("CpuArchitectureType", "Arm64"),
		GPU: s.number("GPUs") > 0, Burstable: strings.HasPrefix(s.Name, "Standard_B"), Zones: zones,
		IOPS: s.number("UncachedDiskIOPS"), MiBps: s.number("UncachedDiskBytesPerSecond") / (1 << 20),
		Disks: s.number("MaxDataDiskCount"), NICs: s.number("MaxNetworkInterfaces"),
	}
	if usable := s.number("vCPUsAvailable"); usable > 0 { // a part of its processors is switched off
		m.VCPU = usable
	}
	if s.is("DiskControllerTypes", "NVMe") {
		m.Drivers = []string{"nvme"}
	}
	return m, m.VCPU > 0 && m.GiB > 0
}

// zonesIn returns the zones of a region that the subscription may use the size in, as resources name them. It returns
// false if it may not use the size in the region.
func (s *offer) zonesIn(region string) (zones []string, usable bool) {
	for _, l := range s.Locations {
		if regionOf(l.Location) == region {
			zones, usable = slices.Clone(l.Zones), true
		}
	}
	had := len(zones) > 0
	for _, r := range s.Restrictions {
		here := slices.ContainsFunc(r.Info.Locations, func(l string) bool { return regionOf(l) == region })
		switch {
		case here && r.Type == "Location":
			return nil, false
		case here && r.Type == "Zone":
			zones = slices.DeleteFunc(zones, func(z string) bool { return slices.Contains(r.Info.Zones, z) })
		}
	}
	slices.Sort(zones)
	return zones, usable && (!had || len(zones) > 0)
}

// word returns a capability, "" without one.
func (s *offer) word(name string) string {
	for _, c := range s.Capabilities {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

func (s *offer) is(name, value string) bool { return s.word(name) == value }

// number returns a capability that is a number, 0 without one.
func (s *offer) number(name string) float64 {
	n, err := strconv.ParseFloat(s.word(name), 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
